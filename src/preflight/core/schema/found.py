"""What the lookup of one place and everything below it came to."""

from __future__ import annotations

from dataclasses import dataclass, field

from msgspec import UNSET

from preflight.core.schema.shape import ALLOWED
from preflight.model.json_value import thaw
from preflight.model.slot import BranchProblem, DroppedClaim, FieldState, Slot


@dataclass(slots=True)
class Found:
    """One place of the payload after its lookup.

    `value` is the assembled value, or UNSET where there is none to send. `blocked` says that something
    the value needs is unknown, `known` that something in it is known. `loose` is the value with claims in
    the place of unknowns, made of `loans`; UNSET where a needed claim is missing.
    """

    name: str
    claim: object = UNSET
    value: object = UNSET
    blocked: bool = False
    known: bool = False
    loose: object = UNSET
    loans: list[DroppedClaim] = field(default_factory=list)
    fields: list[FieldState] = field(default_factory=list)
    extra: list[FieldState] = field(default_factory=list)
    dropped: list[DroppedClaim] = field(default_factory=list)
    allowed: list[DroppedClaim] = field(default_factory=list)
    branches: list[BranchProblem] = field(default_factory=list)

    def absorb(self, inner: Found) -> None:
        """Take over what a needed inner place found, its value aside."""
        self.blocked |= inner.blocked
        self.known |= inner.known
        self.loans += inner.loans
        self.fields += inner.fields
        self.extra += inner.extra
        self.dropped += inner.dropped
        self.allowed += inner.allowed
        self.branches += inner.branches


def of_slot(slot: Slot, state: FieldState) -> Found:
    """One slot's state as a `Found`. A null that the schema does not admit means: leave it out (R-46)."""
    found = Found(slot.name, slot.claim, fields=[state], known=state.status == "known")
    if state.status == "known":
        found.value = found.loose = thaw(state.value)
    elif state.status == "null":
        found.value = found.loose = None if slot.nullable else UNSET
    else:
        found.blocked = True
        if slot.claim is not UNSET:
            found.loose = thaw(slot.claim)
            found.loans = [DroppedClaim(slot.name, slot.claim, ALLOWED)]
    return found


__all__ = ["Found", "of_slot"]
