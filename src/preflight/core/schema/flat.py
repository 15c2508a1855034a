"""The fast path: a plain object whose every property is one slot."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any

from msgspec import UNSET

from preflight.core.schema.plan import Plan
from preflight.core.schema.shape import ALLOWED, NOT_CONFIRMED, OBJECTS, UNDECLARED, Shape, Walked
from preflight.model.json_value import thaw
from preflight.model.slot import DroppedClaim, FieldState, Slot


def walk_flat(plan: Plan, shape: Shape) -> Generator[Slot, FieldState, Walked]:
    """Walk a plan whose `flat` is true; same results as the general walk."""
    claimed = shape.claim(())
    claims: Mapping[str, object] = claimed if isinstance(claimed, OBJECTS) else {}
    arguments: dict[str, Any] = {}
    fields: list[FieldState] = []
    for slot in plan.required:
        name = slot.name
        state = yield _with_claim(slot, claims[name]) if name in claims else slot
        fields.append(state)
        if state.status == "known":
            value = state.value
            arguments[name] = value if type(value) is str else thaw(value)
        elif state.status == "null" and slot.nullable:
            arguments[name] = None
    if not plan.optional and claims.keys() <= plan.declared:
        return Walked(tuple(fields), (), arguments)
    walked = yield from _walk_optional(plan, shape, claims, arguments)
    return Walked(tuple(fields), *walked)


def _with_claim(slot: Slot, claim: object) -> Slot:
    return Slot(slot.name, slot.path, slot.schema, slot.required, slot.nullable, claim)


_Rest = tuple[tuple[FieldState, ...], dict[str, Any], tuple[DroppedClaim, ...], tuple[DroppedClaim, ...]]


def _walk_optional(
    plan: Plan, shape: Shape, claims: Mapping[str, object], arguments: dict[str, Any]
) -> Generator[Slot, FieldState, _Rest]:
    extra: list[FieldState] = []
    dropped = [DroppedClaim(name, value, UNDECLARED) for name, value in claims.items() if name not in plan.declared]
    allowed: list[DroppedClaim] = []
    for slot in plan.optional:
        name = slot.name
        claim = claims.get(name, UNSET)
        if claim is UNSET and shape.offered(slot.path) is UNSET:
            continue
        state = yield slot if claim is UNSET else _with_claim(slot, claim)
        if state.status != "unknown":
            extra.append(state)
            if state.status == "known" or slot.nullable:
                arguments[name] = thaw(state.value) if state.status == "known" else None
            continue
        policy = "ask" if claim is UNSET else shape.optional(name)
        if policy == "drop":
            dropped.append(DroppedClaim(name, claim, NOT_CONFIRMED))
        elif policy == "allow":
            allowed.append(DroppedClaim(name, claim, ALLOWED))
            arguments[name] = thaw(claim)
        else:  # anything but the two exact words asks
            extra.append(state)
    return tuple(extra), arguments, tuple(dropped), tuple(allowed)


__all__ = ["walk_flat"]
