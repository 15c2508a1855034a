"""The rules in force: from files that reload, from a mapping, or none (R-65, R-67)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

import msgspec

from preflight.model.rules import UNLISTED, ToolRules, TriggerRule, UserRules

ByTool = Mapping[tuple[str, str], ToolRules]
_NOBODY = UserRules()


class Rules(Protocol):
    """One state of the rules. `digest` names it on every record; None where there are no files."""

    @property
    def digest(self) -> str | None:
        """Return the digest of everything that is declared."""
        ...

    @property
    def tools(self) -> ByTool:
        """Return the rules of every listed tool, by server and name."""
        ...

    @property
    def triggers(self) -> Mapping[str, TriggerRule]:
        """Return what deferred runs may wait for, by name."""
        ...

    def for_tool(self, server: str, tool: str, user_id: str = "", tenant: str = "") -> ToolRules:
        """Return the rules for a tool, as tight as they are for a user; a tool nobody listed is irreversible."""
        ...

    def for_user(self, user_id: str, tenant: str = "") -> UserRules:
        """Return what holds for a user: checklist, settings, conditions."""
        ...


RuleSource = Callable[[], Rules]
"""Returns the rules in force now; asked once a run."""


class FixedRules:
    """Rules given as values, by `(server, tool)`."""

    def __init__(self, tools: ByTool = MappingProxyType({})) -> None:
        """Hold `tools`."""
        self.tools = dict(tools)
        self.digest: str | None = None
        self.triggers: Mapping[str, TriggerRule] = MappingProxyType({})

    def for_tool(self, server: str, tool: str, user_id: str = "", tenant: str = "") -> ToolRules:  # noqa: ARG002
        """Return the rules for a tool; values given this way are the same for everybody."""
        return self.tools.get((server, tool), UNLISTED)

    def for_user(self, user_id: str, tenant: str = "") -> UserRules:  # noqa: ARG002  nothing is declared for users
        """Return nothing: values given this way are about tools."""
        return _NOBODY


def with_user(tool: ToolRules, user: UserRules) -> ToolRules:
    """Return the rules of a tool with a user's own conditions added, and the measures that those read (R-60)."""
    if not user.conditions:
        return tool
    return msgspec.structs.replace(
        tool,
        conditions=(*tool.conditions, *user.conditions),
        measures={**user.measures, **tool.measures},  # a name that the tool's own rules use keeps its meaning
    )


RulesGiven = str | Path | Rules | RuleSource | ByTool | None
"""Rules as callers give them: a file or folder that is read again when it changes, a set of rules, a callable that
returns the rules in force, values by `(server, tool)`, or none."""


def rules_source(given: RulesGiven) -> RuleSource:
    """Return what is asked for the rules in force. Raises RulesError for files that cannot be loaded."""
    if isinstance(given, str | Path):
        from preflight.rules import LiveRules  # noqa: PLC0415  CEL and YAML only where rules are used

        return LiveRules(given).current
    if callable(given):
        return given
    if given is None or isinstance(given, Mapping):
        fixed = FixedRules(given or {})
        return lambda: fixed
    return lambda: given
