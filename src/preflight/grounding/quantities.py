"""A number with its unit, and the unit that a field wants (R-51: derived by a named, reversible rule)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import NamedTuple

from preflight.grounding.mention import Mention
from preflight.grounding.tables.units import SI_SYMBOLS, SYMBOLS, UNITS, Unit

_AFTER = re.compile(r"[ \u00a0-]?(?:degrees? )?(?P<u>°\s?[CFcf]\b|[℃℉]|[^\W\d_]+(?:/[a-z]+)?)", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+(?:/[a-z]+)?|°[CF]", re.IGNORECASE)
_AND = re.compile(r"\s?,?\s?(?:and\s)?")
_CJK_AFTER = re.compile("|".join(sorted((name for name in UNITS if name[0] > "\u3000"), key=len, reverse=True)))
# Symbols that are also words or letters in a sentence: after a space they count in capitals only.
_WORDLIKE = frozenset(("d", "a", "n", "f", "c", "k", "in", "h", "m", "s", "l", "v", "w", "y"))
_PARTS = re.compile(
    r"\b(?P<n>half an|an?|one|half a) (?P<u>hour|minute|day|week|month|year|kilometer|mile)\b(?P<half> and a half)?",
    re.IGNORECASE,
)


class Quantity(NamedTuple):
    """`value` in `unit`, standing in `text[start:end]`; the bare number ends at `number_end`."""

    start: int
    number_end: int
    end: int
    value: Decimal
    unit: Unit


def unit_after(text: str, end: int) -> tuple[Unit, int] | None:
    """The unit right after a number that ends here, and where its name ends."""
    match = _AFTER.match(text, end)
    if match is None:
        cjk = _CJK_AFTER.match(text, end)
        return (UNITS[cjk[0]], cjk.end()) if cjk else None
    if match["u"] in SI_SYMBOLS:
        return SI_SYMBOLS[match["u"]], match.end()
    name = match["u"].replace(" ", "").lower()
    if name in UNITS:
        spaced = match.start("u") > end
        if not (spaced and name in _WORDLIKE and not match["u"].isupper()):
            return UNITS[name], match.end()
    cjk = _CJK_AFTER.match(text, match.start("u"))
    return (UNITS[cjk[0]], cjk.end()) if cjk else None


def measure(text: str, start: int, end: int) -> str | None:
    """What a number is a number of, as far as the text says: a unit's dimension, money, or nothing."""
    if unit := unit_after(text, end):
        return unit[0].dimension
    return "money" if start and text[start - 1] in "$€£¥₩₹" else None


def quantities(text: str, numbers: Iterable[Mention]) -> Iterator[Quantity]:
    """Every number that has a unit, then sums such as `1 hour 30 minutes` and `5 ft 10 in`."""
    found: list[Quantity] = []
    for mention in numbers:
        unit = unit_after(text, mention.end) if mention.grade == "stated" and isinstance(mention.key, Decimal) else None
        if unit:
            found.append(Quantity(mention.start, mention.end, unit[1], Decimal(str(mention.key)), unit[0]))
    found.extend(_parts(text))
    found.sort()
    yield from found
    yield from _sums(text, found)


def _parts(text: str) -> Iterator[Quantity]:
    """`half an hour`, `an hour and a half`, `a week`."""
    for match in _PARTS.finditer(text):
        value = Decimal("0.5") if match["n"].lower().startswith("half") else Decimal(1)
        if match["half"]:
            value += Decimal("0.5")
        yield Quantity(match.start(), match.start("u"), match.end(), value, UNITS[match["u"].lower()])


def _sums(text: str, found: list[Quantity]) -> Iterator[Quantity]:
    for first, second in itertools.pairwise(found):
        gap = _AND.match(text, first.end)
        adjacent = gap is not None and gap.end() == second.start
        if adjacent and first.unit.dimension == second.unit.dimension and first.unit.factor > second.unit.factor:
            total = convert(first.value, first.unit, second.unit) + second.value
            yield Quantity(first.start, second.end, second.end, total, second.unit)


def convert(value: Decimal, source: Unit, wanted: Unit) -> Decimal:
    """The value in another unit of the same dimension, exact where the factors are."""
    base = value * source.factor + source.offset
    return (base - wanted.offset) / wanted.factor


def field_unit(name: str, description: str, hint: object) -> Unit | None:
    """The one unit that a field wants: its hint, else the only unit that its name or description names."""
    if isinstance(hint, str):
        return UNITS.get(hint.lower())
    for words in (name.replace("_", " "), description):
        units = {
            UNITS[word.lower()]
            for word in _WORD.findall(words)
            if word.lower() in UNITS
            and word.lower() not in SYMBOLS
            and word.lower() not in ("second", "quarter", "minute", "day", "month", "year", "foot")
        }
        if len(units) == 1:
            return next(iter(units))
    return None
