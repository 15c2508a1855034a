"""`if/then/else` and dependents add what is required, by what is known (R-33)."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.unit.core.schema.scripted import STRING, obj, plan_for, run

DRAFT7 = {"$schema": "http://json-schema.org/draft-07/schema#"}
KIND = {"enum": ["wire", "cash"]}
IF = {"properties": {"kind": {"const": "wire"}}}


def conditional(required: list[str], **more: object) -> dict[str, object]:
    return obj(
        {"kind": KIND, "iban": STRING},
        required,
        **{"if": IF, "then": {"required": ["iban"]}, "else": obj({"till": STRING}, ["till"])},
        **more,
    )


@pytest.mark.parametrize("dialect", [{}, DRAFT7])
def test_then_and_else_follow_what_is_known(dialect: dict[str, object]) -> None:
    schema = conditional(["kind"], **dialect)
    assert run(schema, {"kind": "wire"}).fields == {"kind": "known", "iban": "unknown"}
    assert run(schema, {"kind": "cash"}).fields == {"kind": "known", "till": "unknown"}
    full = run(schema, {"kind": "cash", "till": "3"}).walked.arguments
    assert full == {"kind": "cash", "till": "3"}
    assert plan_for(schema).validate(full) == ()


def test_a_required_unknown_in_the_test_adds_nothing() -> None:
    result = run(conditional(["kind"]), {}, {"kind": "wire"})
    assert result.fields == {"kind": "unknown"}
    assert result.asked == ["kind"]


def test_an_absent_optional_one_is_absent() -> None:
    assert run(conditional([])).fields == {"iban": "unknown"}  # `properties` holds for what is absent
    strict = obj({"kind": KIND, "a": STRING}, **{"if": {"required": ["kind"]}, "then": {"required": ["a"]}})
    assert run(strict).fields == {}
    assert run(strict, {"kind": "cash"}, {"kind": "cash"}).fields == {"a": "unknown"}


@pytest.mark.parametrize(("policy", "asked"), [("drop", {}), ("ask", {}), ("allow", {"a": "unknown"})])
def test_an_unconfirmed_optional_one_counts_as_it_will_be_sent(policy: str, asked: dict[str, str]) -> None:
    schema = obj({"kind": KIND, "a": STRING}, **{"if": {"required": ["kind"]}, "then": {"required": ["a"]}})
    assert run(schema, {}, {"kind": "cash"}, policy=policy).fields == asked  # type: ignore[arg-type]


def test_an_optional_one_that_is_asked_for_holds_the_test_back() -> None:
    schema = conditional([])
    assert run(schema, {}, {"kind": "cash"}, policy="ask").fields == {}
    assert run(schema, {}, {"kind": "cash"}, policy="drop").fields == {"iban": "unknown"}


def test_tests_look_through_combinations() -> None:
    test = {"allOf": [IF], "not": {"required": ["b"]}, "anyOf": [{"properties": {"c": {"const": 1}}}, True]}
    schema = obj(
        {"kind": KIND, "b": STRING, "c": {}, "a": STRING}, ["kind", "c"], **{"if": test, "then": {"required": ["a"]}}
    )
    assert run(schema, {"kind": "wire", "c": 2}).fields == {"kind": "known", "c": "known", "a": "unknown"}
    assert run(schema, {"kind": "wire", "c": 2, "b": "x"}, {"b": "x"}).fields == {"kind": "known", "c": "known"}
    assert run(schema, {"kind": "wire"}).fields == {"kind": "known", "c": "unknown"}


@pytest.mark.parametrize("part", [{"then": {"required": ["a"]}}, {"if": IF}, {"if": IF, "then": True, "else": {}}])
def test_halves_of_a_condition_are_ignored(part: dict[str, object]) -> None:
    assert plan_for(obj({"a": STRING, "kind": KIND}, [], **part)).flat


def test_conditions_add_conditions() -> None:
    inner = {"if": {"properties": {"b": {"const": "x"}}, "required": ["b"]}, "then": obj({"c": STRING}, ["c"])}
    schema = obj(
        {"a": STRING},
        ["a"],
        **{"if": {"properties": {"a": {"const": "x"}}}, "then": obj({"b": STRING}, ["b"], **inner)},
    )
    result = run(schema, {"a": "x", "b": "x"})
    assert result.asked == ["a", "b", "c"]
    assert result.fields == {"a": "known", "b": "known", "c": "unknown"}
    assert run(schema, {"a": "y"}).asked == ["a"]


def test_a_condition_may_choose_by_a_branch() -> None:
    schema = obj(
        {},
        oneOf=[obj({"a": STRING}, ["a"]), obj({"b": STRING}, ["b"])],
        **{"if": {"required": ["b"]}, "then": obj({"c": STRING}, ["c"])},
    )
    assert run(schema, {"b": "1"}).fields == {"b": "known", "c": "unknown"}
    assert run(schema, {"a": "1"}).fields == {"a": "known"}


@pytest.mark.parametrize(
    "more",
    [
        {"dependentRequired": {"a": ["b"]}},
        {"dependencies": {"a": ["b"]}, **DRAFT7},
        {"dependencies": {"a": {"required": ["b"]}}, **DRAFT7},
        {"dependentSchemas": {"a": {"required": ["b"]}}},
    ],
)
def test_dependents_are_triggered_by_what_is_sent(more: dict[str, object]) -> None:
    schema = obj({"a": STRING, "b": STRING}, **more)
    assert run(schema).fields == {}
    assert run(schema, {}, {"a": "1"}).fields == {}
    assert run(schema, {"a": "1"}, {"a": "1"}).fields == {"b": "unknown"}
    assert run(schema, {}, {"a": "1"}, policy="allow").fields == {"b": "unknown"}
    assert run(schema, {"a": "1", "b": "2"}, {"a": "1"}).walked.arguments == {"b": "2", "a": "1"}


def test_dependents_follow_one_another() -> None:
    schema = obj(dict.fromkeys("abcd", STRING), ["a"], dependentRequired={"a": ["b"], "b": ["c"], "c": ["d", "a"]})
    result = run(schema, {"a": "1", "b": "2", "c": "3"})
    assert result.asked == ["a", "b", "c", "d"]
    assert result.fields == {"a": "known", "b": "known", "c": "known", "d": "unknown"}


def test_a_claim_that_only_another_case_declares_is_left_out() -> None:
    result = run(conditional(["kind"]), {"kind": "wire", "iban": "x"}, {"till": "3"})
    assert result.walked.arguments == {"kind": "wire", "iban": "x"}
    assert result.dropped == {"till": "belongs to an alternative or a case that does not apply"}


def test_conditions_that_take_turns_come_to_an_end() -> None:
    # Sending `b` takes away what declared it, which brings it back: no reading of this is stable.
    declared = {"if": {"not": {"required": ["b"]}}, "then": obj({"b": STRING}, ["b"])}
    result = run(obj({"a": STRING}, ["a"], **declared), {"a": "1", "b": "2"})
    assert result.asked == ["a", "b"]
    assert set(result.walked.arguments) <= {"a", "b"}


def test_conditions_of_a_nested_object() -> None:
    schema = obj({"to": conditional(["kind"])}, ["to"])
    result = run(schema, {"to/kind": "wire", "to/iban": "x"})
    assert result.walked.arguments == {"to": {"kind": "wire", "iban": "x"}}


def test_a_required_name_that_only_another_case_declares_is_missing() -> None:
    schema = obj({"a": STRING}, ["a", "b"], **{"if": {"properties": {"a": {"const": "x"}}}, "then": obj({"b": STRING})})
    assert run(schema, {"a": "x", "b": "1"}).walked.arguments == {"a": "x", "b": "1"}
    other = run(schema, {"a": "y"})
    assert other.asked == ["a"]
    assert plan_for(schema).validate(other.walked.arguments) == ("`/b`: a required property is missing",)
    inside = run(obj({"o": schema}), {"o/a": "y"}, {"o": {"a": "y"}})
    assert inside.dropped == {"o": "not confirmed at any source"}


def test_conditions_without_end_are_unsupported() -> None:
    names = [f"a{n}" for n in range(600)]
    follow = {one: [two] for one, two in pairwise(names)}
    schema = obj(dict.fromkeys(names, STRING), ["a0"], dependentRequired=follow)
    unsupported = run(schema, dict.fromkeys(names, "x")).walked.unsupported
    assert unsupported is not None
    assert unsupported.what == "alternatives and conditions that take too much work"
