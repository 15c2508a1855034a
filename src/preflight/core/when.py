"""When a run is to happen: a slot of the fixed checklist, settled before anything is scheduled or done (R-81).

A run that the words call deferred has the slot. So has an order that seems to mean now, while its words name a time
that no value of the call takes up: it may be the time to act, and nobody guesses. The other way round, a run whose only
time is a value of the call ("book it on Friday", with a field for the day) is to be done now (decision 0127).
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Final

from preflight.core.lookup import located
from preflight.core.needs import Failed, Need
from preflight.core.schema import Plan
from preflight.model.checklist import WHEN_CASES, Fixed, WhenCase
from preflight.model.evidence import Evidence, Located, NotGrounded
from preflight.model.instruction import Segment
from preflight.model.json_value import is_object
from preflight.model.request import Request
from preflight.model.slot import FieldState, Slot
from preflight.model.trigger import When

FORMS: Final = (
    "`now`; or a time with its offset, like `2026-12-04T09:00:00+09:00`; or a recurrence, as cron text or RRULE, with "
    "`until` and a time or `until cancelled`; or `event` or `condition` with a name that the rules declare"
)
"""How a time to run is answered: the description of its slot, and the only one that no tool wrote."""
_SCHEMA: Final[Mapping[str, object]] = {"type": "string", "minLength": 1, "maxLength": 500, "description": FORMS}


def slot_of(plan: Plan) -> Slot:
    """Return the slot under which the time to run is asked for; no property of the tool has its name (R-16)."""
    name = "when"
    while name in plan.declared:
        name = f"preflight:{name}"
    return Slot(name, (name,), _SCHEMA)


def settle(
    request: Request, fixed: Fixed, slot: Slot, fields: tuple[FieldState, ...], *, finds_unused: bool
) -> Generator[Need, object, When | FieldState | None]:
    """Find out when the run is to happen, from the user's answer or else their words; never guess (R-1, R-81).

    None means now. `fields` are the slots as they were settled; `finds_unused` says that a hook finds the times in
    the words that none of them takes up.
    """
    case = fixed.c1_when_case
    assert case is not None  # noqa: S101  R-22: a run whose case is open goes no further
    given = request.user_answers.get(slot.name)
    if given is not None:
        return _read(request, slot, (yield Need("read_trigger", (given, request.utterance, None))), None)
    if case == "immediate" or (case == "scheduled" and finds_unused):
        left = (yield from _unused(request, fixed, slot, fields)) if finds_unused else None
        if left is None or left.lookup_failed or case == "immediate":
            return left
    return (yield from _from_words(request, case, slot))


def _unused(
    request: Request, fixed: Fixed, slot: Slot, fields: tuple[FieldState, ...]
) -> Generator[Need, object, FieldState | None]:
    """Look for words that may say when to act and that no value takes up; None where there are none."""
    found = yield Need("extract_unused_time", (request, fixed, fields))
    if found is None:
        return None
    place = None if type(found) is Failed else located(found)
    if place is None:
        return _failed(request, slot, "extract_unused_time")
    evidence = _evidence(request.segments or (), place)
    return _unknown(request, slot, NotGrounded("time_unused", () if evidence is None else (evidence,)))


def _from_words(request: Request, case: WhenCase, slot: Slot) -> Generator[Need, object, When | FieldState | None]:
    named = yield Need("extract_trigger", (request.utterance,))
    if type(named) is NotGrounded or named is None:
        return _unknown(request, slot, named or NotGrounded("when_not_said"))
    if type(named) is not Located and not is_object(named):  # it raised, or returned garbage
        return _failed(request, slot, "extract_trigger")
    place = located(named)
    evidence = None if place is None else _evidence(request.segments or (), place)
    if place is None or evidence is None:
        return _unknown(request, slot, NotGrounded("when_not_said"))
    return _read(request, slot, (yield Need("read_trigger", (place.value, request.utterance, case))), evidence)


def _read(request: Request, slot: Slot, read: object, evidence: Evidence | None) -> When | FieldState | None:
    """Take what became of a trigger's text: the trigger, said back absolutely, or why it is none."""
    if type(read) is NotGrounded:
        return _unknown(request, slot, read)
    parts = ("case", "trigger", "said", "first")
    case, trigger, said, first = (read.get(part) if is_object(read) else None for part in parts)
    if case == "immediate" and evidence is None:
        return None
    well_formed = is_object(trigger) and type(said) is str and type(first) in (str, type(None))
    if not well_formed or case not in WHEN_CASES or case == "immediate":
        return _failed(request, slot, "read_trigger")
    return When(case, trigger, said, "user_answer" if evidence is None else "instruction", first, evidence)  # type: ignore[arg-type]


def _evidence(segments: tuple[Segment, ...], place: Located) -> Evidence | None:
    """Look at the place that the hook names: it must lie in the user's own words (R-3, R-41)."""
    index, start, end = place.segment_index, place.start, place.end
    if any(type(number) is not int for number in (index, start, end)) or not 0 <= index < len(segments):
        return None
    segment = segments[index]
    if not segment.grounds or not 0 <= start < end <= len(segment.text):
        return None
    return Evidence(index, start, end, segment.text[start:end], "trigger", str(place.value), "derived")


def _unknown(request: Request, slot: Slot, why: NotGrounded) -> FieldState:
    return FieldState(
        slot.name, "unknown", None, None, request.utterance.now,
        note=why.reason, route="ask_user", mentions=why.mentions,
    )  # fmt: skip


def _failed(request: Request, slot: Slot, hook: str) -> FieldState:
    return FieldState(
        slot.name, "unknown", None, None, request.utterance.now,
        note=f"{hook} failed", route="definition_repair", lookup_failed=True,
    )  # fmt: skip
