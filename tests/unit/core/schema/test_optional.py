"""Optional properties: looked up when claimed or offered; what happens when that confirms nothing (R-36)."""

from __future__ import annotations

import pytest
from msgspec import UNSET

from preflight.core.schema import walk
from preflight.model.slot import DroppedClaim
from tests.unit.core.schema.scripted import NULL, STRING, Policy, Script, drive, obj, plan_for, run

FLAT = obj({"a": STRING, "b": STRING, "n": {"type": ["string", "null"]}}, ["a"])
DEEP = obj({**FLAT["properties"], "o": obj({"x": STRING}, ["x"])}, ["a"])  # type: ignore[dict-item]
BOTH = pytest.mark.parametrize("schema", [FLAT, DEEP], ids=["flat", "deep"])


@BOTH
def test_an_optional_property_is_looked_up_only_when_claimed_or_offered(schema: dict[str, object]) -> None:
    assert run(schema).asked == ["a"]
    assert run(schema, {}, {"b": "1"}).asked == ["a", "b"]
    assert run(schema, {}, offers={("b",): "1"}).asked == ["a", "b"]
    known = run(schema, {"b": "1"}, offers={("b",): "1"})
    assert known.extra == {"b": "known"}
    assert known.walked.arguments == {"b": "1"}


@BOTH
def test_drop_leaves_an_unconfirmed_claim_out(schema: dict[str, object]) -> None:
    result = run(schema, {"a": "1"}, {"a": "1", "b": "2"}, policy="drop")
    assert result.walked.arguments == {"a": "1"}
    assert result.extra == {}
    assert result.walked.dropped == (DroppedClaim("b", "2", "not confirmed at any source"),)


@BOTH
@pytest.mark.parametrize("policy", ["ask", "", None, True])
def test_ask_and_anything_unforeseen_keep_it_as_an_unknown(schema: dict[str, object], policy: Policy) -> None:
    result = run(schema, {"a": "1"}, {"a": "1", "b": "2"}, policy=policy)
    assert result.walked.arguments == {"a": "1"}
    assert result.extra == {"b": "unknown"}
    assert result.walked.dropped == ()


@BOTH
def test_allow_sends_it_and_says_so(schema: dict[str, object]) -> None:
    result = run(schema, {"a": "1"}, {"a": "1", "b": "2"}, policy="allow")
    assert result.walked.arguments == {"a": "1", "b": "2"}
    assert result.extra == {}
    assert [(each.name, each.value) for each in result.walked.allowed] == [("b", "2")]


@BOTH
@pytest.mark.parametrize("policy", ["drop", "allow", "ask"])
def test_an_offer_that_is_not_confirmed_is_asked_for(schema: dict[str, object], policy: Policy) -> None:
    result = run(schema, {}, offers={("b",): "1"}, policy=policy)
    assert result.extra == {"b": "unknown"}
    assert result.walked.arguments == {}


@BOTH
def test_there_is_none_leaves_out_what_cannot_be_null(schema: dict[str, object]) -> None:
    result = run(schema, {"b": NULL, "n": NULL}, {"b": "1", "n": "2"})
    assert result.extra == {"b": "null", "n": "null"}
    assert result.walked.arguments == {"n": None}


OBJECT = obj({"o": obj({"x": STRING, "y": STRING, "z": STRING}, ["x", "y"])})


def test_an_optional_object_needs_its_own_required_leaves() -> None:
    assert run(OBJECT).asked == []
    result = run(OBJECT, {"o/x": "1", "o/y": "2"}, {"o": {"x": "1", "y": "2"}})
    assert result.extra == {"o/x": "known", "o/y": "known"}
    assert result.fields == {}
    assert result.walked.arguments == {"o": {"x": "1", "y": "2"}}


def test_an_optional_object_is_dropped_whole_and_recorded_once() -> None:
    claim = {"x": "1", "y": "2", "z": "3", "zz": 4}
    result = run(OBJECT, {"o/x": "1"}, {"o": claim}, policy="drop")
    assert result.walked.dropped == (DroppedClaim("o", claim, "not confirmed at any source"),)
    assert result.extra == {}
    assert result.walked.arguments == {}


def test_an_optional_object_that_is_asked_for_keeps_what_is_known() -> None:
    result = run(OBJECT, {"o/x": "1"}, {"o": {"x": "1"}}, policy="ask")
    assert result.extra == {"o/x": "known", "o/y": "unknown"}
    assert result.walked.arguments == {}


def test_an_allowed_object_is_filled_with_claims() -> None:
    result = run(OBJECT, {"o/x": "1"}, {"o": {"x": "7", "y": "2", "zz": 1}}, policy="allow")
    assert result.walked.arguments == {"o": {"x": "1", "y": "2"}}
    assert [each.name for each in result.walked.allowed] == ["o/y"]
    assert result.extra == {"o/x": "known"}
    assert result.dropped == {"o/zz": "not declared by the tool"}


def test_an_allowed_object_with_a_hole_is_asked_for() -> None:
    result = run(OBJECT, {}, {"o": {"x": "7"}}, policy="allow")
    assert result.walked.arguments == {}
    assert result.walked.allowed == ()
    assert result.extra == {"o/x": "unknown", "o/y": "unknown"}


def test_allowed_claims_inside_arrays_and_objects() -> None:
    schema = obj({"o": obj({"list": {"type": "array", "items": obj({"x": STRING, "q": STRING}, ["x"])}}, ["list"])})
    claims = {"o": {"list": [{"x": "1", "q": "3"}, {"x": "2"}]}}
    result = run(schema, {"o/list/0/x": "1"}, claims, policy="allow")
    assert result.walked.arguments == claims
    assert sorted(each.name for each in result.walked.allowed) == ["o/list/0/q", "o/list/1/x"]
    hole = run(schema, {"o/list/0/x": "1"}, {"o": {"list": [{"x": "1"}, {}]}}, policy="allow")
    assert hole.walked.arguments == {}
    assert hole.extra == {"o/list/0/x": "known", "o/list/1/x": "unknown"}


@pytest.mark.parametrize("claim", ["x", None, 3, [1]])
def test_a_claim_of_another_form_is_looked_up_as_a_whole(claim: object) -> None:
    result = run(OBJECT, {}, {"o": claim})
    assert result.asked == ["o"]
    assert result.walked.dropped == (DroppedClaim("o", claim, "not confirmed at any source"),)


EMPTY = obj({"o": obj({"x": STRING, "y": STRING})})


def test_an_empty_claim_is_a_value_that_needs_evidence() -> None:
    assert run(EMPTY, {}, {"o": {}}).dropped == {"o": "not confirmed at any source"}
    assert run(EMPTY, {"o": {}}, {"o": {}}).walked.arguments == {"o": {}}
    assert run(EMPTY, {"o": {}}, offers={("o",): {}}).walked.arguments == {"o": {}}


def test_an_object_of_which_nothing_is_confirmed_is_left_out() -> None:
    result = run(EMPTY, {}, {"o": {"x": "1"}})
    assert result.asked == ["o/x"]
    assert result.dropped == {"o/x": "not confirmed at any source"}
    assert result.walked.arguments == {}
    assert run(EMPTY, {}, {"o": {"x": "1"}}, policy="ask").extra == {"o/x": "unknown"}


def test_the_policy_is_asked_for_the_slot_by_its_name() -> None:
    asked: list[str] = []

    class Asking(Script):
        def optional(self, name: str) -> Policy:
            asked.append(name)
            return "drop"

    schema = obj({"b": STRING, "o": obj({"x": STRING, "a/b": STRING}, ["x"])})
    script = Asking({"b": "1", "o": {"x": "1", "a/b": "2"}})
    answers = {"b": "1", "o/x": "1"}
    drive(walk(plan_for(schema), script), lambda slot: answers.get(slot.name, UNSET))
    assert set(asked) == {"o/a~1b"}
