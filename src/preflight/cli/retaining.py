"""`preflight retain`: remove records that were kept long enough."""

from __future__ import annotations

from typing import Annotated

import typer

from preflight.cli.ages import age_of
from preflight.cli.opening import AsJson, Db, opened_to_read
from preflight.cli.person import Channel, require_person
from preflight.cli.screen import Screen
from preflight.clock import SystemClock
from preflight.errors import InvalidInput
from preflight.model.record import UNKEYED
from preflight.render.styled import Table, line
from preflight.render.visible import visible
from preflight.retention import Retention, apply
from preflight.secrecy.safekeeping import default_signer


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command()(retain)


def retain(
    keyed: Annotated[
        str | None, typer.Option("--keep", metavar="AGE", help="How long records under an action key are kept: 365d.")
    ] = None,
    unkeyed: Annotated[
        str | None, typer.Option("--keep-unkeyed", metavar="AGE", help="How long those without an action key are kept.")
    ] = None,
    keys: Annotated[
        list[str] | None, typer.Option("--keep-key", metavar="KEY=AGE", help="How long those under one key are kept.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count.")] = False,
    channel: Channel = "terminal",
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Remove records that were kept long enough.

    Their questions and answers go with them. Their places stay, and a signed tombstone that lists them, so that
    `preflight audit verify` can tell the removal from tampering. Never removed: what is not over, deferred runs, open
    questions, and the newest record under each key. Keep them longer than the longest window of a limit in the
    rules. What no option names is kept for ever.

    \b
    Example:
      preflight retain --keep 365d --keep-unkeyed 30d --dry-run
    """
    if not dry_run:
        require_person(channel)
    retention = Retention(
        keyed=None if keyed is None else _seconds("keep", keyed),
        unkeyed=None if unkeyed is None else _seconds("keep-unkeyed", unkeyed),
        keys=dict(_of_key(text) for text in keys or ()),
    )
    with opened_to_read(db) as gate:
        clock = SystemClock()
        removed = apply(retention, gate.storage, default_signer(gate.storage, clock), clock, dry_run=dry_run)
    if as_json:
        Screen().json({"records": removed.records, "by_key": dict(removed.by_key), "tombstones": removed.tombstones})
        return
    if removed.by_key:
        rows = tuple((line(_name(key)), line(f"{count}")) for key, count in sorted(removed.by_key.items()))
        Screen().show([Table(("action key", "records"), rows), line()])
    Screen().show([line(f"{removed.records} records {'would be removed' if dry_run else 'removed'}")])


def _name(key: str) -> str:
    return "(no action key)" if key == UNKEYED else visible(key)


def _of_key(text: str) -> tuple[str, float]:
    key, separator, age = text.rpartition("=")
    if not separator:
        raise InvalidInput("keep-key", f"`{text}` names no time", "write KEY=AGE, like `u1:transfer=90d`")
    return key, _seconds("keep-key", age)


def _seconds(where: str, text: str) -> float:
    age = age_of(text)
    if age is None:
        raise InvalidInput(where, f"`{text}` is no length of time", "write it like `12h` or `365d`")
    return age.total_seconds()
