"""A time zone that the user wrote behind a time of day: `3pm EST`, `15:00 UTC+9`, `2026-12-01T15:00+09:00`."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import NamedTuple

# Abbreviations that name one offset in hours; others (`IST`, `BST`, `CST`) name several and resolve to none.
_HOURS = {
    "EST": -5, "EDT": -4, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7, "AKST": -9, "HST": -10,
    "WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "MEZ": 1, "MESZ": 2, "EET": 2, "EEST": 3, "MSK": 3,
    "KST": 9, "JST": 9, "SGT": 8, "HKT": 8, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13,
}  # fmt: skip
_OPEN = ("ET", "PT", "CT", "MT", "IST", "BST", "CST", "AST", "AKDT", "ART", "BRT", "PKT", "WIB")
_ABBREVIATIONS = "|".join(sorted((*_HOURS, *_OPEN), key=len, reverse=True))
_SIGN = r"[+\-\u2212]"
_AFTER = re.compile(
    rf"(?P<z>Z)(?![^\W_])"
    rf"|(?P<iso>{_SIGN}\d\d:?\d\d)(?![\d:])"
    rf"|\s?\(?(?:UTC|GMT)(?:\s?(?P<utc>{_SIGN}\d{{1,2}}(?::?\d\d)?))?(?![\w:])"
    rf"|\s?\(?(?P<name>{_ABBREVIATIONS})(?![^\W_])"
    r"|\s\(?(?P<place>[A-Z][^\W\d_]+\s(?:[A-Z][^\W\d_]+\s)?[Tt]ime)\b"
)
_ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d[Tt]$")


class Zone(NamedTuple):
    """Where the zone's words end, and its offset; None where they name none or several."""

    end: int
    offset: timedelta | None


def zone_after(text: str, start: int, end: int) -> Zone | None:
    """The zone that follows the time of day `text[start:end]`; None when none is written there."""
    match = _AFTER.match(text, end)
    if match is None:
        return None
    if match["iso"] and match["iso"][0] != "+" and not _ISO_DAY.search(text, max(0, start - 11), start):
        return None  # `15:00-17:00` is a range
    if match["place"]:
        return Zone(match.end(), None)
    if match["name"]:
        hours = _HOURS.get(match["name"])
        return Zone(match.end(), None if hours is None else timedelta(hours=hours))
    written = match["iso"] or match["utc"]
    return Zone(match.end(), _offset(written) if written else timedelta(0))


def _offset(written: str) -> timedelta | None:
    digits = written[1:].replace(":", "")
    hours, minutes = (int(digits), 0) if len(digits) <= 2 else (int(digits[:-2]), int(digits[-2:]))
    if hours > 14 or minutes > 59:
        return None
    return timedelta(hours=hours, minutes=minutes) * (1 if written[0] == "+" else -1)
