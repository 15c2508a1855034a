"""Rules against a tool's schema: names and types (R-60)."""

from __future__ import annotations

import pytest

from preflight.model.rules import ConditionRule, Place, ToolRules
from preflight.model.tool import Tool
from preflight.rules.check import check_tool
from preflight.rules.types import Undeclared, type_at
from tests.unit.rules.samples import SCHEMA, TOOL, load, transfer


def found(body: str, tool: Tool = TOOL) -> list[str]:
    return [str(fault).partition("rules.yaml:")[2] for fault in load(transfer(body)).checked_against(tool)]


def expression(text: str) -> list[str]:
    return found(
        f"conditions:\n  - id: a\n    expression: {text}\n"
        "measures: {m: {given: true, type: string}, u: {given: true}}"
    )


@pytest.mark.parametrize(
    "text",
    [
        "args.amount <= 1000000",
        "args.amount == 1.5",
        "args.count + args.amount > 3",
        "args.to.startsWith('x')",
        "args.to in args.tags",
        "args.urgent",
        "args.note == null || args.note == 'x'",
        "args.recipient.iban == 'x'",
        "measured.m == args.to",
        "measured.u == args.count",
        "has(args.note) && args.note != ''",
        "args.tags.all(t, t != 'x')",
        "args.count in [1.5]",
    ],
)
def test_what_fits_the_schema_is_no_fault(text: str) -> None:
    assert expression(text) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("args.amout <= 1", "8:30: the tool has no argument `amout`; did you mean `amount`?"),
        ("args.recipient.bic == ''", "8:40: the tool has no argument `bic`; known: `iban`"),
        ("args.to.x == ''", "8:33: the tool has no argument `x`"),
        ("args.amount <= '1'", "8:37: not CEL: found no matching overload for `_<=_` applied to `(double, string)`"),
        ("args.to != 5", "8:33: not CEL: found no matching overload for `_!=_` applied to `(string, int)`"),
        (
            "measured.m > args.amount",
            "8:36: not CEL: found no matching overload for `_>_` applied to `(string, double)`",
        ),
        ("args.count + 1", "8:25: an expression that is a `int`; compare it with something"),
        ("args.count in ['a']", "8:36: not CEL: found no matching overload for `@in` applied to `(int, list(string))`"),
    ],
)
def test_what_does_not_fit_is_named_with_its_place(text: str, message: str) -> None:
    assert expression(text) == [message]


def test_names_of_fields_must_be_the_tools() -> None:
    assert found("""
        fields:
          ammount: {}
          recipient/iban: {}
          recipient/bic: {}
          tags/0: {}
          tags/x: {}
        confirm: [too]
        measures:
          m: {mcp: {server: s, tool: t}, arguments: {a: {slot: amuont}, b: {slot: to}, c: {slot: to, d: 1}, d: slot}}
        """) == [
        "6:1: the tool has no field `too`; did you mean `to`?",
        "7:1: the tool has no field `ammount`; did you mean `amount`?",
        "9:1: the tool has no field `recipient/bic`; known: `iban`",
        "11:1: the tool has no field `tags/x`",
        "14:1: the tool has no slot of an argument `amuont`; did you mean `amount`?",
    ]


def test_what_was_used_of_a_limit_is_a_number() -> None:
    limit = "limits: [{{id: a, kind: count, at_most: 3, window: 1d}}]\nconditions: [{{id: b, expression: {text}}}]"
    assert found(limit.format(text="measured.a < 2")) == []
    assert found(limit.format(text="measured.a == args.to")) == [
        "7:53: not CEL: found no matching overload for `_==_` applied to `(double, string)`"
    ]


def test_a_limit_of_a_sum_needs_a_number() -> None:
    limits = "limits: [{{id: a, kind: sum, field: {field}, at_most: 1, window: 1d}}]"
    assert found(limits.format(field="amount")) == []
    assert found(limits.format(field="count")) == []
    assert found(limits.format(field="to")) == ["6:1: the limit `a` adds up `to`, which is no number; count instead"]
    assert found(limits.format(field="amuont")) == ["6:1: the tool has no field `amuont`; did you mean `amount`?"]


def test_a_tool_nobody_listed_has_no_rules_to_check() -> None:
    assert load(transfer("effect: read")).checked_against(Tool.from_mcp({"name": "other"}, server="bank")) == ()


def test_a_rule_from_elsewhere_is_named_by_its_id() -> None:
    rules = ToolRules(
        conditions=(
            ConditionRule("c", "organisation", "expression", "args.x == 1", place=Place("f.yaml", 9)),
            ConditionRule("d", "organisation", "expression", "args.y == 1"),
            ConditionRule("e", "organisation", "expression", "args == 1"),
            ConditionRule("f", "organisation", "confirmation", "sure"),
        )
    )
    assert [str(fault) for fault in check_tool(rules, SCHEMA, {})] == [
        (
            "f.yaml:9:1: the condition `c`: the tool has no argument `x`; "
            "known: `amount`, `count`, `note`, `recipient`, `tags`, `to`, `urgent`"
        ),
        (
            "rules:1:1: the condition `d`: the tool has no argument `y`; "
            "known: `amount`, `count`, `note`, `recipient`, `tags`, `to`, `urgent`"
        ),
    ]


def test_rules_that_are_tighter_for_somebody_are_checked_too() -> None:
    rules = load("""
        version: 1
        users:
          anna:
            servers: {bank: {tools: {transfer: {conditions: [{id: a, expression: args.x == 1}]}}}}
        """)
    assert len(rules.checked_against(TOOL)) == 1


@pytest.mark.parametrize(
    ("schema", "steps", "expected"),
    [
        ({"properties": {"a": {"type": "string"}}}, ("a",), "s"),
        ({"properties": {"a": {"type": "integer"}}}, ("a",), "i"),
        ({"properties": {"a": {"type": ["null", "boolean"]}}}, ("a",), "b"),
        ({"properties": {"a": {"type": ["string", "integer"]}}}, ("a",), "-"),
        ({"properties": {"a": {"type": "null"}}}, ("a",), "-"),
        ({"properties": {"a": {"enum": ["x", "y"]}}}, ("a",), "s"),
        ({"properties": {"a": {"const": "x"}}}, ("a",), "s"),
        ({"properties": {"a": {"enum": ["x", 1]}}}, ("a",), "-"),
        ({"properties": {"a": {"enum": []}}}, ("a",), "-"),
        ({"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}, ("a",), "s"),
        ({"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}}, ("a",), "-"),
        ({"properties": {"a": {"oneOf": [True]}}}, ("a",), "-"),
        ({"properties": {"a": {"type": "array"}}}, ("a",), "l"),
        ({"properties": {"a": {"type": "array", "items": {}}}}, ("a",), "l"),
        ({"properties": {"a": {"type": "array", "items": {"type": "number"}}}}, ("a",), "ld"),
        (
            {"properties": {"a": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}}},
            ("a",),
            "lls",
        ),
        ({"properties": {"a": {"type": "array", "items": {"type": "string"}}}}, ("a", "0"), "s"),
        ({"properties": {"a": {"type": "object"}}}, ("a",), "m"),
        ({"properties": {"a": {"type": "object"}}}, ("a", "b"), "-"),
        ({"properties": {"a": True}}, ("a",), "-"),
        ({"properties": {"a": True}}, ("a", "b"), "-"),
        ({"properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"type": "string"}}}, ("a",), "s"),
        ({"properties": {"a": {"$ref": "#/$defs/a~1b"}}, "$defs": {"a/b": {"type": "string"}}}, ("a",), "s"),
        ({"properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"$ref": "#/$defs/x"}}}, ("a",), "-"),
        ({"properties": {"a": {"$ref": "other.json"}}}, ("a",), "-"),
        ({"properties": {"a": {"$ref": "#/nowhere"}}}, ("a",), "-"),
        ({"properties": {}, "additionalProperties": True}, ("a",), "-"),
        ({"properties": {}, "allOf": [{}]}, ("a",), "-"),
        ({}, ("a",), "-"),
        (None, ("a",), "-"),
        ({"properties": {"b": {}}}, ("a",), Undeclared("a", ("b",))),
        ({"properties": {"b": {}}, "additionalProperties": False}, ("a",), Undeclared("a", ("b",))),
        ({"properties": {"a": {"type": "array"}}}, ("a", "x"), Undeclared("x", ())),
    ],
)
def test_types_are_read_off_a_schema(schema: object, steps: tuple[str, ...], expected: object) -> None:
    assert type_at(schema, steps) == expected


def test_a_schema_that_contains_itself_has_an_end() -> None:
    endless = {
        "properties": {"a": {"$ref": "#/$defs/x"}},
        "$defs": {"x": {"type": "array", "items": {"$ref": "#/$defs/x"}}},
    }
    assert str(type_at(endless, ("a",))).startswith("lll")
    turning = {"properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"anyOf": [{"$ref": "#/$defs/x"}]}}}
    assert type_at(turning, ("a",)) == "-"
