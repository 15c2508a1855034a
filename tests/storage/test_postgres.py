"""The database under the store: found, brought up to date, shared, lost and found again, failing in words."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from preflight.errors import ConstructionError, InvalidInput, StorageError
from preflight.ports import Query, Storage
from preflight.storage import open_storage, postgres_pool
from preflight.storage.postgres import PostgresStorage
from preflight.storage.postgres_pool import escape, unescape
from preflight.testing import sample_answer, sample_decision, sample_question, sample_step
from tests.storage.conftest import ENVIRONMENT
from tests.storage.postgres_server import Server, name_of

Script = Callable[..., str]


def ids(store: Storage) -> list[str]:
    return [stored.record.record_id for stored in store.find(Query())]


def test_an_address_is_all_that_a_user_changes(postgres: Server) -> None:
    url = postgres.database()
    for where in (url, url.replace("postgresql://", "postgres://")):
        store = open_storage(where)
        store.append(sample_decision("d1"))
        assert ids(store) == ["d1"]
        store.close()


def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "preflight.storage.postgres", None)
    with pytest.raises(ConstructionError, match=r"needs psycopg; install `execution-state-preflight\[postgres\]`"):
        open_storage("postgresql://host/database")


def test_what_is_no_address_is_refused() -> None:
    with pytest.raises(InvalidInput, match="`storage`: no PostgreSQL address"):
        open_storage("postgresql://host/database?nonsense=1")


def test_a_server_that_is_not_there_is_named_without_its_password(tmp_path: Path) -> None:
    url = f"postgresql://agent:secret@/records?host={tmp_path}&connect_timeout=2"
    with pytest.raises(StorageError, match="check that the server runs and can be reached") as raised:
        PostgresStorage(url, wait_seconds=0.2)
    assert str(raised.value).startswith(f"cannot open `postgresql://{tmp_path}/records`: ")
    assert "secret" not in str(raised.value)


def test_records_outlive_the_store(postgres: Server) -> None:
    url = postgres.database()
    first = PostgresStorage(url)
    stored = first.append(sample_decision("d1", call_arguments={"amount": 500}))
    first.close()
    second = PostgresStorage(url)
    again = second.get("d1")
    assert again is not None
    assert (again.seq, again.body, again.digest) == (stored.seq, stored.body, stored.digest)
    second.close()


def test_what_must_last_waits_for_the_disk(postgres: Server) -> None:
    store = postgres.store()
    unsynced = "SELECT (pg_current_wal_insert_lsn() - pg_current_wal_flush_lsn())::bigint"

    def behind(work: Callable[[], object]) -> bool:
        work()
        with psycopg.connect(store._pool._url, autocommit=True) as other:
            row = other.execute(unsynced).fetchone()
        return row is not None and row[0] > 0

    decision = sample_decision("d1")
    store._pool.run("write", lambda db: db.execute("ALTER SYSTEM SET wal_writer_delay = '10s'"))
    store._pool.run("write", lambda db: db.execute("SELECT pg_reload_conf()"))
    assert behind(lambda: store.append(decision))
    for work in (
        lambda: store.claim(sample_step(decision, "executing")),
        lambda: store.finish(sample_step(decision, "executed")),
        lambda: (store.ask(sample_question("q1")), store.answer(sample_answer("q1"))),
        lambda: store.append(sample_decision("d2"), durable=True),
        lambda: (store.append(sample_decision("d3")), store.append(sample_decision("d3"), durable=True)),
    ):
        assert not behind(work)
    always = PostgresStorage(store._pool._url, durability="always")
    assert not behind(lambda: always.append(sample_decision("d4")))
    assert not behind(lambda: always.ask(sample_question("q2")))
    always.close()
    store._pool.run("write", lambda db: db.execute("ALTER SYSTEM RESET wal_writer_delay"))


def test_a_server_that_does_not_wait_is_overruled(postgres: Server) -> None:
    store = postgres.store()
    store._pool.run("write", lambda db: db.execute("SET synchronous_commit = off"))
    store.append(sample_decision("d1"), durable=True)
    lag = "SELECT (pg_current_wal_insert_lsn() - pg_current_wal_flush_lsn())::bigint"
    assert store._pool.run("read", lambda db: db.execute(lag).fetchone()) == (0,)


def test_an_older_schema_is_brought_up_to_date(postgres: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    first = postgres.store()
    first.append(sample_decision("d1"))
    scripts = [
        *postgres_pool.migrations(),
        "CREATE TABLE preflight.later (x TEXT); INSERT INTO preflight.later VALUES ('here')",
    ]
    monkeypatch.setattr(postgres_pool, "migrations", lambda: scripts)
    second = PostgresStorage(first._pool._url)
    assert ids(second) == ["d1"]
    present = "SELECT x, (SELECT max(version) FROM preflight.schema_version) FROM preflight.later"
    assert postgres.run(present, url=first._pool._url) == [("here", len(scripts))]
    first.append(sample_decision("d2"))  # whoever had it open goes on
    assert ids(second) == ["d2", "d1"]
    second.close()


def test_a_migration_that_fails_leaves_the_old_schema(postgres: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    url, good = postgres.database(), postgres_pool.migrations()
    monkeypatch.setattr(
        postgres_pool, "migrations", lambda: [*good, "CREATE TABLE preflight.half (x TEXT); SELECT no_such()"]
    )
    with pytest.raises(StorageError, match=r"cannot open .*: function no_such.* does not exist"):
        PostgresStorage(url)
    assert postgres.run("SELECT to_regclass('preflight.half')", url=url) == [(None,)]
    monkeypatch.setattr(postgres_pool, "migrations", lambda: good)
    PostgresStorage(url).close()


def test_a_newer_schema_is_refused(postgres: Server) -> None:
    url = postgres.database()
    postgres.run("INSERT INTO preflight.schema_version VALUES (99)", url=url)
    with pytest.raises(StorageError, match=r"has schema 99, this program knows up to \d+; use a newer version of it"):
        PostgresStorage(url)


def test_several_processes_may_be_the_first(postgres: Server) -> None:
    url = postgres.database(template=None)
    source = """
import sys
from preflight.storage import open_storage
from preflight.testing import sample_decision
sys.stdin.readline()
store = open_storage(sys.argv[1])
store.append(sample_decision(sys.argv[2]))
store.close()
"""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", source, url, f"d{n}"], stdin=subprocess.PIPE, text=True, env=ENVIRONMENT
        )
        for n in range(4)
    ]
    for process in started:
        process.communicate("go\n", timeout=60)
    assert [process.returncode for process in started] == [0] * 4
    store = PostgresStorage(url)
    assert sorted(ids(store)) == [f"d{n}" for n in range(4)]
    assert store.head().last_seq == 4
    store.close()


def test_who_waited_for_the_first_finds_its_schema(postgres: Server) -> None:
    # The session looked before it waited, and PostgreSQL may answer from then.
    url = postgres.database(template=None)
    with psycopg.connect(url) as first, ThreadPoolExecutor(1) as executor:
        first.execute("SELECT pg_advisory_xact_lock(%s)", (postgres_pool._MIGRATING,))
        postgres_pool._apply(first, postgres_pool.migrations(), 0)
        second = executor.submit(PostgresStorage, url)
        while not postgres.run("SELECT 1 FROM pg_locks WHERE NOT granted", url=url):
            assert not second.done()
        first.commit()
        second.result(30).close()


def test_a_forked_child_connects_for_itself(postgres: Server, script: Script) -> None:
    printed = script(
        """
        import os, sys
        from preflight.ports import Query
        from preflight.storage import open_storage
        from preflight.testing import sample_decision, sample_step

        store = open_storage(sys.argv[1])
        decision = sample_decision("d1")
        store.append(decision)
        children = []
        for name in ("one", "two"):
            child = os.fork()
            if child == 0:
                assert store._pool._pool is None, "the parent's connections came along"
                for n in range(50):
                    store.append(sample_decision(f"{name}{n}"))
                won = store.claim(sample_step(decision, "executing", name)) is not None
                store.close()
                sys.exit(10 + won)
            children.append(child)
        for n in range(50):
            store.append(sample_decision(f"p{n}"))
        print(sorted(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children))
        print(len(list(store.find(Query(limit=1000)))), store.head().count)
        store.close()
        """,
        postgres.database(),
    )
    assert printed.splitlines() == ["[10, 11]", "152 152"]


def test_connections_that_the_server_ended_are_replaced(postgres: Server) -> None:
    store = postgres.store()
    decision = sample_decision("d1")
    store.append(decision)
    end = (
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "  # noqa: S608
        f"WHERE application_name = 'preflight' AND datname = '{name_of(store._pool._url)}'"
    )
    for work in (
        lambda: store.claim(sample_step(decision, "executing")),
        lambda: store.get("d1"),
        lambda: store.finish(sample_step(decision, "executed")),
    ):
        assert all(ended for (ended,) in postgres.run(end))
        assert work() is not None


def test_a_lock_held_too_long_is_reported_and_nothing_is_written(postgres: Server) -> None:
    store = postgres.store(wait_seconds=0.3)
    store.append(sample_decision("d1"))
    with psycopg.connect(store._pool._url) as other:
        other.execute("SELECT pg_advisory_xact_lock(8097398)")
        for call in (
            lambda: store.append(sample_decision("d2")),
            lambda: store.claim(sample_step(sample_decision("d1"), "executing")),
        ):
            with pytest.raises(StorageError, match=r"cannot write .*: .*lock timeout; another session holds its lock"):
                call()
        assert store.get("d1") is not None, "reading goes on"
    assert ids(store) == ["d1"]
    assert store.claim(sample_step(sample_decision("d1"), "executing")) is not None


def test_a_record_whose_bytes_were_changed_is_not_handed_out(postgres: Server) -> None:
    store = postgres.store()
    store.append(sample_decision("d1"))
    postgres.run(
        "ALTER TABLE preflight.record DISABLE TRIGGER no_change",
        "ALTER TABLE preflight.record DROP CONSTRAINT record_digest",
        "UPDATE preflight.record SET body = '\\x7b7d'",
        url=store._pool._url,
    )
    with pytest.raises(StorageError, match=r"record 1 of .* is damaged: its bytes do not match their digest"):
        store.get("d1")
    assert [row.body for row in store.raw_scan()] == [b"{}"]


@given(st.text(), st.text())
def test_texts_are_escaped_one_to_one(one: str, other: str) -> None:
    assert unescape(escape(one)) == one
    assert "\0" not in escape(one)
    assert (escape(one) == escape(other)) is (one == other)


@pytest.mark.parametrize("text", ["\0", "\\0", "\\\\0", "a\0b\\", "\\", "'"])
def test_odd_texts_are_kept_apart(postgres: Server, text: str) -> None:
    store = postgres.store()
    store.append(sample_decision("d1", action_key=text, user_id=text))
    assert [stored.record.key for stored in store.find(Query(action_key=text, user_id=text))] == [text]
    assert [row.action_key for row in store.raw_scan()] == [text]


def test_text_that_is_not_unicode_finds_nothing_and_says_so(postgres: Server) -> None:
    store = postgres.store()
    with pytest.raises(StorageError, match=r"cannot read .*: .*surrogates"):
        store.get("\ud800")
