"""The table itself: whole, without a way back, and drawn as it is."""

from __future__ import annotations

from typing import get_args

import pytest

from preflight.core.lifecycle import FOLLOWS, diagram, may_follow, stage, unfinished
from preflight.model.record import RecordState

STATES = get_args(RecordState)


def test_the_table_speaks_of_every_state_of_a_record_and_no_other() -> None:
    assert set(FOLLOWS) == {None, *STATES}
    assert {state for following in FOLLOWS.values() for state in following} == set(STATES)


@pytest.mark.parametrize("state", STATES)
def test_a_state_comes_one_stage_after_whatever_leads_to_it(state: RecordState) -> None:
    """What makes `(decision_id, stage)` unique is enough to make every chain a path through the table."""
    before = [origin for origin in FOLLOWS if may_follow(origin, state)]
    assert {-1 if origin is None else stage(origin) for origin in before} == {stage(state) - 1}


def test_only_an_execute_decision_leads_to_a_start() -> None:
    assert [origin for origin in FOLLOWS if may_follow(origin, "executing")] == ["execute"]


def test_doubt_leads_only_to_a_settlement() -> None:
    assert [state for state in STATES if may_follow("in_doubt", state)] == ["settled"]


def test_what_was_started_waits_until_its_end_is_known() -> None:
    assert [state for state in STATES if unfinished(state)] == ["executing", "in_doubt"]


def test_an_unknown_word_follows_nothing_and_leads_to_nothing() -> None:
    assert not may_follow("execute", "running")  # type: ignore[arg-type]
    assert not may_follow("running", "executed")  # type: ignore[arg-type]


def test_the_diagram_shows_each_transition_once() -> None:
    head, *arrows = diagram().splitlines()
    assert head == "stateDiagram-v2"
    pairs = [tuple(arrow.split(" --> ")) for arrow in map(str.strip, arrows)]
    ends = {"[*]": None}
    shown = {(ends.get(before, before), after) for before, after in pairs if after != "[*]"}
    assert shown == {(before, after) for before, following in FOLLOWS.items() for after in following}
    assert {before for before, after in pairs if after == "[*]"} == {state for state in STATES if not FOLLOWS[state]}
    assert len(pairs) == len(set(pairs))
