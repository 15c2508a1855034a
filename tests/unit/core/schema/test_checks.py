"""What validation says about payloads and single values: the place and the keyword, never a value (R-28, R-44)."""

from __future__ import annotations

import time
from types import MappingProxyType

import pytest
from msgspec import UNSET

from preflight.core.schema import Plan
from preflight.core.schema.checks import never
from preflight.model.slot import Slot
from tests.unit.core.schema.scripted import STRING, obj, plan_for, refusal_of, run

SECRET = "hunter2"


@pytest.mark.parametrize(
    ("schema", "value", "reason"),
    [
        ({"type": "integer"}, SECRET, "`type` must be integer"),
        ({"type": ["integer", "null"]}, SECRET, "`type` must be null or integer"),
        ({"type": "integer"}, True, "`type` must be integer"),
        ({"type": "string", "maxLength": 3}, SECRET, "`maxLength` 3 is not met"),
        ({"type": "number", "minimum": 5.5}, 3, "`minimum` 5.5 is not met"),
        ({"enum": ["a", "b"]}, SECRET, "`enum` is not met"),
        ({"const": "a"}, SECRET, "`const` is not met"),
        ({"pattern": "^a+$"}, SECRET, "`pattern` is not met"),
        ({"format": "email"}, SECRET, "`format` is not met"),
        ({"format": "date"}, "2026-02-30", "`format` is not met"),
        ({"anyOf": [{"type": "integer"}, {"type": "boolean"}]}, SECRET, "`anyOf` is not met"),
        ({"type": "object", "additionalProperties": False}, {SECRET: 1}, "no value is allowed here"),
        ({"type": "array", "minItems": 2, "items": STRING}, [SECRET], "`minItems` 2 is not met"),
        (False, SECRET, "no value is allowed here"),
    ],
)
def test_a_reason_names_the_keyword(schema: object, value: object, reason: str) -> None:
    plan = plan_for(obj({"a": schema}, ["a"]))
    assert plan.validate_slot(plan.required[0], value) == reason
    (message,) = plan.validate({"a": value})
    assert message == f"`/a`: {reason}"
    assert SECRET not in message


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "integer"}, 10**300),
        ({"type": "integer"}, 1.0),
        ({"type": "array", "items": STRING}, ("x", "y")),
        ({"type": "object", "required": ["k"], "properties": {"k": STRING}}, MappingProxyType({"k": "x"})),
        ({"format": "email"}, "a@b.example"),
        (True, None),
    ],
)
def test_what_fits(schema: object, value: object) -> None:
    plan = plan_for(obj({"a": schema}, ["a"]))
    slot = plan.slot(
        plan.nodes.of(plan.nodes.views.of_object(plan.root.raws).properties["a"]), ("a",), UNSET, required=True
    )
    assert plan.validate_slot(slot, value) is None


def test_every_violation_is_named_with_its_place() -> None:
    plan = plan_for(
        obj(
            {"a": STRING, "o": obj({"x/y": STRING}, ["x/y"]), "l": {"type": "array", "items": {"type": "integer"}}},
            ["a", "o"],
        )
    )
    assert sorted(plan.validate({"o": {}, "l": [1, "x", SECRET]})) == [
        "`/a`: a required property is missing",
        "`/l/1`: `type` must be integer",
        "`/l/2`: `type` must be integer",
        "`/o/x~1y`: a required property is missing",
    ]


def test_keys_inside_a_value_are_not_shown() -> None:
    plan = plan_for(obj({"free": {"type": "object", "additionalProperties": {"type": "integer"}}}))
    assert plan.validate({"free": {SECRET: "x"}}) == ("`/free/*`: `type` must be integer",)


@pytest.mark.parametrize("value", ["\ud800", object(), {1: 2}])
def test_what_is_no_json_does_not_pass(value: object) -> None:
    schema = {"type": ["string", "object"], "pattern": "x", "additionalProperties": STRING}
    plan = plan_for(obj({"a": schema}, ["a"]))
    assert "cannot be checked" in plan.validate({"a": value})[0]
    assert "cannot be checked" in str(plan.validate_slot(plan.required[0], value))
    assert "cannot be checked" in str(plan.validate_slot(Slot("a", ("a",), schema), value))
    assert plan.checks.fits((schema,), value) is False


def test_a_value_nested_too_deep_does_not_pass() -> None:
    value: object = "x"
    for _ in range(5_000):
        value = [value]
    plan = plan_for(obj({"a": {"type": "array"}}, ["a"]))
    assert "cannot be checked" in str(plan.validate_slot(plan.required[0], value))


def test_a_slot_read_back_is_checked_by_the_schema_it_carries() -> None:
    plan = plan_for(obj({"a": STRING}, ["a"]))
    copy = Slot("a", ("a",), MappingProxyType({"type": "integer", "maximum": 3}))
    assert plan.validate_slot(copy, 2) is None
    assert plan.validate_slot(copy, 4) == "`maximum` 3 is not met"
    assert "cannot be checked" in str(plan.validate_slot(Slot("a", ("a",), {"type": "x"}), 4))


def test_a_claim_on_a_slot_does_not_change_its_schema() -> None:
    plan = plan_for(obj({"a": {"type": "integer"}, "o": obj({"b": {"type": "integer"}}, ["b"])}, ["a", "o"]))
    assert isinstance(plan, Plan)
    result = run(obj({"a": {"type": "integer"}}, ["a"]), {}, {"a": "x"})
    assert result.slots[0].claim == "x"
    flat = plan_for(obj({"a": {"type": "integer"}}, ["a"]))
    slot = flat.required[0]
    claimed = Slot(slot.name, slot.path, slot.schema, slot.required, slot.nullable, "x")
    assert flat.validate_slot(claimed, "x") == "`type` must be integer"


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|aa)+$", "(x+x+)+y", "^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_patterns_take_linear_time(pattern: str) -> None:
    plan = plan_for(obj({"a": {"pattern": pattern}}, ["a"]))
    start = time.thread_time()
    assert plan.validate_slot(plan.required[0], "a" * 50_000 + "!") == "`pattern` is not met"
    assert time.thread_time() - start < 1


def test_the_retriever_fetches_nothing() -> None:
    with pytest.raises(LookupError, match="is not fetched"):
        never("http://127.0.0.1:1/x")


def test_patterns_that_need_much_memory_are_refused() -> None:
    many = obj({f"p{n}": {"pattern": r"(\w{50}){50}"} for n in range(20)})
    assert refusal_of(many).at == "/properties/p0/pattern"
    assert plan_for(obj({"a": {"pattern": r"^\w{1,100}$"}, "b": {"patternProperties": {"^x": STRING}}}))
