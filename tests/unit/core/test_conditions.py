"""What comes of conditions (R-5, R-57, R-60 to R-65, R-68), with the checks scripted as facts of the pure decision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from preflight import FieldRules, Request, Tool, ToolRules
from preflight.core.decide import decide
from preflight.core.needs import Failed, Need
from preflight.core.setup import Setup
from preflight.limits import DEFAULT
from preflight.model.condition import ConditionState
from preflight.model.decision import Decision
from preflight.model.json_value import confirmation_id
from preflight.model.rules import NOTHING, UNLISTED, ConditionRule, Effect, LimitRule
from tests.unit.gates import HOOKS, SCHEMA, TOOL, request

EXPRESSION = ConditionRule("c", "organisation", "expression", "args.amount < 9", "small", "too much", 30)
LIMIT = LimitRule("day", "sum", 900, 86_400, "amount", message="the day's limit")
SAID_SO = ConditionRule("sure", "user", "confirmation", "", "it is due", "confirm it first")


def decided(
    rules: ToolRules = UNLISTED, *, services: tuple[str, ...] = (), facts: Mapping[str, Any] = NOTHING, **parts: Any
) -> Decision:
    """The decision when the hooks are the usual ones, and further needs are met by `facts` as `{hook: answer}`."""
    asked = replace(Request.parse(request(**parts)), rules=rules)
    known: dict[Any, Any] = {}
    told = {"condition_needs": (), **facts}
    while True:
        answer = decide(asked, known, Setup(DEFAULT, frozenset(services)))
        if not isinstance(answer, Need):
            return answer
        known[answer.id] = told[answer.hook] if answer.hook in told else HOOKS[answer.hook](*answer.args)


def checked(outcome: Any, *rules: Any, **parts: Any) -> tuple[Decision, ConditionState]:
    made = ToolRules(
        conditions=tuple(r for r in rules if isinstance(r, ConditionRule)),
        limits=tuple(r for r in rules if isinstance(r, LimitRule)),
    )
    decision = decided(made, facts={"check_condition": outcome}, **parts)
    return decision, decision.conditions[0]


@pytest.mark.parametrize("rule", [EXPRESSION, LIMIT])
def test_a_condition_that_holds_lets_the_call_run_and_is_recorded(rule: Any) -> None:
    decision, state = checked({"state": "met", "measured": {"sum": 500}}, rule)
    assert decision.executable
    assert (state.id, state.status, state.declared_by, state.note, state.route) == (
        rule.id, "met", "organisation", None, None,
    )  # fmt: skip
    assert state.measured == {"sum": 500}
    # a limit over the log is looked at again at every start
    assert state.max_age_seconds == (30 if rule is EXPRESSION else 0)


@pytest.mark.parametrize(("rule", "note"), [(EXPRESSION, "too much"), (LIMIT, "the day's limit")])
def test_a_condition_that_does_not_hold_holds_the_call_whatever_else_is_open(rule: Any, note: str) -> None:
    #
    decision, state = checked({"state": "unmet", "note": "900 > 500"}, rule, claims={})
    assert decision.execution_decision == "hold"
    assert (state.status, state.note) == ("unmet", note)
    assert [(c.id, c.declared_by, c.note) for c in decision.unmet] == [(rule.id, "organisation", note)]
    assert note in decision.reason
    assert "does not hold" not in decision.reason


def test_without_a_message_the_check_s_own_note_stands() -> None:
    decision, state = checked({"state": "unmet", "note": "900 > 500"}, replace(EXPRESSION, message=""))
    assert state.note == "900 > 500"
    assert f"condition `{EXPRESSION.id}` does not hold" in decision.reason
    assert "900" not in decision.reason


class Word(str):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


@pytest.mark.parametrize(
    "outcome",
    [
        *(None, True, "met", 1, [], ["met"], {}, {"state": True}, {"state": "MET"}, {"state": 1}),
        *({"met": True}, {"state": ["met"]}, {"state": Word("unmet")}, {"state": Word("no")}, Failed("raised")),
    ],
)
def test_anything_but_the_exact_word_is_unknown_and_needs_repair(outcome: Any) -> None:
    #
    decision, state = checked(outcome, EXPRESSION)
    assert (decision.execution_decision, state.status, state.route) == ("hold", "unknown", "definition_repair")
    assert "condition `c` is unknown" in decision.reason


@pytest.mark.parametrize(
    ("missing", "broken", "claims", "route", "verdict"),
    [
        (["args.to"], False, {"amount": 500}, "ask_user", "ask_user"),  # that slot is asked for anyway
        (["args.to"], False, {"amount": 500, "to": "bob"}, "definition_repair", "hold"),  # it is known, and yet missing
        (["args.nothing"], False, {"amount": 500, "to": "bob"}, "definition_repair", "hold"),
        (["measured.balance"], False, {"amount": 500, "to": "bob"}, "system_lookup", "hold"),
        (["args.nothing", "measured.balance"], False, {"amount": 500, "to": "bob"}, "system_lookup", "hold"),
        (["measured.balance"], True, {"amount": 500, "to": "bob"}, "definition_repair", "hold"),
        ("measured.balance", False, {"amount": 500, "to": "bob"}, "definition_repair", "hold"),
    ],
)
def test_an_unknown_condition_goes_to_who_can_supply_what_is_missing(
    missing: Any, broken: bool, claims: dict[str, Any], route: str, verdict: str
) -> None:
    #
    outcome = {
        "state": "unknown",
        "missing": missing,
        "note": 5,
        "measured": [],
        **({"broken": True} if broken else {}),
    }
    decision, state = checked(outcome, EXPRESSION, claims=claims)
    assert (state.route, decision.execution_decision) == (route, verdict)
    assert (state.note, state.measured) == (None, {})


def test_all_conditions_are_checked_so_that_all_are_reported_together() -> None:
    decision, _ = checked({"state": "unmet"}, EXPRESSION, replace(EXPRESSION, id="d"), LIMIT)
    assert [c.id for c in decision.unmet] == ["c", "d", "day"]


def test_a_condition_is_checked_with_what_was_measured_for_it() -> None:
    asked = replace(Request.parse(request()), rules=ToolRules(conditions=(EXPRESSION,)))
    known: dict[Any, Any] = {("condition_needs", "c"): ("balance",), ("measure_named", "c"): {"balance": 900}}
    while isinstance(answer := decide(asked, known), Need) and answer.hook != "check_condition":
        known[answer.id] = HOOKS[answer.hook](*answer.args)
    assert isinstance(answer, Need)
    assert answer.args[2:] == ({"amount": 500, "to": "bob"}, {"balance": 900})


def test_conditions_wait_for_the_trigger() -> None:
    #
    rules = ToolRules(conditions=(EXPRESSION, SAID_SO), limits=(LIMIT,))
    decision = decided(rules, facts={"classify_when_case": "scheduled"})
    assert (decision.execution_decision, decision.conditions) == ("deferred", ())


# what the user confirms


@pytest.mark.parametrize("answer", [None, False, 1, "true", [True]])
def test_a_confirmation_is_exactly_true(answer: Any) -> None:
    decision, state = checked(None, SAID_SO, checklist_answers={"sure": answer})
    assert (decision.execution_decision, state.status, state.route, state.note) == (
        "ask_user", "unknown", "ask_user", "confirm it first",
    )  # fmt: skip


def test_a_confirmed_condition_holds() -> None:
    decision, state = checked(None, SAID_SO, checklist_answers={"sure": True})
    assert (decision.executable, state.status, state.note) == (True, "met", None)


CONFIRM = ToolRules(fields={"to": FieldRules(confirm=True)})


def test_a_value_the_rules_want_shown_is_asked_about_by_its_digest() -> None:
    #
    key = confirmation_id("to", "bob")
    decision = decided(CONFIRM)
    assert decision.execution_decision == "ask_user"
    assert [(c.id, c.slot, c.status) for c in decision.conditions] == [(key, "to", "unknown")]
    assert decided(CONFIRM, checklist_answers={key: True}).executable
    for other in ({confirmation_id("to", "eve"): True}, {key: 1}, {confirmation_id("amount", "bob"): True}):
        assert decided(CONFIRM, checklist_answers=other).execution_decision == "ask_user"


def test_an_unknown_value_is_asked_for_and_not_shown() -> None:
    assert decided(CONFIRM, claims={"amount": 500}).conditions == ()


# what a server declares for its own tool


def test_a_trusted_server_may_add_conditions() -> None:
    facts = {"provider_checklist": ToolRules(conditions=(SAID_SO,), notices=("it is final",))}
    decision = decided(ToolRules(trust_labels=True), services=("provider_checklist",), facts=facts)
    assert (decision.execution_decision, decision.notices) == ("ask_user", ("it is final",))
    assert [c.id for c in decision.conditions] == ["sure"]


@pytest.mark.parametrize("declared", [None, {}, "none", Failed("raised"), ()])
def test_declarations_of_a_trusted_server_that_cannot_be_read_hold(declared: Any) -> None:
    decision = decided(
        ToolRules(trust_labels=True), services=("provider_checklist",), facts={"provider_checklist": declared}
    )
    assert decision.execution_decision == "hold"
    assert [(c.id, c.route) for c in decision.conditions] == [("provider_checklist", "definition_repair")]


@pytest.mark.parametrize(("trusted", "services"), [(False, ("provider_checklist",)), (True, ())])
def test_the_declarations_of_other_servers_are_not_even_read(trusted: bool, services: tuple[str, ...]) -> None:
    assert decided(ToolRules(trust_labels=trusted), services=services).executable


# what the rules say about the tool itself


def test_a_tool_that_is_not_the_pinned_one_holds_before_anything_is_asked() -> None:
    #
    decision = decided(ToolRules(pin="0" * 64), claims={})
    assert decision.gate is not None
    assert (decision.execution_decision, decision.gate.kind, decision.fields) == ("hold", "tool_changed", None)
    assert decided(ToolRules(pin=Tool.from_mcp(TOOL).fingerprint)).executable


@pytest.mark.parametrize("effect", ["read", "irreversible"])
def test_a_tool_that_the_rules_forbid_holds_whatever_it_does(effect: Effect) -> None:
    #
    decision = decided(ToolRules(effect=effect, forbidden=True, pin="0" * 64))
    assert decision.gate is not None
    assert (decision.execution_decision, decision.gate.kind, decision.fields) == ("hold", "tool_forbidden", None)
    assert (decision.reason, decision.call_arguments) == ("the rules forbid this tool", None)


READ = ToolRules(effect="read")


def test_a_read_passes_with_what_the_tool_declares_of_the_claims() -> None:
    #
    decision = decided(
        READ, claims={"amount": 7, "to": "anyone", "extra": 1}, instruction=[], services=("format_reason",)
    )
    assert decision.executable
    assert decision.gate is not None
    assert (decision.gate.kind, decision.reason) == ("read_passes", "a read passes")
    assert decision.call_arguments == {"amount": 7, "to": "anyone"}
    assert [(c.name, c.reason) for c in decision.dropped_claims] == [("extra", "not declared by the tool")]


@pytest.mark.parametrize(
    ("schema", "claims", "kind"),
    [
        (SCHEMA, {"amount": "7", "to": "x"}, "payload_invalid"),
        (SCHEMA, {}, "payload_invalid"),
        (None, {}, "schema_unsupported"),
    ],
)
def test_a_read_that_does_not_fit_its_tool_holds(schema: Any, claims: Any, kind: str) -> None:
    decision = decided(READ, claims=claims, tool={**TOOL, "inputSchema": schema})
    assert decision.gate is not None
    assert (decision.execution_decision, decision.gate.kind) == ("hold", kind)


def test_only_the_adopters_rules_make_a_tool_a_read() -> None:
    # R-65, bad input 23
    hinted = {**TOOL, "name": "get_balance", "annotations": {"readOnlyHint": True}}
    assert decided(ToolRules(), claims={}, tool=hinted).execution_decision == "ask_user"
