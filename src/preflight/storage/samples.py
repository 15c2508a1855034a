"""Records, questions and answers for tests of stores, as the shell would make them."""

from __future__ import annotations

import msgspec

from preflight.model.decision import SCHEMA_VERSION
from preflight.model.question import Answer, AskedSlot, NoAnswer, Question
from preflight.model.record import Outcome, Record, RecordState, ToolRef
from preflight.model.request import Scope
from preflight.model.slot import FieldState, Source

HERE = Scope("tenant", "conversation")
MORNING = "2026-03-01T09:00:00+00:00"


def sample_slot(name: str, source: Source | None, value: object = "v") -> FieldState:
    """Return a slot that `source` settled, or an unknown one for None."""
    if source is None:
        return FieldState(name, "unknown", None, None, MORNING)
    return FieldState(name, "known", source, source, MORNING, value)


def sample_decision(record_id: str, state: RecordState = "execute", **changes: object) -> Record:
    """Return a decision as the gate would store it; `changes` are fields of `Record`."""
    plain = Record(
        schema_version=SCHEMA_VERSION,
        action_key=f"key of {record_id}",
        phase="at_trigger",
        fixed=None,
        fields=(sample_slot("amount", "instruction", 500),),
        advisory_notes="",
        user_checklist=(),
        unknown_count=0,
        unverified_checklist_count=0,
        gate=None,
        execution_decision=state,
        reason="for the contract",
        record_id=record_id,
        decision_id=record_id,
        scope=HERE,
        user_id="u_01",
        tool=ToolRef("bank", "transfer", "f" * 64),
        timestamp=MORNING,
        request_digest="0" * 64,
        rules_digest=None,
    )
    return msgspec.structs.replace(plain, **changes)


def sample_step(decision: Record, state: RecordState, record_id: str | None = None) -> Record:
    """Return the record of a step of a decision's execution."""
    outcome = Outcome(error="no answer") if state in ("failed", "in_doubt") else None
    return msgspec.structs.replace(
        decision,
        record_id=record_id or f"{decision.record_id}/{state}",
        execution_decision=state,
        outcome=outcome,
    )


def sample_question(question_id: str, **changes: object) -> Question:
    """Return a question that stays open until 10 o'clock; `changes` are fields of `Question`."""
    plain = Question(
        question_id=question_id,
        kind="value",
        decision_id="d1",
        scope=HERE,
        user_id="u_01",
        message="Which account?",
        created_at=MORNING,
        expires_at="2026-03-01T10:00:00+00:00",
        call_id="call",
        slots=(AskedSlot("to_account", {"type": "string"}),),
    )
    return msgspec.structs.replace(plain, **changes)


def sample_no_answer(question_id: str, **changes: object) -> NoAnswer:
    """Return that nobody answered; `changes` are fields of `NoAnswer`."""
    plain = NoAnswer(question_id=question_id, channel="form", how="decline", at=MORNING, seconds=7.5, client="wire 1")
    return msgspec.structs.replace(plain, **changes)


def sample_answer(question_id: str, **changes: object) -> Answer:
    """Return an answer; `changes` are fields of `Answer`."""
    plain = Answer(
        question_id=question_id, person="u_01", channel="cli", answered_at=MORNING, values={"to_account": "77"}
    )
    return msgspec.structs.replace(plain, **changes)
