"""Conditions as `explain` shows them: the rule by its file and line, and what is missing."""

from __future__ import annotations

from preflight.model.condition import ConditionState
from preflight.model.rules import Place
from preflight.render.record import condition_lines
from preflight.render.styled import plain


def test_a_condition_is_named_with_its_place_and_what_is_missing() -> None:
    state = ConditionState(
        "enough", "organisation", "unknown", "2026-11-30T09:00:00+00:00", missing=("measured.balance",),
        place=Place("bank.yaml", 47),
    )  # fmt: skip
    shown = [plain(each) for each in condition_lines([state], places=True)]
    assert shown == [
        "",
        "  [ ] enough (organisation): unknown",
        "      missing: measured.balance",
        "      bank.yaml:47",
    ]
    assert [plain(each) for each in condition_lines([state])] == ["", "  [ ] enough (organisation): unknown"]


def test_without_conditions_there_is_nothing_to_show() -> None:
    assert condition_lines([], places=True) == []
