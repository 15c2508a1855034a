"""Questions and answers (R-9, R-46, R-90 to R-94)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from preflight import (
    AnswerRefused,
    Asking,
    Deferred,
    Executable,
    FieldRules,
    Held,
    Preflight,
    ShippedHooks,
    ToolRules,
    create_preflight,
    inline,
)
from preflight.codec import encode
from preflight.core.lookup import NEEDS_CONFIRMATION
from preflight.hooks.shipped import Meaning
from preflight.model.evidence import NotGrounded
from preflight.model.instruction import Segment
from preflight.model.json_value import confirmation_id
from preflight.model.question import AskedItem, Question
from preflight.questions import _apart
from preflight.results import Accepted
from preflight.testing import FakeClock, MemoryStorage
from tests.chance import without_chance
from tests.unit.gates import ABSENT, SCHEMA, TOOL, async_gate, gate, raiser, request, tool


def asked(made: Preflight, **parts: Any) -> Question:
    checked = made.check(request(**{"claims": {}, **parts}))
    assert isinstance(checked, Asking), checked
    return checked.question


GIVEN = {"amount": 5, "to": "eve"}


# what is asked


def test_all_open_slots_of_a_turn_go_into_one_question() -> None:
    made = gate()
    question = asked(made, user_checklist=[{"id": "rent", "description": "the rent is due"}])
    assert [slot.name for slot in question.slots] == ["amount", "to"]
    assert [(item.id, item.description) for item in question.items] == [("rent", "the rent is due")]
    assert (question.kind, question.user_id, question.call_id) == ("value", "u1", "c1")
    assert made.pending() == [question]


def test_an_item_that_is_called_like_an_open_slot_is_asked_for_after_it() -> None:
    # one name, two things: a tick that confirms the one must not be a value of the other
    made = gate()
    both = [{"id": "urgent", "description": "it is urgent"}, {"id": "rent", "description": "the rent is due"}]
    question = asked(made, tool=tool(urgent={"type": "boolean"}), user_checklist=both)
    assert ([slot.name for slot in question.slots], [item.id for item in question.items]) == (["urgent"], ["rent"])
    again = made.answer(question.question_id, {"urgent": False, "rent": True}, person="u1")
    assert isinstance(again, Asking)
    assert (again.question.slots, [item.id for item in again.question.items]) == ((), ["urgent"])
    done = made.answer(again.question.question_id, {"urgent": True}, person="u1")
    assert isinstance(done, Executable)
    assert done.record.call_arguments == {"urgent": False}


def test_items_of_one_id_are_shown_as_what_one_answer_confirms() -> None:
    made = gate()
    items = [{"id": "rent", "description": text} for text in ("the rent is due", "the flat is mine", "the rent is due")]
    question = asked(made, claims=GIVEN | {"to": "bob", "amount": 500}, user_checklist=items)
    assert [(item.id, item.description) for item in question.items] == [("rent", "the rent is due; the flat is mine")]
    assert isinstance(made.answer(question.question_id, {"rent": True}, person="u1"), Executable)


def test_of_items_of_one_id_a_shown_value_is_kept() -> None:
    value, bare = AskedItem("x", "as shown", shown=5), AskedItem("x", "", "why")
    assert _apart((), (value, bare)) == _apart((), (bare, value)) == ((), (AskedItem("x", "as shown", "why", 5),))


def test_text_whose_approval_is_called_like_a_slot_is_typed() -> None:
    made = gate(
        extract_from_instruction=lambda slot, _: NotGrounded(NEEDS_CONFIRMATION) if slot.name == "body" else None
    )
    key = confirmation_id("body", "hi")
    question = asked(made, claims={"body": "hi"}, tool=tool(body={"type": "string"}, **{key: {"type": "boolean"}}))
    assert [(slot.name, slot.confirm) for slot in question.slots] == [("body", None), (key, None)]
    done = made.answer(question.question_id, {key: True, "body": "ho"}, person="u1")
    assert isinstance(done, Executable)
    assert done.record.call_arguments == {"body": "ho", key: True}


def test_a_question_carries_no_candidate_default_or_example() -> None:
    # R-9: the claim was proposed and not confirmed; the schema's author has wishes of his own
    properties = {
        "amount": {"type": "number", "default": 666, "examples": [666]},
        "default": {"type": "object", "properties": {"examples": {"type": "string", "default": "666"}}},
        "kind": {"enum": ["a", "666"], "default": "666"},
        "list": {
            "type": "array",
            "items": {"type": "string", "examples": ["666"]},
            "prefixItems": [{"default": "666"}],
        },
    }
    question = asked(gate(), claims={"amount": 667, "kind": "a"}, tool=tool(**properties))
    assert "667" not in without_chance(encode(question))
    schemas = {slot.name: slot.schema for slot in question.slots}
    assert schemas["amount"] == {"type": "number"}
    assert schemas["kind"] == {"enum": ["a", "666"]}, "the members of a closed set are no candidates"
    assert "666" not in str({name: schema for name, schema in schemas.items() if name != "kind"})


def test_a_question_that_asks_for_the_act_names_no_tool() -> None:
    # R-25
    question = asked(gate(confirm_tool_name_matches_intent=lambda *_: None))
    assert (question.kind, question.slots, question.items) == ("restatement", (), ())
    assert b"transfer" not in encode(question)


def test_a_slot_that_no_person_can_answer_is_not_asked() -> None:
    made = gate(extract_from_instruction=lambda slot, given: raiser(OSError())() if slot.name == "to" else None)
    assert [slot.name for slot in asked(made).slots] == ["amount"]


# who may answer what (R-91)

REFUSED: dict[str, tuple[Any, dict[str, Any], str]] = {
    "nothing": ({}, {}, "nothing is read from silence"),
    "none": (None, {}, "no object"),
    "a text": ("amount", {}, "no object"),
    "pairs": ([("amount", 5)], {}, "no object"),
    "a name that is no text": ({5: 5}, {}, "no object"),
    "another person": (GIVEN, {"person": "u2"}, "not the person"),
    "no person": (GIVEN, {"person": None}, "are texts"),
    "no channel": (GIVEN, {"channel": ""}, "are texts"),
    "a channel that is none": (GIVEN, {"channel": object()}, "are texts"),
    "a slot not asked": ({"amount": 5, "note": "x"}, {}, "`note` was not asked; asked are `amount`, `to`, `rent`"),
    "a name with a surrogate": ({"\ud800": 5}, {}, r"`\\ud800` was not asked"),
    "a wrong type": ({"amount": "5"}, {}, "does not fit: `/amount`: `type` must be number; it takes a number"),
    "a boolean for a number": ({"amount": True}, {}, "does not fit"),
    "a number for a text": ({"to": 5}, {}, "does not fit"),
    "no number": ({"amount": float("nan")}, {}, "not a finite number"),
    "no JSON": ({"amount": object()}, {}, "not a JSON value"),
    "a surrogate": ({"to": "\ud800"}, {}, "a lone surrogate"),
    "none for what must be there": ({"amount": None}, {}, "`amount` cannot be left empty"),
    "an almost confirmed item": ({"rent": 1}, {}, "confirmed by exactly `true`"),
    "a refused item": ({"rent": False}, {}, "confirmed by exactly `true`"),
    "a restatement nobody asked for": ({"restatement": "send it"}, {}, "was not asked"),
}


@pytest.mark.parametrize(("given", "by", "why"), REFUSED.values(), ids=REFUSED.keys())
def test_an_answer_that_does_not_fit_is_refused_in_words_and_leaves_the_question_open(
    given: Any, by: dict[str, Any], why: str
) -> None:
    made = gate()
    question = asked(made, user_checklist=[{"id": "rent"}])
    with pytest.raises(AnswerRefused, match=why) as fault:
        made.answer(question.question_id, given, **{"person": "u1", **by})
    str(fault.value).encode()  # it can be shown
    assert made.pending() == [question]


@pytest.mark.parametrize("given", [{"restatement": ""}, {"restatement": " "}, {"restatement": 5}, {"amount": 5}])
def test_a_restatement_is_a_text_that_says_something(given: dict[str, Any]) -> None:
    made = gate(classify_when_case=lambda *_: None)
    question = asked(made)
    with pytest.raises(AnswerRefused, match="answer with `restatement` and a text"):
        made.answer(question.question_id, given, person="u1")
    with pytest.raises(AnswerRefused, match="surrogate"):
        made.answer(question.question_id, {"restatement": "\ud800"}, person="u1")


def test_an_unknown_question_is_refused() -> None:
    with pytest.raises(AnswerRefused, match="no question has the id `none`"):
        gate().answer("none", GIVEN, person="u1")


def test_an_expired_question_is_refused() -> None:
    clock = FakeClock()
    made = gate(clock=clock)
    question = asked(made)
    clock.advance(7 * 24 * 3600)
    assert made.pending() == []
    with pytest.raises(AnswerRefused, match="expired"):
        made.answer(question.question_id, GIVEN, person="u1")


def test_the_first_answer_stands() -> None:
    made = gate()
    question = asked(made)
    first = made.answer(question.question_id, GIVEN, person="u1", channel="console")
    with pytest.raises(AnswerRefused, match="the first answer stands"):
        made.answer(question.question_id, {"amount": 6, "to": "mallory"}, person="u1")
    assert isinstance(first, Executable)
    assert first.record.call_arguments == GIVEN
    answer = made.storage.answer_to(question.question_id)
    assert answer is not None
    assert (answer.person, answer.channel, answer.answered_at, answer.values) == (
        "u1",
        "console",
        "2026-03-01T09:00:00.000000+00:00",
        GIVEN,
    )


def test_a_question_for_permission_is_answered_by_another_person() -> None:
    storage = MemoryStorage()
    made = gate(storage)
    question = asked(made)
    storage.ask(replace(question, question_id="q2", kind="permission"))
    made.answer("q2", GIVEN, person="the boss")
    assert isinstance(made.check(request(claims={})), Executable)


def test_a_check_after_an_answer_is_the_run_the_answer_repeated() -> None:
    made = gate()
    done = made.answer(asked(made).question_id, GIVEN, person="u1")
    assert made.check(request(claims={})) == done


# the run is repeated with the answers


def test_an_answer_repeats_the_run_with_it_as_the_users_answer() -> None:
    made = gate()
    question = asked(made, claims={"amount": 500}, instruction=[{"text": "send 500", "trust": "user"}])
    done = made.answer(question.question_id, {"to": "bob"}, person="u1")
    assert isinstance(done, Executable)
    assert [(s.name, s.source) for s in done.record.fields or ()] == [("amount", "instruction"), ("to", "user_answer")]
    assert done.record.decision_id != question.decision_id


def test_a_partial_answer_leads_to_a_question_about_the_rest() -> None:
    made = gate()
    rest = made.answer(asked(made).question_id, {"amount": 5}, person="u1")
    assert isinstance(rest, Asking)
    assert [slot.name for slot in rest.question.slots] == ["to"]
    assert isinstance(made.answer(rest.question.question_id, {"to": "bob"}, person="u1"), Executable)


def test_an_item_is_confirmed_by_its_answer() -> None:
    made = gate()
    checked = made.check(request(user_checklist=[{"id": "rent"}]))
    assert isinstance(checked, Asking)
    done = made.answer(checked.question.question_id, {"rent": True}, person="u1")
    assert isinstance(done, Executable)


@pytest.mark.parametrize("call_id", ["c1", ABSENT])
def test_a_restatement_joins_the_users_words(call_id: Any) -> None:
    heard: list[list[tuple[str, str, int | None]]] = []

    def name(utterance: Any) -> str | None:
        heard.append([(s.text, s.trust, s.request) for s in utterance.segments])
        return "send" if len(heard) > 1 else None

    made = gate(extract_user_action_name=name)
    first = [{"text": "well", "trust": "user", "request": 3}, {"text": "no", "trust": "user", "request": 2}]
    question = asked(made, instruction=first, call_id=call_id)
    made.answer(question.question_id, {"restatement": "send 500 to bob"}, person="u1")
    assert heard[1] == [("well", "user", 3), ("no", "user", 2), ("send 500 to bob", "user", 3)]


@pytest.mark.parametrize("call_id", ["c1", ABSENT])
def test_an_answer_replaces_what_the_request_came_with_and_was_not_enough(call_id: Any) -> None:
    made = gate(validate_field_schema=lambda slot, value, *_: "too much" if value == 7 else None)
    question = asked(made, user_answers={"amount": 7, "to": "eve"}, call_id=call_id)
    done = made.answer(question.question_id, {"amount": 5}, person="u1")
    assert done.record.call_arguments == {"amount": 5, "to": "eve"}  # type: ignore[union-attr]


@pytest.mark.parametrize("call_id", ["c1", ABSENT])
def test_a_later_answer_replaces_an_earlier_one(call_id: Any) -> None:
    refused = iter(["too much"])
    made = gate(validate_field_schema=lambda slot, *_: next(refused, None) if slot.name == "amount" else None)
    again = made.answer(asked(made, call_id=call_id).question_id, GIVEN, person="u1")
    assert isinstance(again, Asking)
    assert [(slot.name, slot.note) for slot in again.question.slots] == [("amount", "too much")]
    done = made.answer(again.question.question_id, {"amount": 4}, person="u1")
    assert done.record.call_arguments == {"amount": 4, "to": "eve"}  # type: ignore[union-attr]


# answers stay where they were given


def answered(made: Preflight, **parts: Any) -> None:
    made.answer(asked(made, **parts).question_id, GIVEN, person="u1")


@pytest.mark.parametrize(
    "parts",
    [
        {"user_id": "u2"},
        {"scope": {"tenant": "t2"}},
        {"call_id": "c2"},
        {"tool": {**TOOL, "name": "delete"}},
        {"tool": {**TOOL, "server": "other"}},
    ],
)
def test_an_answer_counts_for_its_user_scope_call_and_tool_alone(parts: dict[str, Any]) -> None:
    made = gate()
    answered(made)
    checked = made.check(request(claims={}, **parts))
    assert isinstance(checked, Asking)
    assert [slot.name for slot in checked.question.slots] == ["amount", "to"]


def test_a_restatement_counts_for_another_tool_too() -> None:
    # R-27: the tool is replaced, not what the user said
    made = gate(confirm_tool_name_matches_intent=lambda c2, tool, *_: {"approved": tool.name == "remit"})
    question = asked(made)
    made.answer(question.question_id, {"restatement": "send 7 to eve"}, person="u1")
    checked = made.check(request(claims={"amount": 7, "to": "eve"}, tool={**TOOL, "name": "remit"}))
    assert checked.record.call_arguments == {"amount": 7, "to": "eve"}


def test_an_answer_to_a_question_whose_record_is_missing_does_not_count() -> None:
    storage = MemoryStorage()
    made = gate(storage)
    answered(made)
    storage._by_id.clear()
    assert isinstance(made.check(request(claims={})), Asking)


# asks end (R-22, R-25, R-94, P20)


@pytest.mark.parametrize("call_id", ["c1", ABSENT])
@pytest.mark.parametrize(
    ("hook", "answer", "kind"),
    [
        ({"classify_when_case": lambda *_: None}, {"restatement": "again"}, "intent_undetermined_exhausted"),
        (
            {"confirm_tool_name_matches_intent": lambda *_: None},
            {"restatement": "again"},
            "tool_undetermined_exhausted",
        ),
        ({"validate_field_schema": lambda *_: "not like this"}, GIVEN, "value_exhausted"),
        ({"verify_user_checklist_item": lambda *_: None}, {**GIVEN, "rent": True}, "value_exhausted"),
    ],
)
def test_a_person_is_asked_twice_at_most(hook: Any, answer: Any, kind: str, call_id: Any) -> None:
    made = gate(**hook)
    checked: Any = made.check(request(claims={}, call_id=call_id, user_checklist=[{"id": "rent"}]))
    asks = 0
    while isinstance(checked, Asking):
        asks += 1
        names = [item.name for item in checked.question.slots] + [item.id for item in checked.question.items]
        fitting = {name: value for name, value in answer.items() if name in (*names, "restatement")}
        checked = made.answer(checked.question.question_id, fitting, person="u1")
    assert asks == 2
    assert isinstance(checked, Held)
    assert checked.record.gate is not None
    assert checked.record.gate.kind == kind


def test_the_rules_may_lower_the_number_of_asks() -> None:
    rules = {("bank", "transfer"): ToolRules(value_asks=1)}
    made = gate(named={"rules": rules}, validate_field_schema=lambda *_: "not like this")
    checked = made.answer(asked(made).question_id, GIVEN, person="u1")
    assert checked.record.gate.kind == "value_exhausted"  # type: ignore[union-attr]


def test_repeating_a_check_is_no_further_ask() -> None:
    made = gate()
    questions = {asked(made).question_id for _ in range(5)}
    assert len(questions) == 1


def test_a_question_that_expired_was_an_ask() -> None:
    clock = FakeClock()
    made = gate(clock=clock)
    for _ in range(2):
        asked(made)
        clock.advance(7 * 24 * 3600)
    checked = made.check(request(claims={}))
    assert checked.record.gate is not None
    assert checked.record.gate.kind == "value_exhausted"


def test_a_question_that_still_waits_while_the_user_says_something_else_was_not_asked_in_vain() -> None:
    # R-94: the third wish is not to end in a hold for two questions that nobody answered yet
    made = gate(validate_field_schema=lambda *_: "not like this")
    for words in ("send 5 to bob", "send 5 to eve", "send 5 to ann"):
        last = asked(made, instruction=[{"text": words, "trust": "user"}])
    again = made.answer(last.question_id, GIVEN, person="u1")
    assert isinstance(again, Asking)
    held = made.answer(again.question.question_id, GIVEN, person="u1")
    assert held.record.gate is not None
    assert held.record.gate.kind == "value_exhausted"


def test_attempts_the_caller_counts_are_not_taken_back() -> None:
    # R-17: a larger number only brings the hold forward
    made = gate(classify_when_case=lambda *_: None)
    question = asked(made, intent_attempt=1)
    checked = made.answer(question.question_id, {"restatement": "again"}, person="u1")
    assert checked.record.gate.kind == "intent_undetermined_exhausted"  # type: ignore[union-attr]


# where there is none (R-46)


def test_none_is_an_answer_for_what_may_be_null() -> None:
    made = gate()
    question = asked(made, tool=tool(amount={"type": ["number", "null"]}))
    done = made.answer(question.question_id, {"amount": None}, person="u1")
    assert isinstance(done, Executable)
    assert done.record.call_arguments == {"amount": None}


def test_none_is_an_answer_for_what_may_be_left_out() -> None:
    optional = {**TOOL, "inputSchema": {**SCHEMA, "required": ["amount"]}}
    made = gate()
    question = asked(made, claims={"amount": 500, "to": "mallory"}, tool=optional)
    assert [(slot.name, slot.nullable) for slot in question.slots] == [("to", True)]
    done = made.answer(question.question_id, {"to": None}, person="u1")
    assert isinstance(done, Executable)
    assert done.record.call_arguments == {"amount": 500}


# elements that only the model proposed (R-46)

ENTITY = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "kind": {"type": "string"}},
    "required": ["name", "kind"],
}
ENTITIES = tool(entities={"type": "array", "items": ENTITY})
BOTH = {"entities": [{"name": "bob", "kind": "person"}, {"name": "eve", "kind": "spy"}]}


def test_an_element_that_only_the_model_proposed_is_left_out_when_there_is_none() -> None:
    made = gate()
    question = asked(made, claims=BOTH, tool=ENTITIES)
    assert [(slot.name, slot.nullable) for slot in question.slots] == [
        ("entities/0/kind", False),  # the user spoke of bob
        ("entities/1/name", True),
        ("entities/1/kind", True),
    ]
    given = {"entities/0/kind": "friend", "entities/1/name": None}
    done = made.answer(question.question_id, given, person="u1")
    assert isinstance(done, Executable)
    assert done.record.call_arguments == {"entities": [{"name": "bob", "kind": "friend"}]}
    assert [(each.name, each.reason) for each in done.record.dropped_claims] == [
        ("entities/1", "the user said that there is none")
    ]


def test_what_is_not_denied_in_words_is_asked_for_again() -> None:
    made = gate()
    question = asked(made, claims=BOTH, tool=ENTITIES)
    again = made.answer(question.question_id, {"entities/0/kind": "friend"}, person="u1")
    assert isinstance(again, Asking)
    assert [slot.name for slot in again.question.slots] == ["entities/1/name", "entities/1/kind"]


def test_a_claimed_element_that_the_list_needs_takes_no_none() -> None:
    made = gate()
    needed = tool(entities={"type": "array", "items": ENTITY, "minItems": 2})
    question = asked(made, claims=BOTH, tool=needed)
    assert {slot.nullable for slot in question.slots} == {False}
    with pytest.raises(AnswerRefused, match="`entities/1/name` cannot be left empty"):
        made.answer(question.question_id, {"entities/1/name": None}, person="u1")


PARTY = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
PARTIES = {
    "2020-12": tool(parties={"type": "array", "prefixItems": [PARTY, PARTY], "items": PARTY}),
    "draft-07": tool(parties={"type": "array", "items": [PARTY, PARTY], "additionalItems": PARTY}),
}
PARTIES["draft-07"]["inputSchema"]["$schema"] = "http://json-schema.org/draft-07/schema#"


@pytest.mark.parametrize("form", PARTIES)
@pytest.mark.parametrize(
    ("names", "deniable"),
    [
        (["eve", "bob"], {"parties/0/name": False}),
        (["bob", "eve"], {"parties/1/name": True}),
        (["eve", "mallory"], {"parties/0/name": True, "parties/1/name": True}),
        (["bob", "eve", "bob"], {"parties/1/name": False}),
        (["eve", "mallory", "trudy"], {"parties/0/name": True, "parties/1/name": True, "parties/2/name": True}),
        (["bob", "bob", "eve", "bob"], {"parties/2/name": True}),
    ],
)
def test_an_element_with_its_own_place_may_be_missing_only_where_none_is_known_behind_it(
    form: str, names: list[str], deniable: dict[str, bool]
) -> None:
    # R-46: a payee must not become the payer
    made = gate()
    question = asked(made, claims={"parties": [{"name": name} for name in names]}, tool=PARTIES[form])
    assert {slot.name: slot.nullable for slot in question.slots} == deniable
    for name in (name for name, may in deniable.items() if not may):
        with pytest.raises(AnswerRefused, match=f"`{name}` cannot be left empty"):
            made.answer(question.question_id, {name: None}, person="u1")


def test_an_element_before_one_that_is_kept_stays_open() -> None:
    made = gate()
    names = [{"name": "eve"}, {"name": "mallory"}]
    question = asked(made, claims={"parties": names}, tool=PARTIES["2020-12"])
    again = made.answer(question.question_id, {"parties/0/name": None, "parties/1/name": "carol"}, person="u1")
    assert isinstance(again, Asking)
    assert [(slot.name, slot.nullable) for slot in again.question.slots] == [("parties/0/name", False)]
    done = made.answer(again.question.question_id, {"parties/0/name": "dave"}, person="u1")
    assert isinstance(done, Executable)
    assert done.record.call_arguments == {"parties": [{"name": "dave"}, {"name": "carol"}]}


def test_what_is_approved_cannot_be_none_as_well() -> None:
    authored = inline(lambda slot, _: NotGrounded(NEEDS_CONFIRMATION) if slot.name == "entities/1/name" else None)
    made = gate(extract_from_instruction=authored)
    question = asked(made, claims=BOTH, tool=ENTITIES)
    (slot,) = [slot for slot in question.slots if slot.name == "entities/1/name"]
    assert slot.nullable
    assert slot.confirm is not None
    with pytest.raises(AnswerRefused, match="`entities/1/name` is approved, and there is said to be none"):
        made.answer(question.question_id, {slot.name: None, slot.confirm: True}, person="u1")


# among alternatives, R-35

EITHER = {
    **TOOL,
    "inputSchema": {
        "type": "object",
        "properties": {"iban": {"type": "string"}, "card": {"type": "string"}},
        "oneOf": [{"required": ["iban"]}, {"required": ["card"]}],
    },
}


def test_any_of_the_alternatives_may_be_answered() -> None:
    made = gate()
    question = asked(made, tool=EITHER)
    assert [(slot.name, slot.nullable) for slot in question.slots] == [("iban", True), ("card", True)]
    assert {slot.note for slot in question.slots} == {"alternative"}  # or nobody could tell that one is enough
    done = made.answer(question.question_id, {"card": "x"}, person="u1")
    assert isinstance(done, Executable)
    assert done.record.call_arguments == {"card": "x"}


@pytest.mark.parametrize("claims", [{}, {"iban": "not said"}])
def test_an_alternative_may_be_given_up_in_words(claims: dict[str, Any]) -> None:
    made = gate()
    question = asked(made, tool=EITHER, claims=claims)
    done = made.answer(question.question_id, {"card": "x", "iban": None}, person="u1")
    assert isinstance(done, Executable)
    assert done.record.call_arguments == {"card": "x"}


def test_who_answers_both_alternatives_is_asked_which_one_and_can_say_so() -> None:
    made = gate()
    conflict = made.answer(asked(made, tool=EITHER).question_id, {"card": "x", "iban": "y"}, person="u1")
    assert isinstance(conflict, Asking)
    assert conflict.record.gate is not None
    assert [branch.kind for branch in conflict.record.gate.branches] == ["branch_conflict"]
    assert [slot.name for slot in conflict.question.slots] == ["iban", "card"]
    done = made.answer(conflict.question.question_id, {"card": None}, person="u1")
    assert isinstance(done, Executable)
    assert done.record.call_arguments == {"iban": "y"}


@pytest.mark.parametrize("answer", [{"card": "x", "iban": "y"}, {"card": None, "iban": None}])
def test_asking_among_alternatives_ends_too(answer: dict[str, Any]) -> None:
    made = gate()
    checked: Any = made.check(request(claims={}, tool=EITHER))
    asks = 0
    while isinstance(checked, Asking):
        asks += 1
        checked = made.answer(checked.question.question_id, answer, person="u1")
    assert (asks, checked.record.gate.kind) == (2, "value_exhausted")


# when the request is not at hand


@pytest.mark.parametrize("call_id", ["c1", ABSENT])
def test_without_the_request_the_answer_is_accepted_and_the_call_must_be_checked_again(call_id: Any) -> None:
    storage = MemoryStorage()
    question = asked(gate(storage), call_id=call_id)
    fresh = gate(storage)  # another process
    accepted = fresh.answer(question.question_id, GIVEN, person="u1")
    assert accepted == Accepted(question.question_id, None if call_id is ABSENT else "c1")
    again = fresh.check(request(claims={}, call_id=call_id))
    assert isinstance(again, Asking if call_id is ABSENT else Executable)


@pytest.mark.parametrize("call_id", ["c1", ABSENT])
@pytest.mark.parametrize(("day", "ready"), [("2026-03-02", True), ("2026-03-03", False)])
def test_words_keep_their_day_while_a_question_waits(day: str, ready: bool, call_id: Any) -> None:
    # R-51: asked in the evening, answered after midnight
    clock = FakeClock()
    properties = {**SCHEMA["properties"], "on": {"type": "string", "format": "date"}}
    booked = {**TOOL, "inputSchema": {**SCHEMA, "properties": properties, "required": ["amount", "to", "on"]}}
    made = create_preflight(
        storage=MemoryStorage(), clock=clock,
        hooks=ShippedHooks(meanings=[Meaning("book a room", "bank", "transfer")], clock=clock),
    )  # fmt: skip
    said = [{"text": "book a room for bob, tomorrow", "trust": "user"}]
    checked = made.check(request(tool=booked, instruction=said, claims={"to": "bob", "on": day}, call_id=call_id))
    assert isinstance(checked, Asking)
    clock.advance(15.5 * 3600)
    done = made.answer(checked.question.question_id, {"amount": 5}, person="u1")
    assert done.record.fields is not None
    assert {state.name: state.settled for state in done.record.fields}["on"] is ready


def test_a_stored_request_is_repeated_in_another_process_as_the_same() -> None:
    storage = MemoryStorage()
    kept = {"named": {"store_instruction": True}}
    whole = {
        **TOOL,
        "title": "Transfer",
        "outputSchema": {"type": "object"},
        "annotations": {"x": 1},
        "_meta": {"y": 2},
    }
    parts: dict[str, Any] = {
        "tool": whole,
        "scope": {"tenant": "t", "conversation": "c"},
        "pre_set_data": {"to": {"value": "bob", "trust": "user"}},
        "user_checklist": [{"id": "rent"}],
        "checklist_answers": {"rent": True},
        "measured_data": {"x": {"valid": True, "value": 10**30}},
        "locale": "de",
        "zone": "Europe/Berlin",
        "call_id": ABSENT,
    }
    question = asked(gate(storage, **kept), **parts)
    done = gate(storage, **kept).answer(question.question_id, {"amount": 5}, person="u1")
    assert isinstance(done, Executable)
    assert done.record.call_arguments == {"amount": 5, "to": "bob"}
    before, after = storage.get(question.decision_id), done.record
    assert before is not None
    assert before.record.tool == after.tool
    assert before.record.scope == after.scope
    assert after.instruction == (Segment("send 500 to bob", "user", said_at=question.created_at),)


def test_a_stored_request_keeps_its_trigger() -> None:
    storage = MemoryStorage()
    kept = {"named": {"store_instruction": True}}
    pending = {("bank", "transfer"): ToolRules(fields={"amount": FieldRules(pending_at_trigger=True)})}
    later = gate(storage, named={"rules": pending}, classify_when_case=lambda *_: "scheduled")
    deferred = later.check(request())
    assert isinstance(deferred, Deferred)
    fires = {"decision_id": deferred.record.decision_id, "occurrence": "1"}
    question = asked(gate(storage, **kept), trigger=fires)
    done = gate(storage, **kept).answer(question.question_id, GIVEN, person="u1")
    assert isinstance(done, Executable)
    assert done.record.trigger == {**fires, "when_case": "scheduled", "said_at": deferred.record.timestamp}


def test_only_the_last_thousand_requests_are_remembered() -> None:
    made = gate()
    first = asked(made)
    for n in range(1_000):
        asked(made, call_id=str(n))
    assert isinstance(made.answer(first.question_id, GIVEN, person="u1"), Accepted)


def test_the_asynchronous_face_answers_in_the_same_way() -> None:
    async def run() -> None:
        made = async_gate()
        checked = await made.check(request(claims={}))
        assert isinstance(checked, Asking)
        with pytest.raises(AnswerRefused):
            await made.answer(checked.question.question_id, GIVEN, person="u2")
        assert isinstance(await made.answer(checked.question.question_id, GIVEN, person="u1"), Executable)

    asyncio.run(run())


def test_pending_questions_are_those_of_a_scope_or_of_all() -> None:
    made = gate()
    here, there = asked(made), asked(made, scope={"tenant": "t2"})
    assert made.pending() == [here, there]
    assert made.pending(there.scope) == [there]
