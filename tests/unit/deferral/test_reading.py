"""From text to a trigger: what is read, and what is asked instead of guessed (R-81)."""

from __future__ import annotations

from typing import Any

import pytest

from preflight.deferral.reading import TriggerReader
from preflight.model.evidence import NotGrounded
from preflight.model.request import Scope, Utterance
from preflight.model.rules import ConditionRule, TriggerRule
from preflight.rulebook import FixedRules

RULES = FixedRules()
RULES.triggers = {
    "salary": TriggerRule("salary", event="salary.received", match={"employer": "acme"}, deadline_seconds=86_400),
    "funded": TriggerRule(
        "funded", condition=ConditionRule("funded", "organisation", "expression", "true"), poll_seconds=5
    ),
}
READER = TriggerReader(lambda: RULES)
NOW = "2026-12-01T00:00:00+00:00"


def read(text: Any, case: Any = None, zone: str | None = "Asia/Seoul", now: str = NOW) -> Any:
    said = Utterance(user_id="u", scope=Scope(), segments=(), now=now, zone=zone)
    return READER.read_trigger(text, said, case)


@pytest.mark.parametrize(
    ("text", "trigger", "first"),
    [
        (
            "2026-12-04T09:00:00+09:00",
            {"kind": "at", "at": "2026-12-04T00:00:00.000000+00:00", "zone": "Asia/Seoul"},
            "2026-12-04T00:00:00.000000+00:00",
        ),
        (
            "2026-12-04 09:00",
            {"kind": "at", "at": "2026-12-04T00:00:00.000000+00:00", "zone": "Asia/Seoul"},
            "2026-12-04T00:00:00.000000+00:00",
        ),
        (
            "0 9 * * 1 until cancelled",
            {"kind": "cron", "cron": "0 9 * * 1", "zone": "Asia/Seoul"},
            "2026-12-07T00:00:00.000000+00:00",
        ),
        (
            "0 9 * * 1 Europe/Berlin, until cancelled",
            {"kind": "cron", "cron": "0 9 * * 1", "zone": "Europe/Berlin"},
            "2026-12-07T08:00:00.000000+00:00",
        ),
        (
            "0 9 * * * until 2026-12-31T00:00:00+09:00",
            {"kind": "cron", "cron": "0 9 * * *", "zone": "Asia/Seoul", "until": "2026-12-30T15:00:00.000000+00:00"},
            "2026-12-02T00:00:00.000000+00:00",
        ),
        (
            "RRULE:FREQ=DAILY;COUNT=3",
            {"kind": "rrule", "rule": "FREQ=DAILY;COUNT=3", "start": "2026-12-01T09:00:00", "zone": "Asia/Seoul"},
            "2026-12-02T00:00:00.000000+00:00",
        ),
        (
            "freq=daily;until=20261205T000000Z UTC",
            {
                "kind": "rrule",
                "rule": "FREQ=DAILY",
                "start": "2026-12-01T00:00:00",
                "zone": "UTC",
                "until": "2026-12-05T00:00:00.000000+00:00",
            },
            "2026-12-02T00:00:00.000000+00:00",
        ),
        (
            "event salary",
            {
                "kind": "event",
                "name": "salary.received",
                "match": {"employer": "acme"},
                "deadline": "2026-12-02T00:00:00.000000+00:00",
                "zone": "Asia/Seoul",
            },
            None,
        ),
        (
            "event salary amount=5 kind=x until 2026-12-03T00:00Z",
            {
                "kind": "event",
                "name": "salary.received",
                "match": {"employer": "acme", "amount": 5, "kind": "x"},
                "deadline": "2026-12-03T00:00:00.000000+00:00",
                "zone": "Asia/Seoul",
            },
            None,
        ),
        (
            "condition funded",
            {
                "kind": "condition",
                "name": "funded",
                "poll_seconds": 5,
                "deadline": "2026-12-31T00:00:00.000000+00:00",
                "zone": "Asia/Seoul",
            },
            None,
        ),
    ],
)
def test_each_form_is_read(text: str, trigger: dict[str, Any], first: str | None) -> None:
    found = read(text)
    assert isinstance(found, dict), found
    assert (found["trigger"], found["first"]) == (trigger, first)
    assert found["said"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (5, "when_unreadable"),
        ("", "when_unreadable"),
        ("tomorrow", "when_unreadable"),
        ("2026-13-04T09:00:00+09:00 until cancelled", "when_unreadable"),
        ("2026-11-30T09:00:00+09:00", "when_is_past"),
        ("0 9 * * 1", "end_not_said"),
        ("FREQ=DAILY", "end_not_said"),
        ("FREQ=SECONDLY until cancelled", "when_unreadable"),
        ("FREQ=DAILY;UNTIL=20261205", "when_unreadable"),
        ("0 9 * * * until later", "end_unreadable"),
        ("0 9 * * * until 2026-11-30T09:00:00+09:00", "end_is_past"),
        ("0 9 31 2 * until cancelled", "when_unreadable"),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30 until cancelled", "when_never_comes"),
        ("0 9 * * 1 Mars/Olympus until cancelled", "zone_unknown"),
        ("event other", "when_not_declared"),
        ("condition salary", "when_not_declared"),
        ("event funded", "when_not_declared"),
    ],
)
def test_what_is_left_open_is_asked(text: Any, reason: str) -> None:
    assert read(text) == NotGrounded(reason)


@pytest.mark.parametrize(
    ("text", "reason"),
    [("2027-03-28T02:30", "time_skipped"), ("2027-10-31T02:30", "time_twice")],
)
def test_a_local_time_that_a_clock_change_skips_or_repeats_is_asked(text: str, reason: str) -> None:
    assert read(text, zone="Europe/Berlin") == NotGrounded(reason)


@pytest.mark.parametrize("text", ["2026-12-04T09:00", "0 9 * * 1 until cancelled"])
def test_without_a_zone_nothing_local_is_read(text: str) -> None:
    assert read(text, zone=None) == NotGrounded("zone_not_said")


@pytest.mark.parametrize(
    ("text", "zone"),
    [("2026-12-04T09:00:00+09:00", "UTC+09:00"), ("2026-12-04T09:00:00Z", "UTC"), ("condition funded", "UTC")],
)
def test_without_a_zone_times_are_told_by_their_offset(text: str, zone: str) -> None:
    assert read(text, zone=None)["trigger"]["zone"] == zone


def test_without_a_clock_nothing_is_read() -> None:
    assert read("2026-12-04T09:00:00+09:00", now="") == NotGrounded("when_unreadable")


def test_the_offset_of_the_clock_tells_times_where_nothing_else_does() -> None:
    assert read("condition funded", zone=None, now="2026-12-01T00:00:00-03:30")["trigger"]["zone"] == "UTC-03:30"


@pytest.mark.parametrize("case", ["recurring", "conditional", "immediate"])
def test_words_that_do_not_agree_with_how_they_were_classified_are_asked_about(case: str) -> None:
    assert read("2026-12-04T09:00:00+09:00", case) == NotGrounded("when_unlike_said")
    assert isinstance(read("2026-12-04T09:00:00+09:00", "scheduled"), dict)


@pytest.mark.parametrize(
    "text",
    [
        "FREQ=DAILY;INTERVAL=0 until cancelled", "FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30 until cancelled",
        "FREQ=DAILY;COUNT=-1", "FREQ=DAILY;COUNT=0", "FREQ=HOURLY;BYMINUTE=0,1,2 until cancelled",
        "FREQ=MINUTELY until cancelled", "FREQ=DAILY;X-MORE=1 until cancelled",
        "9999-12-31T23:59:59-12:00", "9999-12-31T23:59:59+00:00", "0001-01-01T00:00:00+12:00",
    ],
)  # fmt: skip
def test_what_cannot_be_computed_is_unreadable_at_once(text: str) -> None:
    assert read(text) == NotGrounded("when_unreadable")


def test_of_two_ends_the_nearer_one_holds() -> None:
    found = read("FREQ=DAILY;UNTIL=20300101T000000Z until 2026-12-08T00:00:00Z")
    assert isinstance(found, dict)
    assert found["trigger"]["until"] == "2026-12-08T00:00:00.000000+00:00"
    counted = read("FREQ=DAILY;COUNT=5 until 2026-12-08T00:00:00Z")
    assert isinstance(counted, dict)
    assert "as often as the rule counts, and until Tuesday 8 December 2026" in counted["said"]
