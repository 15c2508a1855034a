"""What surrounds a decision: reading, recording, idempotence, scope (R-8, R-11, R-31, R-70, R-75, R-80)."""

from __future__ import annotations

import hashlib
import threading
from typing import Any

import msgspec
import pytest

from preflight import Asking, Deferred, Executable, Held, Preflight, Refused, Request
from preflight.codec import encode
from preflight.errors import InvalidInput, StorageError
from preflight.model.decision import Decision
from preflight.model.trigger import Trigger
from preflight.rulebook import FixedRules
from preflight.testing import FakeClock, MemoryStorage
from tests.unit.gates import ABSENT, TOOL, executable, gate, raiser, records, request, states


class Failing(MemoryStorage):
    """A store of which one method raises from now on."""

    fails: str | None = None
    fault: Exception = StorageError("disk full")

    def __getattribute__(self, name: str) -> Any:
        if name == super().__getattribute__("fails"):
            return raiser(self.fault)
        return super().__getattribute__(name)


# every run is recorded, and `check` never raises

MALFORMED: dict[str, Any] = {
    "nothing": None,
    "a list": [],
    "a text": "send 500 to bob",
    "a number": 5,
    "no tool": request(tool=ABSENT),
    "a tool that is none": request(tool="transfer"),
    "a tool without a name": request(tool={"inputSchema": {}}),
    "a tool named by nothing": request(tool={"name": ""}),
    "a tool named by a number": request(tool={"name": 5}),
    "a tool's name too long": request(tool={"name": "x" * 257}),
    "a tool's name with an escape": request(tool={"name": "a\x1b[2J"}),
    "a tool's name read backwards": request(tool={"name": "a\u202eb"}),
    "a tool's name with nothing in it": request(tool={"name": "a\u200bb"}),
    "no user": request(user_id=ABSENT),
    "an empty user": request(user_id=""),
    "a user that is a number": request(user_id=1),
    "an unknown key": request(claim={}),
    "an unknown key that is no text": {**request(), 5: 1},
    "an unknown key with a surrogate": {**request(), "\ud800": 1},
    "claims that are a list": request(claims=[]),
    "claims that are a text": request(claims="{}"),
    "claims that are no JSON": request(claims={"amount": object()}),
    "claims that are not finite": request(claims={"amount": float("nan")}),
    "claims with a surrogate": request(claims={"to": "\ud800"}),
    "claims keyed by a number": request(claims={1: "x"}),
    "a claim of 401 digits": request(claims={"amount": 10**400}),
    "an instruction that is a number": request(instruction=5),
    "a segment without text": request(instruction=[{"trust": "user"}]),
    "a segment that is a text": request(instruction=["send"]),
    "more segments than allowed": request(instruction=[{"text": "x"}] * 10_001),
    "a scope that is a text": request(scope="tenant"),
    "a scope with another key": request(scope={"tenants": "a"}),
    "a scope of numbers": request(scope={"tenant": 1}),
    "a call that is a number": request(call_id=1),
    "answers that are a list": request(user_answers=[1]),
}


@pytest.mark.parametrize("given", MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_request_is_held_and_recorded_by_its_digest(given: Any) -> None:
    made = gate()
    checked = made.check(given)
    assert isinstance(checked, Held)
    assert checked.recorded
    (record,) = records(made.storage)  # type: ignore[arg-type]
    assert record == checked.record
    assert record.gate is not None
    assert record.gate.kind == "request_invalid"
    assert record.request_digest == hashlib.sha256(repr(given).encode(errors="backslashreplace")).hexdigest()


@pytest.mark.parametrize("face", ["run_preflight", "run_preflight_and_record"])
def test_a_malformed_request_raises_where_it_is_said_to(face: str) -> None:
    with pytest.raises(InvalidInput, match="`tool`: missing"):
        getattr(gate(), face)(request(tool=ABSENT))


class NoRepr(dict[str, Any]):
    def __repr__(self) -> str:
        raise RuntimeError


class NoItems(dict[str, Any]):
    def items(self) -> Any:
        raise RuntimeError("\ud800")


def nested(depth: int) -> list[Any]:
    deep: list[Any] = []
    for _ in range(depth):
        deep = [deep]
    return deep


ODD: dict[str, tuple[Any, str]] = {
    "what cannot be shown": (NoRepr(request()), "request_invalid"),
    "what is nested without end": (request(claims={"amount": nested(100_000)}), "request_invalid"),
    "what fails while it is read": (request(claims=NoItems(a=1)), "internal_error"),
}


@pytest.mark.parametrize(("given", "kind"), ODD.values(), ids=ODD.keys())
def test_a_request_that_fails_while_it_is_read_is_held_and_recorded(given: Any, kind: str) -> None:
    made = gate()
    checked = made.check(given)
    assert isinstance(checked, Held)
    assert checked.recorded
    assert states(made.storage) == ["hold"]  # type: ignore[arg-type]
    assert checked.record.gate is not None
    assert checked.record.gate.kind == kind


def test_a_cycle_is_refused_with_its_place() -> None:
    cycle: dict[str, Any] = {}
    cycle["a"] = cycle
    checked = gate().check(request(claims=cycle))
    assert checked.record.gate is not None
    assert "nested too deeply" in checked.record.gate.payload_errors[0]


@pytest.mark.parametrize(
    "hook", ["extract_user_action_name", "build_action_key", "validate_field_schema", "build_deferred_input"]
)
def test_a_text_that_cannot_be_written_is_held_and_recorded(hook: str) -> None:
    when = {"classify_when_case": lambda *_: "scheduled"} if hook == "build_deferred_input" else {}
    made = gate(**{**when, hook: lambda *_: "\ud800"})
    checked = made.check(request())
    assert isinstance(checked, Held)
    assert checked.recorded
    (record,) = records(made.storage)  # type: ignore[arg-type]
    assert record.gate is not None
    assert (record.gate.kind, record.user_id, record.call_id) == ("internal_error", "u1", "c1")


@pytest.mark.parametrize("fault", [StorageError("disk full"), RuntimeError("disk full"), Exception("\ud800")])
@pytest.mark.parametrize("method", ["append", "latest_for_call", "asked"])
def test_a_store_that_fails_means_hold_and_no_exception(method: str, fault: Exception) -> None:
    storage = Failing()
    made = gate(storage)
    storage.fault, storage.fails = fault, method
    checked = made.check(request())
    assert isinstance(checked, Held)
    assert checked.record.gate is not None
    assert checked.record.gate.kind == "internal_error"
    storage.fails = None
    assert len(records(storage)) == checked.recorded
    assert made.execute_if_ready(checked, raiser(AssertionError())).status == "held"  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["ask", "append"])
def test_a_question_that_cannot_be_stored_is_not_shown(method: str) -> None:
    storage = Failing()
    storage.fails = method
    assert isinstance(gate(storage).check(request(claims={})), Held)


def test_recording_a_failing_store_raises_where_it_is_said_to() -> None:
    storage = Failing()
    storage.fails = "append"
    with pytest.raises(StorageError):
        gate(storage).run_preflight_and_record(request())


def test_the_record_says_who_what_and_when() -> None:
    record = executable(gate(), scope={"tenant": "t", "conversation": "c"}).record
    assert (record.user_id, record.scope.tenant, record.scope.conversation, record.call_id) == ("u1", "t", "c", "c1")
    assert record.tool is not None
    assert (record.tool.server, record.tool.name, len(record.tool.fingerprint)) == ("bank", "transfer", 64)
    assert record.timestamp == record.not_before == "2026-03-01T09:00:00.000000+00:00"
    assert record.not_after == "2026-03-01T09:01:00.000000+00:00"
    assert record.decision_id == record.record_id


def test_the_users_words_are_stored_only_where_the_adopter_says_so() -> None:
    #
    assert executable(gate()).record.instruction is msgspec.UNSET
    kept = executable(gate(named={"store_instruction": True})).record.instruction
    assert [segment.text for segment in kept or ()] == ["send 500 to bob"]


# repeated checks (idempotence by scope and call)


def test_the_same_call_and_facts_give_the_same_verdict() -> None:
    made = gate()
    for parts in ({}, {"claims": {}, "call_id": "c2"}, {"user_checklist": [{}], "call_id": "c3"}):
        first, again = made.check(request(**parts)), made.check(request(**parts))
        assert type(first) is type(again)
        assert first == again
    assert len(records(made.storage)) == 3  # type: ignore[arg-type]


def test_recording_calls_are_idempotent_too() -> None:
    made = gate()
    assert made.run_preflight_and_record(request()) == made.run_preflight_and_record(request()) == made.check(request())


@pytest.mark.parametrize(
    "parts",
    [
        {"call_id": ABSENT},
        {"call_id": "c2"},
        {"scope": {"tenant": "t2"}},
        {"scope": {"conversation": "other"}},
        {"user_id": "u2"},
        {"claims": {"amount": 500, "to": "bob", "note": "x"}},
        {"tool": {**TOOL, "description": "more"}},
        {"locale": "de"},
    ],
)
def test_another_call_or_other_facts_are_decided_anew(parts: dict[str, Any]) -> None:
    made = gate()
    assert made.check(request()).record.record_id != made.check(request(**parts)).record.record_id


def test_changed_rules_are_decided_anew() -> None:
    rules = FixedRules()
    rules.digest = "first"
    made = gate(named={"rules": lambda: rules})
    first = made.check(request())
    assert made.check(request()) == first
    rules.digest = "second"
    again = made.check(request())
    assert (first.record.rules_digest, again.record.rules_digest) == ("first", "second")


def test_a_decision_nobody_started_in_time_is_decided_anew() -> None:
    clock = FakeClock()
    made = gate(clock=clock)
    first = executable(made)
    clock.advance(60)
    again = executable(made)
    assert again.decision_id != first.decision_id


def test_a_question_nobody_answered_in_time_is_asked_anew() -> None:
    clock = FakeClock()
    made = gate(clock=clock)
    first = made.check(request(claims={}))
    assert isinstance(first, Asking)
    clock.advance(7 * 24 * 3600)
    again = made.check(request(claims={}))
    assert isinstance(again, Asking)
    assert again.question.question_id != first.question.question_id
    assert made.pending() == [again.question]


@pytest.mark.parametrize("passed", [0, 1_000])
def test_a_call_that_was_started_is_not_decided_again_whatever_is_said_later(passed: float) -> None:
    # R-75, bad input 79: a retry by a framework that sends more context
    clock = FakeClock()
    made = gate(clock=clock)
    calls: list[Any] = []
    made.execute_if_ready(executable(made), calls.append)
    clock.advance(passed)
    more = [{"text": "send 500 to bob", "trust": "user"}, {"text": "a result", "trust": "untrusted"}]
    again = made.check(request(instruction=more))
    answer = made.execute_if_ready(again, calls.append)  # type: ignore[arg-type]
    assert isinstance(answer, Refused)
    assert answer.code == "already_started"
    assert len(calls) == 1


@pytest.mark.parametrize("parts", [{"user_id": "u2"}, {"tool": {**TOOL, "name": "other"}}])
def test_another_user_s_or_tool_s_start_does_not_count(parts: dict[str, Any]) -> None:
    made = gate(build_action_key=lambda given, fixed: f"{given.user_id}:{fixed.c3_provider_action_name}")
    made.execute_if_ready(executable(made), lambda call: None)
    assert made.execute_if_ready(executable(made, **parts), lambda call: None).status == "executed"


def test_of_checks_of_one_call_at_once_all_get_one_verdict() -> None:
    # both threads stand between reading and recording when neither has recorded yet
    barrier = threading.Barrier(2)
    made = gate(extract_user_action_name=lambda *_: (barrier.wait(10), "send")[1])
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(made.check(request()))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(found) == 2
    assert found[0] == found[1]
    assert states(made.storage) == ["execute"]  # type: ignore[arg-type]


# decisions that were looked at first


def test_a_decision_that_was_looked_at_can_be_recorded_once() -> None:
    made = gate()
    decision = made.run_preflight(request())
    assert records(made.storage) == []  # type: ignore[arg-type]
    assert isinstance(made.record_execution_state(request(), decision), Executable)
    with pytest.raises(InvalidInput, match="recorded before"):
        made.record_execution_state(request(), decision)


def forged(decision: Decision) -> Decision:
    return msgspec.structs.replace(decision, call_arguments={"amount": 1e6, "to": "eve"})


def changed(decision: Decision) -> Decision:
    decision.call_arguments["amount"] = 1e6  # type: ignore[index]
    return decision


@pytest.mark.parametrize("change", [forged, changed])
def test_a_decision_made_or_changed_by_hand_is_refused(change: Any) -> None:
    # bad input 68
    made = gate()
    decision = change(made.run_preflight(request()))
    with pytest.raises(InvalidInput, match="not made here"):
        made.record_execution_state(request(), decision)
    assert records(made.storage) == []  # type: ignore[arg-type]


def test_a_decision_of_another_request_or_gate_is_refused() -> None:
    made, other = gate(), gate()
    decision = made.run_preflight(request())
    with pytest.raises(InvalidInput):
        other.record_execution_state(request(), decision)
    with pytest.raises(InvalidInput):
        made.record_execution_state(request(claims={}), decision)


def test_only_the_last_thousand_decisions_are_remembered() -> None:
    made = gate()
    first = made.run_preflight(request())
    kept = [made.run_preflight(request(call_id=str(n))) for n in range(1_000)]
    with pytest.raises(InvalidInput):
        made.record_execution_state(request(), first)
    assert isinstance(made.record_execution_state(request(call_id="0"), kept[0]), Executable)


def test_a_prepared_request_is_taken_as_it_is() -> None:
    made = gate()
    assert made.check(Request.parse(request())) == made.check(request())


def test_the_callers_clock_counts_where_it_is_given() -> None:
    decision = gate().run_preflight(request(now="2020-01-01T00:00:00+00:00"))
    assert {state.resolved_at for state in decision.fields or ()} == {"2020-01-01T00:00:00+00:00"}


# prior states


def test_the_prior_state_a_store_hands_out_can_be_handed_in() -> None:
    made = gate()
    made.execute_if_ready(executable(made), lambda call: None)
    prior = made.get_prior_execution_state(user_id="u1", action_key="u1:transfer", tool=TOOL)
    assert prior is not None
    carried = made.check(request(call_id="c2", claims={}, instruction=ABSENT, prior_execution_state=prior))
    assert isinstance(carried, Executable)
    assert [(s.source, s.origin_source, s.value) for s in carried.record.fields or ()] == [
        ("prior_state", "instruction", 500),
        ("prior_state", "instruction", "bob"),
    ]


@pytest.mark.parametrize(
    "other",
    [
        {"user_id": "u2"},
        {"action_key": "other"},
        {"tool": {**TOOL, "description": "changed"}},
        {"scope": Request.parse(request(scope={"tenant": "t"})).scope},
    ],
)
def test_a_prior_state_of_anything_else_is_not_handed_out(other: dict[str, Any]) -> None:
    made = gate()
    made.execute_if_ready(executable(made), lambda call: None)
    asked = {"user_id": "u1", "action_key": "u1:transfer", "tool": TOOL, **other}
    assert made.get_prior_execution_state(**asked) is None


@pytest.mark.parametrize("fault", [OSError(), None])
def test_a_run_that_did_not_end_well_is_no_prior_state(fault: Exception | None) -> None:
    made = gate()
    made.execute_if_ready(executable(made), raiser(fault) if fault else lambda call: {"isError": True})
    assert made.get_prior_execution_state(user_id="u1", action_key="u1:transfer", tool=TOOL) is None


# deferred runs and their triggers


def deferring(storage: MemoryStorage) -> Preflight:
    """A gate for which every request is for later."""
    return gate(storage, classify_when_case=lambda *_: "scheduled", build_deferred_input=lambda *_: {"kept": 1})


def test_a_deferred_run_checks_no_condition_and_carries_no_arguments() -> None:
    deferred = deferring(MemoryStorage()).check(request(user_checklist=[{"id": "rent"}]))
    assert isinstance(deferred, Deferred)
    assert (deferred.record.phase, deferred.record.user_checklist) == ("at_instruction", None)
    assert (deferred.record.call_arguments, deferred.record.deferred_input) == (None, {"kept": 1})
    assert deferred.record.not_after is None


def test_a_verified_trigger_runs_the_whole_path_without_classifying_again() -> None:
    storage = MemoryStorage()
    deferred = deferring(storage).check(request())
    fires = {"decision_id": deferred.record.decision_id, "occurrence": "2026-03-02T09:00:00Z"}
    made = gate(storage, classify_when_case=raiser(AssertionError()))
    checked = made.check(request(trigger=fires))
    assert isinstance(checked, Executable)
    assert (checked.record.phase, checked.record.trigger) == (
        "at_trigger",
        {**fires, "when_case": "scheduled", "said_at": "2026-03-01T09:00:00.000000+00:00"},
    )
    assert checked.record.fixed is not None
    assert checked.record.fixed.c1_when_case == "scheduled"


def test_at_the_trigger_conditions_count() -> None:
    storage = MemoryStorage()
    parts = {"user_checklist": [{"id": "rent"}]}
    deferred = deferring(storage).check(request(**parts))
    fires = {"decision_id": deferred.record.decision_id, "occurrence": "1"}
    assert isinstance(gate(storage).check(request(trigger=fires, **parts)), Asking)


def test_each_occurrence_is_a_call_of_its_own() -> None:
    storage = MemoryStorage()
    deferred = deferring(storage).check(request())
    made = gate(storage)
    for occurrence in ("1", "2"):
        fires = {"decision_id": deferred.record.decision_id, "occurrence": occurrence}
        assert made.execute_if_ready(executable(made, trigger=fires), lambda call: None).status == "executed"
    again = executable(made, trigger=fires)
    assert made.execute_if_ready(again, lambda call: None).status == "held"


FORGED: dict[str, Any] = {
    "no record": {"decision_id": "none", "occurrence": "1"},
    "no id": {"occurrence": "1"},
    "an id that is no text": {"decision_id": 5, "occurrence": "1"},
    "no occurrence": {"decision_id": "DEFERRED"},
    "an occurrence that is no text": {"decision_id": "DEFERRED", "occurrence": 1},
    "the id of a decision that was not deferred": {"decision_id": "EXECUTE", "occurrence": "1"},
    "a text": "DEFERRED",
}


@pytest.mark.parametrize("trigger", FORGED.values(), ids=FORGED.keys())
def test_a_forged_trigger_is_none(trigger: Any) -> None:
    storage = MemoryStorage()
    made = deferring(storage)
    ids = {
        "DEFERRED": made.check(request()).record.decision_id,
        "EXECUTE": executable(gate(storage), call_id="c0").decision_id,
    }
    if isinstance(trigger, dict):
        trigger = {key: ids.get(part, part) if isinstance(part, str) else part for key, part in trigger.items()}
    checked = made.check(request(trigger=trigger, call_id="c2"))
    assert isinstance(checked, Deferred)
    assert checked.record.trigger is None


@pytest.mark.parametrize(
    "parts",
    [
        {"user_id": "u2"},
        {"scope": {"tenant": "t2"}},
        {"tool": {**TOOL, "name": "other"}},
        {"tool": {**TOOL, "server": "other"}},
    ],
)
def test_another_user_s_scope_s_or_tool_s_trigger_is_none(parts: dict[str, Any]) -> None:
    storage = MemoryStorage()
    made = deferring(storage)
    fires = {"decision_id": made.check(request()).record.decision_id, "occurrence": "1"}
    assert isinstance(made.check(request(trigger=fires, **parts)), Deferred)


def test_a_trigger_cannot_be_sent_as_what_only_the_gate_makes() -> None:
    checked = gate().check(request(trigger=Trigger("x", "1", "immediate")))
    assert checked.record.gate is not None
    assert checked.record.gate.kind == "request_invalid"


# what reaches whom (R-25, P17)


def test_diagnostics_go_to_the_log_and_to_no_one_else(caplog: pytest.LogCaptureFixture) -> None:
    made = gate(confirm_tool_name_matches_intent=raiser(ValueError("s3cr3t")))
    asked = made.check(request())
    assert isinstance(asked, Asking)
    assert "s3cr3t" in caplog.text
    assert b"s3cr3t" not in encode(asked.question)
    assert "s3cr3t" not in asked.record.reason


def test_a_run_that_cannot_be_recorded_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    storage = Failing()
    storage.fails = "append"
    gate(storage).check(request())
    assert "could not be recorded: StorageError: disk full" in caplog.text
