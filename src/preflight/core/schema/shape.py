"""What the walker asks its caller, and what it hands back."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Literal, Protocol

import msgspec

from preflight.model.pointer import Path
from preflight.model.slot import BranchProblem, DroppedClaim, FieldState, Unsupported

OBJECTS = (dict, MappingProxyType)
"""How a JSON object may be held: plain, or frozen (`preflight.model.json_value.freeze`)."""
ARRAYS = (list, tuple)
"""How a JSON array may be held."""

Policy = Literal["drop", "ask", "allow"]

NOT_CONFIRMED = "not confirmed at any source"
UNDECLARED = "not declared by the tool"
NOT_CHOSEN = "belongs to an alternative or a case that does not apply"
NO_SUCH_ELEMENT = "the user said that there is none"
ALLOWED = "sent without confirmation, as the rules allow"


class Shape(Protocol):
    """What the walker may ask about structure: plain lookups, without side effects or errors.

    Objects and arrays may be plain (`dict`, `list`) or frozen (read-only mapping, `tuple`).
    """

    def claim(self, path: Path) -> object:
        """The model's proposal at `path`, or UNSET. Asked once, for `()`: a container's claim holds those below it."""
        ...

    def offered(self, path: Path) -> object:
        """What the user's answers or settings hold at `path` or inside a container they hold, or UNSET."""
        ...

    def optional(self, name: str) -> Policy:
        """What to do with the optional property `name` (a slot's name) whose claim is not confirmed (R-36)."""
        ...


class Walked(msgspec.Struct, frozen=True):
    """What a walk came to.

    `fields` are the required slots in the order of `required`, nested ones in place; `extra_fields` the
    optional ones that were looked up. `arguments` holds known and null values, and the `allowed` claims;
    never an undeclared property. `dropped` are claims left out, `branches` alternatives that were not
    settled. With `unsupported` set, nothing else counts.
    """

    fields: tuple[FieldState, ...] = ()
    extra_fields: tuple[FieldState, ...] = ()
    arguments: dict[str, Any] = {}
    dropped: tuple[DroppedClaim, ...] = ()
    allowed: tuple[DroppedClaim, ...] = ()
    branches: tuple[BranchProblem, ...] = ()
    unsupported: Unsupported | None = None


__all__ = [
    "ALLOWED",
    "ARRAYS",
    "NOT_CHOSEN",
    "NOT_CONFIRMED",
    "NO_SUCH_ELEMENT",
    "OBJECTS",
    "UNDECLARED",
    "Path",
    "Policy",
    "Shape",
    "Walked",
]
