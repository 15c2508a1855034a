"""`preflight doctor`: what is in place, what waits, and how a setup stands."""

from __future__ import annotations

import getpass
import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from preflight.api import Preflight
from preflight.cli.about import installed, own_version
from preflight.cli.behind import Command, Name, RulesPath, Servers, Url, UserId, configs_of
from preflight.cli.clocks import zone_here
from preflight.cli.codes import DONE, ERROR
from preflight.cli.opening import RULES, AsJson, Db, database, is_there, opened_to_read, scope_of
from preflight.cli.screen import Screen
from preflight.clock import SystemClock, iso
from preflight.errors import StorageError
from preflight.model.decision import SCHEMA_VERSION
from preflight.render.styled import Block, Table, line
from preflight.render.visible import visible

if TYPE_CHECKING:
    from preflight.cli.clients import ClientSeen
    from preflight.cli.examining import RulesFound, ServerFound
    from preflight.rules.ruleset import RuleSet

_EVER = "0001-01-01T00:00:00+00:00"


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command(context_settings={"allow_interspersed_args": False})(doctor)


def doctor(
    command: Command = None,
    rules: RulesPath = None,
    url: Url = None,
    servers: Servers = None,
    name: Name = None,
    user: UserId = None,
    timeout: Annotated[
        float, typer.Option("--timeout", min=0, metavar="SECONDS", help="How long each server may take to show itself.")
    ] = 20,
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Show what is in place, and how a setup stands.

    With servers, given as for `preflight proxy`, each is started or reached and asked for its tools; nothing is
    called. Shown is how the rules gate every tool, and which rules are about nothing that is there.

    \b
    Examples:
      preflight doctor
      preflight doctor --rules rules --servers mcp.json
      preflight doctor --rules rules/bank -- python bank.py --db bank.db

    Tools that no words can open are told too, and are no fault.

    Exit code: 0, or 1 when something is broken: the records, the rules, a server, a pin, a rule about nothing.
    """
    from preflight.cli.clients import clients_seen
    from preflight.cli.examined import broken_told, clients_told, rules_told, server_told, unopened_told
    from preflight.cli.examining import broken, rules_found, unopened

    if rules:
        os.environ[RULES] = rules
    known = rules_found()
    clients: list[ClientSeen] = []
    learned: list[tuple[str, str]] = []
    person = user or getpass.getuser()
    found: dict[str, Any] = {**_versions(), **_hosts(), "database": database(db)}
    try:
        if not is_there(found["database"]):
            found["records"] = "none: there is no such file; the first call makes it"
        loaded = known is None or known[1] is not None
        with opened_to_read(db, with_rules=loaded, must_exist=False) as gate:
            found |= _waiting(gate)
            clients = clients_seen(gate.storage)
            learned = [(at, tool) for _, at, tool in gate.storage.learned(scope_of("", ""), person)]
    except StorageError as fault:
        found["fault"] = str(fault)
    setup = _setup(known, command, url, servers, name, person, timeout)
    shut = unopened(known[1] if known else None, setup, person, learned)
    faults = list(broken(known, setup, whole=servers is not None))
    if as_json:
        whole = {"clients": clients, "rules": known and known[0], "servers": setup, "unopened": shut, "broken": faults}
        Screen().json({**found, **msgspec.to_builtins(whole)})
    else:
        told = [
            *clients_told(clients),
            *(rules_told(known[0]) if known else ()),
            *(block for each in setup for block in server_told(each)),
        ]
        Screen().show([*_told(found), *told, *unopened_told(shut, person), *broken_told(faults)])
    raise typer.Exit(ERROR if faults or "fault" in found else DONE)


def _setup(
    known: tuple[RulesFound, RuleSet | None] | None,
    command: list[str] | None,
    url: str | None,
    servers: Path | None,
    name: str | None,
    user: str,
    timeout: float,
) -> list[ServerFound]:
    """Look at the servers that are named, if any are."""
    if not (command or url or servers):
        return []
    rules = known[1] if known else None
    unruled = rules is None and not name  # the rules cannot say what the one server is called
    configs = configs_of(command, url, servers, "unnamed" if unruled else name)
    from preflight.cli.examining import server_found
    from preflight.mcp.looking import look

    return [server_found(seen, rules, user) for seen in look(configs, timeout)]


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

    zone = os.environ.get("PREFLIGHT_ZONE") or zone_here()
    return {
        "hooks": "; ".join(hosts_with_hooks(Path.cwd())) or "in no host",
        "user's words": words_arrive(),
        "days counted in": zone or "UTC: the machine's time zone has no name; `--zone` and PREFLIGHT_ZONE give one",
    }


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
