"""How near a field's own words stand to a mention, and what is counted there (R-54)."""

from __future__ import annotations

from preflight.grounding.field import Field
from preflight.grounding.place import Place
from preflight.grounding.words import cue_key
from preflight.model.evidence import Evidence

_REACH = 5
_FAR = 0.35
_LEADING = frozenset(("to", "from"))


def score(field: Field, found: Evidence, place: Place, least: int = 1) -> float:
    """The sum of the field's words near the mention, each by its weight over its distance.

    A word beyond a comma or the end of a sentence counts for about a third. `to` and `from` name what
    follows them. Words of less weight than `least` are left out (3: the name's own words only).
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
            weight = field.cues.get(cue_key(index.words[at]), 0) if 0 <= at < len(index.words) else 0
            if weight >= least and not (at > last and index.words[at] in _LEADING):
                start, end = index.span(at)
                gap = text[end : found.start] if start < found.start else text[found.end : start]
                total += weight / step * (_FAR if any(char in ",.;!?\n" for char in gap) else 1.0)
    return total
