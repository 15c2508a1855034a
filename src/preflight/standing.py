"""How a setup stands: each tool under the rules in force, and each rule that is about nothing there is.

Nothing is decided here: what a tool's call meets is read off the rules as the gate reads them (R-65, R-68).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from preflight.errors import InvalidInput
from preflight.model.channel import CHANNELS, Channel
from preflight.model.rules import Effect, MeasureRule, Place, ToolRules
from preflight.model.tool import Tool
from preflight.rules.faults import nearest

if TYPE_CHECKING:
    from preflight.rules.ruleset import RuleSet

Met = Literal["passes", "gated", "held"]
Pin = Literal["not pinned", "as pinned", "changed"]
ASKED_BY: Final[Mapping[Channel, str]] = {
    "form": "the client's form",
    "page": "the answer page",
    "terminal": "a terminal",
}
"""The channels by which a proxy has a person answer."""

TWICE: Final = "the server lists its name more than once, with different definitions"


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """How one listed tool is gated, and why.

    `listed` is its fingerprint now; None where it cannot be read as a tool. `enough` are the channels by which a
    person may answer for it; `faults` is what the rules say about it that does not fit its schema.
    """

    tool: str
    gate: Met
    why: str
    effect: Effect | None = None
    pin: Pin = "not pinned"
    pinned: str | None = None
    listed: str | None = None
    enough: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


class Stray(msgspec.Struct, frozen=True):
    """A rule about a server or a tool that is not there: its place, what it is, and what to do."""

    place: Place | None
    what: str
    do: str

    def __str__(self) -> str:
        """Return one line, with the place in front."""
        place = f"{self.place.file}:{self.place.line}: " if self.place else ""
        return f"{place}{self.what}; {self.do}"


def fingerprint_of(server: str, declared: Mapping[str, object]) -> str | None:
    """Return the fingerprint of a listed object; None where it cannot be read as a tool, and so cannot be called."""
    try:
        return Tool.from_mcp(declared, server=server).fingerprint
    except InvalidInput:
        return None


def standing_of(rules: RuleSet, server: str, declared: Mapping[str, object], user: str = "") -> Standing:
    """Return how a tool stands, as a server listed it, for a user."""
    try:
        tool = Tool.from_mcp(declared, server=server)
    except InvalidInput as fault:
        return Standing(tool=str(declared.get("name")), gate="held", why=f"it cannot be read as a tool: {fault.what}")
    ruled = rules.for_tool(server, tool.name, user)
    pin: Pin = "not pinned" if ruled.pin is None else "as pinned" if ruled.pin == tool.fingerprint else "changed"
    gate, why = _met(ruled, pin, listed=ruled is not rules.unlisted)
    return Standing(
        tool=tool.name,
        gate=gate,
        why=why,
        effect=ruled.effect,
        pin=pin,
        pinned=ruled.pin,
        listed=tool.fingerprint,
        enough=_enough(ruled) if gate == "gated" else (),
        faults=tuple(map(str, rules.checked_against(tool))),
    )


def _met(ruled: ToolRules, pin: Pin, *, listed: bool) -> tuple[Met, str]:
    if ruled.forbidden:  # the order is that of the decision path
        return "held", "the rules forbid it"
    if pin == "changed":
        return "held", "it is not the tool that was accepted"
    if not listed:
        return "gated", "no rule names it, so it counts as irreversible"
    return ("passes", "it reads") if ruled.effect == "read" else ("gated", f"{ruled.effect}")


def _enough(ruled: ToolRules) -> tuple[str, ...]:
    least = CHANNELS.index(ruled.channel)
    return tuple(said for channel, said in ASKED_BY.items() if CHANNELS.index(channel) >= least)


def listed_twice(tools: Iterable[Mapping[str, object]]) -> frozenset[str]:
    """Return the names under which a list has several definitions; the same one again is no second one."""
    first: dict[object, Mapping[str, object]] = {}
    twice = set()
    for tool in tools:
        name = tool.get("name")
        if isinstance(name, str) and tool is not first.setdefault(name, tool) and not _same(tool, first[name]):
            twice.add(name)
    return frozenset(twice)


def held_as_twice(standing: Standing) -> Standing:
    """Return how a tool stands whose name has several definitions: no call of it goes, whatever the rules say."""
    return msgspec.structs.replace(standing, gate="held", why=TWICE, enough=())


def _same(one: Mapping[str, object], other: Mapping[str, object]) -> bool:
    """Whether two objects are written alike: `==` takes 1 for true, and leaves out the order."""
    try:
        return json.dumps(one) == json.dumps(other)
    except (RecursionError, TypeError, ValueError):
        return False


def strays(rules: RuleSet, seen: Mapping[str, Sequence[str] | None], *, whole: bool) -> tuple[Stray, ...]:
    """Return the rules about servers and tools that are not there.

    `seen` has the tools by server, None where they are not known. Where the setup is not `whole`, the rules may be
    about servers that are elsewhere, unless nothing in them is about those that are here.
    """
    named = {(server, tool): ruled.place for server, tool, ruled in _ruled(rules) if server}
    here = any(server in seen for server, _ in named)
    found: dict[tuple[str, ...], Stray] = {}
    for (server, tool), place in named.items():
        tools = seen.get(server)
        if server not in seen and (whole or not here):
            found.setdefault((server,), Stray(place, f"no server here is called `{server}`", nearest(server, seen)))
        elif tools is not None and tool not in tools:
            found[server, tool] = Stray(place, f"`{server}` lists no tool `{tool}`", _near(tool, tools))
    found |= {("", stray.what): stray for stray in _stray_measures(rules, seen, whole=whole)}
    return tuple(found.values())


def _near(tool: str, tools: Sequence[str]) -> str:
    return nearest(tool, tools) or "it lists no tools"


def _ruled(rules: RuleSet) -> Iterator[tuple[str, str, ToolRules]]:
    """Yield the rules of every tool that is named, for everybody or for somebody."""
    for each in (rules.tools, *rules.people.tools.values()):
        for (server, tool), ruled in each.items():
            yield server, tool, ruled


def _stray_measures(rules: RuleSet, seen: Mapping[str, Sequence[str] | None], *, whole: bool) -> Iterator[Stray]:
    """Yield the measures that read what is not there: the proxy reads from the servers behind it, and no others."""
    for measure in _measures(rules, seen, whole=whole):
        what = f"the measure `{measure.name}` reads `{measure.tool}` of `{measure.server}`"
        tools = seen.get(measure.server)
        if measure.server not in seen:
            yield Stray(measure.place, f"{what}, which is no server here", nearest(measure.server, seen))
        elif tools is not None and measure.tool not in tools:
            yield Stray(measure.place, f"{what}, which lists no such tool", _near(measure.tool, tools))


def _measures(rules: RuleSet, seen: Mapping[str, object], *, whole: bool) -> Iterator[MeasureRule]:
    """Yield the measures that call a tool: of the tools that are here, and of what deferred runs wait for."""
    used = [ruled.measures for server, _, ruled in _ruled(rules) if server in seen]
    used += [trigger.measures for trigger in rules.triggers.values()] if whole else []
    yield from (measure for each in used for measure in each.values() if measure.via == "mcp")
