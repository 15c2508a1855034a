"""What another connection can do to what is stored (R-71): nothing by accident, and never silently by SQL."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from preflight.errors import StorageError
from preflight.ports import Query
from preflight.storage.sqlite import SqliteStorage
from preflight.testing import sample_decision
from tests.storage.filled import fill

TABLES = ("record", "question", "answer", "no_answer", "meaning", "attachment")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    store = SqliteStorage(tmp_path / "r.db")
    fill(store)
    return tmp_path / "r.db"


def content(path: Path) -> dict[str, list[tuple[object, ...]]]:
    with sqlite3.connect(path) as db:
        return {table: db.execute(f"SELECT * FROM {table} ORDER BY seq").fetchall() for table in TABLES}  # noqa: S608


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(
    "attack", ["UPDATE {} SET seq = seq + 1", "UPDATE OR REPLACE {} SET seq = 1", "DELETE FROM {}"]
)
def test_nothing_is_changed_or_removed(path: Path, table: str, attack: str) -> None:
    before = content(path)
    with sqlite3.connect(path) as db, pytest.raises(sqlite3.IntegrityError, match="are append-only"):
        db.execute(attack.format(table))
    assert content(path) == before


# Each collides with a stored row in another of the table's keys: its place in the log, its id, its step.
REPLACEMENTS = [
    "record SELECT 1, 'new', 'new', 0, {} FROM record WHERE seq = 1",
    "record SELECT NULL, 'd1', 'd1', 0, {} FROM record WHERE seq = 1",
    "record SELECT NULL, 'new', 'd1', 1, {} FROM record WHERE seq = 2",
    "record SELECT NULL, 'new', 'd1', 2, {} FROM record WHERE seq = 3",
    "question SELECT 1, 'new', tenant, conversation, call_id, expires_at, body FROM question",
    "question SELECT NULL, 'q1', tenant, conversation, call_id, expires_at, x'00' FROM question",
    "answer SELECT 1, 'new', body FROM answer",
    "answer SELECT NULL, 'q1', x'00' FROM answer",
    "attachment SELECT 1, 'new', fold, tenant, conversation, call_id, decision_id FROM attachment",
    "attachment SELECT NULL, question_id, fold, tenant, conversation, call_id, 'evil' FROM attachment",
    "no_answer SELECT 1, 'new', body FROM no_answer",
    "meaning SELECT 1, tenant, conversation, user_id, name, 'evil', 'evil', 'x', at FROM meaning",
]


@pytest.mark.parametrize("attack", REPLACEMENTS)
def test_nothing_is_replaced(path: Path, attack: str) -> None:
    """Delete triggers do not fire on REPLACE; the guard before each insert does."""
    before = content(path)
    with sqlite3.connect(path) as db:
        columns = [row[1] for row in db.execute("PRAGMA table_info(record)")][4:]
        db.execute("DROP TRIGGER record_chained")  # it would drop the row before the guard meets it
        db.execute("INSERT OR REPLACE INTO " + attack.format(", ".join(columns)))
    assert content(path) == before


@pytest.mark.parametrize("previous", ["NULL", "'0'", "previous_digest"])
def test_a_row_that_does_not_chain_is_not_let_in(path: Path, previous: str) -> None:
    before = content(path)
    with sqlite3.connect(path) as db:
        columns = ", ".join([row[1] for row in db.execute("PRAGMA table_info(record)")][4:])
        foreign = columns.replace("previous_digest", previous)
        db.execute(f"INSERT INTO record SELECT NULL, 'd9', 'd9', 0, {foreign} FROM record WHERE seq = 3")  # noqa: S608
    assert content(path) == before


@pytest.mark.parametrize("table", TABLES)
def test_an_upsert_changes_nothing(path: Path, table: str) -> None:
    before = content(path)
    with sqlite3.connect(path) as db:
        db.execute(f"INSERT INTO {table} SELECT * FROM {table} WHERE true ON CONFLICT DO UPDATE SET seq = 99")  # noqa: S608
    assert content(path) == before


def test_a_new_row_is_still_welcome(path: Path) -> None:
    store = SqliteStorage(path)
    assert store.append(sample_decision("d2")).seq == 4
    assert [stored.record.record_id for stored in store.steps("d1")] == ["d1", "d1/executing", "d1/failed"]


def test_the_stages_in_the_file_are_the_lifecycles(path: Path) -> None:
    with sqlite3.connect(path) as db:
        rows = db.execute("SELECT state, stage, unfinished FROM record ORDER BY seq").fetchall()
    assert rows == [("execute", 0, 0), ("executing", 1, 1), ("failed", 2, 0)]


def test_a_damaged_decision_does_not_stop_the_audit_of_the_others(tmp_path: Path) -> None:
    store = SqliteStorage(tmp_path / "r.db")
    store.append(sample_decision("d1"))
    with sqlite3.connect(tmp_path / "r.db") as db:
        columns = ", ".join(row[1] for row in db.execute("PRAGMA table_info(record)"))
        foreign = columns.replace("seq", "7", 1).replace("record_id", "'d7'", 1).replace("body", "x'00'")
        foreign = foreign.replace("previous_digest", "digest")
        db.execute(f"INSERT INTO record ({columns}) SELECT {foreign} FROM record")  # noqa: S608
    assert [stored.seq for stored in store.find(Query(field="amount"))] == [1]
    with pytest.raises(StorageError, match=r"record 7 of .* is damaged"):
        store.get("d7")
