"""What the walker asks its caller, and what it hands back."""

from __future__ import annotations

from typing import Any, Literal, Protocol

import msgspec

from preflight.model.slot import BranchProblem, DroppedClaim, FieldState, Unsupported

Path = tuple[str | int, ...]
Policy = Literal["drop", "ask", "allow"]

NOT_CONFIRMED = "not confirmed at any source"
UNDECLARED = "not declared by the tool"
NOT_CHOSEN = "belongs to an alternative or a case that does not apply"
ALLOWED = "sent without confirmation, as the rules allow"


class Shape(Protocol):
    """What the walker may ask about structure. Each method is a plain lookup: no side effects, no errors."""

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


__all__ = ["ALLOWED", "NOT_CHOSEN", "NOT_CONFIRMED", "UNDECLARED", "Path", "Policy", "Shape", "Walked"]
