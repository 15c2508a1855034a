"""The recorded clock and zone as values, and local times that exist once, twice or not at all.

Zone rules come from `zoneinfo`, a table of data like any other here; no clock is read (R-11).
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from preflight.grounding.findings import Context

_YEARS = range(2, 9998)
"""Between these no zone, and nothing that is counted from now, leaves the calendar."""


@lru_cache(maxsize=64)
def moment(context: Context) -> datetime | None:
    """The request's clock in the request's zone; None when it was not recorded, has no offset or is no time of ours."""
    if context.now is None:
        return None
    try:
        now = datetime.fromisoformat(context.now)
    except ValueError:
        return None
    if now.tzinfo is None or now.year not in _YEARS:
        return None
    place = zone(context)
    return now.astimezone(place) if place else now


@lru_cache(maxsize=64)
def zone(context: Context) -> tzinfo | None:
    """The request's zone: the named one, else the offset of its clock, else None."""
    if context.zone:
        try:
            return ZoneInfo(context.zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            return None
    if context.now is None:
        return None
    try:
        offset = datetime.fromisoformat(context.now).utcoffset()
    except ValueError:
        return None
    return None if offset is None else timezone(offset)


def today(context: Context) -> date | None:
    """The date of the request where the user is."""
    now = moment(context)
    return now.date() if now else None


def instants(local: datetime, place: tzinfo) -> tuple[datetime, ...]:
    """The instants that a local time names: none in a gap, two where the clock goes back (bad input 65)."""
    found = []
    for fold in (0, 1):
        there = local.replace(tzinfo=place, fold=fold)
        back = there.astimezone(UTC).astimezone(place).replace(tzinfo=None)
        if back == local:
            found.append(there.astimezone(UTC))
    return tuple(dict.fromkeys(found))


def add_months(day: date, months: int) -> date | None:
    """The same day of a later month, the last one where that month is shorter; None beyond the calendar."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        return None
    for last in range(day.day, 27, -1):
        try:
            return date(year, month + 1, last)
        except ValueError:
            continue
    return date(year, month + 1, day.day)


def add_days(day: date, days: int) -> date | None:
    """A date some days on; None beyond the calendar."""
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return None
