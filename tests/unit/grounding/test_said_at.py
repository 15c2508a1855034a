"""Words are read by the clock of the moment when they were said, also where they are acted on later (R-51)."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET

from preflight.errors import InvalidInput
from preflight.grounding import Context, Target, ground_call
from preflight.hooks.shipped.trigger import trigger_of
from preflight.model.evidence import Located
from preflight.model.instruction import Segment
from preflight.model.request import Request, Scope, Utterance
from tests.unit.gates import request

BEFORE, AFTER = "2026-03-01T23:50:00+09:00", "2026-03-02T00:10:00+09:00"
DAY = {"type": "string", "format": "date"}


def known(claim: str, *segments: Segment, now: str = AFTER) -> bool:
    context = Context(now=now, zone="Asia/Seoul")
    return ground_call(segments, [Target("day", DAY, claim)], context)["day"].state == "known"


@pytest.mark.parametrize(
    ("words", "said", "day"),
    [
        ("book tomorrow", BEFORE, "2026-03-02"),
        ("book tomorrow", UNSET, "2026-03-03"),
        ("book today", BEFORE, "2026-03-01"),
        ("book in 3 days", "2026-03-01T14:50:00Z", "2026-03-04"),  # the same moment, by another clock
        ("book Monday", BEFORE, "2026-03-02"),
        ("book 1 March", BEFORE, "2026-03-01"),
        ("book 1 March", UNSET, "2027-03-01"),
    ],
)
def test_a_day_is_counted_from_when_it_was_said(words: str, said: Any, day: str) -> None:
    days = [f"2026-03-0{n}" for n in range(1, 10)] + ["2027-03-01"]
    assert [each for each in days if known(each, Segment(words, "user", said_at=said))] == [day]


def test_each_segment_has_its_own_clock() -> None:
    old = Segment("book tomorrow", "user", None, 1, BEFORE)
    new = Segment("no, book in 2 days", "user", None, 1, AFTER)
    assert known("2026-03-04", old, new)
    assert not known("2026-03-03", old, new)  # two days from when the first was said


def test_a_day_and_a_time_of_two_clocks_are_one_moment() -> None:
    segments = (Segment("tomorrow", "user", said_at=BEFORE), Segment("at 9:00", "user", said_at=AFTER))
    target = Target("at", {"type": "string", "format": "date-time"}, "2026-03-02T09:00:00+09:00")
    finding = ground_call(segments, [target], Context(now=AFTER, zone="Asia/Seoul"))["at"]
    assert finding.mentions or finding.evidence
    assert {part.segment_index for part in (finding.evidence or finding.mentions[0]).parts} == {0, 1}


def trigger(words: str, said: Any) -> object:
    segments = (Segment(words, "user", said_at=said),)
    found = trigger_of(Utterance(user_id="u", scope=Scope(), segments=segments, now=AFTER, zone="Asia/Seoul"), {})
    return found.value if isinstance(found, Located) else found


def test_when_to_act_is_counted_from_when_it_was_said() -> None:
    assert trigger("send it tomorrow at 9:00", BEFORE) == "2026-03-02T00:00:00+00:00"
    assert trigger("send it tomorrow at 9:00", UNSET) == "2026-03-03T00:00:00+00:00"
    assert trigger("send it in 30 minutes", BEFORE) == "2026-03-02T00:20:00+09:00"
    assert trigger("send it in 30 minutes", UNSET) == "2026-03-02T00:40:00+09:00"


@pytest.mark.parametrize("said", ["2026-03-01", "2026-03-01T23:50:00", "yesterday", "", 5, True, [BEFORE], "\ud800"])
def test_a_moment_that_is_none_is_refused_where_it_stands(said: Any) -> None:
    with pytest.raises(InvalidInput, match="instruction/0/said_at"):
        Request.parse(request(instruction=[{"text": "book tomorrow", "trust": "user", "said_at": said}]))


def test_a_moment_is_kept_as_it_was_given() -> None:
    given = [{"text": "a", "trust": "user", "said_at": BEFORE}, {"text": "b", "trust": "user", "said_at": None}]
    segments = Request.parse(request(instruction=given)).segments
    assert segments is not None
    assert [segment.said_at for segment in segments] == [BEFORE, UNSET]
