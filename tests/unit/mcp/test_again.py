"""What a client is told of a call that was made before: as which decision, and what became of it (R-79)."""

from __future__ import annotations

import msgspec
import pytest

from preflight.mcp.texts import AGAIN, DECISION, STARTED, again, blocked, started_before
from preflight.model.record import Outcome, Record
from preflight.render.hints import Hints
from preflight.results import Held
from preflight.storage.samples import sample_decision

HINTS = Hints("rules", "records.db")
SETTLE = "preflight --rules rules settle d1 --db records.db"


def last(state: str, outcome: Outcome | None = None) -> Record:
    return msgspec.structs.replace(sample_decision("d9"), execution_decision=state, outcome=outcome)


BECAME = {
    "executed": (last("executed", Outcome()), "it was executed. If it is to run once more, the user says so."),
    "in doubt": (
        last("in_doubt", Outcome(error="gone")),
        f"its outcome is not known: it may have taken effect. A person finds out and settles it: {SETTLE}.",
    ),
    "started": (
        last("executing"),
        f"it is under way, or its outcome was lost. If it was, a person finds out and settles it: {SETTLE}.",
    ),
    "settled": (
        last("settled", Outcome(settled_as="executed", by="bo", evidence="seen")),
        "it was executed. If it is to run once more, the user says so.",
    ),
}


@pytest.mark.parametrize(("record", "told"), BECAME.values(), ids=BECAME)
def test_the_decision_and_what_became_of_it_are_named(record: Record, told: str) -> None:
    held = sample_decision("d9")
    result = again(held, "d1", record, HINTS)
    before = "Not called again: the same words led to the same call, decided as d1: "
    assert result["content"] == [{"type": "text", "text": before + told}]
    assert result["_meta"] == {DECISION: held.decision_id}
    assert result["isError"] is True


@pytest.mark.parametrize(("record", "told"), BECAME.values(), ids=BECAME)
def test_so_is_what_became_of_this_very_call(record: Record, told: str) -> None:
    held = msgspec.structs.replace(sample_decision("d1"), decision_id="d1")
    before = "Not called again: this very call was started before, as decision d1: "
    assert started_before(held, record, HINTS)["content"] == [{"type": "text", "text": before + told}]


@pytest.mark.parametrize("record", [None, last("failed", Outcome(error="no"))], ids=["gone", "failed meanwhile"])
def test_what_is_not_known_any_more_is_not_said(record: Record | None) -> None:
    assert again(sample_decision("d9"), "d1", record, HINTS)["content"] == [{"type": "text", "text": AGAIN}]
    assert started_before(sample_decision("d9"), record, HINTS)["content"] == [{"type": "text", "text": STARTED}]


def test_what_waits_was_not_started() -> None:
    result = again(sample_decision("d9"), "d1", last("deferred"), HINTS)
    (told,) = result["content"]
    assert told["text"].endswith("decided as d1: it waits for its time or event, and nothing was started yet. "
                                 "A person can change or cancel it.")  # fmt: skip


def test_what_could_not_be_recorded_is_said_to_be_so() -> None:
    told = blocked(Held(sample_decision("d9"), recorded=False))["content"][0]["text"]
    assert "the record store cannot be written (full, locked, or gone)" in told
    assert "unforeseen" not in told
