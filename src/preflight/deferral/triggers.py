"""Triggers as values, and their next instant: at a time, recurring, or once something happens (R-81).

Theory of operation
-------------------
An instant is UTC; a zone says how it is told to people. A recurrence is computed in local time of its zone and
each local time is resolved to one instant: one that a clock change skips moves to the first instant after it, one
that it repeats is taken once, the first time. Nothing here reads a clock: `next_after` is asked with an instant.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

import msgspec
from cronsim import CronSim, CronSimError
from dateutil.rrule import rrule, rrulestr

HORIZON = timedelta(days=366 * 9)
"""How far a recurrence is looked into for its next instant: a leap day is at most eight years away."""


class At(msgspec.Struct, frozen=True, tag_field="kind", tag="at"):
    """Once, at an instant (ISO 8601, UTC)."""

    at: str
    zone: str


class Cron(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="cron"):
    """At the times of five cron fields in a zone. `until` is the last instant; None: until it is cancelled."""

    cron: str
    zone: str
    until: str | None = None


class Rule(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="rrule"):
    """At the times of an RFC 5545 rule, counted from a local time. `until` as for cron; a COUNT ends it too."""

    rule: str
    start: str
    zone: str
    until: str | None = None


class Event(msgspec.Struct, frozen=True, tag_field="kind", tag="event"):
    """Once an event of this name comes whose content has these values, until a deadline (ISO 8601, UTC)."""

    name: str
    match: dict[str, object]
    deadline: str
    zone: str


class Condition(msgspec.Struct, frozen=True, tag_field="kind", tag="condition"):
    """Once a condition of the rules holds, looked at every few seconds, until a deadline (ISO 8601, UTC)."""

    name: str
    poll_seconds: float
    deadline: str
    zone: str


Spec = At | Cron | Rule | Event | Condition
RECURRING = (Cron, Rule)


def spec_of(trigger: object) -> Spec:
    """Read a stored trigger; raises msgspec.ValidationError for anything else."""
    return msgspec.convert(trigger, Spec)  # type: ignore[no-any-return]  # a union has no type to infer from


def place_of(name: str) -> tzinfo:
    """Return a zone by its IANA name, or of a fixed offset like `UTC+09:00`; raises ValueError for another."""
    if name.startswith("UTC") and len(name) > 3:
        offset = datetime.strptime(name[3:], "%z").utcoffset()
        assert offset is not None  # noqa: S101  `%z` gives one
        return timezone(offset)
    try:
        return ZoneInfo(name)
    except (KeyError, OSError) as fault:  # ZoneInfoNotFoundError is a KeyError
        message = f"`{name}` is no time zone"
        raise ValueError(message) from fault


def instant_of(text: str) -> datetime:
    """Return an instant that a trigger holds."""
    return datetime.fromisoformat(text).astimezone(UTC)


def text_of(instant: datetime) -> str:
    """Write an instant as records write it."""
    return instant.astimezone(UTC).isoformat(timespec="microseconds")


def said_at(instant: datetime, zone: str) -> str:
    """Say an instant so that nothing is left to be worked out: `Friday 4 December 2026, 09:00 Asia/Seoul`."""
    there = instant.astimezone(place_of(zone))
    clock = f"{there:%H:%M}" + (f":{there:%S}" if there.second else "")
    twice = there.replace(fold=0).utcoffset() != there.replace(fold=1).utcoffset()
    offset = f" (UTC{there.isoformat()[-6:]})" if twice else ""  # the hour that a clock change repeats
    return f"{there:%A} {there.day} {there:%B} {there.year}, {clock} {zone}{offset}"


def said(spec: Spec, first: datetime | None) -> str:
    """Say a trigger back."""
    if isinstance(spec, At):
        return said_at(instant_of(spec.at), spec.zone)
    if isinstance(spec, Event | Condition):
        what = "event" if isinstance(spec, Event) else "condition"
        match = (
            " with " + ", ".join(f"{k} {v}" for k, v in spec.match.items())
            if isinstance(spec, Event) and spec.match
            else ""
        )
        verb = "comes" if isinstance(spec, Event) else "holds"
        return f"once {what} `{spec.name}`{match} {verb}, until {said_at(instant_of(spec.deadline), spec.zone)}"
    times = _cron(spec.cron).explain() if isinstance(spec, Cron) else f"by the rule {spec.rule}"
    end = "until cancelled" if spec.until is None else f"until {said_at(instant_of(spec.until), spec.zone)}"
    if isinstance(spec, Rule) and "COUNT=" in spec.rule:
        end = "as often as the rule counts" + ("" if spec.until is None else f", and {end}")
    begin = "never" if first is None else f"first on {said_at(first, spec.zone)}"
    return f"{times} ({spec.zone}), {begin}, {end}"


def next_after(spec: Spec, after: datetime) -> datetime | None:
    """Return the first instant of a trigger after another; None where there is none, or none that a clock gives."""
    if isinstance(spec, At):
        at = instant_of(spec.at)
        return at if at > after else None
    if not isinstance(spec, RECURRING):
        return None
    end = after + HORIZON if spec.until is None else min(instant_of(spec.until), after + HORIZON)
    times = _times(spec, after, end)
    return next((at for at in times if at > after and at <= end), None)


def _times(spec: Cron | Rule, after: datetime, end: datetime) -> Iterator[datetime]:
    if isinstance(spec, Cron):
        place = place_of(spec.zone)
        for local in CronSim(spec.cron, after.astimezone(place)):
            at = local.astimezone(UTC)
            yield at
            if at > end:
                return
    else:
        yield from _by_rule(spec, after, end)


def _by_rule(spec: Rule, after: datetime, end: datetime) -> Iterator[datetime]:
    place = place_of(spec.zone)
    last = end.astimezone(place).replace(tzinfo=None) + timedelta(days=1)
    # a day before: around a clock change, local times and instants are not in the same order
    begin = after.astimezone(place).replace(tzinfo=None) - timedelta(days=1)
    # counted here: a rule with both a count and an end is none, and without an end one that never comes never ends
    text, count = _counted(spec.rule)
    for local in itertools.islice(_rule(text, spec.start).replace(until=last), count):
        if local >= begin:
            yield resolved(local, place)


def _counted(text: str) -> tuple[str, int | None]:
    """Return a rule without its count, and the count."""
    parts = text.split(";")
    counts = [int(part.removeprefix("COUNT=")) for part in parts if part.startswith("COUNT=")]
    return ";".join(part for part in parts if not part.startswith("COUNT=")), min(counts, default=None)


def resolved(local: datetime, place: tzinfo) -> datetime:
    """Return the one instant of a local time: skipped ones move on by what was skipped, of two the first."""
    return local.replace(tzinfo=place, fold=0).astimezone(UTC)


def _cron(text: str) -> CronSim:
    return CronSim(text, datetime(2000, 1, 1, tzinfo=UTC))


@lru_cache(maxsize=256)
def _rule(text: str, start: str) -> rrule:
    return rrulestr(text, dtstart=datetime.fromisoformat(start))  # type: ignore[return-value]  # one rule, no set


def is_cron(text: str) -> bool:
    """Whether a text is five cron fields that have a time."""
    try:
        _cron(text)
    except CronSimError:
        return False
    return len(text.split()) == 5


_NUMBER = r"[1-9]\d{0,3}"
_LIST = r"[+\-\dA-Z]+(?:,[+\-\dA-Z]+){0,60}"
_PARTS = re.compile(
    rf"INTERVAL={_NUMBER}|COUNT={_NUMBER}|WKST=[A-Z]{{2}}|BY(?:SECOND|MINUTE)=\d{{1,2}}"
    rf"|BY(?:HOUR|DAY|MONTH|MONTHDAY|YEARDAY|WEEKNO|SETPOS|EASTER)={_LIST}"
)
_HOURLY = re.compile(rf"INTERVAL={_NUMBER}|COUNT={_NUMBER}|BY(?:SECOND|MINUTE)=\d{{1,2}}|BY(?:HOUR|DAY)={_LIST}")


def is_rule(text: str, start: str) -> bool:
    """Whether a text is one RFC 5545 rule that can be computed: at most hourly, each time later than the one before.

    Of an hourly rule the days may be named and no months: looking hour by hour for a day that never comes takes long.
    """
    frequency, *parts = text.upper().split(";")
    if frequency.removeprefix("FREQ=") not in ("HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY"):
        return False
    allowed = _HOURLY if frequency == "FREQ=HOURLY" else _PARTS
    if not all(allowed.fullmatch(part) for part in parts):
        return False
    try:
        rule: object = _rule(_counted(text)[0], start)
    except (ValueError, TypeError, AttributeError, KeyError, OverflowError):
        return False
    return isinstance(rule, rrule)
