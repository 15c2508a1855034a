"""Ages as people type them: `30s`, `90m`, `24h`, `7d`."""

from __future__ import annotations

import re
from datetime import timedelta

_AGE = re.compile(r"([0-9]{1,6})([smhd])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def age_of(text: str) -> timedelta | None:
    """Return the age that a text says, or None where it says none."""
    said = _AGE.fullmatch(text)
    return None if said is None else timedelta(**{_UNITS[said[2]]: int(said[1])})
