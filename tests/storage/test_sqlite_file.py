"""The file under the store: found, made, kept at its schema, shared between processes, and failing in words."""

from __future__ import annotations

import gc
import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from preflight.errors import InvalidInput, StorageError
from preflight.ports import Query
from preflight.storage import open_storage, sqlite_file
from preflight.storage.sqlite import SqliteStorage
from preflight.testing import sample_answer, sample_decision, sample_question, sample_step

Script = Callable[..., str]


def ids(store: SqliteStorage) -> list[str]:
    return [stored.record.record_id for stored in store.find(Query())]


def test_a_place_is_a_path_a_url_or_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for where, made in (
        (tmp_path / "a.db", "a.db"),
        (f"{tmp_path}/b.db", "b.db"),
        (f"sqlite:///{tmp_path}/c.db", "c.db"),
        ("sqlite:///d.db", "d.db"),
        ("~/e.db", "e.db"),
        ("sqlite:///~/f.db", "f.db"),
    ):
        store = open_storage(where)
        store.append(sample_decision("d1"))
        assert (tmp_path / made).stat().st_size > 0
        store.close()
    for where in (":memory:", "sqlite:///:memory:"):
        open_storage(where).append(sample_decision("d1"))
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{name}.db" for name in "abcdef"]


@pytest.mark.parametrize("where", ["", "mysql://host/db", "sqlite://relative.db", "sqlite:///"])
def test_another_kind_of_place_is_refused(where: str) -> None:
    with pytest.raises(InvalidInput, match=r"`storage`: .* names no record store"):
        open_storage(where)


def test_records_outlive_the_store(tmp_path: Path) -> None:
    first = SqliteStorage(tmp_path / "r.db")
    stored = first.append(sample_decision("d1", call_arguments={"amount": 500}))
    first.close()
    second = SqliteStorage(tmp_path / "r.db")
    again = second.get("d1")
    assert again is not None
    assert (again.seq, again.body, again.digest) == (stored.seq, stored.body, stored.digest)
    assert not (tmp_path / "r.db").stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO), "private to its owner"


def test_two_stores_in_one_process_share_a_file(tmp_path: Path) -> None:
    one, two = SqliteStorage(tmp_path / "r.db"), SqliteStorage(tmp_path / "r.db")
    one.append(sample_decision("d1"))
    assert two.claim(sample_step(sample_decision("d1"), "executing", "two")) is not None
    assert one.claim(sample_step(sample_decision("d1"), "executing", "one")) is None
    two.close()
    assert one.finish(sample_step(sample_decision("d1"), "executed")) is not None


def test_the_journal_is_written_ahead_and_synced_for_what_must_last(tmp_path: Path) -> None:
    store = SqliteStorage(tmp_path / "r.db")
    connection = store._file._connection
    assert connection is not None

    def synchronous_after(work: Callable[[], object]) -> int:
        work()
        return int(connection.pragma("synchronous"))

    full, normal = 2, 1
    decision = sample_decision("d1")
    assert connection.pragma("journal_mode") == "wal"
    assert synchronous_after(lambda: store.append(decision)) == normal
    assert synchronous_after(lambda: store.claim(sample_step(decision, "executing"))) == full
    assert synchronous_after(lambda: store.ask(sample_question("q1"))) == normal
    assert synchronous_after(lambda: store.answer(sample_answer("q1"))) == full
    assert synchronous_after(lambda: store.append(sample_decision("d2"))) == normal
    assert synchronous_after(lambda: store.append(sample_decision("d3"), durable=True)) == full
    assert synchronous_after(lambda: store.get("d1")) == full


def test_a_repeated_durable_append_waits_for_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, synced = SqliteStorage(tmp_path / "r.db"), []
    monkeypatch.setattr(
        os, "fsync", lambda descriptor: synced.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
    )
    store.append(sample_decision("d1"))
    store.append(sample_decision("d1"))
    assert synced == []
    store.append(sample_decision("d1"), durable=True)
    assert synced == [str(tmp_path / "r.db-wal")]


def test_a_log_that_cannot_be_synced_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(descriptor: int) -> None:
        raise OSError(5, "input/output error")

    store = SqliteStorage(tmp_path / "r.db")
    store.append(sample_decision("d1"))
    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(StorageError, match=r"cannot write `.*r\.db`: .*input/output error; check the disk"):
        store.append(sample_decision("d1"), durable=True)


def test_a_log_that_is_in_the_database_needs_no_sync(tmp_path: Path) -> None:
    store = SqliteStorage(tmp_path / "r.db")
    store.close()  # the last one to close moves the log into the database and removes it
    store._file.sync()
    assert not (tmp_path / "r.db-wal").exists()


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    SqliteStorage(tmp_path / "r.db").close()
    with sqlite3.connect(tmp_path / "r.db") as other:
        other.execute("INSERT INTO schema_version VALUES (99)")
    with pytest.raises(StorageError, match=r"r\.db` has schema 99, this program knows up to \d+; use a newer version"):
        SqliteStorage(tmp_path / "r.db")


def test_an_older_schema_is_brought_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = SqliteStorage(tmp_path / "r.db")
    first.append(sample_decision("d1"))
    scripts = [*sqlite_file.migrations(), "CREATE TABLE later (x TEXT) STRICT; INSERT INTO later VALUES ('there');"]
    monkeypatch.setattr(sqlite_file, "migrations", lambda: scripts)
    second = SqliteStorage(tmp_path / "r.db")
    assert ids(second) == ["d1"]
    rows = second._file.reading(lambda db: db.execute("SELECT x, (SELECT max(version) FROM schema_version) FROM later"))
    assert list(rows) == [("there", len(scripts))]
    first.append(sample_decision("d2"))  # whoever had it open goes on
    assert ids(second) == ["d2", "d1"]


def test_a_migration_that_fails_leaves_the_old_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    SqliteStorage(tmp_path / "r.db").close()
    good = sqlite_file.migrations()
    monkeypatch.setattr(sqlite_file, "migrations", lambda: [*good, "CREATE TABLE half (x); SELECT no_such();"])
    with pytest.raises(StorageError, match=r"cannot open `.*r\.db`: .*no_such"):
        SqliteStorage(tmp_path / "r.db")
    monkeypatch.setattr(sqlite_file, "migrations", lambda: good)
    store = SqliteStorage(tmp_path / "r.db")
    assert not store._file.reading(lambda db: db.table_exists("main", "half"))


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "mail.db") as other:
        other.execute("CREATE TABLE mail (body TEXT)")
    before = (tmp_path / "mail.db").read_bytes()
    with pytest.raises(StorageError, match=r"mail\.db` is the database of another program; name another file"):
        SqliteStorage(tmp_path / "mail.db")
    assert (tmp_path / "mail.db").read_bytes() == before


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a database, but long enough to be taken for one" * 100)
    with pytest.raises(StorageError, match=r"cannot open `.*notes\.txt`: .*it is no SQLite database"):
        SqliteStorage(tmp_path / "notes.txt")
    with pytest.raises(StorageError, match="cannot open"):
        SqliteStorage(tmp_path)


def test_a_missing_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"cannot open `.*nowhere/r\.db`: .*check that the directory exists"):
        SqliteStorage(tmp_path / "nowhere" / "r.db")


def test_a_damaged_page_is_reported(tmp_path: Path) -> None:
    first = SqliteStorage(tmp_path / "r.db")
    for n in range(50):
        first.append(sample_decision(f"d{n}"))
    first.close()
    with (tmp_path / "r.db").open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))
    with pytest.raises(StorageError, match=r"cannot \w+ `.*r\.db`: .*; its content is damaged"):
        SqliteStorage(tmp_path / "r.db").append(sample_decision("d100"))


def test_a_record_whose_bytes_were_changed_is_not_handed_out(tmp_path: Path) -> None:
    store = SqliteStorage(tmp_path / "r.db")
    store.append(sample_decision("d1"))
    store.append(sample_decision("d2", reason="pay 500"))
    store.close()
    content = (tmp_path / "r.db").read_bytes()
    (tmp_path / "r.db").write_bytes(content.replace(b"pay 500", b"pay 900"))
    store = SqliteStorage(tmp_path / "r.db")
    with pytest.raises(StorageError, match=r"record 2 of `.*r\.db` is damaged: its bytes do not match their digest"):
        store.get("d2")
    assert store.get("d1") is not None


def test_a_lock_held_too_long_is_reported_and_nothing_is_written(tmp_path: Path) -> None:
    store = SqliteStorage(tmp_path / "r.db", wait_seconds=0.05)
    store.append(sample_decision("d1"))
    other = apsw.Connection(str(tmp_path / "r.db"))
    other.execute("BEGIN IMMEDIATE")
    for call in (
        lambda: store.append(sample_decision("d2")),
        lambda: store.claim(sample_step(sample_decision("d1"), "executing")),
        lambda: store.ask(sample_question("q1")),
    ):
        with pytest.raises(StorageError, match=r"cannot write `.*r\.db`: .*locked; another process holds it"):
            call()
    assert store.get("d1") is not None, "reading goes on"
    other.execute("ROLLBACK")
    assert ids(store) == ["d1"]
    assert store.claim(sample_step(sample_decision("d1"), "executing")) is not None


def test_a_file_that_stays_locked_cannot_be_opened(tmp_path: Path) -> None:
    other = apsw.Connection(str(tmp_path / "r.db"))
    other.execute("BEGIN EXCLUSIVE; CREATE TABLE schema_version (version INTEGER PRIMARY KEY)")
    with pytest.raises(StorageError, match=r"cannot open `.*r\.db`: .*another process holds it"):
        SqliteStorage(tmp_path / "r.db", wait_seconds=0.05)


def test_the_switch_to_write_ahead_waits_for_its_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = apsw.Connection(str(tmp_path / "r.db"))
    other.execute("BEGIN IMMEDIATE; CREATE TABLE schema_version (version INTEGER PRIMARY KEY)")
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        other.execute("ROLLBACK")

    monkeypatch.setattr("time.sleep", wait)
    SqliteStorage(tmp_path / "r.db", wait_seconds=0.05).append(sample_decision("d1"))
    assert len(waits) == 1


def test_the_switch_to_write_ahead_does_not_wait_for_ever(tmp_path: Path) -> None:
    other = apsw.Connection(str(tmp_path / "r.db"))
    other.execute("BEGIN IMMEDIATE; CREATE TABLE schema_version (version INTEGER PRIMARY KEY)")
    with pytest.raises(StorageError, match=r"cannot open `.*r\.db`: .*another process holds it"):
        SqliteStorage(tmp_path / "r.db", wait_seconds=0.02)


def test_a_full_database_takes_nothing_by_halves(tmp_path: Path) -> None:
    store = SqliteStorage(tmp_path / "r.db")
    store.append(sample_decision("d1"))
    connection = store._file._connection
    assert connection is not None
    connection.pragma("max_page_count", connection.pragma("page_count"))
    large = sample_decision("d2", reason="x" * 100_000)
    for call in (lambda: store.append(large), lambda: store.ask(sample_question("q1", message="x" * 100_000))):
        with pytest.raises(StorageError, match=r"cannot write `.*r\.db`: .*full; there is no room left"):
            call()
    start = sample_step(large, "executing")
    connection.pragma("max_page_count", 1_000_000)
    store.append(large)
    connection.pragma("max_page_count", connection.pragma("page_count"))
    with pytest.raises(StorageError, match="no room left"):
        store.claim(start)
    connection.pragma("max_page_count", 1_000_000)
    assert [stored.record.execution_decision for stored in store.steps("d2")] == ["execute"]
    assert store.claim(start) is not None, "room was made, and it goes on"


def test_a_full_disk_takes_nothing_by_halves(tmp_path: Path, script: Script) -> None:
    """The disk is full for a process of its own, whose files may not grow any more."""
    printed = script(
        """
        import resource, signal, sys
        from preflight.errors import StorageError
        from preflight.storage import open_storage
        from preflight.testing import sample_decision, sample_step

        store = open_storage(sys.argv[1])
        store.append(sample_decision("d0"))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
        acknowledged = 1
        try:
            while True:
                store.append(sample_decision(f"d{acknowledged}", reason="x" * 2_000))
                acknowledged += 1
        except StorageError as error:
            print(acknowledged, error)
        try:
            store.claim(sample_step(sample_decision("d0"), "executing"))
        except StorageError as error:
            print(error)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        assert store.claim(sample_step(sample_decision("d0"), "executing")) is not None
        """,
        tmp_path / "r.db",
    )
    first, second = printed.splitlines()
    assert second.startswith(f"cannot write `{tmp_path}/r.db`: ")
    acknowledged = int(first.split()[0])
    store = SqliteStorage(tmp_path / "r.db")
    expected = ["d0/executing", *(f"d{n}" for n in reversed(range(acknowledged)))]
    assert ids(store) == expected[:100]
    assert store._file.reading(lambda db: db.pragma("integrity_check")) == "ok"


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users may enter, which those that pytest makes are not."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)
        Path(name).chmod(0o755)


def test_a_file_that_may_only_be_read_takes_nothing(open_folder: Path, script: Script) -> None:
    """A process without the right to write; the superuser gives that right up first."""
    store = SqliteStorage(open_folder / "r.db")
    store.append(sample_decision("d1"))
    assert ids(store) == ["d1"]
    for n in range(2, 301):  # stored, and not catalogued before the next search
        store.append(sample_decision(f"d{n}", action_key="even" if n % 2 == 0 else "odd"))
    for path in open_folder.iterdir():
        path.chmod(0o444)
    open_folder.chmod(0o555)
    printed = script(
        """
        import os, sys
        from preflight.errors import StorageError
        from preflight.storage import open_storage
        from preflight.ports import Query
        from preflight.testing import sample_decision, sample_step

        open_storage(":memory:").close()  # what another user may not read is loaded now
        if os.getuid() == 0:
            os.setuid(65534)
        store = open_storage(sys.argv[1])
        for query in (Query(limit=1000), Query(action_key="even", limit=2), Query(field="no such"), Query(limit=0)):
            found = [stored.record.record_id for stored in store.find(query)]
            print(found[:2], found[-2:], len(found))
        for call in (lambda: store.append(sample_decision("d")),
                     lambda: store.claim(sample_step(sample_decision("d1"), "executing"))):
            try:
                call()
            except StorageError as error:
                print(error)
        """,
        open_folder / "r.db",
    )
    *found, first, second = printed.splitlines()
    errors = [first, second]
    assert found == [
        "['d300', 'd299'] ['d2', 'd1'] 300",
        "['d300', 'd298'] ['d300', 'd298'] 2",
        "[] [] 0",
        "[] [] 0",
    ]
    assert [error.split(": ")[0] for error in errors] == [f"cannot write `{open_folder}/r.db`"] * 2
    assert all("check the permissions of the file" in error for error in errors)


def test_a_replaced_file_takes_no_claim(tmp_path: Path) -> None:
    store = SqliteStorage(tmp_path / "r.db")
    store.append(sample_decision("d1"))
    (tmp_path / "r.db").rename(tmp_path / "moved.db")
    start = sample_step(sample_decision("d1"), "executing")
    with pytest.raises(StorageError, match=r"r\.db` was replaced or removed while it was open; restart the program"):
        store.claim(start)
    SqliteStorage(tmp_path / "r.db").close()
    with pytest.raises(StorageError, match="was replaced or removed"):
        store.claim(start)


def test_several_processes_may_be_the_first(tmp_path: Path) -> None:
    source = """
import sys
import tempfile
from preflight.storage import open_storage
from preflight.testing import sample_decision
print("ready", flush=True)
sys.stdin.readline()
open_storage(sys.argv[1]).append(sample_decision(sys.argv[2]))
"""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", source, tmp_path / "r.db", f"d{n}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(6)
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in started:
        process.communicate(timeout=60)
    assert [process.returncode for process in started] == [0] * 6
    assert sorted(ids(SqliteStorage(tmp_path / "r.db"))) == [f"d{n}" for n in range(6)]


def test_a_forked_child_opens_the_file_for_itself(tmp_path: Path, script: Script) -> None:
    printed = script(
        """
        import os, sys
        from preflight.ports import Query
        from preflight.storage import open_storage
        from preflight.testing import sample_decision, sample_step

        store, memory = open_storage(sys.argv[1]), open_storage(":memory:")
        memory.append(sample_decision("m1"))
        decision = sample_decision("d1")
        store.append(decision)
        before = store._file._connection
        child = os.fork()
        if child == 0:
            assert store._file._connection is None, "the parent's connection came along"
            won = store.claim(sample_step(decision, "executing", "child")) is not None
            for n in range(100):
                store.append(sample_decision(f"c{n}"))
            memory.append(sample_decision("m2"))
            os._exit(0 if won and memory.get("m1") else 1)
        for n in range(100):
            store.append(sample_decision(f"p{n}"))
        _, status = os.waitpid(child, 0)
        assert status == 0 and store._file._connection is not before
        assert store.claim(sample_step(decision, "executing", "parent")) is None
        assert memory.get("m1") and not memory.get("m2"), "memory is each one's own"
        print(len(list(store.find(Query(limit=1000)))), store._file.reading(lambda db: db.pragma("integrity_check")))
        """,
        tmp_path / "r.db",
    )
    assert printed == "202 ok"


def test_a_fork_waits_for_work_under_way_and_lets_it_go_on(tmp_path: Path) -> None:
    store, memory = SqliteStorage(tmp_path / "r.db"), SqliteStorage(":memory:")
    store.append(sample_decision("d1"))
    kept = memory._file._connection
    sqlite_file._before_fork()
    held = [store._file._lock.locked(), memory._file._lock.locked()]
    sqlite_file._after_fork()
    assert held == [True, True]
    assert (store._file._connection, memory._file._connection) == (None, kept)
    store.append(sample_decision("d2"))
    assert ids(store) == ["d2", "d1"]


def test_a_store_nobody_holds_is_forgotten(tmp_path: Path) -> None:
    store = SqliteStorage(tmp_path / "r.db")
    file = store._file
    assert file in sqlite_file._OPEN
    before = len(sqlite_file._OPEN)
    del store, file
    gc.collect()
    assert len(sqlite_file._OPEN) < before


def test_text_that_is_not_unicode_finds_nothing_and_says_so(tmp_path: Path) -> None:
    store = SqliteStorage(tmp_path / "r.db")
    with pytest.raises(StorageError, match=r"cannot read `.*r\.db`: .*surrogates"):
        store.get("\ud800")
