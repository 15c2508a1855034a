"""One end of a range is no value: `between 100 and 120` leaves open which one (R-53)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from preflight.grounding.matching import claimed_spans, overlap
from preflight.grounding.place import Place
from preflight.grounding.rules import kind
from preflight.model.evidence import Evidence

if TYPE_CHECKING:
    from preflight.grounding.call import Work

_SIGN = r"[$€£¥₩₹]?"
_DASH = re.compile(rf"\s?[-–—~]\s?{_SIGN}")
_AND = re.compile(rf"\s?[€%]?(?:\s[^\W\d_]+)?\s(?:and|und|y|et)\s{_SIGN}", re.IGNORECASE)
_BETWEEN = re.compile(rf"\b(?:between|zwischen|entre)\s{_SIGN}$", re.IGNORECASE)
_ENDS = frozenset(
    "min max minimum maximum lower upper low high least most from to start end since until range between".split()
)
_BEFORE = 24


def check(every: Sequence[Work], places: Sequence[Place]) -> None:
    """One end of a range is a value only where the call has a slot for the other end too, or the slot is for ends."""
    by_index = {place.segment_index: place for place in places}
    taken = [span for work in every if work.chosen for span in claimed_spans(work.chosen)]

    def is_end(found: Evidence) -> bool:
        other = _other_end(found, by_index[found.segment_index])
        return other is not None and not any(overlap((found.segment_index, *other), span) for span in taken)

    for work in every:
        found = work.chosen
        if found is None or kind(found) not in ("number", "date") or not _ENDS.isdisjoint(work.leaf.field.words):
            continue
        if is_end(found):
            work.refused.append(("ambiguous", found))
            work.chosen = next((other for other in work.usable if other is not found and not is_end(other)), None)
            work.reason = None if work.chosen else "ambiguous"


def _other_end(found: Evidence, place: Place) -> tuple[int, int] | None:
    mentions = place.index.mentions(kind(found))
    at = bisect_left(mentions, found.start, key=itemgetter(0))
    before = mentions[at - 1][:2] if at else None
    after = next((mention[:2] for mention in mentions[at : at + 3] if mention[0] >= found.end), None)
    if before and _is_range(place.index.text, before, (found.start, found.end)):
        return before
    return after if after and _is_range(place.index.text, (found.start, found.end), after) else None


def _is_range(text: str, first: tuple[int, int], last: tuple[int, int]) -> bool:
    if _DASH.fullmatch(text, first[1], last[0]):
        return True
    opened = _BETWEEN.search(text, max(0, first[0] - _BEFORE), first[0])
    return opened is not None and _AND.fullmatch(text, first[1], last[0]) is not None
