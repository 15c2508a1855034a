"""The part of the contract that is about questions of several runs: attached to one, and answered by one answer."""

# ruff: noqa: D102  each test's name is the promise it holds a store to

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, cast

from preflight.model.question import Attachment, Question
from preflight.model.request import Scope
from preflight.ports import Folding, Storage
from preflight.storage.contract_deferral import DeferralContract
from preflight.storage.contract_log import run_together, same
from preflight.storage.samples import HERE, sample_answer, sample_question

SOON = "2026-03-01T09:30:00+00:00"
LATE = "2026-03-01T10:30:00+00:00"


class _Store(Storage, Folding, Protocol):
    """Both protocols at once."""


def asks(name: str, **changes: object) -> Question:
    """Return the question of a run: its id, its call and its decision are called alike."""
    return sample_question(f"q{name}", call_id=f"c{name}", decision_id=f"d{name}", **changes)


def named(questions: Sequence[Question]) -> list[str]:
    """Return the ids of questions."""
    return [question.question_id for question in questions]


class FoldingContract(DeferralContract):
    """One test for each promise of `preflight.ports.Folding`; nothing is asked of a store that has no such part."""

    def _folding(self) -> _Store | None:
        store = self.open_storage()
        return cast("_Store", store) if isinstance(store, Folding) else None

    def test_runs_that_ask_the_same_share_one_question(self) -> None:
        store = self._folding()
        if store is None:
            return
        first = store.ask_once(asks("1"), ("f",), SOON)
        same(first, asks("1"), "the first is asked")
        same(store.ask_once(asks("2"), ("f",), SOON), first, "the second is attached")
        same(store.ask_once(asks("3"), ("g",), SOON), asks("3"), "another one is asked")
        same(store.ask_once(asks("4"), ("h", "g"), SOON), asks("3"), "one digest in common is enough")
        same(store.ask_once(asks("5"), ("h",), SOON), asks("3"), "R-91: by any of those that it was asked with")
        same(named(store.open_questions(None, SOON)), ["q1", "q3"], "in the inbox once")
        runs = [Attachment("q1", HERE, "d1", "c1"), Attachment("q1", HERE, "d2", "c2")]
        same((store.attached("q1"), store.attached("q2")), (runs, []), "the runs")

    def test_one_answer_is_that_of_every_run(self) -> None:
        store = self._folding()
        if store is None:
            return
        for name in "12":
            store.ask_once(asks(name), ("f",), SOON)
        store.ask(sample_question("own", call_id="c2"))
        same(named(store.asked(HERE, "c2")), ["q1", "own"], "asked about the call")
        same(named(store.asked(HERE, "c1")), ["q1"], "asked about the first")
        same(named(store.asked(Scope("tenant", "other"), "c2")), [], "in no other conversation")
        store.answer(sample_answer("q1"))
        for call in ("c1", "c2"):
            same(store.answers_for_call(HERE, call), [sample_answer("q1")], "R-91: the answer of both")
        store.answer(sample_answer("own"))
        same(len(store.answers_for_call(HERE, "c2")), 2, "and its own")
        same(store.answers_for_call(HERE, "c3"), [], "of no other")

    def test_only_to_an_open_question_is_attached(self) -> None:
        store = self._folding()
        if store is None:
            return
        store.ask_once(asks("1"), ("f",), SOON)
        same(store.ask_once(asks("2"), ("f",), LATE), asks("2"), "R-92: one that has too little time left")
        same(store.ask_once(asks("3"), ("f",), SOON), asks("1"), "the oldest that is open")
        store.answer(sample_answer("q1"))
        same(store.ask_once(asks("4"), ("f",), SOON), asks("2"), "not to one that is answered")
        elsewhere = Scope("tenant", "other")
        other = asks("5", scope=elsewhere)
        same(store.ask_once(other, ("f",), SOON), other, "not across scopes")

    def test_attaching_again_changes_nothing(self) -> None:
        store = self._folding()
        if store is None:
            return
        for name, call in (("1", "c"), ("2", "c"), ("3", None), ("4", None)):
            question = sample_question(f"q{name}", call_id=call, decision_id=f"d{name}")
            same(store.ask_once(question, ("f", "g"), SOON).question_id, "q1", "one question")
        same([(r.decision_id, r.call_id) for r in store.attached("q1")], [("d1", "c"), ("d3", None)], "each run once")

    def test_of_runs_that_ask_at_once_one_asks(self) -> None:
        store = self._folding()
        if store is None:
            return
        stands: list[str] = []

        def ask(number: int) -> None:
            stands.append(store.ask_once(asks(str(number)), ("f",), SOON).question_id)

        run_together(ask, 8)
        same((len(set(stands)), len(store.open_questions(None, SOON))), (1, 1), "one question")
        same(len(store.attached(stands[0])), 8, "all of them attached")
