"""Lists in the user's words: whether an enumeration goes on beyond the items that a claim has (R-52).

An element that was left out leaves no trace in the evidence of the others, so the text round them is read.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence

from preflight.grounding.place import Place
from preflight.model.evidence import Evidence

_BETWEEN = re.compile(r"['\"”’]?\s?(?:,|;|&|and|or|und|y|et|와|과|、|,\s?(?:and|or))\s?['\"“‘]?", re.IGNORECASE)
_NEXT_WORD = re.compile(
    r"['\"”’]?(?:\s?,\s?(?:and\s)?|\s(?:and|&|und|et)\s)['\"“‘]?[^\W\d_]+['\"”’]?\s?(?=$|[.!?\n;,])"
)
_NEXT_GAP = re.compile(r"\s?(?:,|&|and|und|y|et|、|,\s?and)\s?$", re.IGNORECASE)
_NUMBERS = frozenset(("number", "number_words", "number_scaled"))


def goes_on(chosen: Sequence[Evidence], places: Mapping[int, Place]) -> bool:
    """Whether one more item of the same enumeration stands right before or right after the chosen ones."""
    first, last = min(chosen, key=_order), max(chosen, key=_order)
    if first.segment_index != last.segment_index:
        return False
    place = places[first.segment_index]
    if all(found.normaliser in _NUMBERS for found in chosen):
        return _more_numbers(chosen, place)
    return len(chosen) > 1 and _one_row(chosen, place) and _NEXT_WORD.match(place.index.text, last.end) is not None


def _order(found: Evidence) -> tuple[int, int]:
    return found.segment_index, found.start


def _one_row(chosen: Sequence[Evidence], place: Place) -> bool:
    row = sorted(chosen, key=_order)
    return all(_BETWEEN.fullmatch(place.index.text, one.end, two.start) for one, two in itertools.pairwise(row))


def _more_numbers(chosen: Sequence[Evidence], place: Place) -> bool:
    own = {(found.start, found.end) for found in chosen}
    if len(own) > 1 and not _one_row(chosen, place):
        return False
    first, last = min(start for start, _ in own), max(end for _, end in own)
    text = place.index.text
    for start, end, _ in place.index.mentions("number"):
        if start >= last and start - last < 12 and _NEXT_GAP.fullmatch(text, last, start):
            return True
        if end <= first and first - end < 12 and _NEXT_GAP.fullmatch(text, end, first):
            return True
    return False
