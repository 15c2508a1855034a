"""Where a number stands in the user's words: plain, in words, as a percentage, in another unit (R-47, R-51)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

from preflight.grounding import codes
from preflight.grounding.field import Field
from preflight.grounding.mention import Mention
from preflight.grounding.numerals import PERCENT
from preflight.grounding.place import Place
from preflight.grounding.quantities import Quantity, convert, unit_after
from preflight.grounding.tables.calendar import MONTHS
from preflight.grounding.tables.units import Unit
from preflight.grounding.words import cue_key, split_words
from preflight.model.evidence import Evidence, Grade

_YEAR_WORDS = frozenset("year years yr".split())
_DATE_KEYS = {"ymd": (1, 2, 3), "md": (None, 1, 2), "ym": (1, 2, None)}
_DATE_WORDS = (frozenset(("year", "yr")), frozenset(("month",)), frozenset(("day",)))
_TIME_WORDS = (frozenset(("hour", "hours")), frozenset(("minute", "minutes")))
_NAME = re.compile(r"[^\W\d_]+")
_RATES = frozenset(
    (
        "rate rates percent percentage ratio yield interest discount margin probability chance growth "
        "fraction share tax tip return frequency proportion increase decrease inflation level threshold"
    ).split()
)
_PARTS_OF_TIME = frozenset(name for names in (*_DATE_WORDS, *_TIME_WORDS) for name in names)
_FIRST_YEAR = 1000
_MAX_PLACES = 6


def as_decimal(value: object) -> Decimal | None:
    """The exact value of a JSON number; None for anything else, booleans included (R-47)."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    try:
        number = value if isinstance(value, Decimal) else Decimal(repr(value))
    except (InvalidOperation, ValueError):
        return None
    return number if number.is_finite() else None


def canonical_number(value: Decimal) -> str:
    """One spelling for equal numbers: `500`, not `500.0` or `5E+2`."""
    if value == value.to_integral_value() and abs(value.adjusted()) < 64:
        return str(int(value))
    return str(value.normalize())


def read_number(field: Field, value: Decimal, place: Place, *, rate: bool = False) -> Iterator[Evidence]:
    """Every mention that supports the number for this field; `rate` when the claim itself is written with `%`."""
    for mention in place.index.numbers.get(value, ()):
        if found := _mention(field, value, mention, place, rate=rate):
            yield found
    yield from _parts_of_time(field, value, place)
    if field.unit:
        for quantity in place.index.measured.get(field.unit.dimension, ()):
            if found := _converted(field.unit, value, quantity, place):
                yield found


def _mention(field: Field, value: Decimal, mention: Mention, place: Place, *, rate: bool) -> Evidence | None:
    text = place.index.text
    grade: Grade = mention.grade
    flags = mention.flags
    percent = mention.normaliser == "percent"
    if field.fraction is not None and percent != field.fraction and (percent or PERCENT.match(text, mention.end)):
        return None  # `15 %` is 0.15 or 15, as the field says
    date_part = value >= _FIRST_YEAR and (
        not field.words or any(word.rstrip("0123456789") in _YEAR_WORDS for word in field.words)
    )
    calendar = None if percent else place.index.calendar_at(mention.start, mention.end)
    if calendar == "inside" and not date_part:
        return None
    if calendar == "perhaps":
        flags = (
            (*flags, "perhaps_time")
            if place.index.text[max(0, mention.start - 3) : mention.start].lower() in ("at ", "um ")
            else flags
        )
    if mention.normaliser == "ordinal" and (_names_next(field, mention, place)):
        grade = "stated"
    if field.fraction is None and (percent or PERCENT.match(text, mention.end)) and not (rate or _is_rate(field)):
        return None  # `15 %` of something is no amount
    unit = unit_after(text, mention.end)
    if unit and field.unit and unit[0] != field.unit:
        if unit[0].dimension == field.unit.dimension:
            return None  # the number is another one in the field's unit
        grade = "weak"
    if place.index.in_sum(mention.start, mention.end) or _other_money(field, mention, place):
        return None
    start, end = mention.start, mention.end
    return place.evidence(
        start, end, mention.normaliser, canonical_number(value), grade, mention.rule, flags, mention.alternatives
    )


def _other_money(field: Field, mention: Mention, place: Place) -> bool:
    """Whether the number stands with another currency than the one that the field names."""
    wanted = codes.currency_named(field.description) if field.description else None
    found = codes.currency_beside(place.index.text, mention.start, mention.end) if wanted else None
    return found is not None and found != wanted


def _names_next(field: Field, mention: Mention, place: Place) -> bool:
    """Whether the next word is the field's own: `the 17th century` for a century."""
    words = place.index.words
    at = words.at(mention.end)
    while at < len(words.words) and (words.words[at] == "and" or words.words[at][0].isdigit()):
        at += 1  # `2nd, 3rd and 4th floors`
    return at < len(words.words) and cue_key(words.words[at]) in field.cues


def _is_rate(field: Field) -> bool:
    return (
        not field.words or not _RATES.isdisjoint(field.words) or not _RATES.isdisjoint(split_words(field.description))
    )


def _parts_of_time(field: Field, value: Decimal, place: Place) -> Iterator[Evidence]:
    """The month of a date or the hour of a time, for a field that is named so."""
    if value != value.to_integral_value() or (field.words and _PARTS_OF_TIME.isdisjoint(field.words)):
        return
    number = int(value)
    for mention in place.index.dates:
        key = mention.key if isinstance(mention.key, tuple) else ("",)
        for step, names in zip(_DATE_KEYS.get(str(key[0]), ()), _DATE_WORDS, strict=False):
            if step is not None and key[step] == number and _named(field, names):
                yield _part_of(mention, number, "date_part", place)
    for mention in place.index.times:
        key = mention.key if isinstance(mention.key, tuple) else (-1, -1)
        for at, names in enumerate(_TIME_WORDS):
            if number in (key[at], key[at] % 12 if at == 0 else key[at]) and _named(field, names):
                yield _part_of(mention, number, "time_part", place)


def _named(field: Field, names: frozenset[str]) -> bool:
    """Whether the field is named so; a field without a name takes any part that is pointed at."""
    return not field.words or not names.isdisjoint(field.words)


def _part_of(mention: Mention, number: int, normaliser: str, place: Place) -> Evidence:
    """The digits or the month's name inside the mention; the whole mention when it has neither."""
    text = place.index.text
    written = re.compile(rf"(?<!\d)0?{number}(?!\d)").search(text, mention.start, mention.end)
    if written is None and normaliser == "date_part" and number <= 12:
        written = next(
            (
                name
                for name in _NAME.finditer(text, mention.start, mention.end)
                if MONTHS.get(name[0].lower()) == number
            ),
            None,
        )
    start, end = written.span() if written else (mention.start, mention.end)
    return place.evidence(start, end, normaliser, str(number), flags=mention.flags)


def _converted(wanted: Unit, value: Decimal, quantity: Quantity, place: Place) -> Evidence | None:
    plain = place.index.text[quantity.start : quantity.number_end].strip()
    if quantity.unit == wanted and quantity.number_end != quantity.end and plain[:1].isdigit():
        return None  # found as a plain number
    if place.index.in_sum(quantity.start, quantity.end):
        return None
    if not _equal(convert(quantity.value, quantity.unit, wanted), value):
        return None
    return place.evidence(
        quantity.start, quantity.end, "unit", f"{canonical_number(value)} {wanted.name}", "derived", "unit"
    )


def _equal(converted: Decimal, value: Decimal) -> bool:
    """Exactly equal, or equal once rounded to the places that the claim itself has, at least two."""
    exponent = value.as_tuple().exponent
    places = -exponent if isinstance(exponent, int) else 0
    if converted == value:
        return True
    return 2 <= places <= _MAX_PLACES and converted.quantize(Decimal(1).scaleb(-places)) == value
