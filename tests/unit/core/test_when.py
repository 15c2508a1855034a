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
READ = {"trigger": AT, "said": SAID, "first": AT["at"]}
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
    "read", [Failed("raised"), None, {}, {**READ, "said": 5}, {**READ, "trigger": "at"}, {**READ, "first": 5}]
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
