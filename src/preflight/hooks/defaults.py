"""The defaults that verify nothing. They exist for experiments; `strict=True` refuses them (R-102)."""

from __future__ import annotations

import msgspec

from preflight.hooks.protocol import Hook, inline
from preflight.model.request import Request
from preflight.model.slot import FieldState, Slot


@inline
def apply_field_policy(state: FieldState, slot: Slot, request: Request) -> FieldState:  # noqa: ARG001
    """Refuse what a prior run left; pass the rest (R-42)."""
    if state.source != "prior_state":
        return state
    return msgspec.structs.replace(state, status="unknown", note="the value of a prior run is not carried over")


@inline
def validate_field_schema(slot: Slot, value: object, request: Request) -> None:
    """Pass every value."""


@inline
def verify_user_checklist_item(item: object, request: Request) -> None:
    """Verify nothing."""


DEFAULTS: dict[str, Hook] = {
    "apply_field_policy": apply_field_policy,
    "validate_field_schema": validate_field_schema,
    "verify_user_checklist_item": verify_user_checklist_item,
}
