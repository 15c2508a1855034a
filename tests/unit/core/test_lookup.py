"""A slot's search beyond what the vectors script: settings, measurements by rule, approvals, routes (R-40 to R-46)."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET

from preflight import FieldRules, ToolRules
from preflight.core.lookup import NEEDS_CONFIRMATION
from preflight.core.needs import Failed, Need
from preflight.core.policy import ruled, validated
from preflight.model.evidence import Evidence, Located, NotGrounded
from preflight.model.json_value import confirmation_id
from preflight.model.pointer import descend, name_of, nearest
from preflight.model.slot import FieldState
from tests.unit.core.test_conditions import decided
from tests.unit.gates import TOOL, tool

ONE = {"tool": tool(amount={"type": "number"}), "claims": {"amount": 500}}


def state_of(rules: FieldRules = FieldRules(), *, facts: Any = None, **parts: Any) -> FieldState:  # noqa: B008  frozen
    """The one slot of a request, with its rules."""
    decision = decided(ToolRules(fields={"amount": rules}), facts=facts or {}, **{**ONE, **parts})
    assert decision.fields is not None
    (state,) = decision.fields
    return state


SETTING = {"pre_set_data": {"amount": {"value": 7, "trust": "user", "origin": "profile"}}}
READING = {"measured_data": {"amount": {"valid": True, "value": 9, "by": "bank/balance"}}}
EVERYTHING = {**SETTING, **READING, "user_answers": {"amount": 5}}


@pytest.mark.parametrize(
    ("sources", "source", "value", "origin"),
    [
        (("user_answer", "instruction", "pre_set_data", "measured_data"), "user_answer", 5, None),
        (("instruction", "pre_set_data", "measured_data"), "instruction", 500, None),
        (("pre_set_data", "measured_data"), "pre_set_data", 7, "profile"),
        (("measured_data",), "measured_data", 9, "bank/balance"),
    ],
)
def test_only_the_allowed_sources_are_consulted_in_their_order(
    sources: Any, source: str, value: int, origin: str | None
) -> None:
    state = state_of(FieldRules(sources=sources), **EVERYTHING)
    assert (state.status, state.source, state.value, state.origin) == ("known", source, value, origin)


@pytest.mark.parametrize(
    ("sources", "route"),
    [
        (("instruction",), "ask_user"),
        (("measured_data",), "system_lookup"),
        (("measured_data", "prior_state"), "system_lookup"),
        ((), "definition_repair"),
    ],
)
def test_an_unknown_goes_to_who_may_supply_it(sources: Any, route: str) -> None:
    #
    state = state_of(FieldRules(sources=sources), claims={})
    assert (state.status, state.route) == ("unknown", route)


@pytest.mark.parametrize(
    "wrapper",
    [
        *(7, None, [], "7", {}, {"value": 7}, {"trust": "user"}),
        *({"value": 7, "trust": "untrusted"}, {"value": 7, "trust": True}),
    ],
)
def test_a_setting_without_its_wrapper_is_ignored(wrapper: Any) -> None:
    #
    assert state_of(claims={}, pre_set_data={"amount": wrapper}).status == "unknown"


@pytest.mark.parametrize(
    "reading",
    [
        *(9, None, {}, {"value": 9}, {"valid": True}, {"valid": False, "value": 9}),
        *({"valid": "true", "value": 9}, {"valid": 1, "value": 9}),
    ],
)
def test_a_measurement_that_is_not_valid_is_none(reading: Any) -> None:
    # R-15, bad input 59
    assert state_of(claims={}, measured_data={"amount": reading}).status == "unknown"


SPANS: dict[str, Any] = {
    "off by one at the start": [4, 8],
    "off by one at the end": [5, 9],
    "too short": [5, 7],
    "empty": [5, 5],
    "reversed": [8, 5],
    "negative": [-10, -7],
    "beyond the end": [5, 500],
    "floats": [5.0, 8.0],
    "booleans": [False, True],
    "texts": ["5", "8"],
    "none": None,
    "three": [5, 8, 8],
    "one": [5],
    "an object": {"start": 5, "end": 8},
    "other words": [12, 15],
}


@pytest.mark.parametrize("span", SPANS.values(), ids=SPANS.keys())
def test_a_span_that_does_not_hold_the_value_is_none(span: Any) -> None:
    # R-41, bad input 36
    place = {"value": 500, "segment_index": 0, "span": span}
    assert state_of(facts={"extract_from_instruction": place}).status == "unknown"


@pytest.mark.parametrize("index", [1, -1, 0.0, False, "0", None, [0], 10**30])
def test_a_segment_that_is_none_is_none(index: Any) -> None:
    place = {"value": 500, "segment_index": index, "span": [5, 8]}
    assert state_of(facts={"extract_from_instruction": place}).status == "unknown"


def test_a_place_may_be_named_by_the_package_s_own_type() -> None:
    state = state_of(facts={"extract_from_instruction": Located(500, 0, 5, 8)})
    assert state.evidence == Evidence(0, 5, 8, "500", "number", "500")


@pytest.mark.parametrize(
    ("text", "span", "status"),
    [
        ("pay 😀 500", [6, 9], "known"),
        ("pay 😀 500", [7, 10], "unknown"),  # counted in UTF-16
        ("pay 한글 500", [7, 10], "known"),
        ("pay 한글 500", [11, 14], "unknown"),  # counted in bytes
        ("pay 5000", [4, 7], "unknown"),
        ("pay x500", [5, 8], "unknown"),
        ("pay -500", [5, 8], "unknown"),
    ],
)
def test_offsets_are_code_points_and_tokens_are_whole(text: str, span: list[int], status: str) -> None:
    # R-52, bad inputs 37, 40
    place = {"value": 500, "segment_index": 0, "span": span}
    said = [{"text": text, "trust": "user"}]
    assert state_of(instruction=said, facts={"extract_from_instruction": place}).status == status


# measurements and references that rules declare


def test_a_rule_measures_when_nothing_else_was_found() -> None:
    rules = FieldRules(measure="balance")
    found = state_of(rules, claims={}, facts={"measure_by_rule": {"valid": True, "value": 9}})
    assert (found.source, found.value) == ("measured_data", 9)
    assert state_of(rules, facts={"measure_by_rule": Failed("never asked")}).source == "instruction"


def test_a_rule_s_measurement_that_fails_settles_the_slot() -> None:
    #
    state = state_of(FieldRules(measure="balance"), claims={}, facts={"measure_by_rule": Failed("raised")})
    assert (state.status, state.lookup_failed) == ("unknown", True)


def test_a_measurement_that_cannot_choose_says_among_what() -> None:
    #
    several = NotGrounded("ambiguous", choices=(1, 2))
    state = state_of(FieldRules(measure="contacts"), claims={}, facts={"measure_by_rule": several})
    assert (state.note, state.choices, state.route) == ("ambiguous", (1, 2), "ask_user")


@pytest.mark.parametrize(
    ("words", "known"),
    [
        ({"value": "bob", "segment_index": 0, "span": [12, 15]}, True),
        (Located("bob", 0, 12, 15), True),
        ({"value": "eve", "segment_index": 0, "span": [12, 15]}, False),
        ({"value": "bob", "segment_index": 0, "span": [0, 3]}, False),
        ({"value": "bob", "segment_index": 1, "span": [12, 15]}, False),
        ("bob", False),
    ],
)
def test_the_words_that_select_a_measured_value_are_read_where_they_are_said_to_stand(words: Any, known: bool) -> None:
    #
    measured = {"valid": True, "value": 77, "selected_by": words}
    state = state_of(FieldRules(measure="contacts"), claims={}, facts={"measure_by_rule": measured})
    assert (state.status == "known") is known
    assert (state.evidence is not None) is known


# text that the model may write


WRITTEN = {"extract_from_instruction": NotGrounded(NEEDS_CONFIRMATION)}


def test_written_text_is_known_once_exactly_it_was_approved() -> None:
    key = confirmation_id("amount", 500)
    approved = state_of(facts=WRITTEN, checklist_answers={key: True})
    assert (approved.status, approved.source, approved.value) == ("known", "user_answer", 500)
    for answers in ({}, {key: 1}, {key: "true"}, {confirmation_id("amount", 501): True}):
        assert state_of(facts=WRITTEN, checklist_answers=answers).note == NEEDS_CONFIRMATION
    assert state_of(facts=WRITTEN, claims={}, checklist_answers={key: True}).status == "unknown"


def test_the_adopters_rule_may_waive_the_approval() -> None:
    state = state_of(FieldRules(unconfirmed="allow"), facts=WRITTEN)
    assert (state.status, state.source, state.origin) == ("known", "pre_set_data", "rules")


def test_a_value_that_is_not_grounded_says_why_and_what_comes_near() -> None:
    near = (Evidence(0, 5, 8, "500", "number", "500"),)
    state = state_of(facts={"extract_from_instruction": NotGrounded("negated", near)})
    assert (state.note, state.mentions) == ("negated", near)


# the user's own answer


@pytest.mark.parametrize(
    ("schema", "required", "status"),
    [
        ({"type": "number"}, True, "unknown"),
        ({"type": ["number", "null"]}, True, "null"),
        ({"type": "number"}, False, "null"),
    ],
)
def test_that_there_is_none_is_an_answer_where_there_may_be_none(schema: Any, required: bool, status: str) -> None:
    given = {"name": "x", "inputSchema": {"type": "object", "properties": {"amount": schema}}}
    given["inputSchema"]["required"] = ["amount"] if required else []  # type: ignore[index]
    parts = {"tool": {**TOOL, **given}, "claims": {"amount": 500}, "user_answers": {"amount": None}}
    decision = decided(ToolRules(), **{**parts, **SETTING})
    (state,) = (*(decision.fields or ()), *decision.extra_fields)
    assert (state.status, state.value is None) == (status, status == "null")


# the field policy, as a function


KNOWN = FieldState("a", "known", "user_answer", "user_answer", "now", 5)
OPEN = FieldState("a", "unknown", None, None, "now", route="system_lookup")


@pytest.mark.parametrize(
    "change",
    [
        {"name": "b"},
        {"status": 1},
        {"status": "null"},
        {"value": 6},
        {"value": 5.5},
        {"source": "instruction"},
        {"origin_source": "instruction"},
        {"pending_at_trigger": 1},
    ],
)
def test_a_policy_that_changes_what_was_found_is_broken(change: dict[str, Any]) -> None:
    #
    whole = {name: getattr(KNOWN, name) for name in FieldState.__struct_fields__}
    answered = ruled(KNOWN, {**whole, **change})
    assert (answered.status, answered.route, answered.note) == (
        "unknown", "definition_repair", "apply_field_policy failed",
    )  # fmt: skip


def test_a_policy_may_add_a_note_and_keep_or_demote() -> None:
    whole = {name: getattr(KNOWN, name) for name in FieldState.__struct_fields__}
    assert ruled(KNOWN, KNOWN) is KNOWN
    assert ruled(KNOWN, whole) is KNOWN
    assert ruled(KNOWN, {**whole, "note": "checked"}).note == "checked"
    demoted = ruled(KNOWN, {**whole, "status": "unknown", "note": "too old", "pending_at_trigger": True})
    assert (demoted.status, demoted.source, demoted.route, demoted.pending_at_trigger) == (
        "unknown", None, "ask_user", True,
    )  # fmt: skip


def test_a_policy_that_postpones_an_unknown_keeps_its_route() -> None:
    postponed = ruled(OPEN, {"name": "a", "status": "unknown", "pending_at_trigger": True, "note": 5})
    assert (postponed.route, postponed.pending_at_trigger, postponed.note) == ("system_lookup", True, None)


def test_a_policy_never_promotes() -> None:
    promoted = {"name": "a", "status": "known", "value": 5, "source": "user_answer", "origin_source": "user_answer"}
    assert ruled(OPEN, promoted).status == "unknown"


def test_a_refusal_of_the_schema_ends_the_wait_for_the_trigger() -> None:
    refused = validated(KNOWN, "must be shorter")
    assert (refused.status, refused.route, refused.pending_at_trigger) == ("unknown", "ask_user", False)


def test_a_need_is_known_by_its_hook_and_its_slot() -> None:
    assert Need("h", (), "a").id == ("h", "a")


def test_words_of_an_earlier_request_are_carried_and_not_known() -> None:
    #
    said = [
        {"text": "send 500 to bob", "trust": "user", "request": 1},
        {"text": "do it again", "trust": "user", "request": 2},
    ]
    place = {"value": 500, "segment_index": 0, "span": [5, 8]}
    state = state_of(instruction=said, facts={"extract_from_instruction": place})
    assert (state.status, state.note) == ("unknown", "carried")
    assert [mention.matched_text for mention in state.mentions] == ["500"]
    current = {**place, "segment_index": 1}
    assert state_of(instruction=said[::-1], facts={"extract_from_instruction": current}).note == "carried"
    said[0]["request"] = 2
    assert state_of(instruction=said, facts={"extract_from_instruction": place}).status == "known"


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (("a", 0, "b"), 1),
        (("a", 1, "b"), UNSET),
        (("a", -1, "b"), UNSET),
        (("a", "0", "b"), UNSET),
        (("a", 0, "c"), UNSET),
        (("x",), UNSET),
        (("a", 0, "b", "c"), UNSET),
        ((), {"a": ({"b": 1},)}),
    ],
)
def test_a_path_leads_to_what_stands_there_or_to_nothing(path: Any, found: Any) -> None:
    assert descend({"a": ({"b": 1},)}, path) == found


def test_a_name_comes_before_its_containers_and_is_escaped_below_the_root() -> None:
    #
    table = {"a/b": 1, "r": {"x/y": 2, "z": 3}, "r/z": 4}
    assert nearest(table, ("a/b",)) == (1, ())
    assert nearest(table, ("r", "z")) == (4, ())
    assert nearest(table, ("r", "x/y")) == (table["r"], ("x/y",))
    assert name_of(("r", "x/y", "~", 0)) == "r/x~1y/~0/0"
    assert nearest(table, ("n",)) == (UNSET, ())


@pytest.mark.parametrize(("earlier", "status"), [(None, "known"), (2, "known"), (1, "unknown")])
def test_a_list_is_carried_when_one_of_its_parts_is(earlier: int | None, status: str) -> None:
    #
    said = [
        {"text": "blue", "trust": "user", "request": earlier},
        {"text": "buy red", "trust": "user", "request": 2},
    ]
    parts = (Located("blue", 0, 0, 4, "/0"), Located("red", 1, 4, 7, "/1"))
    place = Located(["blue", "red"], 1, 4, 7, "", parts)
    listed = tool(amount={"type": "array", "items": {"type": "string"}})
    state = state_of(
        tool=listed, claims={"amount": ["blue", "red"]}, instruction=said, facts={"extract_from_instruction": place}
    )
    assert state.status == status
