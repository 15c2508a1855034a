"""What is in doubt, and how a person or a measurement settles it (R-75)."""

from __future__ import annotations

from typing import Any

import pytest

from preflight import Preflight
from preflight.errors import InvalidInput, NotExecutable
from preflight.results import Claimed, Executed
from preflight.testing import FakeClock, MemoryStorage
from tests.unit.gates import TOOL, executable, gate, raiser, states


def doubtful(made: Preflight) -> str:
    """The id of a decision whose call timed out."""
    decision = executable(made)
    made.execute_if_ready(decision, raiser(TimeoutError()))
    return decision.decision_id


FOUND = {"by": "ann", "evidence": "the bank's ledger, line 7"}


@pytest.mark.parametrize("outcome", ["executed", "failed"])
def test_a_doubt_is_settled_by_what_was_found(outcome: Any) -> None:
    clock = FakeClock()
    made = gate(clock=clock)
    decision = doubtful(made)
    clock.advance(3_600)
    settled = made.resolve(decision, outcome, **FOUND)
    assert settled.execution_decision == "settled"
    assert settled.outcome is not None
    assert (settled.outcome.settled_as, settled.outcome.by, settled.outcome.evidence) == (
        outcome,
        "ann",
        "the bank's ledger, line 7",
    )
    assert settled.timestamp == "2026-03-01T10:00:00.000000+00:00"
    assert made.in_doubt() == []
    assert states(made.storage) == ["execute", "executing", "in_doubt", "settled"]  # type: ignore[arg-type]


def test_a_start_without_an_outcome_is_in_doubt_first() -> None:
    made = gate()
    decision = executable(made)
    assert isinstance(made.claim(decision), Claimed)
    assert [record.execution_decision for record in made.in_doubt()] == ["executing"]
    made.resolve(decision.decision_id, "failed", **FOUND)
    assert states(made.storage) == ["execute", "executing", "in_doubt", "settled"]  # type: ignore[arg-type]


def test_what_was_settled_is_never_called_again() -> None:
    made = gate()
    decision = doubtful(made)
    made.resolve(decision, "failed", **FOUND)
    assert made.execute_if_ready(decision, raiser(AssertionError())).status == "held"


@pytest.mark.parametrize("settled", [True, False])
def test_what_is_not_in_doubt_cannot_be_settled(settled: bool) -> None:
    made = gate()
    decision = doubtful(made) if settled else executable(made).decision_id
    if settled:
        made.resolve(decision, "failed", **FOUND)
    state = "settled" if settled else "execute"
    with pytest.raises(NotExecutable, match=f"is `{state}`, not in doubt") as fault:
        made.resolve(decision, "executed", **FOUND)
    assert fault.value.code == "not_in_doubt"


def test_an_unknown_decision_cannot_be_settled() -> None:
    with pytest.raises(NotExecutable, match="`none` is unknown"):
        gate().resolve("none", "executed", **FOUND)


@pytest.mark.parametrize("key", ["by", "evidence"])
@pytest.mark.parametrize("value", ["", "  ", None, 5])
def test_who_found_out_and_what_shows_it_must_be_said(key: str, value: Any) -> None:
    made = gate()
    decision = doubtful(made)
    with pytest.raises(InvalidInput, match=f"`{key}`"):
        made.resolve(decision, "executed", **{**FOUND, key: value})
    assert len(made.in_doubt()) == 1


@pytest.mark.parametrize("outcome", ["in_doubt", "settled", "", None, True])
def test_a_doubt_ends_as_executed_or_failed(outcome: Any) -> None:
    made = gate()
    decision = doubtful(made)
    with pytest.raises(InvalidInput, match="`outcome`"):
        made.resolve(decision, outcome, **FOUND)


def test_one_who_settles_too_late_is_told() -> None:
    class Raced(MemoryStorage):
        """Another process settles between the look and the write."""

        def finish(self, record: Any, **named: Any) -> Any:
            return None if record.execution_decision == "settled" else super().finish(record, **named)

    made = gate(Raced())
    decision = doubtful(made)
    with pytest.raises(NotExecutable, match="ended meanwhile") as fault:
        made.resolve(decision, "executed", **FOUND)
    assert fault.value.code == "already_ended"


def test_an_execution_settled_by_a_person_meanwhile_ends_in_words() -> None:
    made = gate()
    decision = executable(made)

    def slow(_call: Any) -> None:
        made.resolve(decision.decision_id, "executed", **FOUND)

    with pytest.raises(NotExecutable, match="already has an outcome"):
        made.execute_if_ready(decision, slow)


def test_a_doubt_is_no_prior_state_and_neither_is_its_settlement() -> None:
    # bad input 82
    made = gate()
    decision = doubtful(made)
    made.resolve(decision, "executed", **FOUND)
    assert made.get_prior_execution_state(user_id="u1", action_key="u1:transfer", tool=TOOL) is None


def test_the_key_is_free_again_once_the_outcome_is_in_doubt() -> None:
    # R-77 holds at the point of execution; the doubt itself is listed, and a person decides
    made = gate()
    doubtful(made)
    assert isinstance(made.execute_if_ready(executable(made, call_id="c2"), lambda call: None), Executed)
