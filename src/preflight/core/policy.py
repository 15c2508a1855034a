"""After the search: the field policy may demote or postpone, the schema may refuse, nothing may promote (R-44)."""

from __future__ import annotations

from collections.abc import Generator, Mapping

import msgspec
from msgspec import UNSET

from preflight.core.needs import Failed, Need
from preflight.model.json_value import same_value
from preflight.model.request import Request
from preflight.model.rules import FieldRules
from preflight.model.slot import FieldState, Route, Slot

_FOUND = ("value", "source", "origin_source")


def apply_policy(
    found: FieldState, slot: Slot, request: Request, rules: FieldRules
) -> Generator[Need, object, FieldState]:
    """Run the field policy and the slot's schema over what was found."""
    answer = yield Need("apply_field_policy", (found, slot, request, rules), slot.name)
    state = found if answer is found else _ruled(found, answer)
    if state.status != "known":
        return state
    refusal = yield Need("validate_field_schema", (slot, state.value, request), slot.name)
    if refusal is None:
        return state  # only None passes
    if type(refusal) is str:
        return demoted(state, refusal, "ask_user")
    return demoted(state, "validate_field_schema failed", "definition_repair")


def _ruled(found: FieldState, answer: object) -> FieldState:
    """Read what the policy returned: the record as it came, or one that says less."""
    if type(answer) is FieldState:
        answer = {name: getattr(answer, name) for name in FieldState.__struct_fields__}
    if not isinstance(answer, Mapping) or answer.get("name") != found.name:
        return _broken(found)
    status, note, pending = answer.get("status"), answer.get("note"), answer.get("pending_at_trigger", False)
    if type(status) is not str or type(pending) is not bool:
        return _broken(found)
    note = note if type(note) is str else None
    if status == "unknown":
        if found.status == "unknown":
            return msgspec.structs.replace(found, note=note, pending_at_trigger=pending)
        return demoted(found, note, "ask_user", pending=pending)
    if status != found.status or not _same(found, answer):
        return _broken(found)  # never promoted, and what was found is not changed
    return msgspec.structs.replace(found, note=note) if note != found.note else found


def _same(found: FieldState, answer: Mapping[str, object]) -> bool:
    return all(same_value(answer.get(name, UNSET), getattr(found, name)) for name in _FOUND)


def _broken(found: FieldState) -> FieldState:
    return demoted(found, "apply_field_policy failed", "definition_repair")


def demoted(state: FieldState, note: str | None, route: Route, *, pending: bool = False) -> FieldState:
    """Make a slot unknown; its value leaves the record with its source."""
    return FieldState(
        state.name, "unknown", None, None, state.resolved_at,
        note=note, route=route, pending_at_trigger=pending,
    )  # fmt: skip


