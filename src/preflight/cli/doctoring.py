"""`preflight doctor`: what is in place, and what waits."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

import typer

from preflight.api import Preflight
from preflight.cli.about import installed, own_version
from preflight.cli.codes import DONE, ERROR
from preflight.cli.opening import AsJson, Db, database, opened_to_read
from preflight.cli.screen import Screen
from preflight.clock import SystemClock, iso
from preflight.errors import StorageError
from preflight.model.decision import SCHEMA_VERSION
from preflight.render.styled import Block, Table, line
from preflight.render.visible import visible

_EVER = "0001-01-01T00:00:00+00:00"


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command()(doctor)


def doctor(as_json: AsJson = False, db: Db = None) -> None:
    """Show versions, paths, and what waits.

    Exit code: 0, or 1 when the records cannot be used.
    """
    found = {**_versions(), **_hosts(), "database": database(db)}
    try:
        with opened_to_read(db) as gate:
            found |= _waiting(gate)
    except StorageError as fault:
        found["fault"] = str(fault)
    if as_json:
        Screen().json(found)
    else:
        Screen().show(_told(found))
    raise typer.Exit(ERROR if "fault" in found else DONE)


def _versions() -> dict[str, Any]:
    import apsw

    return {
        "preflight": own_version(),
        "record schema": SCHEMA_VERSION,
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        "mcp": installed("mcp") or "not installed: `preflight execute` needs the extra `mcp`",
    }


def _hosts() -> dict[str, Any]:
    from preflight.hosts.health import hosts_with_hooks, words_arrive

    return {"hooks": "; ".join(hosts_with_hooks(Path.cwd())) or "in no host", "user's words": words_arrive()}


def _waiting(gate: Preflight) -> dict[str, Any]:
    """Count what waits; questions that expired undecided are counted, since nobody else would notice (R-92)."""
    storage = gate.storage
    still_open = len(storage.open_questions(None, iso(SystemClock().now())))
    undecided = len(storage.open_questions(None, _EVER))
    return {
        "open questions": still_open,
        "expired undecided": undecided - still_open,
        "in doubt": len(storage.unfinished()),
        "hooks that verify nothing": ", ".join(gate.unsafe_defaults) or "none",
    }


_CARE = {"expired undecided", "in doubt", "fault"}
_HINTS = {"open questions": "preflight pending", "in doubt": "preflight recover", "hooks": "preflight host list"}


def _told(found: dict[str, Any]) -> list[Block]:
    rows = []
    for name, value in found.items():
        needs_care = name in _CARE and value != 0
        hint = f"   see: {_HINTS[name]}" if name in _HINTS and value else ""
        rows.append((line(name, "dim"), line(visible(f"{value}") + hint, "bad" if needs_care else "")))
    return [Table(("what", "found"), tuple(rows))]
