"""What the words around a day or a time of day say of it: what stands beside it, what is a quotation."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from preflight.grounding.mention import Mention
from preflight.grounding.quoting import own_words

_BETWEEN = re.compile(r"[\s,]*(?:(?:at|um|by|on|a las|à|의|에|の)\b)?\s*", re.IGNORECASE)
_PAIRS = (('"', '"'), ("“", "”"), ("«", "»"), ("「", "」"), ("`", "`"))
_QUOTED = re.compile(
    "|".join(f"{left}[^{right}\\n]{{1,2000}}{right}" for left, right in _PAIRS)
    + r"|(?<!\w)'[^'\n]{1,2000}'(?!\w)|(?<!\w)‘[^’\n]{1,2000}’(?!\w)"
)
_WORDS = 3
"""Of fewer words a quotation is a name or an emphasis, and says what the user means by it."""


def spoken(text: str) -> str:
    """Return a text with quotations and what others wrote blanked: that is to be read, sent or written, not done."""
    own = own_words(text)
    return _QUOTED.sub(lambda found: " " * len(found[0]) if len(found[0].split()) >= _WORDS else found[0], own)


def key_of(mention: Mention) -> tuple[Any, ...]:
    """Return the key of a date or a time, which is a tuple."""
    assert isinstance(mention.key, tuple)  # noqa: S101  the keys of both are
    return mention.key


def beside(text: str, day: Mention, hours: Sequence[Mention]) -> list[Mention]:
    """Return the times of day, of those in order, from which nothing but a joining word parts a day.

    Only the next one and the one before can stand there; each may have several readings.
    """
    found = []
    for at in (_first(hours, day.start) - 1, _first(hours, day.end)):
        if 0 <= at < len(hours):
            readings = hours[_first(hours, hours[at].start) : _first(hours, hours[at].start + 1)]
            found += [hour for hour in readings if hour not in found and _adjoin(text, day, hour)]
    return found


def _first(hours: Sequence[Mention], start: int) -> int:
    """Return the place of the first mention that begins at `start` or later."""
    return bisect_left(hours, start, key=lambda hour: hour.start)


def _adjoin(text: str, day: Mention, hour: Mention) -> bool:
    if hour.start >= day.end:
        return _BETWEEN.fullmatch(text[day.end : hour.start]) is not None
    return hour.end <= day.start and _BETWEEN.fullmatch(text[hour.end : day.start]) is not None
