"""How near a field's own words stand to a mention, and what is counted there (R-54)."""

from __future__ import annotations

from preflight.grounding.field import Field
from preflight.grounding.place import Place
from preflight.model.evidence import Evidence

_REACH = 5
_FAR = 0.35
_LEADING = frozenset(("to", "from"))
_JOINING = frozenset("is are to of the a an be should named called".split())


def score(field: Field, found: Evidence, place: Place, least: int = 1) -> float:
    """The sum of the field's words near the mention, each by its weight over its distance.

    A word beyond a comma or the end of a sentence counts for about a third. `to` and `from` name what
    follows them. Words of less weight than `least` are left out (3: the name's own words only).
    """
    words = place.index.words
    keys, cues = words.keys, field.cues
    first, last = _row(found, place)
    total = 0.0
    for step in range(1, _REACH + 1):
        for at in (first - step, last + step):
            weight = cues.get(keys[at], 0) if 0 <= at < len(keys) else 0
            if weight >= least and not (at > last and words.words[at] in _LEADING):
                total += weight / step * _nearness(at, found, place)
    return total


def near(field: Field, found: Evidence, place: Place) -> bool:
    """Whether any of the field's words stands near at all."""
    keys, cues = place.index.words.keys, field.cues
    first, last = _row(found, place)
    around = (*keys[max(0, first - _REACH) : first], *keys[last + 1 : last + 1 + _REACH])
    return any(key in cues for key in around)


def name_before(found: Evidence, place: Place, *, joined: bool) -> str:
    """The word right before the mention that may name its slot: `role admin`, `the title is Plan`; empty for none.

    `joined` wants a word between, as in `a fee of 20`: in `2 rooms 3 guests` the name belongs to the number before.
    """
    words = place.index.words
    first = at = words.at(found.start) - 1
    while at >= 0 and words.words[at] in _JOINING:
        at -= 1
    return "" if at < 0 or (joined and at == first) else words.words[at]


def _row(found: Evidence, place: Place) -> tuple[int, int]:
    """The first and the last word of the mention."""
    words = place.index.words
    first = words.at(found.start)
    last = first
    while last + 1 < len(words.words) and words.span(last + 1)[0] < found.end:
        last += 1
    return first, last


def _nearness(at: int, found: Evidence, place: Place) -> float:
    start, end = place.index.words.span(at)
    text = place.index.text
    gap = text[end : found.start] if start < found.start else text[found.end : start]
    return _FAR if any(char in ",.;!?\n" for char in gap) else 1.0
