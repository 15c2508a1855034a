"""What a list of tools says about those that the rules hold: the note stands in the list, never in a fingerprint.

A tool that is as it was accepted, and one that nobody pinned, pass as the server sent them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from preflight.mcp.eras import Object
from preflight.model.rules import ToolRules
from preflight.model.tool import Tool
from preflight.rulebook import Rules, RuleSource
from preflight.standing import fingerprint_of, listed_twice

HELD: Final = "preflight/held"
"""The key in a tool's `_meta` that says why its calls are held."""
NOTE: Final = (
    "[preflight holds every call of this tool: its definition is not the one that was accepted. "
    "What follows is the server's new text, which nobody has accepted.]"
)

NAMED_TWICE: Final = (
    "[preflight holds every call of this tool: the server lists its name more than once, with different definitions.]"
)


class Marks:
    """Looks at listed tools under the rules in force, as tight as they are for one user."""

    def __init__(self, rules: RuleSource, user: str, tenant: str = "", *, hide_forbidden: bool = False) -> None:
        """Mark under `rules`; with `hide_forbidden`, leave out what they forbid."""
        self._rules = rules
        self._user = user
        self._tenant = tenant
        self._hides = hide_forbidden

    def watches(self, server: str, name: str) -> bool:
        """Whether it matters that a tool is still what it was: it is pinned, or its calls are gated."""
        ruled = self._rules().for_tool(server, name, self._user, self._tenant)
        return ruled.pin is not None or ruled.effect != "read"

    def differs(self, server: str, tool: Tool) -> bool:
        """Whether a tool is pinned and not the pinned one."""
        return self._rules().for_tool(server, tool.name, self._user, self._tenant).pin not in (None, tool.fingerprint)

    def on(self, server: str, tools: list[Object], twice: Collection[str] = ()) -> list[Object]:
        """Return a server's tools as clients see them; those without a mark are the very objects given.

        Names that stand for several definitions are `twice`.
        """
        rules = self._rules()
        seen = [self._seen(rules, server, tool, twice) for tool in tools]
        return [tool for tool in seen if tool is not None]

    def on_page(self, server: str, result: Object, twice: Collection[str] = ()) -> Object:
        """Return the result of a `tools/list`: the very object given where nothing is marked or left out."""
        given = result.get("tools")
        if not isinstance(given, list):
            return result
        rules = self._rules()
        twice = {*twice, *listed_twice(tool for tool in given if isinstance(tool, dict))}
        # what is no object is no tool, and the server's own affair
        seen = [self._seen(rules, server, tool, twice) if isinstance(tool, dict) else tool for tool in given]
        if all(one is other for one, other in zip(seen, given, strict=True)):
            return result
        left = [tool for tool, was in zip(seen, given, strict=True) if tool is not None or was is None]
        # what is marked by one user's rules is nothing that caches may share
        return {**result, "tools": left, **({"cacheScope": "private"} if "cacheScope" in result else {})}

    def _seen(self, rules: Rules, server: str, tool: Object, twice: Collection[str]) -> Object | None:
        """Return a tool, marked where it is held for what it is; None where it is to be left out."""
        name = tool.get("name")
        ruled = rules.for_tool(server, str(name), self._user, self._tenant)
        if self._hides and ruled.forbidden:
            return None
        if isinstance(name, str) and name in twice:
            return _noted(tool, NAMED_TWICE, {"kind": "tool_ambiguous", "listed": fingerprint_of(server, tool)})
        return _marked(server, tool, ruled)


def _marked(server: str, declared: Object, rules: ToolRules) -> Object:
    """Return a tool with the note where it is not the pinned one (R-68)."""
    listed = None if rules.pin is None else fingerprint_of(server, declared)
    if listed is None or listed == rules.pin:
        return declared
    return _noted(declared, NOTE, {"kind": "tool_changed", "pinned": rules.pin, "listed": listed})


def _noted(declared: Object, note: str, why: Object) -> Object:
    text, meta = declared.get("description"), declared.get("_meta")
    return {
        **declared,
        "description": f"{note}\n\n{text}" if isinstance(text, str) and text else note,
        "_meta": {**(meta if isinstance(meta, dict) else {}), HELD: why},
    }
