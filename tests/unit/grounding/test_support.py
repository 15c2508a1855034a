"""A place that somebody names: the span, the segment and the words in it (R-3, R-41)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec
import pytest

from preflight.grounding import Context, Target, ground_call, support
from preflight.grounding.locate import located_from
from preflight.model.evidence import Evidence, Located
from preflight.model.instruction import Segment
from tests.unit.grounding import cases

CONTEXT = Context(cases.NOW, cases.ZONE)


def at(text: str, quote: str, value: Any, schema: dict[str, Any] | None = None, **more: Any) -> Evidence | None:
    start = text.index(quote)
    return support([Segment(text, "user")], Located(value, 0, start, start + len(quote)), schema or {}, CONTEXT, **more)


@pytest.mark.parametrize(
    ("text", "quote", "value", "normaliser"),
    [
        ("use 500000 for this", "500000", 500000, "number"),
        ("use 500,000 for this", "500,000", 500000, "number"),
        ("use 42.5 for this", "42.5", 42.5, "number"),
        ("use 42.50, please", "42.50", Decimal("42.5"), "number"),
        ("set -3 degrees", "-3", -3, "number"),
        ("pay $500 now", "$500", 500, "number"),
        ("pay 500 won", "500 won", 500, "number"),
        ("pay one thousand two hundred", "one thousand two hundred", 1200, "number_words"),
        ("use grill for this", "grill", "grill", "exact"),
        ("use Quarterly report for", "Quarterly report", "quarterly_report", "fold"),
        ("write to Jose\u0301", "Jose\u0301", "Jos\u00e9", "fold"),
        ("book tomorrow", "tomorrow", "2026-12-01", "date_relative"),
        ("tomorrow at 9 am", "tomorrow at 9 am", "2026-12-01T09:00:00+09:00", "date_time"),
        ("in February", "February", "February", "exact"),
        ("from February 15th 2022", "February", 2, "date_part"),
    ],
)
def test_supported(text: str, quote: str, value: Any, normaliser: str) -> None:
    evidence = at(text, quote, value)
    assert evidence is not None
    assert (evidence.matched_text, evidence.normaliser) == (quote, normaliser)


@pytest.mark.parametrize(
    ("text", "quote", "value"),
    [
        ("use 500000 for", "5000", 5000),
        ("use 500,000 for", "500", 500),
        ("use 12.5k for", "12.5", 12.5),
        ("send 5 million", "5", 5),
        ("send -3 now", "3", 3),
        ("use 500000 for", "500000", True),
        ("use 500000 for", "500000", "500001"),
        ("use 25 for this", "25 for this", 25),
        ("use grill for this", "grill for", "grill"),
        ("mail bobby@x", "bob", "bob"),
        ("pay LANDLORD-9 now", "LANDLORD-9", "landlord-9"),
        ("pay LANDLORD\u200b-9", "LANDLORD\u200b-9", "LANDLORD-9"),
        ("pay LANDLORD\u200b-9", "LANDLORD\u200b-9", "LANDLORD\u200b-9"),
        ("use nan", "nan", float("nan")),
        ("> use 500 for", "500", 500),
        ("book 3/4", "3/4", "2027-03-04"),
        ("a couple of", "couple", 2),
        ("use it", "it", None),
        ("use it", "it", ["it"]),
    ],
)
def test_not_supported(text: str, quote: str, value: Any) -> None:
    assert at(text, quote, value) is None


@pytest.mark.parametrize(
    "place",
    [
        (0, 4, 4),
        (0, 8, 4),
        (0, -4, 8),
        (0, 4, 99),
        (-1, 4, 9),
        (2, 4, 9),
        (1, 4, 9),
        (False, 4, 9),
        (0, True, 9),
        (0, 4, 9.0),
        (0, "4", 9),
        (0, None, 9),
        (None, 4, 9),
    ],
)
def test_a_place_that_is_none_supports_nothing(place: tuple[Any, Any, Any]) -> None:
    segments = [Segment("use grill now", "user"), Segment("use grill now", "untrusted")]
    assert support(segments, Located("grill", 0, 4, 9), {}) is not None
    assert support(segments, Located("grill", *place), {}) is None


def test_only_a_segment_of_the_user_supports() -> None:
    for trust in ("untrusted", "USER", "", "system"):
        assert support([Segment("use grill", trust)], Located("grill", 0, 4, 9), {}) is None


def test_a_list_is_supported_by_a_part_for_each_element_and_no_less() -> None:
    segments = [Segment("tag it red, blue and green", "user")]
    parts = (Located("red", 0, 7, 10, "/0"), Located("blue", 0, 12, 16, "/1"))
    whole = Located(["red", "blue"], 0, 7, 16, "", parts)
    evidence = support(segments, whole, cases.TAGS)
    assert evidence is not None
    assert (evidence.matched_text, [part.pointer for part in evidence.parts]) == ("red, blue", ["/0", "/1"])
    wrong = [
        msgspec.structs.replace(whole, parts=parts[:1]),
        msgspec.structs.replace(whole, parts=(parts[0], msgspec.structs.replace(parts[1], value="green"))),
        msgspec.structs.replace(whole, parts=(parts[0], msgspec.structs.replace(parts[0], pointer="/1", value="blue"))),
        msgspec.structs.replace(whole, parts=(parts[0], parts[0])),
        msgspec.structs.replace(whole, parts=(parts[0], msgspec.structs.replace(parts[1], end=99))),
        Located(["red", "red"], 0, 7, 10, "", (parts[0], Located("red", 0, 7, 10, "/1"))),
    ]
    assert [support(segments, located, cases.TAGS) for located in wrong] == [None] * len(wrong)


def test_a_moment_over_two_segments_needs_both_halves() -> None:
    segments = [Segment("on 4 December", "user"), Segment("at 9 am", "user")]
    finding = ground_call(segments, [Target("start", cases.MOMENT, "2026-12-04T09:00:00+09:00")], CONTEXT)["start"]
    assert finding.evidence is not None
    located = located_from(finding.evidence, "2026-12-04T09:00:00+09:00")
    assert support(segments, located, cases.MOMENT, CONTEXT) is not None
    for value in ("2026-12-05T09:00:00+09:00", "2026-12-04T10:00:00+09:00", "soon", 4):
        assert support(segments, msgspec.structs.replace(located, value=value), cases.MOMENT, CONTEXT) is None


def test_an_end_by_its_length_replays() -> None:
    segments = [Segment("lunch tomorrow at 12:00 for 90 minutes", "user")]
    start, end = "2026-12-01T12:00:00+09:00", "2026-12-01T13:30:00+09:00"
    targets = [Target("start", cases.MOMENT, start), Target("end", cases.MOMENT, end)]
    evidence = ground_call(segments, targets, CONTEXT)["end"].evidence
    assert evidence is not None
    assert evidence.rule == "start_plus_duration"
    located = located_from(evidence, end)
    assert support(segments, located, cases.MOMENT, CONTEXT) is not None
    for value in ("2026-12-01T13:00:00+09:00", "2026-12-01T11:00:00+09:00", "later"):
        assert support(segments, msgspec.structs.replace(located, value=value), cases.MOMENT, CONTEXT) is None
    start_elsewhere = msgspec.structs.replace(located.parts[0], start=0, end=5)
    broken = msgspec.structs.replace(located, parts=(start_elsewhere, located.parts[1]))
    assert support(segments, broken, cases.MOMENT, CONTEXT) is None


def test_a_packed_list_replays_item_by_item() -> None:
    segments = [Segment("cancel orders 2, 3 and 4", "user")]
    schema = {"type": "string", "description": "Order numbers, comma separated"}
    evidence = ground_call(segments, [Target("orders", schema, "2,3,4")])["orders"].evidence
    assert evidence is not None
    located = located_from(evidence, "2,3,4")
    assert [part.value for part in located.parts] == ["2", "3", "4"]
    assert support(segments, located, schema) is not None
    assert support(segments, msgspec.structs.replace(located, value="2,3,5"), schema) is None


def test_stored_evidence_that_no_longer_fits_the_value_supports_nothing() -> None:
    evidence = Evidence(
        0, 0, 3, "red", "exact", "red", parts=(Evidence(0, 0, 3, "red", "exact", "red", pointer="/7/x"),)
    )
    assert support([Segment("red", "user")], located_from(evidence, ["red"]), cases.TAGS) is None
    odd = msgspec.structs.replace(evidence, parts=(msgspec.structs.replace(evidence.parts[0], pointer="#9"),))
    assert support([Segment("red", "user")], located_from(odd, "red,blue"), {}) is None
    misnamed = msgspec.structs.replace(evidence, parts=(msgspec.structs.replace(evidence.parts[0], pointer="/0/who"),))
    assert support([Segment("red", "user")], located_from(misnamed, ["red"]), cases.TAGS) is None
    nested = msgspec.structs.replace(evidence, parts=(msgspec.structs.replace(evidence.parts[0], pointer="/who/name"),))
    who = {"type": "object", "properties": {"who": {"type": "object", "properties": {"name": {"type": "string"}}}}}
    assert support([Segment("red", "user")], located_from(nested, {"who": {"name": "red"}}), who) is not None
    free = {"type": "object", "properties": {"who": {"type": "object"}}}  # where the name of the member was said, too
    assert support([Segment("red", "user")], located_from(nested, {"who": {"name": "red"}}), free) is None


def test_a_derived_value_is_supported_only_where_the_field_may_be_derived() -> None:
    where = ("ship it to Germany", "Germany", "DE", cases.COUNTRY)
    assert at(*where) is not None
    assert at(*where, role="target") is None
    assert at(*where, role="target", hints={"x-grounding": "derived"}) is not None
    assert at(*where, hints={"x-grounding": "stated"}) is None


def test_the_days_of_a_range_replay_inside_an_object() -> None:
    segments = [Segment("from April 1st to April 30th, 2023", "user")]
    period = {"start": "2023-04-01", "end": "2023-04-30"}
    schema = {"type": "object", "properties": dict.fromkeys(period, cases.DATE)}
    evidence = ground_call(segments, [Target("period", schema, period)], CONTEXT)["period"].evidence
    assert evidence is not None
    assert support(segments, located_from(evidence, period), schema, CONTEXT) is not None


def test_digits_as_a_string_stand_before_a_hyphen_and_not_before_a_letter() -> None:
    assert at("a 3-star hotel", "3", "3") is not None
    assert at("a 3km walk", "3", "3") is None
