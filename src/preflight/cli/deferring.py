"""`preflight deferred`, `resume` and `event`: runs that wait, and what people do with them."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
import typer

from preflight.cli.opening import AsJson, Db, opened_to_read
from preflight.cli.person import Channel, require_person
from preflight.cli.screen import Screen
from preflight.core import strict_json
from preflight.deferral.changes import OPEN, DeferredRuns, time_of
from preflight.errors import InvalidInput
from preflight.model.channel import signed
from preflight.model.deferral import Deferral, DeferralNote
from preflight.model.json_value import thaw
from preflight.render.phrases import deferral_words
from preflight.render.record import tool_words, words_lines
from preflight.render.styled import Table, labelled, line
from preflight.render.visible import visible

By = Annotated[str, typer.Option("--by", metavar="NAME", help="Who asks for it; it is noted.")]
Id = Annotated[str, typer.Argument(metavar="ID", help="The id that `preflight deferred list` shows.")]
deferred = typer.Typer(name="deferred", help="See and change deferred runs.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    deferred.command("list")(list_runs)
    deferred.command()(show)
    deferred.command()(cancel)
    deferred.command()(move)
    deferred.command("run-now")(run_now)
    app.add_typer(deferred)
    app.command()(resume)
    app.command()(event)


def list_runs(
    over: Annotated[bool, typer.Option("--all", help="Also those that are over.")] = False,
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """List the deferred runs that wait or are held, the next due first."""
    with opened_to_read(db) as gate:
        found = DeferredRuns(gate).find(states=() if over else OPEN)
    if as_json:
        Screen().json(msgspec.to_builtins(found))
    elif not found:
        Screen().show([line("nothing is deferred")])
    else:
        Screen().show([Table(("id", "state", "due (UTC)", "for", "action", "when"), tuple(map(_line, found)))])


def show(deferral: Id, as_json: AsJson = False, db: Db = None) -> None:
    """Show one deferred run and everything that happened to it."""
    with opened_to_read(db) as gate:
        row, notes = DeferredRuns(gate).show(deferral)
        stored = gate.storage.get(row.decision_id)
    if as_json:
        Screen().json({**msgspec.to_builtins(row), "notes": msgspec.to_builtins(notes)})
        return
    told = [labelled("when", visible(row.said)), labelled("record", row.decision_id, "dim")]
    if stored is not None:
        told = [labelled("call", tool_words(stored.record)), *words_lines(stored.record), *told]
    if row.question_id is not None:
        told.append(labelled("question", row.question_id, "dim"))
    table = Table(("at (UTC)", "what", "why", "by", "call", "late"), tuple(map(_noted, notes)))
    Screen().show([_headline(row), *told, line(), table])


def cancel(deferral: Id, by: By, channel: Channel = "terminal", as_json: AsJson = False, db: Db = None) -> None:
    """Cancel a deferred run; nothing of it fires any more.

    \b
    Example:
      preflight deferred cancel 01a22e3e-686f-72d5-a86a-38bf938193bc --by minji

    Exit code: 0 cancelled, 2 when it has started or is over.
    """
    require_person(channel)
    with opened_to_read(db) as gate:
        row = DeferredRuns(gate).cancel(deferral, by=signed(by, channel))
    _told(row, as_json=as_json)


def move(
    deferral: Id,
    to: Annotated[str, typer.Argument(metavar="TIME", help="When instead: ISO 8601 with its offset.")],
    by: By,
    channel: Channel = "terminal",
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Move the next occurrence of a deferred run to another time.

    \b
    Example:
      preflight deferred move 01a22e3e-686f-72d5-a86a-38bf938193bc 2026-12-04T10:00:00+09:00 --by minji
    """
    require_person(channel)
    at = time_of(to)
    with opened_to_read(db) as gate:
        row = DeferredRuns(gate).move(deferral, at, by=signed(by, channel))
    _told(row, as_json=as_json)


def run_now(deferral: Id, by: By, channel: Channel = "terminal", as_json: AsJson = False, db: Db = None) -> None:
    """Fire a deferred run at the worker's next look.

    Everything is checked then, as at its own time.
    """
    require_person(channel)
    with opened_to_read(db) as gate:
        row = DeferredRuns(gate).run_now(deferral, by=signed(by, channel))
    _told(row, as_json=as_json)


def resume(deferral: Id, by: By, channel: Channel = "terminal", as_json: AsJson = False, db: Db = None) -> None:
    """Try a held run again at the worker's next look.

    It begins anew, and nothing that was found before counts: schema, rules, settings and measurements are fetched anew.
    """
    require_person(channel)
    with opened_to_read(db) as gate:
        row = DeferredRuns(gate).resume(deferral, by=signed(by, channel))
    _told(row, as_json=as_json)


def event(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The event, as the rules declare it.")],
    by: By,
    content: Annotated[
        list[str] | None,
        typer.Argument(metavar="KEY=VALUE...", help="What it says; `KEY:=JSON` for a JSON value.", show_default=False),
    ] = None,
    channel: Channel = "terminal",
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Report an event that deferred runs may wait for.

    Whoever may answer questions may report events: a person at a terminal, or a script that was allowed to.

    \b
    Example:
      preflight event salary.received employer=acme amount:=2500000 --by payroll --channel script
    """
    require_person(channel)
    said = dict(_pair(text) for text in content or [])
    with opened_to_read(db) as gate:
        runs = DeferredRuns(gate)
        found = runs.event(name, said, by=signed(by, channel))
        awaited = sorted({row.event for row in runs.find(states=("waiting",)) if row.event}) if not found else []
    if as_json:
        Screen().json(msgspec.to_builtins(found))
        return
    told = f"{len(found)} deferred run(s) are due"
    if name in awaited:
        told += "; it is waited for, with another content"
    elif awaited:
        told += f"; waited for: {', '.join(map(visible, awaited))}"
    Screen().show([line(told)])


def _pair(text: str) -> tuple[str, object]:
    """Read `KEY=VALUE` or `KEY:=JSON`."""
    key, separator, value = text.partition("=")
    if not separator or not key.removesuffix(":"):
        raise InvalidInput("content", f"`{text}` is no `KEY=VALUE`", "write `KEY=VALUE` or `KEY:=JSON`")
    if not key.endswith(":"):
        return key, value
    return key.removesuffix(":"), thaw(strict_json.parse(value, key.removesuffix(":")))


def _told(row: Deferral, *, as_json: bool) -> None:
    if as_json:
        Screen().json(msgspec.to_builtins(row))
    else:
        Screen().show([_headline(row)])


def _headline(row: Deferral) -> Any:
    why = f": {deferral_words(row.reason)}" if row.reason else ""
    due = f", due {row.due[:19]} UTC" if row.state == "waiting" else ""
    return line(f"{row.deferral_id} {row.state}{due}{why}", "good" if row.state != "held" else "ask")


def _line(row: Deferral) -> tuple[Any, ...]:
    state = row.state if row.reason is None else f"{row.state}: {deferral_words(row.reason)}"
    texts = (row.deferral_id, state, row.due[:19], row.user_id, row.action_key, row.said)
    return tuple(line(visible(text)) for text in texts)


def _noted(note: DeferralNote) -> tuple[Any, ...]:
    late = f"{note.late_seconds:g} s" if note.late_seconds else ""
    why = deferral_words(note.reason) if note.reason else ""
    why += f" ({note.missed} passed)" if note.missed else ""
    texts = (note.at[:19], note.what, why, note.by or "", note.status or "", late)
    return tuple(line(visible(text)) for text in texts)
