"""A store in which one of everything stands."""

from __future__ import annotations

from typing import Protocol

from preflight.ports import Folding, Storage
from preflight.testing import sample_answer, sample_decision, sample_no_answer, sample_question, sample_step


class Store(Storage, Folding, Protocol):
    """What can hold one of everything."""


def fill(store: Store) -> None:
    """Write an execution, an answered question, a run attached to another, and a meaning, and close."""
    decision = sample_decision("d1")
    store.append(decision)
    store.claim(sample_step(decision, "executing"))
    store.finish(sample_step(decision, "failed"))
    store.ask(sample_question("q1"))
    store.no_answer(sample_no_answer("q1"))
    store.answer(sample_answer("q1"))
    store.ask_once(sample_question("q2"), ("fold",), "2026-03-01T09:30:00+00:00")
    store.learn(decision.scope, "u_01", "pay", "bank", "transfer", "u_01", "2026-03-01")
    store.close()
