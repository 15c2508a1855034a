"""What the adopter's rules say about one tool, as the core reads it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

import msgspec

from preflight.model.slot import SOURCES, Source

Effect = Literal["read", "reversible", "irreversible"]
Unconfirmed = Literal["drop", "ask", "allow"]


class FieldRules(msgspec.Struct, frozen=True, gc=False):
    """Rules for one slot.

    `sources` narrows where it may be looked up (R-45). `unconfirmed` says what happens to an optional
    claim that no source confirms (R-36); None follows the tool's effect. `carry_seconds` allows the value
    of a prior run to be inherited for so long (R-42). `pending_at_trigger` lets it stay open until a
    deferred run fires (R-29).
    """

    sources: tuple[Source, ...] = SOURCES
    unconfirmed: Unconfirmed | None = None
    carry_seconds: int | None = None
    pending_at_trigger: bool = False


class ToolRules(msgspec.Struct, frozen=True, gc=False):
    """Rules for one tool. A tool nobody listed is irreversible (R-65)."""

    effect: Effect = "irreversible"
    fields: Mapping[str, FieldRules] = MappingProxyType({})
    constants_are_known: bool = False
    value_asks: int = 2
    decision_seconds: int = 60

    def field(self, name: str) -> FieldRules:
        """Return the rules for a slot, or the defaults."""
        return self.fields.get(name, _FIELD)

    def optional(self, name: str) -> Unconfirmed:
        """Return what to do with an optional claim that no source confirms (R-36)."""
        return self.field(name).unconfirmed or ("ask" if self.effect == "irreversible" else "drop")


_FIELD = FieldRules()
UNLISTED = ToolRules()
