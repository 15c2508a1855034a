"""The decision path where hooks of the second half fail, and as the pure function it is (R-11, R-29, R-31, R-34)."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from preflight import Request, ToolRules
from preflight.codec import encode
from preflight.core.decide import decide
from preflight.core.needs import Failed, Need
from preflight.core.schema import compile_schema
from preflight.core.setup import Setup
from preflight.limits import Limits
from tests.unit.core.test_conditions import decided
from tests.unit.gates import HOOKS, TOOL, request, tool


def test_it_says_which_fact_is_needed_next_and_calls_nothing() -> None:
    asked = Request.parse(request())
    need = decide(asked, {})
    assert isinstance(need, Need)
    assert need.id == ("classify_when_case", None)
    following = decide(asked, {need.id: "immediate"})
    assert isinstance(following, Need)
    assert following.id == ("extract_user_action_name", None)


def test_the_same_facts_give_the_same_bytes() -> None:
    assert encode(decided(now="2026-03-01T09:00:00Z")) == encode(decided(now="2026-03-01T09:00:00Z"))


@pytest.mark.parametrize("broken", [Failed("raised"), Failed("")])
def test_what_a_deferred_run_keeps_must_not_be_broken(broken: Failed) -> None:
    #
    decision = decided(
        services=("build_deferred_input",), facts={"classify_when_case": "scheduled", "build_deferred_input": broken}
    )
    assert decision.gate is not None
    assert (decision.execution_decision, decision.gate.kind, decision.gate.route) == (
        "hold", "hook_failed", "definition_repair",
    )  # fmt: skip


@pytest.mark.parametrize("worded", [None, 5, Failed("raised"), ["text"]])
def test_a_wording_that_is_no_text_leaves_the_reason(worded: Any) -> None:
    decision = decided(services=("format_reason",), facts={"format_reason": worded})
    assert decision.reason == "every value has a source and every condition holds"


def test_more_slots_than_allowed_hold() -> None:
    # R-34, bad input 19
    many = tool(list={"type": "array", "items": {"type": "object", "properties": {"a": {}}, "required": ["a"]}})
    claims = {"list": [{"a": n} for n in range(30)]}
    asked = Request.parse(request(tool=many, claims=claims))
    limits = Limits(slots=20)
    setup = Setup(limits, frozenset(), lambda given: compile_schema(many["inputSchema"], limits))
    known: dict[Any, Any] = {}
    while isinstance(answer := decide(asked, known, setup), Need):
        known[answer.id] = HOOKS[answer.hook](*answer.args)
    assert answer.gate is not None
    assert (answer.execution_decision, answer.gate.kind) == ("hold", "schema_unsupported")
    assert "more than 20 slots" in answer.gate.payload_errors[0]


def test_an_unforeseen_fault_holds_and_its_text_is_for_the_logs() -> None:
    #
    def broken(_tool: Any) -> Any:
        raise ZeroDivisionError("s3cr3t")

    asked = Request.parse(request())
    known: dict[Any, Any] = {}
    setup = Setup(plan_for=broken)
    while isinstance(answer := decide(asked, known, setup), Need):
        known[answer.id] = HOOKS[answer.hook](*answer.args)
    assert answer.gate is not None
    assert (answer.execution_decision, answer.gate.kind) == ("hold", "internal_error")
    assert "s3cr3t" in str(answer.gate.diag)
    assert "s3cr3t" not in answer.reason


@pytest.mark.parametrize("schema", [None, True, [], "object", 5, {"type": "array"}, {"required": ["x"]}])
def test_an_input_schema_that_cannot_be_read_holds_and_requires_nothing_silently(schema: Any) -> None:
    # R-34, bad input 1
    decision = decided(tool={**TOOL, "inputSchema": schema})
    assert decision.gate is not None
    assert (decision.execution_decision, decision.gate.kind, decision.fields) == ("hold", "schema_unsupported", None)


NAMES = ["__class__", "__proto__", "constructor", "toString", "__init__", "self", "items", "get", "", " ", "a/b", "a~b"]


@pytest.mark.parametrize("name", NAMES)
def test_a_field_may_be_called_anything(name: str) -> None:
    # R-16, bad input 17
    given = {"tool": tool(**{name: {"type": "string"}}), "claims": {name: "bob"}}
    assert decided(**given).call_arguments == {name: "bob"}
    for odd in ({}, {"user_answers": {}}, {"pre_set_data": {}}, {"measured_data": {}}):
        assert decided(**{**given, "claims": {}, **odd}).execution_decision == "ask_user"


@pytest.mark.parametrize("text", ["", "null", "undefined", "N/A", "unknown", "TBD", " "])
def test_a_word_for_nothing_is_no_value(text: str) -> None:
    # bad input 33
    decision = decided(tool=tool(to={"type": ["string", "null"]}), claims={"to": text})
    assert [s.status for s in decision.fields or ()] == ["unknown"]


@pytest.mark.parametrize(("claim", "schema"), [(True, "number"), ("500", "number"), (1, "boolean"), (None, "string")])
def test_a_value_of_another_type_is_not_converted(claim: Any, schema: str) -> None:
    # bad input 32, 34
    decision = decided(tool=tool(amount={"type": schema}), claims={"amount": claim})
    assert not decision.executable


def test_the_rules_of_a_request_are_none_unless_the_shell_adds_them() -> None:
    asked = Request.parse(request())
    assert asked.rules == ToolRules()
    assert replace(asked, rules=ToolRules(effect="read")).rules.effect == "read"
