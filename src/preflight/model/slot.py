"""Slots and what the lookup made of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec
from msgspec import UNSET

from preflight.model.evidence import Evidence

Source = Literal["user_answer", "instruction", "pre_set_data", "measured_data", "prior_state"]
Status = Literal["known", "null", "unknown"]
Route = Literal["ask_user", "system_lookup", "definition_repair"]

SOURCES: tuple[Source, ...] = (  # the order in which they are searched
    "user_answer",
    "instruction",
    "pre_set_data",
    "measured_data",
    "prior_state",
)


class Slot(msgspec.Struct, frozen=True, gc=False):
    """One value that must be confirmed for this call.

    `name` is the property's name at the root and its JSON Pointer without the leading slash below it
    (`recipient/iban`, `items/0/sku`, R-33); `path` is the same as keys and indexes. `schema` is the
    effective JSON Schema of the value, its local references inlined. `claim` is what the model proposes, or UNSET.
    `element` names the array's element that the value belongs to, where the model alone proposed that there is one:
    the user may say that there is none (R-46). A `placed` element has a place of its own in the array: there may be
    none only where none is kept behind it.
    """

    name: str
    path: tuple[str | int, ...]
    schema: Mapping[str, object]
    required: bool = True
    nullable: bool = False
    claim: object = UNSET
    element: str | None = None
    placed: bool = False


class FieldState(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What is recorded of one slot (R-70). `value` is there only when the slot is known or null.

    `mentions` are the user's own earlier words that come near (R-51); `choices` the measured rows that the
    user's words select when they select several (R-58).
    """

    name: str
    status: Status
    source: Source | None
    origin_source: str | None
    resolved_at: str
    value: object = UNSET
    origin: str | None = None
    evidence: Evidence | None = None
    note: str | None = None
    pending_at_trigger: bool = False
    route: Route | None = None
    lookup_failed: bool = False
    mentions: tuple[Evidence, ...] = ()
    choices: tuple[object, ...] = ()

    @property
    def settled(self) -> bool:
        """Known, or known to be absent."""
        return self.status != "unknown"


class DroppedClaim(msgspec.Struct, frozen=True, gc=False):
    """A proposed value that is not sent, and why (R-36)."""

    name: str
    value: object
    reason: str


class BranchProblem(msgspec.Struct, frozen=True, gc=False):
    """Alternatives of a schema among which what is known chose none, or too many (R-35).

    `options` lists each alternative by the names of the slots it needs.
    """

    at: str
    kind: Literal["branch_unresolved", "branch_conflict"]
    options: tuple[tuple[str, ...], ...]


class Unsupported(msgspec.Struct, frozen=True, gc=False):
    """Why a schema cannot be turned into slots (R-34): `at` is a JSON Pointer into it."""

    at: str
    what: str


__all__ = [
    "SOURCES",
    "BranchProblem",
    "DroppedClaim",
    "FieldState",
    "Route",
    "Slot",
    "Source",
    "Status",
    "Unsupported",
]
