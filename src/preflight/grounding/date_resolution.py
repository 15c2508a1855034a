"""What a date in the user's words means for one request: its recorded clock, zone and locale (R-51)."""

from __future__ import annotations

from datetime import date
from functools import lru_cache

from preflight.grounding import clock
from preflight.grounding.findings import Context

Key = tuple[object, ...]
Reading = tuple[tuple[date, ...], str | None]


def valid(year: int | None, month: int, day: int | None) -> bool:
    """Whether the calendar has the day; without a year, whether some year has."""
    try:
        date(2024 if year is None else year, month, 1 if day is None else day)
    except ValueError:
        return False
    return True


@lru_cache(maxsize=8192)
def resolve(key: Key, context: Context) -> tuple[tuple[date, ...], str | None]:
    """The days that a mention may mean, and the rule that was used when they are derived.

    More than one day means that the words are ambiguous; none that there is no clock to resolve them.
    """
    kind = key[0]
    if kind == "ymd":
        return (date(*key[1:]),), None  # type: ignore[arg-type]
    if kind == "dm?":
        return _ordered(key, context)
    now = clock.today(context)
    if now is None or kind == "ym":
        return (), None
    if kind == "md":
        return _coming(now, int(str(key[1])), int(str(key[2]))), "coming_year"
    if kind == "day":
        return _coming_day(now, int(str(key[1]))), "coming_month"
    days = _relative_days(key, now)
    return tuple(day for day in days if day is not None), "relative_date"


def with_year_of_others(
    key: Key, read: tuple[tuple[date, ...], str | None], years: frozenset[int]
) -> tuple[tuple[date, ...], str | None]:
    """`from 22 April until 27 April 2023`: the one year that the text states serves its other dates.

    Where the clock says another year for the same words, both readings stay and the words are ambiguous.
    """
    if key[0] != "md" or len(years) != 1:
        return read
    year = next(iter(years))
    if not valid(year, int(str(key[1])), int(str(key[2]))):
        return read
    there = date(year, int(str(key[1])), int(str(key[2])))
    return tuple(dict.fromkeys((*read[0], there))), "year_of_other_date"


def _coming(now: date, month: int, day: int) -> tuple[date, ...]:
    years = (year for year in range(now.year, now.year + 9) if valid(year, month, day))
    return next(((date(year, month, day),) for year in years if date(year, month, day) >= now), ())


def _coming_day(now: date, day: int) -> tuple[date, ...]:
    months = (clock.add_months(now.replace(day=1), ahead) for ahead in range(3))
    days = (month.replace(day=day) for month in months if month and valid(month.year, month.month, day))
    return next(((there,) for there in days if there >= now), ())


def _ordered(key: Key, context: Context) -> tuple[tuple[date, ...], str | None]:
    """`03/04`: day and month in the order of a locale that has one; else both days (bad input: ambiguous dates)."""
    year, first, second = key[1], int(str(key[2])), int(str(key[3]))
    locale = context.locale.replace("_", "-")
    orders = [(second, first)]
    if locale == "en-US":
        orders = [(first, second)]
    elif locale.split("-")[0] in ("en", "ja", "ko", "zh"):
        orders = [(second, first), (first, second)] if locale in ("en", "ja", "ko", "zh") else orders
    now = clock.today(context)
    days: list[date] = []
    valid_orders = [order for order in orders if valid(int(str(year)) if year else None, *order)] or [
        order for order in ((first, second), (second, first)) if valid(int(str(year)) if year else None, *order)
    ]
    for month, day in valid_orders:
        if year is not None:
            days.append(date(int(str(year)), month, day))
        elif now is not None:
            days.extend(_coming(now, month, day))
    return tuple(dict.fromkeys(days)), None if year is not None else "coming_year"


def _relative_days(key: Key, now: date) -> list[date | None]:
    kind = key[0]
    if kind == "rel":
        return [clock.add_days(now, int(str(key[1])))]
    if kind == "shift":
        count, unit = int(str(key[1])), str(key[2])
        if unit in ("day", "week", "fortnight"):
            return [clock.add_days(now, count * {"day": 1, "week": 7, "fortnight": 14}[unit])]
        return [clock.add_months(now, count * (12 if unit == "year" else 1))]
    return [clock.add_days(now, days) for days in _weekday_days(int(str(key[1])), str(key[2]), now.weekday())]


def _weekday_days(weekday: int, which: str, today: int) -> tuple[int, ...]:
    """Days from now to a weekday; two where people mean two different weeks by the same words."""
    ahead = (weekday - today) % 7
    same_week = weekday - today
    if which == "last":
        return (ahead - 7,) if ahead else (-7,)
    if which in ("this_week", "next_week", "last_week"):
        return (same_week + {"this_week": 0, "next_week": 7, "last_week": -7}[which],)
    if which == "coming_week":
        return ((ahead or 7) + 7,)
    if which == "next":
        return tuple(dict.fromkeys((ahead or 7, same_week + 7)))
    if ahead == 0:
        return (0, 7) if which != "coming" else (7,)
    return (ahead,)
