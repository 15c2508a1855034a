"""One leaf's mentions: the claim and the field choose the way of reading (R-50)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from preflight.grounding.field import Field
from preflight.grounding.findings import Context
from preflight.grounding.place import Place
from preflight.grounding.read_date import parse_claim, read_moment
from preflight.grounding.read_number import as_decimal, read_number
from preflight.grounding.read_option import read_boolean
from preflight.grounding.read_string import labelled, read_string
from preflight.model.evidence import Evidence

_DATE_LIKE = re.compile(
    r"\d{4}-\d\d|\d{1,2}[-/.:]\d{1,2}|\d{1,2}\s?[ap]m|[A-Z][a-z]{2,8}\.? \d|\d [A-Z][a-z]{2}", re.IGNORECASE
)


_ROOM = 256


def look_up(field: Field, value: object, places: Sequence[Place], context: Context) -> Iterator[Evidence]:
    """Every mention of the value that the field's ways of reading find, in the order of the text."""
    if isinstance(value, bool):
        for place in places:
            yield from read_boolean(field, value, place)
        return
    number = as_decimal(value)
    if number is not None:
        yield from _number(field, number, value, places)
    elif isinstance(value, str) and value:
        yield from _string(field, value, places, context)


def _number(field: Field, number: Decimal, value: object, places: Sequence[Place]) -> Iterator[Evidence]:
    none = True
    for place in places:
        for found in read_number(field, number, place):
            none = False
            yield found
    if none:
        for place in places:
            yield from labelled(field, str(value), place)


def _string(field: Field, value: str, places: Sequence[Place], context: Context) -> Iterator[Evidence]:
    # no way of reading makes four letters of one: what is longer than that stands nowhere
    wide = [place for place in places if len(value) <= 4 * len(place.index.text) + _ROOM]
    found = [mention for place in wide for mention in read_string(field, value, place)]
    moments: list[Evidence] = []
    if _DATE_LIKE.search(value) and not any(mention.grade == "stated" for mention in found):
        claim = parse_claim(value, field)
        moments = list(read_moment(claim, places, context)) if claim else []
    yield from moments or found
