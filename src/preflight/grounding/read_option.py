"""Booleans and members of a closed set (R-57): what was said outright, and what is only a cue."""

from __future__ import annotations

import re
from collections.abc import Iterator

from preflight.grounding.field import Field
from preflight.grounding.place import Place
from preflight.grounding.words import STOP, split_plain, stem
from preflight.model.evidence import Evidence

_TRUE = frozenset("yes true on enabled enable sí ja oui y はい 예 네".split())
_FALSE = frozenset("no false off disabled disable nein non n いいえ 아니요 아니오".split())
_SAID = re.compile(r"\s?(?:is |to |should be |set to |=|:|-|–)?\s?['\"]?([^\W\d_]+)", re.IGNORECASE)
_WEAK_NAME_WORDS = frozenset("is has include use enable enabled required only with flag should allow".split())
_WITHOUT = re.compile(
    r"\b(?:without|no|don['’]?t need|do not need|excluding|skip(?:ping)?)(?: the| a| an| any)? $", re.IGNORECASE
)
_WITH = re.compile(r"\b(?:with|including|include|add|adding|ensure)(?: the| a| an)? $", re.IGNORECASE)
_INCLUDED = re.compile(r" (?:is |be )?included\b", re.IGNORECASE)
_NEGATOR = re.compile(
    r"\b(?:no|not|don['’]?t|do not|without|never|exclude|excluding|disable|skip|avoid|non|sin|ohne|kein\w*)\b",
    re.IGNORECASE,
)


def read_boolean(field: Field, value: object, place: Place) -> Iterator[Evidence]:
    """`notify: yes` states it; a cue such as `and notify me` is weak (R-51)."""
    words = place.index.words
    text = place.index.text
    for word in field.words:
        if len(word) < 3 or word in STOP or word in _WEAK_NAME_WORDS:
            continue
        for at in words.stems.get(stem(word), ())[:16]:
            start, end = words.original(words.starts[at], words.ends[at])
            said = _SAID.match(text, end)
            answer = said[1].lower() if said else ""
            if said and answer in (_TRUE if value else _FALSE) and _stands_alone(text, said, end):
                yield place.evidence(start, said.end(), "said", str(value).lower())
            elif answer not in _TRUE and answer not in _FALSE:
                before = text[words.original(words.starts[max(0, at - 3)], 0)[0] : start]
                if (not _NEGATOR.search(before)) == value:
                    yield place.evidence(start, end, "cue", str(value).lower(), "weak")
    yield from _with_or_without(field, value, place)
    yield from _labelled(field, value, place)


def _with_or_without(field: Field, value: object, place: Place) -> Iterator[Evidence]:
    """`without trip protection` for `trip_protection`: the whole name, and which way it is meant."""
    names = tuple(word for word in field.words if word not in _WEAK_NAME_WORDS)
    if not names or sum(map(len, names)) < 3:
        return
    text = place.index.text
    for start, end in place.index.words.find(names):
        without = _WITHOUT.search(text, max(0, start - 20), start)
        included = _WITH.search(text, max(0, start - 20), start) or _INCLUDED.match(text, end)
        if bool(without) != bool(included) and bool(included) == value:
            begin = without.start() if without else start
            yield place.evidence(begin, end, "with_or_without", str(value).lower(), "derived", "with_or_without")


def _stands_alone(text: str, said: re.Match[str], end: int) -> bool:
    """`notify: no` and `notify off`, but not `notify no one`: short answers need their colon or the end of a clause."""
    linked = any(char in ":=" for char in text[end : said.start(1)]) or said.start(1) - end > 3
    rest = text[said.end() : said.end() + 2].lstrip(" '\"")
    return linked or not rest or rest[0] in ",.;!?\n"


def _labelled(field: Field, value: object, place: Place) -> Iterator[Evidence]:
    for label in field.labels.get(str(value).lower(), ()):
        for span in place.index.words.find(split_plain(label)):
            yield place.evidence(*span, "label", str(value).lower())


def rival_members(field: Field, value: object, place: Place) -> list[tuple[str, tuple[int, int]]]:
    """Other members of the set that stand in the same text, outside the claimed one's own words."""
    rivals: list[tuple[str, tuple[int, int]]] = []
    own = str(value).lower()
    for member in field.members:
        name = str(member)
        if name.lower() != own and len(name) > 2 and name.lower() not in own:
            rivals.extend((name, span) for span in place.index.words.find(split_plain(name)))
    return rivals
