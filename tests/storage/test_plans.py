"""How SQLite looks things up: by index, newest first without sorting, never through every body."""

from __future__ import annotations

import itertools
import re

import pytest

from preflight.model.request import Scope
from preflight.ports import Query
from preflight.storage import folding, sqlite, sqlite_audit, statements
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
    rows = store._file.reading(
        lambda db: db.execute("EXPLAIN QUERY PLAN " + sqlite.hinted(statement), wanted).fetchall()
    )  # type: ignore[arg-type]
    return "\n".join(str(row[-1]) for row in rows)


@pytest.mark.parametrize("parts", [pair for size in range(3) for pair in itertools.combinations(PARTS, size)])
def test_a_search_streams_in_order(parts: tuple[str, ...]) -> None:
    statement, wanted = sqlite_audit.search(Query(**{name: PARTS[name] for name in parts}))  # type: ignore[arg-type]
    steps = plan(statement, {**wanted, "before": 1 << 62, "page": 10})
    assert "TEMP B-TREE" not in steps
    assert "SCAN r" not in steps


@pytest.mark.parametrize(
    ("statement", "index"),
    [
        (statements.BY_ID, "record_id"),
        (statements.STEPS, "record_step"),
        (statements.STATE, "record_step"),
        (statements.RUNNING, "record_start"),
        (statements.FOR_CALL, "record_call"),
        (statements.STARTED_AS, "record_call"),
        (statements.STARTED_AS, "record_step"),
        (statements.EXECUTED, "record_executed"),
        (statements.UNFINISHED, "record_unfinished"),
        (statements.STARTED, "record_tool"),
        (statements.ASKED, "question_call"),
        (statements.ASKED, "attachment_call"),
        (statements.ANSWERS_FOR_CALL, "attachment_call"),
        (folding._SAME, "attachment_fold"),
        (folding._ATTACHED, "attachment_run"),
        (statements.ANSWERS_FOR_CALL, "answer_question"),
        (statements.ANSWER_TO, "answer_question"),
        (statements.NO_ANSWERS, "no_answer_question"),
        (statements.LEARN, "meaning_name"),
        (statements.MEANINGS, "meaning_name"),
        (sqlite._CHAIN_HEAD.replace("?", ":any"), "record_chain"),
    ],
)
def test_a_look_up_uses_its_index(statement: str, index: str) -> None:
    steps = plan(statement, dict.fromkeys(re.findall(r":(\w+)", statement), "x"))
    assert f"INDEX {index}" in steps
    scanned = [line for line in steps.splitlines() if line.startswith(("SCAN record", "SCAN question", "SCAN answer"))]
    assert all(f"INDEX {index}" in line for line in scanned), steps
