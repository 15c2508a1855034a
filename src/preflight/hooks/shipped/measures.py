"""How a program declares a measurement of a field: by calling a named MCP read tool (R-15, R-102)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from preflight.model.rules import MeasureRule


class Measure(msgspec.Struct, frozen=True):
    """Which read tool is called with what, and where the value stands in its result.

    `pointer` is a JSON Pointer into the result's structured content, or into its text read as JSON;
    `arguments` are fixed, except `{"slot": NAME}`, which takes the confirmed value of a slot.
    """

    server: str
    tool: str
    pointer: str = ""
    arguments: Mapping[str, object] = MappingProxyType({})

    def as_rule(self, name: str) -> MeasureRule:
        """Return the same as a rule named `name`."""
        return MeasureRule(name, "mcp", self.server, self.tool, arguments=self.arguments, pointer=self.pointer)
