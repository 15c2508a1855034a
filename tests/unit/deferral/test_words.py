"""When, in the user's words: what is read, what is asked (R-81)."""

from __future__ import annotations

from typing import Any

import pytest

from preflight.hooks.shipped.trigger import trigger_of
from preflight.model.evidence import Located, NotGrounded
from preflight.model.instruction import Segment
from preflight.model.request import Scope, Utterance
from preflight.model.rules import ConditionRule, TriggerRule

NOW = "2026-12-01T01:00:00+00:00"  # Tuesday, 10:00 in Seoul
DECLARED = {
    "salary": TriggerRule("salary", phrases=("my salary arrives", "I get paid"), event="salary.received"),
    "funded": TriggerRule(
        "funded", phrases=("there is enough",), condition=ConditionRule("funded", "organisation", "expression", "true")
    ),
}


def said(*texts: str | Segment, now: str = NOW, zone: str | None = "Asia/Seoul") -> Any:
    segments = tuple(text if isinstance(text, Segment) else Segment(text, "user") for text in texts)
    return trigger_of(Utterance(user_id="u", scope=Scope(), segments=segments, now=now, zone=zone), DECLARED)


@pytest.mark.parametrize(
    ("text", "value", "words"),
    [
        ("Transfer 100 to Bob tomorrow at 9am", "2026-12-02T00:00:00+00:00", "tomorrow at 9am"),
        ("Transfer 100 to Bob at 9am tomorrow", "2026-12-02T00:00:00+00:00", "9am tomorrow"),
        ("On Friday at 09:00 transfer 100 to Bob", "2026-12-04T00:00:00+00:00", "Friday at 09:00"),
        ("Transfer 100 to Bob on 4 December 2026, 18:30", "2026-12-04T09:30:00+00:00", "4 December 2026, 18:30"),
        ("Transfer 100 to Bob in 2 hours", "2026-12-01T12:00:00+09:00", "in 2 hours"),
        ("Transfer 100 to Bob in half an hour", "2026-12-01T10:30:00+09:00", "in half an hour"),
        ("내일 오전 9시에 Bob에게 100원 보내줘", "2026-12-02T00:00:00+00:00", "내일 오전 9시"),
        ("Pay Bob 100 every day at 09:00 until I cancel", "0 9 * * * until cancelled", "every day at 09:00"),
        ("Pay Bob 100 at 9am every weekday until further notice", "0 9 * * 1-5 until cancelled", "9am every weekday"),
        ("Every Sunday at 18:15 pay Bob 100, until cancelled", "15 18 * * 7 until cancelled", "Every Sunday at 18:15"),
        (
            "Pay 100 on the 1st of every month at 9am until I cancel",
            "0 9 1 * * until cancelled",
            "on the 1st of every month at 9am",
        ),
        (
            "Pay 100 monthly on the 15th at noon until I cancel it",
            "0 12 15 * * until cancelled",
            "monthly on the 15th at noon",
        ),
        ("Check it every hour until I say stop", "0 * * * * until cancelled", "every hour"),
        (
            "Pay 100 on Mondays at 09:00 until 31 December 2026",
            "0 9 * * 1 until 2026-12-31T14:59:59+00:00",
            "on Mondays at 09:00",
        ),
        ("Transfer 100 tomorrow at 9am, no, on Friday at 10am", "2026-12-04T01:00:00+00:00", "Friday at 10am"),
        ("Pay the rent once my salary  arrives", "event salary", "my salary  arrives"),
        ("As soon as there is enough, pay the rent", "condition funded", "there is enough"),
    ],
)
def test_one_time_that_is_said_is_read(text: str, value: str, words: str) -> None:
    found = said(text)
    assert isinstance(found, Located), found
    assert (found.value, text[found.start : found.end]) == (value, words)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Transfer 100 to Bob tomorrow", "time_of_day_not_said"),
        ("Transfer 100 to Bob tomorrow at 9", "ambiguous"),
        ("Transfer 100 to Bob next Friday at 9am", "ambiguous"),
        ("Transfer 100 tomorrow for the meeting at 9am", "time_of_day_not_said"),
        ("Transfer 100 in 2 hours, or in 3 hours", "when_unreadable"),
        ("Pay Bob 100 every day at 09:00", "end_not_said"),
        ("Pay Bob 100 every day until I cancel", "time_of_day_not_said"),
        ("Pay Bob 100 every day and every Monday at 09:00 until I cancel", "when_said_twice"),
        ("Pay Bob 100 every day at 9 until I cancel", "ambiguous"),
    ],
)
def test_what_is_left_open_is_asked(text: str, reason: str) -> None:
    found = said(text)
    assert isinstance(found, NotGrounded), found
    assert found.reason == reason


@pytest.mark.parametrize(
    "text",
    ["Transfer 100 to Bob", "Pay the invoice of 3 March", "Transfer 100 to Bob before Friday", "Wait until later"],
)
def test_a_time_that_is_not_said_is_not_found(text: str) -> None:
    assert said(text) is None


@pytest.mark.parametrize(("now", "segments"), [("", ("tomorrow at 9am",)), (NOW, ())])
def test_without_clock_or_words_there_is_none(now: str, segments: tuple[str, ...]) -> None:
    assert said(*segments, now=now) is None


def test_only_the_users_words_count() -> None:
    #
    mail = Segment("pay tomorrow at 9am", "untrusted", "mail:1")
    assert said("Transfer 100 to Bob", mail) is None
    found = said("Transfer 100 to Bob on Friday at 09:00", mail)
    assert isinstance(found, Located)
    assert found.value == "2026-12-04T00:00:00+00:00"


def test_a_clock_change_that_skips_or_repeats_the_time_is_asked_about() -> None:
    found = said("Transfer 100 on 28 March 2027 at 02:30", zone="Europe/Berlin")
    assert found == NotGrounded("time_skipped")
    twice = said("Transfer 100 on 31 October 2027 at 02:30", zone="Europe/Berlin")
    assert isinstance(twice, NotGrounded), twice


def test_without_a_zone_a_day_is_read_by_the_offset_of_the_clock() -> None:
    found = said("Transfer 100 to Bob tomorrow at 9am", zone=None, now="2026-12-01T10:00:00+09:00")
    assert isinstance(found, Located)
    assert found.value == "2026-12-02T00:00:00+00:00"


def test_earlier_requests_do_not_say_when() -> None:
    found = said(Segment("Pay tomorrow at 9am", "user", None, 1), Segment("Pay on Friday at 10am", "user", None, 2))
    assert isinstance(found, Located)
    assert (found.value, found.segment_index) == ("2026-12-04T01:00:00+00:00", 1)


@pytest.mark.parametrize(
    "when",
    [
        "in an hour and a half", "in 2 hours and 30 minutes", "in 1 hour 30 minutes", "in 2 hours or 3 hours",
        "in an hour after lunch", "in 2 to 3 hours", "in 1.5 hours", "a week tomorrow at 9am",
        "tomorrow at 9am or 10am",
        "tomorrow at 9am in London", "tomorrow at 9am +02:00", "tomorrow at 9am Pacific", "tomorrow at 9am their time",
    ],
)  # fmt: skip
def test_a_time_that_would_be_read_in_part_is_asked_about(when: str) -> None:
    found = said(f"Transfer 100 to Bob {when}")
    assert isinstance(found, NotGrounded), found


@pytest.mark.parametrize(
    "text",
    [
        'Transfer 100 later with the memo "will be there in 2 hours"',
        "Transfer 100 later\n> in 2 hours",
        'Pay Bob every day at 9am with the memo "rent, until cancelled by me"',
        "Pay Bob daily at 9am\n> until cancelled",
    ],
)
def test_what_is_quoted_says_neither_when_nor_until_when(text: str) -> None:
    #
    assert not isinstance(said(text), Located)
