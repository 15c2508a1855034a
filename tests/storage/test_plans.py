"""How SQLite looks things up: by index, newest first without sorting, never through every body."""

from __future__ import annotations

import itertools

import pytest

from preflight.model.request import Scope
from preflight.ports import Query
from preflight.storage import sqlite, sqlite_audit
from preflight.storage.sqlite import SqliteStorage

PARTS: dict[str, object] = {
    "scope": Scope("t", "c"),
    "action_key": "k",
    "tool": "t",
    "field": "f",
    "source": "instruction",
    "decision": "executed",
    "user_id": "u",
    "since": "2026-03-01",
}


def plan(statement: str, wanted: object) -> str:
    store = SqliteStorage(":memory:")
    rows = store._file.reading(lambda db: db.execute("EXPLAIN QUERY PLAN " + statement, wanted).fetchall())  # type: ignore[arg-type]
    return "\n".join(str(row[-1]) for row in rows)


@pytest.mark.parametrize("parts", [pair for size in range(3) for pair in itertools.combinations(PARTS, size)])
def test_a_search_streams_in_order(parts: tuple[str, ...]) -> None:
    statement, wanted = sqlite_audit.search(Query(**{name: PARTS[name] for name in parts}))  # type: ignore[arg-type]
    steps = plan(statement, [*wanted, 1 << 62, 10])
    assert "TEMP B-TREE" not in steps
    assert "SCAN r" not in steps


@pytest.mark.parametrize(
    ("statement", "wanted", "index"),
    [
        (sqlite._BY_ID, 1, "record_id"),
        (sqlite._STEPS, 1, "record_step"),
        (sqlite._STEP_STATE, 1, "record_step"),
        (sqlite._RUNNING, 3, "record_start"),
        (sqlite._FOR_CALL, 3, "record_call"),
        (sqlite._EXECUTED, 5, "record_executed"),
        (sqlite._UNFINISHED, 0, "record_unfinished"),
        (sqlite._ASKED, 3, "question_call"),
        (sqlite._ANSWERS_FOR_CALL, 3, "answer_question"),
        (sqlite._ANSWER_TO, 1, "answer_question"),
        (sqlite._MEANING, 4, "meaning_name"),
        (sqlite._MEANINGS, 3, "meaning_name"),
    ],
)
def test_a_look_up_uses_its_index(statement: str, wanted: int, index: str) -> None:
    steps = plan(statement, ["x"] * wanted)
    assert f"INDEX {index}" in steps
    scanned = [line for line in steps.splitlines() if line.startswith(("SCAN record", "SCAN question", "SCAN answer"))]
    assert all(f"INDEX {index}" in line for line in scanned), steps
