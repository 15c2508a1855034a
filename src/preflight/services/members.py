"""Members: a claim that stands in a measured closed set the adopter accepts any member of (R-3, R-7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import UNSET

from preflight.errors import PreflightError
from preflight.model.evidence import NotGrounded
from preflight.model.json_value import same_value
from preflight.model.pointer import descend, steps
from preflight.model.request import Request
from preflight.model.rules import MembersRule
from preflight.model.slot import Slot
from preflight.services.measuring import Reader, rows_at

_Row = tuple[str, object]


def find(
    rules: Sequence[MembersRule], slot: Slot, request: Request, reader: Reader, known: Mapping[str, object]
) -> dict[str, object] | NotGrounded | None:
    """Look the claim up in the measured sets; return it as measured there, with the places it stands at.

    None when it is no member, or a list of which one element is none; `NotGrounded` when no set can be measured.
    """
    if slot.claim is UNSET or not rules:
        return None
    rows, fault = _measured(rules, request, reader, known)
    if not rows:
        return NotGrounded(fault) if fault else None
    wanted = slot.claim if isinstance(slot.claim, tuple) else (slot.claim,)
    found = [next(((place, value) for place, value in rows if same_value(value, each)), None) for each in wanted]
    if not wanted or any(each is None for each in found):
        return None
    values, places = tuple(each[1] for each in found if each), [each[0] for each in found if each]
    value = values if isinstance(slot.claim, tuple) else values[0]
    return {"valid": True, "value": value, "by": ", ".join(dict.fromkeys(places))}


def _measured(
    rules: Iterable[MembersRule], request: Request, reader: Reader, known: Mapping[str, object]
) -> tuple[list[_Row], str | None]:
    """Measure every set that can be measured; the last fault says why where none can."""
    rows: list[_Row] = []
    fault = None
    for rule in rules:
        try:
            reading = reader.read(request.rules.measures[rule.measure], known)
        except (PreflightError, OSError, ValueError, KeyError) as problem:
            fault = f"not measured: {problem}"
            continue
        rows += _members(reading["value"], rule, str(reading["by"]))
    return rows, fault


def _members(value: object, rule: MembersRule, by: str) -> Iterable[_Row]:
    for place, row in rows_at(value, rule.rows):
        member = descend(row, steps(rule.value))
        if member is not UNSET:
            yield f"{by}#{place}{rule.value}", member
