"""What a list of tools says about those that the rules hold: the note stands in the list, never in a fingerprint.

A tool that is as it was accepted, and one that nobody pinned, pass as the server sent them.
"""

from __future__ import annotations

from typing import Final

from preflight.mcp.eras import Object
from preflight.model.rules import ToolRules
from preflight.rulebook import RuleSource
from preflight.standing import fingerprint_of

HELD: Final = "preflight/held"
"""The key in a tool's `_meta` that says why its calls are held."""
NOTE: Final = (
    "[preflight holds every call of this tool: its definition is not the one that was accepted. "
    "What follows is the server's new text, which nobody has accepted.]"
)


class Marks:
    """Looks at listed tools under the rules in force, as tight as they are for one user."""

    def __init__(self, rules: RuleSource, user: str, tenant: str = "", *, hide_forbidden: bool = False) -> None:
        """Mark under `rules`; with `hide_forbidden`, leave out what they forbid."""
        self._rules = rules
        self._user = user
        self._tenant = tenant
        self._hides = hide_forbidden

    def on(self, server: str, tools: list[Object]) -> list[Object]:
        """Return a server's tools as clients see them; those without a mark are the very objects given."""
        rules = self._rules()
        pairs = [
            (tool, rules.for_tool(server, str(tool.get("name")), self._user, self._tenant))
            for tool in tools
        ]  # fmt: skip
        return [_marked(server, tool, held) for tool, held in pairs if not (self._hides and held.forbidden)]

    def on_page(self, server: str, result: Object) -> Object:
        """Return the result of a `tools/list`: the very object given where nothing is marked or left out."""
        given = result.get("tools")
        if not isinstance(given, list):
            return result
        shown = [each for tool in given for each in (self.on(server, [tool]) if isinstance(tool, dict) else [tool])]
        if len(shown) == len(given) and all(one is other for one, other in zip(shown, given, strict=True)):
            return result
        # what is marked by one user's rules is nothing that caches may share
        return {**result, "tools": shown, **({"cacheScope": "private"} if "cacheScope" in result else {})}


def _marked(server: str, declared: Object, rules: ToolRules) -> Object:
    """Return a tool with the note where it is not the pinned one (R-68)."""
    listed = None if rules.pin is None else fingerprint_of(server, declared)
    if listed is None or listed == rules.pin:
        return declared
    text, meta = declared.get("description"), declared.get("_meta")
    why = {"kind": "tool_changed", "pinned": rules.pin, "listed": listed}
    return {
        **declared,
        "description": f"{NOTE}\n\n{text}" if isinstance(text, str) and text else NOTE,
        "_meta": {**(meta if isinstance(meta, dict) else {}), HELD: why},
    }
