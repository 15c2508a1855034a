"""After the search: the field policy may demote or postpone, the schema may refuse, nothing may promote (R-44)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import UNSET

from preflight.model.json_value import is_object, same_value
from preflight.model.slot import FieldState, Route

_FOUND = ("value", "source", "origin_source")


def ruled(found: FieldState, answer: object) -> FieldState:
    """Read what `apply_field_policy` returned: the record as it came, or one that says less."""
    if answer is found:
        return found
    if type(answer) is FieldState:
        answer = msgspec.structs.asdict(answer)
    if not is_object(answer):
        return _broken(found)
    name = answer.get("name")
    if type(name) is not str or name != found.name:  # the type first: a look-alike could answer as it likes
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


def validated(state: FieldState, refusal: object) -> FieldState:
    """Read what `validate_field_schema` returned: only None passes, a text is a reason."""
    if refusal is None:
        return state
    if type(refusal) is str:
        return demoted(state, refusal, "ask_user")
    return demoted(state, "validate_field_schema failed", "definition_repair")


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
