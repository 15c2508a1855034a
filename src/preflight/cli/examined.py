"""The words of `doctor` about a setup. What servers say of themselves is foreign text, and made visible."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from preflight.cli.clients import ClientSeen
from preflight.cli.examining import RulesFile, RulesFound, ServerFound
from preflight.hosts.health import ago
from preflight.render.styled import Block, Line, Piece, Style, Table, line
from preflight.render.visible import quoted, visible
from preflight.standing import Standing

_STYLES: dict[str, Style] = {"passes": "good", "gated": "", "held": "bad"}


def clients_told(clients: Sequence[ClientSeen]) -> Iterator[Block]:
    """Tell which clients were asked, and whether a person answers there."""
    yield line()
    if not clients:
        yield line("clients: no client seen yet that was asked something", "dim")
        return
    rows = tuple(
        (line(visible(each.client)), line(*_can_ask(each)), line(f"{each.answered}"), line(f"{each.in_vain}"))
        for each in clients
    )
    yield Table(("client", "a person answers there", "answered", "in vain"), rows)


def _can_ask(client: ClientSeen) -> tuple[str, Style]:
    if client.asks:
        return "yes", "good"
    return "not seen: it answered at once, by itself; use the answer page or a terminal", "bad"


def rules_told(found: RulesFound) -> Iterator[Block]:
    """Tell which files the rules are, how old, and whether they load."""
    yield line()
    if found.faults:
        yield line(f"rules {visible(found.path)}: do not load", "bad")
    else:
        yield line(f"rules {visible(found.path)}: load, {found.tools} tools, digest {(found.digest or '')[:16]}")
    rows = tuple((line(visible(file.path)), line(_age(file), "dim")) for file in found.files)
    if rows:
        yield Table(("file", "last changed"), rows)


def _age(file: RulesFile) -> str:
    return "unknown" if file.age_seconds is None else f"{file.changed_at}, {ago(file.age_seconds)} ago"


def server_told(server: ServerFound) -> Iterator[Block]:
    """Tell who a server says it is, how it speaks, and how each of its tools stands."""
    yield line()
    yield _headline(server)
    if server.standings:
        yield Table(("tool", "call", "why", "pin", "enough to answer"), tuple(_row(each) for each in server.standings))
    elif server.tools:
        yield line(f"  {', '.join(map(visible, server.tools))}; without rules that load, each is held or asked about")


def _headline(server: ServerFound) -> Line:
    name = Piece(visible(server.name), "strong")
    if server.era is None:
        return (name, Piece(f": not there: {visible(server.fault or '')}", "bad"))
    calls_itself = f"calls itself {quoted(server.calls_itself)} {quoted(server.own_version)}"
    count = "its tools are not known" if server.tools is None else f"{len(server.tools)} tools"
    told = (name, Piece(f": {calls_itself}, speaks {visible(server.version or '')} ({server.era}), {count}"))
    return (*told, Piece(f": {visible(server.fault)}", "bad")) if server.fault else told


def _row(each: Standing) -> tuple[Line, ...]:
    return (
        line(visible(each.tool)),
        line(each.gate, _STYLES[each.gate]),
        line(visible(each.why)),
        line(each.pin, "bad" if each.pin == "changed" else "dim"),
        line(", ".join(each.enough)),
    )


def unopened_told(tools: Sequence[str], user: str) -> Iterator[Block]:
    """Tell which tools no words can open, and what to do: nothing is broken, but nothing runs either."""
    if tools:
        yield line()
        yield line("no words open these tools, so that every call of them is asked about in vain:", "ask")
        yield from (line(f"  {visible(tool)}", "ask") for tool in tools)
        learn = shlex.join(("preflight", "learn", "PHRASE", tools[0], "--user", user))
        yield line(f"list `intents` for them in the rules, or say what your words mean: {visible(learn)}", "dim")


def broken_told(texts: Sequence[str]) -> Iterator[Block]:
    """Tell what has to be repaired, one line each."""
    if texts:
        yield line()
        yield line("broken:", "bad")
        yield from (line(f"  {visible(text)}", "bad") for text in texts)
