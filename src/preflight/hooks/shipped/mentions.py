"""What the words around a day or a time of day say of it: what stands beside it, what is a quotation."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from preflight.grounding.mention import Mention

_BETWEEN = re.compile(r"[\s,]*(?:(?:at|um|by|on|a las|à|의|에|の)\b)?\s*", re.IGNORECASE)
_PAIRS = (('"', '"'), ("“", "”"), ("«", "»"), ("「", "」"), ("`", "`"))
_QUOTED = re.compile(
    "|".join(f"{left}[^{right}\\n]{{1,2000}}{right}" for left, right in _PAIRS)
    + r"|(?<!\w)'[^'\n]{1,2000}'(?!\w)|(?<!\w)‘[^’\n]{1,2000}’(?!\w)"
)
_WORDS = 3
"""Of fewer words a quotation is a name or an emphasis, and says what the user means by it."""


def without_quotations(text: str) -> str:
    """Return a text with its quotations blanked: what they say is to be sent or written, not done."""
    return _QUOTED.sub(lambda found: " " * len(found[0]) if len(found[0].split()) >= _WORDS else found[0], text)


def key_of(mention: Mention) -> tuple[Any, ...]:
    """Return the key of a date or a time, which is a tuple."""
    assert isinstance(mention.key, tuple)  # noqa: S101  the keys of both are
    return mention.key


def beside(text: str, day: Mention, hours: Sequence[Mention]) -> list[Mention]:
    """Return the times of day, of those in order, from which nothing but a joining word parts a day.

    Only the next one and the one before can stand there; each may have several readings.
    """
    starts = [hour.start for hour in hours]
    after, before = bisect_left(starts, day.end), bisect_left(starts, day.start) - 1
    near = {starts[at] for at in (after, before) if 0 <= at < len(starts)}
    first = bisect_left(starts, min(near, default=0))
    found = []
    for hour in hours[first:]:
        if hour.start > max(near, default=-1):
            break
        if hour.start in near and _adjoin(text, day, hour):
            found.append(hour)
    return found


def _adjoin(text: str, day: Mention, hour: Mention) -> bool:
    if hour.start >= day.end:
        return _BETWEEN.fullmatch(text[day.end : hour.start]) is not None
    return hour.end <= day.start and _BETWEEN.fullmatch(text[hour.end : day.start]) is not None
