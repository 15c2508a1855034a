"""How near a field's own words stand to a mention, and what is counted there (R-54)."""

from __future__ import annotations

from preflight.grounding.field import Field
from preflight.grounding.place import Place
from preflight.grounding.words import STOP, stem
from preflight.model.evidence import Evidence

_REACH = 5
_FAR = 0.35


def score(field: Field, found: Evidence, place: Place) -> float:
    """The sum of the field's words near the mention, each by its weight over its distance.

    A word beyond a comma or the end of a sentence counts for about a third.
    """
    index = place.index.words
    text = place.index.text
    first = index.at(found.start)
    last = first
    while last + 1 < len(index.words) and index.span(last + 1)[0] < found.end:
        last += 1
    total = 0.0
    for step in range(1, _REACH + 1):
        for at in (first - step, last + step):
            weight = field.cues.get(stem(index.words[at])) if 0 <= at < len(index.words) else None
            if weight:
                start, end = index.span(at)
                gap = text[end : found.start] if start < found.start else text[found.end : start]
                total += weight / step * (_FAR if any(char in ",.;!?\n" for char in gap) else 1.0)
    return total


def inside_score(field: Field, found: Evidence) -> float:
    """Whether the mention itself holds one of the field's words."""
    return float(sum(field.cues.get(stem(word), 0) for word in found.matched_text.lower().split() if word not in STOP))
