"""Codes and names of one thing, and cities with the state or country they lie in: lookups over the tables."""

from __future__ import annotations

import re
from functools import cache

from preflight.grounding.tables.cities import SAME_CITY, US_CITIES, WORLD_CITIES
from preflight.grounding.tables.codes import COUNTRIES, CURRENCIES, LANGUAGES, STATES

Names = tuple[str, ...]
_WORDS = re.compile(r"[^\W\d_]+")
_REACH = 32
_SHORT = ("won", "yen")
_KINDS = {
    "state": STATES,
    "country": COUNTRIES,
    "currency": CURRENCIES,
    "language": LANGUAGES,
}
_HINT_WORDS = {
    "state": "state states province region".split(),
    "country": "country countries nation nationality".split(),
    "currency": "currency currencies".split(),
    "language": "language languages lang locale".split(),
}


@cache
def _table(kind: str) -> dict[str, tuple[Names, Names]]:
    table: dict[str, tuple[Names, Names]] = {}
    for codes, names in _KINDS[kind]:
        for key in (*codes, *names):
            table.setdefault(key.lower(), (codes, names))
    return table


@cache
def _city_names() -> dict[str, Names]:
    return {name: group for group in SAME_CITY for name in group}


@cache
def _longer() -> dict[str, tuple[str, ...]]:
    """For each name of the tables the longer names of other things that hold it as words."""
    names = {name.lower() for rows in _KINDS.values() for _, row in rows for name in row if name.isascii()}
    names |= {name for name in (*US_CITIES, *WORLD_CITIES) if name.isascii()}
    table: dict[str, list[str]] = {}
    for name in names:
        words = name.split()
        for size in range(1, len(words)):
            for at in range(len(words) - size + 1):
                table.setdefault(" ".join(words[at : at + size]), []).append(name)
    return {short: tuple(longer) for short, longer in table.items() if short in names}


def inside_longer(name: str, text: str, start: int, end: int) -> bool:
    """Whether the words at the span belong to a longer name: `Mexico` in `New Mexico`."""
    longer = _longer().get(name.lower(), ())
    return any(_covers(name.lower(), other, text, start, end) for other in longer)


def _covers(name: str, longer: str, text: str, start: int, end: int) -> bool:
    at = longer.find(name)
    begin, stop = start - at, end + len(longer) - at - len(name)
    return begin >= 0 and text[begin:stop].lower() == longer


def other_names(value: str, words: frozenset[str]) -> list[tuple[str, str]]:
    """Other names of what the value names, each with the table it is from.

    `words` are the field's own; two-letter codes mean several things, so a code is read only by the
    table that the field asks for, and a name by any.
    """
    found: list[tuple[str, str]] = []
    key = value.strip().lower()
    asked = [kind for kind, hints in _HINT_WORDS.items() if not words.isdisjoint(hints)]
    for kind in asked or _KINDS:
        row = _table(kind).get(key)
        if row is None or (len(key) < 3 and kind not in asked):
            continue
        codes, names = row
        found.extend((name, kind) for name in names if name.lower() != key)
        found.extend((code, kind) for code in codes if code.lower() != key)
    found.extend((name, "city") for name in _city_names().get(key, ()) if name != key)
    return found


def city_forms(value: str) -> list[str]:
    """The city's name and its other names."""
    key = value.strip().lower()
    return [value.strip(), *(name for name in _city_names().get(key, ()) if name != key)]


def lies_in(city: str, region: str) -> bool:
    """Whether the table puts the city into the state or country that is named by code or name."""
    key = region.strip().rstrip(".").lower()
    for name in city_forms(city):
        state = US_CITIES.get(name.lower())
        if state and (_same("state", state, key) or _same("country", "US", key)):
            return True
        country = WORLD_CITIES.get(name.lower())
        if country and _same("country", country, key):
            return True
        if country == "GB" and key in ("england", "scotland", "wales", "northern ireland"):
            return True
    return False


def _same(kind: str, code: str, key: str) -> bool:
    row = _table(kind).get(key)
    return row is not None and code in row[0]


def is_region(name: str) -> bool:
    """Whether the tables have a state or country of this name or code."""
    key = name.strip().rstrip(".").lower()
    return key in _table("state") or key in _table("country")


def region_forms(region: str) -> list[str]:
    """The names and codes of a state or country, the given one first."""
    key = region.strip().rstrip(".").lower()
    forms = [region.strip()]
    for kind in ("state", "country"):
        row = _table(kind).get(key)
        if row:
            forms.extend(name for name in (*row[1], *row[0]) if name.lower() != key)
    return forms


def currency_beside(text: str, start: int, end: int) -> str | None:
    """The currency that is written with a number: a sign before it, a code or a name after it."""
    table = _table("currency")
    sign = table.get(text[start - 1]) if start else None
    if sign:
        return sign[0][0]
    words = _WORDS.findall(text[end : end + _REACH])[:3]
    for size in range(len(words), 0, -1):
        row = table.get(" ".join(words[:size]).lower())
        if row and not (size == 1 and len(words[0]) == 3 and not (words[0].isupper() or words[0] in _SHORT)):
            return row[0][0]
    return None


@cache
def currency_named(description: str) -> str | None:
    """The one currency that a description names; None when it names none or several."""
    found = set()
    for codes, names in CURRENCIES:
        if any(_names(name, description) for name in (*codes, *names)):
            found.add(codes[0])
    return next(iter(found)) if len(found) == 1 else None


def _names(name: str, description: str) -> bool:
    if len(name) < 3:
        return False
    flags = 0 if name.isupper() else re.IGNORECASE
    spans = (match.span() for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", description, flags))
    return any(not inside_longer(name, description, *span) for span in spans)
