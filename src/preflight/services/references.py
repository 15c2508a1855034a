"""References: the user's words select a measured value, as "the landlord" selects a row of the contacts (R-58)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import UNSET

from preflight import grounding
from preflight.grounding import Context, Target
from preflight.model.evidence import Located, NotGrounded
from preflight.model.json_value import same_value
from preflight.model.pointer import descend, steps
from preflight.model.request import Request
from preflight.model.rules import MeasureRule, ReferenceRule
from preflight.model.slot import Slot
from preflight.services.measuring import Reader, rows_at

_TEXT: Mapping[str, object] = {"type": "string"}


def resolve(
    reference: ReferenceRule, slot: Slot, request: Request, reader: Reader, known: Mapping[str, object]
) -> dict[str, object] | NotGrounded | None:
    """Return the measured value that the user's words select, as a measurement with the words that select it.

    One selected row: `{valid, value, by, selected_by}`. Several: `NotGrounded` with the choices, flat, in
    the provider's order; so it is where the claim is another value, which no word of the user's states. None: no
    row is selected, or the words that should select one are not the user's.
    """
    measure = request.rules.measures[reference.measure]
    if reference.argument is not None:
        return _by_argument(reference, slot, request, reader, (measure, known))
    found = reader.read(measure, known)
    rows = rows_at(found["value"], reference.rows)
    selected = [(row, place) for row in rows if (place := _spoken(_label(row[1], reference), request))]
    if len(selected) == 1:
        return _agreed(_measured(*selected[0], reference, found), slot, request)
    choices = tuple(_label(row, reference) for (_, row), _ in selected)
    return NotGrounded("several_match", choices=choices) if selected else None


def _by_argument(
    reference: ReferenceRule,
    slot: Slot,
    request: Request,
    reader: Reader,
    declared: tuple[MeasureRule, Mapping[str, object]],
) -> dict[str, object] | NotGrounded | None:
    """Ask the provider with the user's own words: the claim counts as words only where the user said it."""
    measure, known = declared
    words = _spoken(slot.claim, request)
    if words is None or reference.argument is None:
        return None
    arguments = {**measure.arguments, reference.argument: slot.claim}
    found = reader.read(msgspec.structs.replace(measure, arguments=arguments), known)
    rows = rows_at(found["value"], reference.rows)
    if len(rows) == 1:
        return _measured(rows[0], words, reference, found)  # the claim is what selected it
    choices = tuple(_label(row, reference) for _, row in rows)
    return NotGrounded("several_match", choices=choices) if rows else None


def _agreed(measured: dict[str, object] | None, slot: Slot, request: Request) -> dict[str, object] | NotGrounded | None:
    """Take the selected value where the claim is it, is the words, or is none: a label may just be mentioned."""
    if measured is None or slot.claim is UNSET or slot.claim is None:
        return measured
    agree = same_value(slot.claim, measured["value"]) or _spoken(slot.claim, request) is not None
    return measured if agree else NotGrounded("another_selected")


def _label(row: object, reference: ReferenceRule) -> object:
    return descend(row, steps(reference.match))


def _spoken(text: object, request: Request) -> Located | None:
    """Return where the user said `text`, if they did."""
    if not isinstance(text, str) or not text.strip() or not request.segments:
        return None
    context = Context.of(request.utterance, request.said_at)
    target = Target("reference", _TEXT, text, role="option")  # a label: case and spacing do not matter
    finding = grounding.ground_call(request.segments, [target], context)["reference"]
    words = finding.evidence if finding.state == "known" else None
    return None if words is None else Located(text, words.segment_index, words.start, words.end)


def _measured(
    selected: tuple[str, object], words: Located, reference: ReferenceRule, found: Mapping[str, object]
) -> dict[str, object] | None:
    at, row = selected
    value = descend(row, steps(reference.value))
    if value is UNSET:
        return None
    return {**found, "value": value, "by": f"{found['by']}#{at}{reference.value}", "selected_by": words}
