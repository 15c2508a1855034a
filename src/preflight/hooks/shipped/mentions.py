"""Days and times of day as they stand beside one another in a text."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from preflight.grounding.mention import Mention

_BETWEEN = re.compile(r"[\s,]*(?:(?:at|um|by|on|a las|à|의|에|の)\b)?\s*", re.IGNORECASE)


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
