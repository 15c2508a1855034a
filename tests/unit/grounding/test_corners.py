"""Small rules and rare forms, each by the words that bring it up."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from preflight.grounding import Context, Target, ground_call
from preflight.grounding.index import Index
from preflight.grounding.matching import assign
from preflight.grounding.number_words import number_words
from preflight.grounding.numerals import numerals
from preflight.grounding.quantities import field_unit, quantities, unit_after
from preflight.model.instruction import Segment
from tests.unit.grounding import cases

SEOUL = Context(cases.NOW, cases.ZONE)


def state(text: str | list[str], claim: Any, schema: dict[str, Any], name: str = "value") -> tuple[str, str]:
    segments = [Segment(said, "user") for said in ([text] if isinstance(text, str) else text)]
    finding = ground_call(segments, [Target(name, schema, claim)], SEOUL)[name]
    return finding.state, finding.reason


@pytest.mark.parametrize(
    ("text", "claim", "schema", "outcome"),
    [
        (["tag it red", "and blue"], ["red", "blue"], cases.TAGS, ("known", "grounded")),
        ("orders 12, 15 for 19", [12, 19], {"items": {"type": "integer"}}, ("known", "grounded")),
        ("orders 9, 12, 15 now", [12, 15], {"items": {"type": "integer"}}, ("unknown", "incomplete")),
        ("orders 12 and 15, 30 days", [12, 15], {"items": {"type": "integer"}}, ("unknown", "incomplete")),
        ("orders 12 and 15 for 30 days", [12, 15], {"items": {"type": "integer"}}, ("known", "grounded")),
        ("order 12. Then 15", [12], {"items": {"type": "integer"}}, ("known", "grounded")),
        ("use 300 instead", 300, cases.AMOUNT, ("known", "grounded")),
        ("send 500. Use 300 euros instead", 500, cases.AMOUNT, ("unknown", "superseded")),
        ("send 500 to the account that I had, sorry", 500, cases.AMOUNT, ("known", "grounded")),
        ("send 500. Something else instead", 500, cases.AMOUNT, ("known", "grounded")),
        (["send 500", "use 300 instead"], 500, cases.AMOUNT, ("unknown", "superseded")),
        (["book 4 December", "sorry, 5 December"], "2026-12-04", cases.DATE, ("unknown", "superseded")),
        (["book 4 December", "sorry, 5 December"], "2026-12-05", cases.DATE, ("known", "grounded")),
        (["at 9 am", "actually 10 am"], "09:00", cases.TIME, ("unknown", "superseded")),
        (["pay KR-77-0012", "no, KR-77-0013"], "KR-77-0012", cases.TO_ACCOUNT, ("unknown", "superseded")),
        (["pay KR-77-0012", "no, thanks"], "KR-77-0012", cases.TO_ACCOUNT, ("known", "grounded")),
        (["pay KR-77-0012", "no, LT-1"], "KR-77-0012", cases.TO_ACCOUNT, ("known", "grounded")),
        ("bob 말고 ana에게", "bob", cases.PERSON, ("unknown", "negated")),
        ("leave Ana alone", "Ana", cases.PERSON, ("unknown", "negated")),
        ("keep Ana on, delete Bob", "Ana", cases.PERSON, ("unknown", "negated")),
        ("keep Ana", "Ana", cases.PERSON, ("known", "grounded")),
        ("Ana, no", "Ana", cases.PERSON, ("known", "grounded")),
        ("Paris or maybe not", "Paris", {"type": "string"}, ("known", "grounded")),
        ("mail a@x.org or b@x.org", "a@x.org", cases.EMAIL, ("unknown", "ambiguous")),
        ("pay KR-1 or KR-2", "KR-2", cases.TO_ACCOUNT, ("unknown", "ambiguous")),
        ("tomorrow at 26:00", "26:00", cases.TIME, ("known", "grounded")),
        ("orders 2 and 3", "2,7", {"type": "string"}, ("unknown", "not_found")),
    ],
)
def test_rules(text: str | list[str], claim: Any, schema: dict[str, Any], outcome: tuple[str, str]) -> None:
    assert state(text, claim, schema) == outcome


@pytest.mark.parametrize(
    ("text", "targets", "states"),
    [
        ("pay 5 and 5", [("a", {"type": "integer"}, 5), ("b", {"type": "integer"}, 5)], ["known", "known"]),
        ("2 kg for 3 m", [("a", {"type": "number"}, 3), ("b", {"type": "number"}, 2)], ["known", "known"]),
        ("$200 to room 3", [("room", {"type": "number"}, 200), ("sum", {"type": "number"}, 3)], ["known", "known"]),
        ("amount 5", [("other", {"type": "integer"}, 5), ("amount", {"type": "integer"}, 5)], ["unknown", "known"]),
    ],
)
def test_matching_over_a_call(text: str, targets: list[tuple[str, dict[str, Any], Any]], states: list[str]) -> None:
    findings = ground_call([Segment(text, "user")], [Target(*target) for target in targets])
    assert [finding.state for finding in findings.values()] == states


def test_a_leaf_moves_an_earlier_one_to_another_mention_or_goes_without() -> None:
    first, second, third = (0, 0, 1), (0, 2, 3), (0, 4, 5)
    assert assign([[[first], [second]], [[first]]], [0, 1]) == [1, 0]
    assert assign([[[first]], [[first]]], [0, 1]) == [0, None]
    assert assign([[[first], [second]], [[second], [third]], [[first]]], [0, 1, 2]) == [1, 1, 0]
    assert assign([[[first], [second]], [[first], [second]], [[first]]], [0, 1, 2]) == [0, 1, None]
    assert assign([[[first]], [[second]], [[first, second]]], [0, 1, 2]) == [0, 0, None]


def test_many_parts_of_one_myriad_number() -> None:
    assert [found.key for found in numerals("1조2억3만4천5백6", "ko")] == [Decimal(1_000_200_034_506)]


def test_equal_moments_have_no_order_and_an_open_end_is_no_end() -> None:
    segments = [Segment("from 9 am, for 45 minutes and for 30 minutes", "user")]
    targets = [Target("start", cases.TIME, "09:00"), Target("end", cases.TIME, "09:30"), Target("until", cases.TIME, 5)]
    findings = ground_call(segments, targets, SEOUL)
    assert [finding.state for finding in findings.values()] == ["known", "known", "unknown"]


def test_a_start_that_is_swapped_with_two_ends_is_told_once() -> None:
    segments = [Segment("2027-03-05, 2027-03-03 and 2027-03-04", "user")]
    names = {"start": "2027-03-05", "end": "2027-03-03", "return": "2027-03-04"}
    findings = ground_call(segments, [Target(name, cases.DATE, day) for name, day in names.items()], SEOUL)
    assert [finding.reason for finding in findings.values()] == ["swapped"] * 3


def test_a_noon_that_is_written_twice_is_read_once() -> None:
    index = Index("at 9:30 am", "en")
    assert [found.key for found in index.times] == [(9, 30, 0)]


def test_number_words_that_do_not_touch_are_two_numbers() -> None:
    assert [found.key for found in number_words("twenty, thirty and forty", "en")] == [20, 30, 40]


@pytest.mark.parametrize(
    ("text", "name", "claim", "reason"),
    [
        ("부산에서 출발", "destination", "부산", "swapped"),
        ("東京まで行く", "origin", "東京", "swapped"),
        ("change the from city from Rome to Oslo", "old_city", "Rome", "grounded"),
        ("change it from Rome to Oslo", "city", "Rome", "superseded"),
    ],
)
def test_ends_by_particles_and_changes(text: str, name: str, claim: str, reason: str) -> None:
    assert state(text, claim, {"type": "string"}, name)[1] == reason


@pytest.mark.parametrize(
    ("text", "description", "known"),
    [
        ("pay 20 euros", "in euros", True),
        ("pay €20", "in US dollars", False),
        ("pay 20 CHF", "in US dollars", False),
        ("pay 20 Canadian dollars", "in Canadian dollars", True),
        ("pay 20 now", "in US dollars", True),
        ("pay 20 euros", "in US dollars or yen", True),
        ("pay 20", "Amount", True),
        ("win 20 won", "in KRW", True),
    ],
)
def test_money_of_another_currency(text: str, description: str, known: bool) -> None:
    assert (state(text, 20, {"type": "number", "description": description})[0] == "known") is known


def test_units() -> None:
    text = "50mH, 100µF, 5ft 10in, 3 a, 1 m 5 kg, 30 minutes 1 hour, 10 boxes, 2시간"
    found = [(text[one.start : one.end], one.unit.name) for one in quantities(text, numerals(text, "en"))]
    assert ("50mH", "mH") in found
    assert ("100µF", "µF") in found
    assert ("5ft 10in", "in") in [(place, "in") for place, _ in found]
    assert not any(place in ("3 a", "10 boxes", "1 m 5 kg", "30 minutes 1 hour") for place, _ in found)
    assert unit_after("5", 1) is None
    assert unit_after("5 degrees celsius", 1) is not None
    kilograms = field_unit("weight_kg", "", None)
    assert kilograms is not None
    assert kilograms.name == "kilogram"
    assert field_unit("x", "in kg or in grams", None) is None
    assert field_unit("x", "in kg", "parsec") is None


def test_numbers_in_dates_and_in_words_that_may_be_times() -> None:
    index = Index("on 4 May 2027 at 9, room 5", "en")
    assert [index.calendar_at(*span) for span in ((3, 4), (17, 18), (25, 26))] == ["inside", "perhaps", None]
    assert [key for _, _, key in index.mentions("time")] == [(9, 0, 0), (21, 0, 0)]
    assert index.mentions("words") == []
    assert index.replacement("number") is None
