"""A search in a file that may only be read: what nobody has catalogued yet is read through."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from hypothesis import given

from preflight.errors import StorageError
from preflight.model.record import Record
from preflight.ports import Query
from preflight.storage.sqlite import SqliteStorage
from preflight.testing import sample_decision
from tests.storage.test_drivers_agree import decisions, queries


def read_only(path: Path | str) -> SqliteStorage:
    store = SqliteStorage(path, wait_seconds=0.05)
    make_read_only(store)
    return store


def make_read_only(store: SqliteStorage) -> None:
    connection = store._file._connection
    assert connection is not None
    connection.execute("PRAGMA query_only = ON")


@given(decisions(), queries())
def test_both_ways_to_search_agree(record: Record, query: Query) -> None:
    store = SqliteStorage(":memory:")
    for n in range(4):
        store.append(sample_decision(f"n{n}", user_id=f"u_0{n}"))
        if n == 1:
            assert len(list(store.find(Query()))) == 2  # half is catalogued
    store.append(record)
    make_read_only(store)
    found = list(store.find(query))
    assert store._file.reading(lambda db: db.execute("SELECT count(*) FROM catalogue").fetchall()) == [(2,)]
    store._file.reading(lambda db: db.execute("PRAGMA query_only = OFF").fetchall())
    assert list(store.find(query)) == found
    store.close()


def test_a_search_neither_skips_nor_repeats_what_is_catalogued_meanwhile(tmp_path: Path) -> None:
    writer = SqliteStorage(tmp_path / "r.db")
    for n in range(150):
        writer.append(sample_decision(f"d{n}"))
        if n == 10:
            assert len(list(writer.find(Query()))) == 11
    search = read_only(tmp_path / "r.db").find(Query(limit=1000))
    found = [next(search)]
    writer.append(sample_decision("later"))
    assert next(writer.find(Query())).record.record_id == "later"
    found += search
    assert [stored.record.record_id for stored in found] == [f"d{n}" for n in reversed(range(150))]


def test_a_search_that_fails_for_another_reason_says_so(tmp_path: Path) -> None:
    store = SqliteStorage(tmp_path / "r.db", wait_seconds=0.05)
    store.append(sample_decision("d1"))
    other = apsw.Connection(str(tmp_path / "r.db"))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageError, match="another process holds it"):
        store.find(Query())
    other.execute("ROLLBACK")
    assert [stored.seq for stored in store.find(Query())] == [1]
