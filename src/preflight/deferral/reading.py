"""From text to a trigger: what a hook found in the user's words, or what a person answered (R-81).

Both say it in the same few forms:

    now                                                          at once, without waiting
    2026-12-04T09:00:00+09:00                                    a time
    0 9 * * 1 [Europe/Berlin] until cancelled                    cron fields, and an end
    FREQ=MONTHLY;BYMONTHDAY=1 [Europe/Berlin] until 2027-12-31T00:00:00+01:00
    event salary [employer=acme] [until TIME]                    an event that the rules declare
    condition funded [until TIME]                                a condition that the rules declare

Whatever is left open is asked for: a time without zone, one that a clock change repeats or skips, a recurrence
without an end, a name that nobody declared. Reasons are short stable codes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, tzinfo

import msgspec

from preflight.deferral import triggers
from preflight.deferral.triggers import At, Condition, Cron, Event, Rule, Spec
from preflight.grounding import Context
from preflight.grounding.clock import instants, moment
from preflight.hooks.protocol import inline
from preflight.model.checklist import WhenCase
from preflight.model.evidence import NotGrounded
from preflight.model.request import Utterance
from preflight.model.rules import TriggerRule
from preflight.rulebook import RuleSource

_UNTIL = re.compile(r"[\s,;]*\buntil\s+(?P<end>.+)$", re.IGNORECASE)
_CANCELLED = frozenset({"cancelled", "canceled", "cancelled.", "canceled."})
_ZONE = re.compile(r"\s\[?(?P<zone>UTC(?:[+-]\d\d:\d\d)?|[A-Z][A-Za-z_]+(?:/[A-Za-z0-9_+-]+){1,2})\]?$")
_RULE = re.compile(r"^(?:RRULE:)?(?P<rule>FREQ=\S+)$", re.IGNORECASE)
_NAMED = re.compile(r"^(?P<what>event|condition)\s+(?P<name>\S+)(?P<match>(?:\s+[\w.-]+=\S+)*)$")
_NOW = frozenset({"now", "right now", "right away", "immediately", "at once"})
_FIRST_YEAR, _LAST_YEAR = 1, 9999
"""Beside these no zone takes an instant out of the calendar."""
_CASES = {At: "scheduled", Cron: "recurring", Rule: "recurring", Event: "conditional", Condition: "conditional"}


class Unclear(Exception):
    """A text that is not a trigger yet, and why."""


class TriggerReader:
    """Reads triggers under the rules in force."""

    def __init__(self, rules: RuleSource) -> None:
        """Take what declares events and conditions."""
        self._rules = rules

    @inline
    def read_trigger(
        self, given: object, utterance: Utterance, case: WhenCase | None
    ) -> dict[str, object] | NotGrounded:
        """Return `{case, trigger, said, first}`, or why the text is no trigger.

        `case` is what the words must agree with. `{case: "immediate"}` alone says that nothing is to be waited for.
        """
        now = moment(Context(now=utterance.now or None, zone=utterance.zone))
        if type(given) is not str or now is None:
            return NotGrounded("when_unreadable")
        if case is None and given.strip(" .!").casefold() in _NOW:
            return {"case": "immediate"}
        try:
            spec = read(given, utterance, now, self._rules().triggers)
        except Unclear as why:
            return NotGrounded(str(why))
        if case not in (None, _CASES[type(spec)]):
            return NotGrounded("when_unlike_said")
        first = triggers.next_after(spec, now.astimezone(UTC))
        if first is None and not isinstance(spec, Event | Condition):
            return NotGrounded("when_is_past" if isinstance(spec, At) else "when_never_comes")
        return {
            "case": _CASES[type(spec)],
            "trigger": msgspec.to_builtins(spec),
            "said": triggers.said(spec, first),
            "first": None if first is None else triggers.text_of(first),
        }


def read(text: str, utterance: Utterance, now: datetime, declared: Mapping[str, TriggerRule]) -> Spec:
    """Read a trigger's text; raises Unclear with the reason code."""
    text = " ".join(text.split())
    at = time_of(text, utterance, now)
    if at is not None:
        return At(triggers.text_of(at), zone_name(utterance, now, text))
    end, text = _end_of(text, utterance, now)
    named = _NAMED.match(text)
    if named is not None:
        return _named(named, end, now, zone_name(utterance, now, ""), declared)
    zone = _ZONE.search(text)
    text = _ZONE.sub("", text)
    place = zone["zone"] if zone is not None else utterance.zone
    if place is None:
        raise Unclear("zone_not_said")
    return _recurring(text, place, end, now)


def _recurring(text: str, zone: str, end: datetime | str | None, now: datetime) -> Spec:
    try:
        place = triggers.place_of(zone)
    except ValueError:
        raise Unclear("zone_unknown") from None
    until = triggers.text_of(end) if isinstance(end, datetime) else None
    rule = _RULE.match(text)
    if rule is not None:
        start = now.astimezone(place).replace(tzinfo=None, microsecond=0).isoformat()
        return _ruled(rule["rule"].upper(), start, zone, until, bounded=end is not None)
    if not triggers.is_cron(text):
        raise Unclear("when_unreadable")
    if end is None:
        raise Unclear("end_not_said")
    return Cron(text, zone, until)


def _ruled(text: str, start: str, zone: str, until: str | None, *, bounded: bool) -> Spec:
    parts = [part for part in text.split(";") if part]
    ends = [part.removeprefix("UNTIL=") for part in parts if part.startswith("UNTIL=")]
    if ends:
        at = _compact(ends[0])
        if at is None:
            raise Unclear("when_unreadable")
        until = min(filter(None, (until, triggers.text_of(at))))  # of two ends the nearer one holds
        parts = [part for part in parts if not part.startswith("UNTIL=")]
    text = ";".join(parts)
    if not triggers.is_rule(text, start):
        raise Unclear("when_unreadable")
    if not bounded and not ends and not any(part.startswith("COUNT=") for part in parts):
        raise Unclear("end_not_said")
    return Rule(text, start, zone, until)


def _compact(text: str) -> datetime | None:
    """Read the UNTIL of a rule, which must be an instant: `20271231T000000Z`."""
    try:
        return datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None


def _named(
    named: re.Match[str], end: datetime | str | None, now: datetime, zone: str, declared: Mapping[str, TriggerRule]
) -> Spec:
    rule = declared.get(named["name"])
    if rule is None or (named["what"] == "event") != (rule.event is not None):
        raise Unclear("when_not_declared")
    until = end if isinstance(end, datetime) else now + timedelta(seconds=rule.deadline_seconds)
    deadline = triggers.text_of(until)
    if rule.event is None:
        return Condition(named["name"], rule.poll_seconds, deadline, zone)
    pairs = (part.partition("=") for part in named["match"].split())
    match = {key: value_of(text) for key, _, text in pairs}
    return Event(rule.event, {**rule.match, **match}, deadline, zone)


def value_of(text: str) -> object:
    """Return a value as the command line gives it: JSON where it is JSON, else the text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _end_of(text: str, utterance: Utterance, now: datetime) -> tuple[datetime | str | None, str]:
    """Split off the end: an instant, the words `until cancelled`, or None where nothing is said."""
    found = _UNTIL.search(text)
    if found is None:
        return None, text
    rest = text[: found.start()]
    if found["end"].lower() in _CANCELLED:
        return "cancelled", rest
    at = time_of(found["end"], utterance, now)
    if at is None:
        raise Unclear("end_unreadable")
    if at <= now:
        raise Unclear("end_is_past")
    return at, rest


def time_of(text: str, utterance: Utterance, now: datetime) -> datetime | None:
    """Return the instant of an ISO 8601 time, None where the text is none; raises Unclear for one that is not one."""
    if not re.match(r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d", text):
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    if at.tzinfo is not None:
        return _in_reach(at.astimezone, UTC)
    if utterance.zone is None or now.tzinfo is None:
        raise Unclear("zone_not_said")
    found = instants(at, now.tzinfo)
    if len(found) != 1:
        raise Unclear("time_twice" if found else "time_skipped")  # a clock change repeats or skips it
    return found[0]


def _in_reach(brought: Callable[[tzinfo], datetime], zone: tzinfo) -> datetime:
    """Return an instant in a zone; raises Unclear at the ends of the calendar."""
    try:
        at = brought(zone)
    except OverflowError:
        raise Unclear("when_unreadable") from None
    if not _FIRST_YEAR < at.year < _LAST_YEAR:
        raise Unclear("when_unreadable")
    return at


def zone_name(utterance: Utterance, now: datetime, text: str) -> str:
    """Return the zone in which times are told to this user: theirs, else the offset that stands in the text."""
    if utterance.zone is not None:
        return utterance.zone
    offset = re.search(r"[+-]\d\d:\d\d$", text)
    return f"UTC{offset[0]}" if offset and not offset[0].endswith("00:00") else _offset_of(now)


def _offset_of(now: datetime) -> str:
    offset = f"{now:%z}"
    return "UTC" if offset in ("", "+0000") else f"UTC{offset[:3]}:{offset[3:5]}"
