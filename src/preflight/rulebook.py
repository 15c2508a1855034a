"""The rules in force, by server and tool."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from preflight.core.setup import Setup
from preflight.limits import Limits
from preflight.model.rules import UNLISTED, ToolRules
from preflight.model.tool import Tool
from preflight.plans import plan_of


class Rulebook:
    """Rules by server and tool; tools nobody listed are irreversible (R-65).

    `rules` maps `(server, tool)` to the rules for it. `digest` names the set of rules on every record (R-67).
    """

    def __init__(
        self,
        rules: Mapping[tuple[str, str], ToolRules],
        limits: Limits,
        hooks: frozenset[str] = frozenset(),
        digest: str | None = None,
    ) -> None:
        """Hold `rules`; `hooks` names the optional hooks that are there."""
        self._rules = dict(rules)
        self._limits = limits
        self._hooks = hooks
        self.digest = digest
        self._plan_for = partial(plan_of, limits=limits)
        self._unlisted = self._new_setup(UNLISTED)
        self._setups: dict[tuple[str, str], Setup] = {}

    def for_tool(self, tool: Tool) -> ToolRules:
        """Return the rules for a tool."""
        return self._rules.get((tool.server, tool.name), UNLISTED)

    def setup(self, tool: Tool) -> Setup:
        """Return what a decision about this tool is made under."""
        rules = self.for_tool(tool)
        if rules is UNLISTED:
            return self._unlisted
        key = (tool.server, tool.name)
        if key not in self._setups:
            self._setups[key] = self._new_setup(rules)
        return self._setups[key]

    def _new_setup(self, rules: ToolRules) -> Setup:
        return Setup(rules, self._limits, self._hooks, self._plan_for)
