"""What `doctor` finds of a setup: the rules, the servers, each tool under the rules; and what of it is broken."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from preflight.cli.opening import RULES
from preflight.clock import SystemClock
from preflight.standing import TWICE, Standing, held_as_twice, listed_twice, standing_of, strays

if TYPE_CHECKING:
    from preflight.mcp.looking import Seen
    from preflight.rules.ruleset import RuleSet


class RulesFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of rules, and when it was last changed: ISO 8601 and seconds ago; None where it cannot be looked at."""

    path: str
    changed_at: str | None
    age_seconds: float | None


class RulesFound(msgspec.Struct, frozen=True, kw_only=True):
    """The rules that `--rules` names: what they are made of, or what keeps them from loading."""

    path: str
    files: tuple[RulesFile, ...]
    digest: str | None
    tools: int
    faults: tuple[str, ...]


class ServerFound(msgspec.Struct, frozen=True, kw_only=True):
    """A server: what it showed of itself, and how its tools stand; `standings` is None where no rules load."""

    name: str
    fault: str | None
    era: str | None
    version: str | None
    calls_itself: str
    own_version: str
    tools: tuple[str, ...] | None
    standings: tuple[Standing, ...] | None


def rules_found() -> tuple[RulesFound, RuleSet | None] | None:
    """Read the rules that are named, and return what is known of them; None where none are named."""
    path = os.environ.get(RULES)
    if not path:
        return None
    from preflight.rules.ruleset import attempt

    loaded, now = attempt(path), SystemClock().now()
    rules = loaded.rules
    found = RulesFound(
        path=path,
        files=tuple(_file(file, now) for file in loaded.files),
        digest=rules.digest if rules else None,
        tools=len(rules.tools) if rules else 0,
        faults=tuple(map(str, loaded.faults)),
    )
    return found, rules


def _file(path: Path, now: float) -> RulesFile:
    try:
        changed = path.stat().st_mtime
    except OSError:
        return RulesFile(path=str(path), changed_at=None, age_seconds=None)
    at = datetime.fromtimestamp(changed, UTC).isoformat(timespec="seconds")
    return RulesFile(path=str(path), changed_at=at, age_seconds=round(max(now - changed, 0), 1))


def server_found(seen: Seen, rules: RuleSet | None, user: str) -> ServerFound:
    """Return a server with its tools under the rules."""
    names = None if seen.tools is None else tuple(str(tool.get("name")) for tool in seen.tools)
    standings = None
    if rules is not None and seen.tools is not None:
        twice = listed_twice(seen.tools)
        found = (standing_of(rules, seen.name, tool, user) for tool in seen.tools)
        standings = tuple(held_as_twice(each) if each.tool in twice else each for each in found)
    return ServerFound(
        name=seen.name, fault=seen.fault, era=seen.era, version=seen.version, calls_itself=seen.calls_itself,
        own_version=seen.own_version, tools=names, standings=standings,
    )  # fmt: skip


def unopened(
    rules: RuleSet | None, servers: Sequence[ServerFound], user: str, learned: Iterable[tuple[str, str]]
) -> tuple[str, ...]:
    """Return the gated tools that no words can open: no `intents` are declared, and the user confirmed none (R-25)."""
    if rules is None:
        return ()
    gated = {
        (server, tool): None
        for server, tool in rules.tools
        if server and (ruled := rules.for_tool(server, tool, user)).effect != "read" and not ruled.forbidden
    }
    gated |= {(s.name, each.tool): None for s in servers for each in s.standings or () if each.gate == "gated"}
    listed = {(server.name, tool) for server in servers for tool in server.tools or ()}
    known = {server.name for server in servers if server.tools is not None}
    opened = set(learned)
    return tuple(
        f"{server}/{tool}"
        for server, tool in gated
        if (server, tool) not in opened
        and not rules.for_tool(server, tool, user).intents
        and (server not in known or (server, tool) in listed)  # what is not there is told as broken
    )


def broken(
    rules: tuple[RulesFound, RuleSet | None] | None, servers: Sequence[ServerFound], *, whole: bool
) -> Iterator[str]:
    """Yield what keeps the setup from working as it is meant; `whole` says that no other servers are to be expected."""
    found, loaded = rules or (None, None)
    yield from found.faults if found else ()
    yield from (server.fault for server in servers if server.fault)
    for server in servers:
        for name in sorted({each.tool for each in server.standings or () if each.why == TWICE}):
            yield f"`{server.name}` lists `{name}` more than once, with different definitions; have it name them apart"
        for each in server.standings or ():
            if each.pin == "changed":
                what = f"`{server.name}` lists a `{each.tool}` that is not the one that was pinned"
                yield f"{what}; read the change, then set `pin: {each.listed}`"
            yield from each.faults
    if loaded is not None and servers:
        seen: Mapping[str, Sequence[str] | None] = {server.name: server.tools for server in servers}
        yield from map(str, strays(loaded, seen, whole=whole))
