"""A tool under the linter: its definition, and what the rules ask of it again and again, worked out once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from preflight.core.schema import Plan, compile_schema
from preflight.lint.catalogue import RULES
from preflight.lint.finding import Finding, Level
from preflight.lint.names import Act, act_of
from preflight.lint.places import Value, texts, values
from preflight.model.json_value import is_object
from preflight.model.slot import Unsupported
from preflight.model.tool import Tool


class Subject:
    """One tool as the rules look at it. `declared` is the object its server listed, where it is at hand."""

    def __init__(self, tool: Tool, declared: object = None) -> None:
        """Look at `tool`; without `declared`, at the parts of it that a `Tool` keeps."""
        self.tool = tool
        self.declared: Mapping[str, object] = declared if is_object(declared) else _parts(tool)

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """Every value it declares."""
        return values(self.tool.input_schema)

    @cached_property
    def compiled(self) -> Plan | Unsupported:
        """Its slots, or why it has none (R-34)."""
        return compile_schema(self.tool.input_schema)

    @cached_property
    def texts(self) -> tuple[tuple[str, str], ...]:
        """Every text of the definition, with its pointer."""
        return tuple(texts(self.declared))

    @cached_property
    def act(self) -> Act | None:
        """What its name says that it does."""
        return act_of(self.tool.name)

    def hint(self, name: str) -> bool | None:
        """Return a hint of the annotations; None when it is absent or not a boolean."""
        hints = self.tool.annotations
        value = hints.get(name) if is_object(hints) else None
        return value if isinstance(value, bool) else None

    @property
    def acts(self) -> bool:
        """Whether it is to be looked at as a tool that acts: unless hint and name agree that it reads.

        A silent hint follows the name, a silent name follows the hint (R-65: either may only raise).
        """
        read_only = self.hint("readOnlyHint")
        if read_only is None:
            return self.act != "read"
        return not (read_only and self.act in ("read", None))

    def find(self, rule: str, pointer: str, message: str, do: str, level: Level | None = None) -> Finding:
        """Return a finding about this tool; the rule's own level unless `level` says otherwise."""
        grave = level or RULES[rule].level
        return Finding(rule, grave, self.tool.server, self.tool.name, pointer, message, do)


def _parts(tool: Tool) -> Mapping[str, object]:
    parts = {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "annotations": tool.annotations,
        "_meta": tool.meta,
    }
    return {key: value for key, value in parts.items() if value is not None}


__all__ = ["Subject"]
