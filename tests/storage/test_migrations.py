"""A store of every earlier schema is brought up to date with all that it holds."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from preflight import codec
from preflight.core import lifecycle
from preflight.errors import StorageError
from preflight.model.record import Record
from preflight.ports import Admission, LogHead, Query
from preflight.storage import postgres_pool, sqlite_file
from preflight.storage.postgres import PostgresStorage
from preflight.storage.sqlite import SqliteStorage
from preflight.testing import sample_answer, sample_decision, sample_question, sample_step
from tests.storage.postgres_server import Server

RECORDS = [
    sample_decision("d1", action_key="k"),
    sample_step(sample_decision("d1", action_key="k"), "executing"),
    sample_step(sample_decision("d1", action_key="k"), "executed"),
    sample_decision("d2", action_key="k", call_id="call"),
    sample_step(sample_decision("d2", action_key="k", call_id="call"), "executing"),
]


def old_file(path: Path, version: int) -> None:
    """Make a file as a program that knew the schema up to `version` left it, the way that program wrote."""
    db = sqlite3.connect(path)
    db.executescript("PRAGMA journal_mode = WAL; CREATE TABLE schema_version (version INTEGER PRIMARY KEY) STRICT;")
    for number in range(version):
        db.executescript(sqlite_file.migrations()[number])
        db.execute("INSERT INTO schema_version VALUES (?)", (number + 1,))
    previous = None
    for record in RECORDS:
        previous = insert(db, record, previous if version > 1 else None)
    db.execute(
        "INSERT INTO question (question_id, tenant, conversation, call_id, expires_at, body) VALUES (?, ?, ?, ?, ?, ?)",
        ("q1", "tenant", "conversation", "call", 1_772_359_200_000_000, codec.encode(sample_question("q1"))),
    )
    db.execute("INSERT INTO answer (question_id, body) VALUES ('q1', ?)", (codec.encode(sample_answer("q1")),))
    db.execute(
        "INSERT INTO meaning VALUES (1, 'tenant', 'conversation', 'u_01', 'pay', 'bank', 'transfer', 'u', 'then')"
    )
    db.commit()
    db.close()


def insert(db: sqlite3.Connection, record: Record, previous: str | None) -> str:
    state, body = record.execution_decision, codec.encode(record)
    columns = "record_id, decision_id, stage, unfinished, state, tenant, conversation, user_id, action_key, tool, "
    columns += "fingerprint, call_id, at, digest, previous_digest, body"
    row = [
        record.record_id, record.decision_id, lifecycle.stage(state), lifecycle.unfinished(state), state, "tenant",
        "conversation", record.user_id, record.key, "transfer", "f" * 64, record.call_id, 1_772_355_600_000_000,
        codec.digest(body), previous, body,
    ]  # fmt: skip
    db.execute(f"INSERT INTO record ({columns}) VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608
    return codec.digest(body)


@pytest.mark.parametrize("version", range(1, len(sqlite_file.migrations()) + 1))
def test_an_sqlite_file_of_any_version_is_read_and_written(tmp_path: Path, version: int) -> None:
    old_file(tmp_path / "r.db", version)
    store = SqliteStorage(tmp_path / "r.db")
    stored = list(store.scan())
    assert [step.record for step in stored] == [codec.decode_record(codec.encode(record)) for record in RECORDS]
    assert store.head() == LogHead(5, 5, stored[-1].digest)
    assert [step.record.record_id for step in store.find(Query(field="amount"))] == ["d2", "d1"]
    assert store.latest_for_call(RECORDS[0].scope, "call") == stored[3]
    assert store.latest_executed(RECORDS[0].scope, "u_01", "k", "f" * 64) == stored[2]
    assert (store.unfinished(), store.answer_to("q1")) == ([stored[4]], sample_answer("q1"))
    assert store.learned(RECORDS[0].scope, "u_01") == [("pay", "bank", "transfer")]
    assert store.claim(RECORDS[1]) is None, "what was started is not started again"
    seen: list[str] = []
    admit = Admission("2026-03-01T00:00:00Z", lambda starts: seen.extend(start.decision_id for start in starts) or True)
    other = sample_decision("d3")
    store.append(other)
    assert store.claim(sample_step(other, "executing"), admit=admit) is not None
    assert seen == ["d1", "d2"], "starts of before count against limits"
    end = store.finish(sample_step(RECORDS[3], "failed"))
    assert end is not None
    assert end.record.previous_digest == stored[4].digest, "the chain begins at the last record of before"
    store.close()
    versions = sqlite3.connect(tmp_path / "r.db").execute("SELECT version FROM schema_version").fetchall()
    assert versions == [(number + 1,) for number in range(len(sqlite_file.migrations()))]


@pytest.mark.parametrize("version", range(len(postgres_pool.migrations())))
def test_a_database_of_any_version_is_brought_up_to_date(
    postgres: Server, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    url, scripts = postgres.database(template=None), postgres_pool.migrations()
    if version:
        monkeypatch.setattr(postgres_pool, "migrations", lambda: scripts[:version])
        PostgresStorage(url).close()
        monkeypatch.undo()
    store = PostgresStorage(url)
    store.append(sample_decision("d1"))
    store.close()
    found = postgres.run("SELECT version FROM preflight.schema_version ORDER BY 1", url=url)
    assert found == [(number + 1,) for number in range(len(scripts))]


def test_a_role_that_may_not_bring_the_schema_up_to_date_says_so(
    postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, _ = postgres.roles(postgres.database())
    scripts = postgres_pool.migrations()
    monkeypatch.setattr(postgres_pool, "migrations", lambda: (*scripts, "CREATE TABLE preflight.later (x TEXT)"))
    known = len(scripts)
    expected = f"has schema {known} and this program needs {known + 1}; open it once as the owner"
    with pytest.raises(StorageError, match=expected):
        PostgresStorage(address, tenant="tenant")


def test_a_schema_of_another_program_is_left_alone(postgres: Server) -> None:
    url = postgres.database(template=None)
    postgres.run("CREATE SCHEMA preflight", "CREATE TABLE preflight.record (x TEXT)", url=url)
    with pytest.raises(StorageError, match=r"cannot open .*relation \"record\" already exists"):
        PostgresStorage(url)
    assert postgres.run("SELECT to_regclass('preflight.schema_version')", url=url) == [(None,)]
