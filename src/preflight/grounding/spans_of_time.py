"""Start and end of one stretch of time: the end that a stated length gives, and ends before starts (R-51)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

import msgspec

from preflight.grounding.field import Field
from preflight.grounding.place import Place
from preflight.grounding.quantities import Quantity
from preflight.grounding.read_date import Moment, parse_claim
from preflight.model.evidence import Evidence, Located

if TYPE_CHECKING:
    from preflight.grounding.call import Work

_STARTS = frozenset("start from begin checkin departure pickup arrive since after".split())
_ENDS = frozenset("end to until till checkout return dropoff finish before".split())
_ANY_DAY = date(2000, 1, 1)


def _moment(work: Work) -> Moment | None:
    value = work.leaf.value
    return parse_claim(value, work.leaf.field) if isinstance(value, str) else None


def _end_like(work: Work) -> bool:
    words = work.leaf.field.words
    return not _ENDS.isdisjoint(words) or ("out" in words and "check" in words)


def _start_like(work: Work) -> bool:
    words = work.leaf.field.words
    return not _STARTS.isdisjoint(words) or ("in" in words and "check" in words)


def ends(every: Sequence[Work], places: Sequence[Place]) -> None:
    """An end that was not found is derived when a start and a length that leads to it were said."""
    missing = [
        work
        for work in every
        if work.chosen is None and not work.usable and _end_like(work) and work.leaf.field.grounding != "stated"
    ]
    starts = [work for work in every if work.chosen and _start_like(work)] if missing else []
    for work in missing:
        for start in starts:
            if found := _by_length(work, start, places):
                work.chosen = found
                break


def _by_length(work: Work, start: Work, places: Sequence[Place]) -> Evidence | None:
    length = _between(_moment(start), _moment(work))
    if length is None or length <= timedelta(0) or start.chosen is None:
        return None
    for place in places:
        for quantity in () if place.carried else place.index.quantities:
            if _lasts(quantity, length):
                return _end(str(work.leaf.value), start.chosen, quantity, place)
    return None


def _lasts(quantity: Quantity, length: timedelta) -> bool:
    return quantity.unit.dimension == "time" and _seconds(quantity) == Decimal(int(length.total_seconds()))


def _end(value: str, start: Evidence, quantity: Quantity, place: Place) -> Evidence:
    own = place.evidence(quantity.start, quantity.end, "duration", f"{_seconds(quantity)} s", pointer="#duration")
    lean = msgspec.structs.replace(start, pointer="#start")
    return place.evidence(
        own.start, own.end, "end_of_duration", value, "derived", "start_plus_duration", parts=(lean, own)
    )


def supports_length(
    field: Field, value: str, start: Evidence, start_value: object, located: Located, places: Mapping[int, Place]
) -> Evidence | None:
    """An end whose start was supported: the named span must hold the length between them."""
    first = parse_claim(start_value, field) if isinstance(start_value, str) else None
    length = _between(first, parse_claim(value, field))
    place = places[located.segment_index]
    for quantity in place.index.quantities if length and length > timedelta(0) else ():
        if (quantity.start, quantity.end) == (located.start, located.end) and _lasts(quantity, length or timedelta(0)):
            return _end(value, start, quantity, place)
    return None


def _seconds(quantity: Quantity) -> Decimal:
    return quantity.value * quantity.unit.factor


def _between(start: Moment | None, end: Moment | None) -> timedelta | None:
    if start is None or end is None or start.offset != end.offset:
        return None
    if start.day and end.day and (start.clock is None) == (end.clock is None):
        midnight = time(0)
        return datetime.combine(end.day, end.clock or midnight) - datetime.combine(start.day, start.clock or midnight)
    if start.clock and end.clock and start.day is None and end.day is None:
        return datetime.combine(_ANY_DAY, end.clock) - datetime.combine(_ANY_DAY, start.clock)
    return None


def check_order(every: Sequence[Work]) -> None:
    """A start after its end is a swap: both are asked about."""
    known = [work for work in every if work.chosen]
    for start in (work for work in known if _start_like(work)):
        for end in (work for work in known if _end_like(work)):
            length = _between(_moment(start), _moment(end))
            if length is not None and length < timedelta(0) and (_moment(start) or Moment()).day:
                for work in (start, end):
                    if work.chosen:
                        work.refused.append(("swapped", work.chosen))
                        work.chosen, work.reason = None, "swapped"
