"""A store in which one of everything stands."""

from __future__ import annotations

from preflight.ports import Storage
from preflight.testing import sample_answer, sample_decision, sample_question, sample_step


def fill(store: Storage) -> None:
    """Write an execution, an answered question and a meaning, and close."""
    decision = sample_decision("d1")
    store.append(decision)
    store.claim(sample_step(decision, "executing"))
    store.finish(sample_step(decision, "failed"))
    store.ask(sample_question("q1"))
    store.answer(sample_answer("q1"))
    store.learn(decision.scope, "u_01", "pay", "bank", "transfer", "u_01", "2026-03-01")
    store.close()
