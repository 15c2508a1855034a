"""`when` as a slot: asked for with everything else, never guessed, said back absolutely (R-81)."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET

from preflight.core.needs import Failed
from preflight.core.schema import Plan, compile_schema
from preflight.core.when import slot_of
from preflight.model.decision import Decision, UnknownField
from preflight.model.evidence import Located, NotGrounded
from preflight.model.trigger import When
from tests.unit.core.test_conditions import decided
from tests.unit.gates import request

SAID = "Friday 4 December 2026, 09:00 Asia/Seoul"
AT = {"kind": "at", "at": "2026-12-04T00:00:00.000000+00:00", "zone": "Asia/Seoul"}
READ = {"case": "scheduled", "trigger": AT, "said": SAID, "first": AT["at"]}
PLACE = {"value": "2026-12-04T09:00:00+09:00", "segment_index": 0, "span": [0, 4]}


def deciding(found: Any = PLACE, read: Any = READ, case: str = "scheduled", **parts: Any) -> Decision:
    facts = {"classify_when_case": case, "extract_trigger": found, "read_trigger": read}
    return decided(services=("extract_trigger",), facts=facts, **parts)


def unknown(decision: Decision) -> tuple[UnknownField, ...]:
    assert decision.gate is not None
    fields = decision.gate.unknown_fields
    return () if fields is UNSET else fields  # type: ignore[return-value]


def test_a_settled_time_stands_in_the_decision_and_is_said_back() -> None:
    decision = deciding()
    when = decision.trigger
    assert (decision.execution_decision, type(when)) == ("deferred", When)
    assert isinstance(when, When)
    assert (when.case, when.trigger, when.said, when.first, when.source) == (
        "scheduled", AT, SAID, AT["at"], "instruction",
    )  # fmt: skip
    assert when.evidence is not None
    assert (when.evidence.matched_text, when.evidence.start, when.evidence.end) == ("send", 0, 4)
    assert decision.notices == (SAID,)
    assert decision.reason.endswith(SAID)


@pytest.mark.parametrize("first", [None, "2026-12-04T00:00:00+00:00"])
def test_an_answer_comes_before_the_words(first: str | None) -> None:
    decision = deciding(found=Failed("not asked"), read={**READ, "first": first}, user_answers={"when": "…"})
    assert isinstance(decision.trigger, When)
    assert (decision.trigger.source, decision.trigger.evidence, decision.trigger.first) == ("user_answer", None, first)


@pytest.mark.parametrize(
    ("found", "note"),
    [
        (None, "when_not_said"),
        (NotGrounded("ambiguous"), "ambiguous"),
        ({**PLACE, "span": [0]}, "when_not_said"),
        ({**PLACE, "span": [4, 4]}, "when_not_said"),
        ({**PLACE, "span": [0, 400]}, "when_not_said"),
        ({**PLACE, "span": [0.0, 4]}, "when_not_said"),
        ({**PLACE, "segment_index": 1}, "when_not_said"),
        ({**PLACE, "segment_index": 7}, "when_not_said"),
        ({**PLACE, "segment_index": True}, "when_not_said"),
    ],
)
def test_what_the_words_do_not_say_is_asked(found: Any, note: str) -> None:
    # the place must lie in the user's own words
    words = [{"text": "send 500 to bob", "trust": "user"}, {"text": "tomorrow at 9", "trust": "untrusted"}]
    decision = deciding(found=found, instruction=words)
    assert (decision.execution_decision, decision.trigger) == ("ask_user", None)
    assert unknown(decision) == (UnknownField("when", note, "ask_user"),)
    assert decision.unknown_count == 1


@pytest.mark.parametrize("found", [Failed("raised"), 5, "tomorrow"])
def test_a_broken_hook_holds(found: Any) -> None:
    decision = deciding(found=found)
    assert decision.execution_decision == "hold"
    assert unknown(decision) == (UnknownField("when", "extract_trigger failed", "definition_repair"),)


@pytest.mark.parametrize(
    "read",
    [
        Failed("raised"),
        None,
        {},
        {**READ, "said": 5},
        {**READ, "trigger": "at"},
        {**READ, "first": 5},
        {**READ, "case": "soon"},
        {**READ, "case": None},
        {"case": "immediate"},
        {**READ, "case": "immediate"},
    ],
)
def test_a_broken_reader_holds(read: Any) -> None:
    decision = deciding(read=read)
    assert decision.execution_decision == "hold"
    assert unknown(decision) == (UnknownField("when", "read_trigger failed", "definition_repair"),)


def test_a_text_that_is_no_trigger_is_asked_again_until_it_is_exhausted() -> None:
    decision = deciding(read=NotGrounded("end_not_said"), user_answers={"when": "every day"})
    assert unknown(decision) == (UnknownField("when", "end_not_said", "ask_user"),)


def test_it_joins_the_question_with_every_other_open_slot() -> None:
    #
    decision = deciding(found=None, claims={"to": "bob"})
    assert [field.name for field in unknown(decision)] == ["amount", "when"]


def test_a_place_may_be_given_as_a_value_of_ours() -> None:
    decision = deciding(found=Located(PLACE["value"], 0, 5, 8))
    assert isinstance(decision.trigger, When)
    assert decision.trigger.evidence is not None
    assert decision.trigger.evidence.matched_text == "500"


def test_an_immediate_run_has_no_when() -> None:
    decision = deciding(found=Failed("not asked"), case="immediate")
    assert (decision.execution_decision, decision.trigger) == ("execute", None)


@pytest.mark.parametrize(
    ("properties", "name"),
    [({}, "when"), ({"when": {}}, "preflight:when"), ({"when": {}, "preflight:when": {}}, "preflight:preflight:when")],
)
def test_no_property_of_the_tool_has_its_name(properties: dict[str, Any], name: str) -> None:
    #
    plan = compile_schema({"type": "object", "properties": properties})
    assert isinstance(plan, Plan)
    assert slot_of(plan).name == name


def test_the_words_of_a_run_that_fires_are_read_by_the_clock_of_its_instruction() -> None:
    #
    from preflight import Request
    from preflight.model.trigger import Trigger

    asked = Request.parse(request(now="2026-12-04T00:00:00Z"))
    assert asked.said_at == "2026-12-04T00:00:00Z"
    import msgspec

    fired = msgspec.structs.replace(asked, trigger=Trigger("d", "o", "scheduled", "2026-12-01T00:00:00Z"))
    assert fired.said_at == "2026-12-01T00:00:00Z"
    assert msgspec.structs.replace(asked, trigger=Trigger("d", "o", "scheduled")).said_at == "2026-12-04T00:00:00Z"


# an order that seems to mean now, while its words name a time (decision 0127)

UNUSED = ("extract_trigger", "extract_unused_time")


def now_or_later(found: Any, case: str = "immediate", read: Any = READ, **parts: Any) -> Decision:
    facts = {
        "classify_when_case": case, "extract_unused_time": found, "extract_trigger": PLACE, "read_trigger": read
    }  # fmt: skip
    return decided(services=UNUSED, facts=facts, **parts)


@pytest.mark.parametrize("found", [PLACE, {**PLACE, "span": [0, 400]}, Located("x", 0, 0, 4)])
def test_a_time_that_no_value_takes_up_is_asked_about(found: Any) -> None:
    decision = now_or_later(found)
    assert (decision.execution_decision, decision.trigger, decision.phase) == ("ask_user", None, "at_trigger")
    assert unknown(decision) == (UnknownField("when", "time_unused", "ask_user"),)
    (state,) = decision.extra_fields
    lies_there = found is PLACE or isinstance(found, Located)
    assert [mention.matched_text for mention in state.mentions] == (["send"] if lies_there else [])


def test_without_one_the_run_goes_on() -> None:
    decision = now_or_later(None)
    assert (decision.execution_decision, decision.notices, decision.extra_fields) == ("execute", (), ())


@pytest.mark.parametrize("case", ["immediate", "scheduled"])
@pytest.mark.parametrize("found", [Failed("raised"), 5, NotGrounded("x"), {"span": [0, 4]}])
def test_a_finder_that_breaks_holds(found: Any, case: str) -> None:
    decision = now_or_later(found, case)
    assert decision.execution_decision == "hold"
    assert unknown(decision) == (UnknownField("when", "extract_unused_time failed", "definition_repair"),)


def test_a_run_whose_time_is_a_value_is_done_now() -> None:
    decision = now_or_later(None, "scheduled")
    assert (decision.execution_decision, decision.phase, decision.trigger) == ("execute", "at_trigger", None)
    assert decision.fixed is not None
    assert decision.fixed.c1_when_case == "immediate"
    assert decision.notices == ("it is to be done now: the time that the words name is a value of the call",)


def test_a_run_whose_words_still_say_later_waits() -> None:
    decision = now_or_later(PLACE, "scheduled")
    assert (decision.execution_decision, type(decision.trigger)) == ("deferred", When)


@pytest.mark.parametrize("case", ["recurring", "conditional"])
def test_recurrences_and_conditions_are_read_from_the_words_alone(case: str) -> None:
    decision = now_or_later(Failed("not asked"), case, {**READ, "case": case})
    assert isinstance(decision.trigger, When)
    assert decision.trigger.case == case


@pytest.mark.parametrize("case", ["immediate", "scheduled", "recurring", "conditional"])
def test_the_answer_now_waits_for_nothing(case: str) -> None:
    decision = now_or_later(Failed("not asked"), case, {"case": "immediate"}, user_answers={"when": "now"})
    assert (decision.execution_decision, decision.phase, decision.trigger) == ("execute", "at_trigger", None)
    assert decision.fixed is not None
    assert decision.fixed.c1_when_case == "immediate"
    assert decision.notices == ("it is to be done now, as the user answered",)


def test_the_answer_with_a_time_lets_an_order_wait() -> None:
    decision = now_or_later(Failed("not asked"), "immediate", user_answers={"when": "…"})
    assert (decision.execution_decision, decision.phase) == ("deferred", "at_instruction")
    assert decision.fixed is not None
    assert decision.fixed.c1_when_case == "scheduled"


def test_the_notices_of_the_rules_stand_beside_it() -> None:
    from preflight.model.rules import ToolRules

    facts = {"classify_when_case": "immediate", "read_trigger": {"case": "immediate"}}
    decision = decided(
        ToolRules(notices=("from the rules",)), services=UNUSED, facts=facts, user_answers={"when": "now"}
    )
    assert decision.notices == ("it is to be done now, as the user answered", "from the rules")
