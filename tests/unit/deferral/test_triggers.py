"""Triggers: their next instant across gaps, folds and leap days, and how they are said back (R-81)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from preflight.deferral import triggers
from preflight.deferral.triggers import At, Condition, Cron, Event, Rule, Spec

BERLIN, SEOUL = "Europe/Berlin", "Asia/Seoul"


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def following(spec: Spec, after: str, count: int) -> list[str]:
    """The next instants of a trigger, in its own zone where it has one."""
    found, at = [], utc(after)
    for _ in range(count):
        found_at = triggers.next_after(spec, at)
        if found_at is None:
            break
        found.append(found_at.strftime("%Y-%m-%dT%H:%MZ"))
        at = found_at
    return found


# In Berlin the clock skips 02:00 to 03:00 on 28 March 2027, and repeats it on 31 October 2027.
@pytest.mark.parametrize(
    ("spec", "after", "expected"),
    [
        pytest.param(
            Cron("30 2 * * *", BERLIN),
            "2027-03-27T00:00",
            ["2027-03-27T01:30Z", "2027-03-28T01:00Z", "2027-03-29T00:30Z"],
            id="cron, gap",
        ),
        pytest.param(
            Cron("30 2 * * *", BERLIN),
            "2027-10-30T00:00",
            ["2027-10-30T00:30Z", "2027-10-31T00:30Z", "2027-11-01T01:30Z"],
            id="cron, fold",
        ),
        pytest.param(
            Cron("0 9 29 2 *", SEOUL),
            "2026-12-01T00:00",
            ["2028-02-29T00:00Z", "2032-02-29T00:00Z"],
            id="cron, leap day",
        ),
        pytest.param(
            Cron("0 9 * * 1", SEOUL), "2026-12-01T00:00", ["2026-12-07T00:00Z", "2026-12-14T00:00Z"], id="cron, Mondays"
        ),
        pytest.param(
            Cron("0 9 * * *", SEOUL, "2026-12-02T00:00:00+00:00"),
            "2026-12-01T00:30",
            ["2026-12-02T00:00Z"],
            id="cron, end",
        ),
        pytest.param(
            Rule("FREQ=DAILY", "2027-03-26T02:30:00", BERLIN),
            "2027-03-27T00:00",
            ["2027-03-27T01:30Z", "2027-03-28T01:30Z", "2027-03-29T00:30Z"],
            id="rule, gap",
        ),
        pytest.param(
            Rule("FREQ=DAILY", "2027-10-29T02:30:00", BERLIN),
            "2027-10-30T00:00",
            ["2027-10-30T00:30Z", "2027-10-31T00:30Z", "2027-11-01T01:30Z"],
            id="rule, fold",
        ),
        pytest.param(
            Rule("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", "2026-12-01T09:00:00", "UTC"),
            "2026-12-01T00:00",
            ["2028-02-29T09:00Z", "2032-02-29T09:00Z"],
            id="rule, leap day",
        ),
        pytest.param(
            Rule("FREQ=MONTHLY;BYMONTHDAY=31", "2026-12-01T09:00:00", "UTC"),
            "2026-12-01T00:00",
            ["2026-12-31T09:00Z", "2027-01-31T09:00Z", "2027-03-31T09:00Z"],
            id="rule, the 31st",
        ),
        pytest.param(
            Rule("FREQ=DAILY;COUNT=2", "2026-12-01T09:00:00", "UTC"),
            "2026-12-01T00:00",
            ["2026-12-01T09:00Z", "2026-12-02T09:00Z"],
            id="rule, counted",
        ),
        pytest.param(
            Rule("FREQ=DAILY", "2026-12-01T09:00:00", "UTC", "2026-12-01T09:00:00+00:00"),
            "2026-12-01T00:00",
            ["2026-12-01T09:00Z"],
            id="rule, end",
        ),
        pytest.param(At("2026-12-04T00:00:00+00:00", SEOUL), "2026-12-01T00:00", ["2026-12-04T00:00Z"], id="at"),
        pytest.param(At("2026-12-04T00:00:00+00:00", SEOUL), "2026-12-04T00:00", [], id="at, passed"),
        pytest.param(Event("paid", {}, "2026-12-04T00:00:00+00:00", "UTC"), "2026-12-01T00:00", [], id="event"),
    ],
)
def test_the_next_instants(spec: Spec, after: str, expected: list[str]) -> None:
    assert following(spec, after, len(expected) + (1 if len(expected) < 2 else 0)) == expected


def test_a_recurrence_through_a_whole_year_never_repeats_and_never_goes_back() -> None:
    for spec in (Cron("30 2 * * *", BERLIN), Rule("FREQ=DAILY", "2027-01-01T02:30:00", BERLIN)):
        at, days = utc("2027-01-01T00:00"), []
        while at < utc("2028-01-01T00:00"):
            found = triggers.next_after(spec, at)
            assert found is not None
            assert found > at
            at = found
            days.append(at.astimezone(triggers.place_of(BERLIN)).date())
        assert len(set(days)) == len(days) == 366


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (At("2026-12-04T00:00:00+00:00", SEOUL), "Friday 4 December 2026, 09:00 Asia/Seoul"),
        (At("2026-12-04T00:00:05+00:00", "UTC+09:00"), "Friday 4 December 2026, 09:00:05 UTC+09:00"),
        (At("2027-10-31T00:30:00+00:00", BERLIN), "Sunday 31 October 2027, 02:30 Europe/Berlin (UTC+02:00)"),
        (At("2027-10-31T01:30:00+00:00", BERLIN), "Sunday 31 October 2027, 02:30 Europe/Berlin (UTC+01:00)"),
        (
            Event("paid", {"employer": "acme"}, "2026-12-04T00:00:00+00:00", SEOUL),
            "once event `paid` with employer acme comes, until Friday 4 December 2026, 09:00 Asia/Seoul",
        ),
        (
            Condition("funded", 60, "2026-12-04T00:00:00+00:00", SEOUL),
            "once condition `funded` holds, until Friday 4 December 2026, 09:00 Asia/Seoul",
        ),
        (
            Cron("0 9 * * 1", SEOUL),
            "At 09:00 on Monday (Asia/Seoul), first on Monday 7 December 2026, 09:00 Asia/Seoul, until cancelled",
        ),
        (
            Rule("FREQ=DAILY;COUNT=2", "2026-12-01T18:00:00", SEOUL),
            (
                "by the rule FREQ=DAILY;COUNT=2 (Asia/Seoul), first on Tuesday 1 December 2026, 18:00 Asia/Seoul, "
                "as often as the rule counts"
            ),
        ),
        (
            Cron("0 9 * * *", "UTC", "2026-11-01T00:00:00+00:00"),
            "At 09:00 every day (UTC), never, until Sunday 1 November 2026, 00:00 UTC",
        ),
    ],
)
def test_a_trigger_is_said_back_absolutely(spec: Spec, said: str) -> None:
    first = triggers.next_after(spec, utc("2026-12-01T00:00"))
    assert triggers.said(spec, first) == said


@pytest.mark.parametrize("spec", [At("x", "UTC"), Cron("0 9 * * 1", SEOUL), Rule("FREQ=DAILY", "x", "UTC", "y")])
def test_a_stored_trigger_is_read_back(spec: Spec) -> None:
    assert triggers.spec_of(msgspec.to_builtins(spec)) == spec


@pytest.mark.parametrize("trigger", [None, {}, {"kind": "at"}, {"kind": "other"}])
def test_what_is_no_trigger_is_refused(trigger: Any) -> None:
    with pytest.raises(msgspec.ValidationError):
        triggers.spec_of(trigger)


@pytest.mark.parametrize("text", ["* * * * *", "0 9 29 2 *", "0 0 1 1 *"])
def test_cron_texts(text: str) -> None:
    assert triggers.is_cron(text)


@pytest.mark.parametrize("text", ["", "0 9 * *", "0 9 * * * *", "61 9 * * *", "0 9 31 2 *", "@daily", "0 9 * * 8"])
def test_what_is_no_cron_text(text: str) -> None:
    assert not triggers.is_cron(text)


@pytest.mark.parametrize("text", ["FREQ=SECONDLY", "FREQ=MINUTELY", "FREQ=NEVER", "FREQ=DAILY;BYHOUR=99x", "", "DAILY"])
def test_what_is_no_rule(text: str) -> None:
    assert not triggers.is_rule(text, "2026-12-01T00:00:00")


@pytest.mark.parametrize("name", ["Mars/Olympus", "UTC+9", "../etc/passwd", "UTCxx"])
def test_what_is_no_zone(name: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  zoneinfo and strptime word it in their own ways
        triggers.place_of(name)
