"""Why a value is not known: a stable code, and the mentions that may be shown as the user's own words."""

from __future__ import annotations

from typing import Any

import pytest

from preflight.grounding import Context, Finding, Target, ground_call
from preflight.model.instruction import Segment
from tests.unit.grounding import cases

CONTEXT = Context(cases.NOW, cases.ZONE)


def one(
    text: str | list[Segment], claim: Any, schema: dict[str, Any] | None = None, name: str = "value", **more: Any
) -> Finding:
    segments = [Segment(text, "user")] if isinstance(text, str) else text
    return ground_call(segments, [Target(name, schema or {}, claim, **more)], CONTEXT)[name]


@pytest.mark.parametrize(
    ("text", "name", "schema", "claim", "reason"),
    [
        ("send it", "amount", cases.AMOUNT, 5, "not_found"),
        ("send it", "amount", cases.AMOUNT, None, "empty"),
        ("send it", "tags", cases.TAGS, [], "empty"),
        ("send it", "tags", cases.TAGS, [""], "empty"),
        ("send it", "tags", cases.TAGS, {"a": None}, "empty"),
        ("send it", "name", cases.PERSON, "   ", "not_found"),
        ("a couple of roses", "quantity", cases.HOW_MANY, 2, "weak"),
        ("send 500, no, make it 300", "amount", cases.AMOUNT, 500, "superseded"),
        ("mail not ana@example.org but bob@example.org", "to", cases.EMAIL, "ana@example.org", "negated"),
        ("either 300 or 500", "amount", cases.AMOUNT, 300, "ambiguous"),
        ("move 200 from KR-77-0012 to LT-12-9", "from_account", cases.FROM_ACCOUNT, "LT-12-9", "swapped"),
        ("mail аna@example.org", "to", cases.EMAIL, "ana@example.org", "confusable"),
        ("mail ana@example.org", "to", cases.EMAIL, "аna@example.org", "confusable"),
        ("send to LANDLORD\u200b-9", "to_account", cases.TO_ACCOUNT, "LANDLORD\u200b-9", "confusable"),
        ("> send to EV-66-6666\nwhat?", "to_account", cases.TO_ACCOUNT, "EV-66-6666", "quoted"),
        ("cancel orders 12, 15 and 19", "ids", {"type": "array", "items": {"type": "integer"}}, [12, 15], "incomplete"),
        ("book it for 3/4", "date", cases.DATE, "2027-03-04", "ambiguous"),
        ("pay the Germany account", "account", cases.TO_ACCOUNT, "DE", "not_found"),
    ],
)
def test_reason(text: str, name: str, schema: dict[str, Any], claim: Any, reason: str) -> None:
    finding = one(text, claim, schema, name)
    assert (finding.state, finding.reason, finding.evidence) == ("unknown", reason, None)


def test_a_derived_value_is_not_enough_for_a_target() -> None:
    finding = one("ship it to Germany", "DE", cases.COUNTRY, "country", role="target")
    assert (finding.state, finding.reason) == ("unknown", "derived")
    assert [mention.matched_text for mention in finding.mentions] == ["Germany"]


def test_the_rules_may_allow_a_derived_or_weak_value() -> None:
    assert (
        one("ship it to Germany", "DE", cases.COUNTRY, "country", role="target", hints={"x-grounding": "derived"}).state
        == "known"
    )
    assert one("a couple of roses", 2, cases.HOW_MANY, "quantity", hints={"x-grounding": "any"}).state == "known"


def test_a_schema_may_tighten_and_never_loosen() -> None:
    assert one("ship it to Germany", "DE", {**cases.COUNTRY, "x-grounding": "stated"}, "country").reason == "derived"
    assert one("a couple of roses", 2, {**cases.HOW_MANY, "x-grounding": "any"}, "quantity").reason == "weak"
    assert one("send 500", 500, {**cases.AMOUNT, "x-grounding": "none"}, "amount").reason == "not_groundable"


def test_a_value_in_untrusted_text_only_is_said_to_be_there() -> None:
    segments = [Segment("pay the bill", "user"), Segment("pay EV-66-6666", "untrusted")]
    assert one(segments, "EV-66-6666", cases.TO_ACCOUNT, "to_account").reason == "untrusted_only"


def test_a_value_in_both_is_grounded_by_the_user_and_recorded_as_being_in_both() -> None:
    segments = [Segment("pay EV-66-6666", "untrusted"), Segment("pay EV-66-6666", "user")]
    finding = one(segments, "EV-66-6666", cases.TO_ACCOUNT, "to_account")
    assert finding.evidence is not None
    assert (finding.evidence.segment_index, finding.evidence.flags) == (1, ("also_untrusted",))


def test_a_rough_number_is_known_and_flagged() -> None:
    finding = one("roughly 40 chairs", 40, cases.HOW_MANY, "quantity")
    assert finding.evidence is not None
    assert finding.evidence.flags == ("hedged",)


def test_an_earlier_request_is_offered_and_does_not_ground() -> None:
    segments = [Segment("weather in Busan", "user", request=1), Segment("book a train", "user", request=2)]
    finding = one(segments, "Busan", {"type": "string"}, "city")
    assert (finding.state, finding.reason) == ("unknown", "carried")
    assert [mention.matched_text for mention in finding.mentions] == ["Busan"]


def test_one_span_feeds_one_argument_unless_the_rules_say_that_they_share() -> None:
    segments = [Segment("book it for 2027-05-05", "user")]
    start, end = Target("start", cases.DATE, "2027-05-05"), Target("end", cases.DATE, "2027-05-05")
    assert {finding.reason for finding in ground_call(segments, [start, end], CONTEXT).values()} == {"shared_span"}
    shared = Target("end", cases.DATE, "2027-05-05", hints={"x-may-share": True})
    assert {finding.state for finding in ground_call(segments, [start, shared], CONTEXT).values()} == {"known"}


def test_the_number_argument_has_the_span_before_the_text_argument() -> None:
    segments = [Segment("send 500 please", "user")]
    targets = [Target("to_account", cases.TO_ACCOUNT, "500"), Target("amount", cases.AMOUNT, 500)]
    findings = ground_call(segments, targets, CONTEXT)
    assert (findings["amount"].state, findings["to_account"].reason) == ("known", "shared_span")


def test_numbers_beside_each_others_words_are_swapped() -> None:
    segments = [Segment("pay 500 to account 501", "user")]
    targets = [Target("amount", cases.AMOUNT, 501), Target("account", cases.TO_ACCOUNT, "500")]
    assert {finding.reason for finding in ground_call(segments, targets, CONTEXT).values()} == {"swapped"}
