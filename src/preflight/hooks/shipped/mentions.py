"""Days and times of day as they stand beside one another in a text."""

from __future__ import annotations

import re
from typing import Any

from preflight.grounding.mention import Mention

_BETWEEN = re.compile(r"[\s,]*(?:(?:at|um|by|on|a las|à|의|에|の)\b)?\s*", re.IGNORECASE)


def key_of(mention: Mention) -> tuple[Any, ...]:
    """Return the key of a date or a time, which is a tuple."""
    assert isinstance(mention.key, tuple)  # noqa: S101  the keys of both are
    return mention.key


def beside(text: str, day: Mention, hour: Mention) -> bool:
    """Whether nothing but a joining word stands between a day and a time of day."""
    if hour.start >= day.end:
        return _BETWEEN.fullmatch(text[day.end : hour.start]) is not None
    return hour.end <= day.start and _BETWEEN.fullmatch(text[hour.end : day.start]) is not None
