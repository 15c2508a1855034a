"""Where a date, a time of day or a moment stands in the user's words (R-51, bad inputs 65 and 66)."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from functools import partial
from typing import NamedTuple

from preflight.grounding import clock
from preflight.grounding.date_resolution import resolve
from preflight.grounding.dates import dates
from preflight.grounding.field import Field
from preflight.grounding.findings import Context
from preflight.grounding.place import Place, hull
from preflight.grounding.times import times
from preflight.grounding.zones import Zone
from preflight.model.evidence import Evidence, Grade, Located

_ISO = re.compile(
    r"(?P<date>\d{4}-\d{2}-\d{2})(?:[T ](?P<h>\d{2}):(?P<m>\d{2})(?::(?P<s>\d{2})(?:\.\d{1,9})?)?\s?"
    r"(?P<zone>Z|[+-]\d{2}:?\d{2}| UTC| GMT)?)?",
    re.IGNORECASE,
)
_TIME = re.compile(r"(?P<h>\d{1,2}):(?P<m>\d{2})(?::(?P<s>\d{2}))?(?:\s?(?P<p>[ap])\.?m\.?)?", re.IGNORECASE)
_MONTH = re.compile(r"(?P<y>\d{4})-(?P<m>\d{2})")
_DAY_FIRST = re.compile(r"\bdd?[-/.]mm?\b|%d[-/.]%m", re.IGNORECASE)
_MONTH_FIRST = re.compile(r"\bmm?[-/.]dd?\b|%m[-/.]%d", re.IGNORECASE)
_MAX_GAP = 60


class Moment(NamedTuple):
    """What a claimed string says: a day, a time of day, or both, perhaps with an offset."""

    day: date | None = None
    clock: time | None = None
    offset: timedelta | None = None
    month: tuple[int, int] | None = None


def parse_claim(value: str, field: Field) -> Moment | None:
    """The claimed moment; None when the string is no date or time, or could be two."""
    text = value.strip()
    if len(text) > 40 or not any(char.isdigit() for char in text):
        return None
    try:
        claim = _iso(text) or _time_only(text) or _month_only(text) or _spelled(text, field)
    except ValueError:
        return None
    # No room for a zone's offset at either end of the calendar.
    return None if claim is None or (claim.day and not 2 <= claim.day.year <= 9998) else claim


def _iso(text: str) -> Moment | None:
    match = _ISO.fullmatch(text)
    if match is None:
        return None
    day = date.fromisoformat(match["date"])
    if match["h"] is None:
        return Moment(day)
    return Moment(day, time(int(match["h"]), int(match["m"]), int(match["s"] or 0)), _offset(match["zone"]))


def _offset(written: str | None) -> timedelta | None:
    if written is None:
        return None
    if written.strip().upper() in ("Z", "UTC", "GMT"):
        return timedelta(0)
    hours, minutes = int(written[1:3]), int(written[-2:])
    return (timedelta(hours=hours, minutes=minutes)) * (-1 if written[0] == "-" else 1)


def _time_only(text: str) -> Moment | None:
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    hour = int(match["h"])
    if match["p"]:
        hour = hour % 12 + (12 if match["p"].lower() == "p" else 0)
    return Moment(None, time(hour, int(match["m"]), int(match["s"] or 0)))


def _month_only(text: str) -> Moment | None:
    match = _MONTH.fullmatch(text)
    return Moment(month=(int(match["y"]), int(match["m"]))) if match and 1 <= int(match["m"]) <= 12 else None


def _spelled(text: str, field: Field) -> Moment | None:
    """`May 20, 2023`, `20/05/2023 14:00`: read by the same grammar, in the order that the field names."""
    found = [mention for mention in dates(text, "en") if mention.start == 0]
    if len(found) != 1:
        return None
    locale = (
        "en-US" if _MONTH_FIRST.search(field.description) else "en-GB" if _DAY_FIRST.search(field.description) else "en"
    )
    days, _ = resolve(found[0].key, Context(locale=locale))
    rest = text[found[0].end :].strip(" ,T")
    moments = times(rest, "en") if rest else []
    if len(days) != 1 or (rest and (len(moments) != 1 or moments[0].start or moments[0].end != len(rest))):
        return None
    return Moment(days[0], time(*moments[0].key) if moments else None)  # type: ignore[misc]


def read_moment(claim: Moment, places: Sequence[Place], context: Context) -> Iterator[Evidence]:
    """Every mention, or pair of a day and a time, that supports the claimed moment."""
    if claim.day and claim.clock:
        yield from _both(claim, places, context)
        return
    for place in places:
        if claim.month:
            yield from _months(claim.month, place)
        if claim.day:
            yield from _days(claim.day, place)
        if claim.clock:
            yield from _clocks(claim.clock, place, _any_zone)


def _months(month: tuple[int, int], place: Place) -> Iterator[Evidence]:
    for mention in place.index.dates:
        if mention.key == ("ym", *month):
            yield place.evidence(mention.start, mention.end, "date", f"{month[0]:04}-{month[1]:02}")


def _days(day: date, place: Place) -> Iterator[Evidence]:
    for mention in place.index.dates:
        days, rule = place.index.resolved(mention, place.context)
        if not days and place.context.now is None and mention.key == ("md", day.month, day.day):
            days, rule = (day,), "year_not_said"  # no clock was recorded that could say which year
        if day in days:
            others = tuple(other.isoformat() for other in days if other != day)
            anchor = mention.anchor
            parts = (place.evidence(*anchor, "date", day.isoformat(), pointer="#anchor"),) if anchor else ()
            yield place.evidence(
                mention.start,
                mention.end,
                mention.normaliser,
                day.isoformat(),
                "derived" if rule else "stated",
                rule,
                ("ambiguous",) if others else (),
                others,
                parts=parts,
            )


def _no_zone(zone: Zone | None) -> bool:
    return zone is None


def _any_zone(_: Zone | None) -> bool:
    return True


def _clocks(moment: time, place: Place, wanted: Callable[[Zone | None], bool] = _no_zone) -> Iterator[Evidence]:
    """Where the time of day stands; `15:00 UTC+9` only for one who asks for times of that zone."""
    zones = place.index.zones
    for mention in place.index.times:
        zone = zones.get((mention.start, mention.end))
        if mention.key == (moment.hour, moment.minute, moment.second) and wanted(zone):
            yield place.evidence(
                mention.start,
                mention.end if zone is None else zone.end,
                "time",
                moment.isoformat(),
                flags=mention.flags if zone is None else (*mention.flags, "zone_said"),
                alternatives=mention.alternatives,
            )


class View(NamedTuple):
    """A claimed moment as somebody in one zone would say it; `wanted` chooses the times written for that zone."""

    day: date
    clock: time
    flags: tuple[str, ...]
    wanted: Callable[[Zone | None], bool] = _no_zone


def _views(claim: Moment, places: Sequence[Place], context: Context) -> Iterator[View]:
    """The claim in the user's zone, then in each zone that the user wrote behind a time."""
    for day, moment, flags in local_moments(claim, context):
        yield View(day, moment, flags)
    written = {zone.offset for place in places for zone in place.index.zones.values()}
    for offset in sorted(written, key=lambda each: (each is None, each or timedelta(0))):
        yield _view_from(claim, offset, context)


def _view_from(claim: Moment, offset: timedelta | None, context: Context) -> View:
    """The claim at the offset that was written; open where that offset or the claim's own is not told."""
    local = datetime.combine(claim.day or date.min, claim.clock or time.min)
    wanted, place = partial(_at_offset, offset), clock.zone(context)
    if claim.offset is not None and offset is not None:
        there = local.replace(tzinfo=timezone(claim.offset)).astimezone(timezone(offset))
        return View(there.date(), there.time(), (), wanted)
    # a claim without an offset is a time in the user's zone; where none is recorded, it is the time as written
    same = claim.offset is None and (place is None or local.replace(tzinfo=place).utcoffset() == offset)
    return View(local.date(), local.time(), () if same else ("ambiguous",), wanted)


def _at_offset(offset: timedelta | None, zone: Zone | None) -> bool:
    return zone is not None and zone.offset == offset


def local_moments(claim: Moment, context: Context) -> list[tuple[date, time, tuple[str, ...]]]:
    """The local days and times that the claim names, with flags; none when its offset cannot be right there."""
    place = clock.zone(context)
    local = datetime.combine(claim.day or date.min, claim.clock or time.min)
    if claim.offset is None:
        flags = _zone_flags(local, place)
        return [(local.date(), local.time(), flags)] if "nonexistent" not in flags else []
    if place is None:
        return [(local.date(), local.time(), ("zone_not_said",))] if claim.offset == timedelta(0) else []
    there = local.replace(tzinfo=timezone(claim.offset)).astimezone(place)
    flags = _zone_flags(there.replace(tzinfo=None), place)
    return [(there.date(), there.time(), flags)]


def _zone_flags(local: datetime, place: tzinfo | None) -> tuple[str, ...]:
    if place is None:
        return ()
    found = clock.instants(local, place)
    return () if len(found) == 1 else ("ambiguous",) if found else ("nonexistent",)


def _both(claim: Moment, places: Sequence[Place], context: Context) -> Iterator[Evidence]:
    for day, moment, flags, wanted in _views(claim, places, context):
        days = [(place, found) for place in places for found in _days(day, place)]
        clocks = [(place, found) for place in places for found in _clocks(moment, place, wanted)]
        windows = {id(place): _Window([found for where, found in clocks if where is place]) for place in places}
        for place, first in days:
            if near := windows[id(place)].near(first):
                yield _pair(place, first, min(near, key=lambda pair: pair[0])[1], claim, flags)
        if days and clocks and not any(where is place for place, _ in days for where, _ in clocks):
            place, first = days[-1]
            second = clocks[-1][1]
            parts = (_part(first, "#date"), _part(second, "#time"))
            yield place.evidence(
                first.start,
                first.end,
                "date_time",
                _iso_text(claim),
                "derived",
                "date_and_time",
                _flags(first, second, flags),
                parts=parts,
            )


class _Window:
    """Times of day by their place, so that those near a day are found without looking at the others."""

    def __init__(self, clocks: list[Evidence]) -> None:
        self._clocks = sorted(clocks, key=lambda found: found.start)
        self._starts = [found.start for found in self._clocks]
        self._longest = max((found.end - found.start for found in clocks), default=0)

    def near(self, first: Evidence) -> list[tuple[int, Evidence]]:
        """Return the times of day near a day, each with its distance from the day's end."""
        begin = bisect_left(self._starts, first.start - _MAX_GAP - self._longest)
        end = bisect_right(self._starts, first.end + _MAX_GAP)
        return [(abs(found.start - first.end), found) for found in self._clocks[begin:end] if _apart(first, found)]


def _apart(first: Evidence, second: Evidence) -> bool:
    gap = max(first.start, second.start) - min(first.end, second.end)
    return 0 <= gap <= _MAX_GAP or (gap < 0 and first.parts == ())


def _pair(place: Place, first: Evidence, second: Evidence, claim: Moment, flags: tuple[str, ...]) -> Evidence:
    parts = (_part(first, "#date"), _part(second, "#time"))
    grade: Grade = "derived" if "derived" in (first.grade, second.grade) else "stated"
    start, end = hull(first, second)
    return place.evidence(
        start,
        end,
        "date_time",
        _iso_text(claim),
        grade,
        first.rule,
        _flags(first, second, flags),
        first.alternatives + second.alternatives,
        parts=parts,
    )


def _part(found: Evidence, pointer: str) -> Evidence:
    return Evidence(
        found.segment_index,
        found.start,
        found.end,
        found.matched_text,
        found.normaliser,
        found.canonical,
        found.grade,
        pointer=pointer,
        rule=found.rule,
        parts=found.parts,
    )


def _flags(first: Evidence, second: Evidence, flags: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first.flags, *second.flags, *flags)))


def _iso_text(claim: Moment) -> str:
    local = datetime.combine(claim.day or date.min, claim.clock or time.min)
    return (
        local if claim.offset is None else local.replace(tzinfo=timezone(claim.offset) if claim.offset else UTC)
    ).isoformat()


def supports_parts(
    field: Field, value: str, first: Located, second: Located, places: Mapping[int, Place], context: Context
) -> Evidence | None:
    """A moment whose day and time stand in different segments: each named span must hold its half."""
    claim = parse_claim(value, field)
    if claim is None:
        return None
    for day, moment, flags in local_moments(claim, context):
        days = [found for found in _days(day, places[first.segment_index]) if _stands(found, first)]
        clocks = [found for found in _clocks(moment, places[second.segment_index]) if _stands(found, second)]
        if days and clocks and "ambiguous" not in _flags(days[0], clocks[0], flags):
            parts = (_part(days[0], "#date"), _part(clocks[0], "#time"))
            return places[first.segment_index].evidence(
                first.start, first.end, "date_time", _iso_text(claim), "derived", "date_and_time", flags, parts=parts
            )
    return None


def _stands(found: Evidence, located: Located) -> bool:
    return (found.start, found.end) == (located.start, located.end)
