"""What a head that was noted elsewhere shows: a restored backup, a tail cut off, another history; and odd clocks."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from preflight.ports import Admission, LogHead, Storage
from preflight.storage import open_storage
from preflight.testing import sample_decision, sample_step
from tests.storage.postgres_server import Server


class Place:
    """A store's place, on which a person with every right over the database can lay hands."""

    def __init__(self, kind: str, folder: Path, server: Server | None) -> None:
        self.kind, self.folder, self.server = kind, folder, server
        self.address = str(folder / "r.db") if server is None else server.database()
        self.stores: list[Storage] = []

    def open(self) -> Storage:
        self.stores.append(open_storage(self.address))
        return self.stores[-1]

    def close(self) -> None:
        while self.stores:
            self.stores.pop().close()

    def backup(self) -> Callable[[], None]:
        """Copy the closed store; return what puts the copy in its place."""
        self.close()
        if self.server is None:
            copy = self.folder / "copy.db"
            shutil.copy(self.address, copy)
            return lambda: shutil.copy(copy, self.address) and None
        kept = self.server.database(template=self.address)

        def restore() -> None:
            self.address = kept

        return restore

    def cut(self, after: int) -> None:
        """Remove the end of the log, as the database's owner can once the triggers are gone."""
        self.close()
        if self.server is None:
            with sqlite3.connect(self.address) as db:
                db.execute("DROP TRIGGER record_no_delete")
                db.execute("DELETE FROM record WHERE seq > ?", (after,))
            db.close()
            return
        with psycopg.connect(self.address, autocommit=True) as owner:
            for table in ("slot", "record"):
                owner.execute(f"ALTER TABLE preflight.{table} DISABLE TRIGGER no_change")
                owner.execute(f"DELETE FROM preflight.{table} WHERE seq > %s", (after,))  # noqa: S608


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    server = request.getfixturevalue("postgres_server") if request.param == "postgres" else None
    found = Place(request.param, tmp_path, server)
    yield found
    found.close()


def write(store: Storage, names: str) -> LogHead:
    for name in names:
        store.append(sample_decision(name, action_key="k"), durable=True)
    return store.head()


def extends(store: Storage, noted: LogHead) -> bool:
    """Whether the log that stands now continues the one whose head was noted."""
    at = next(iter(store.scan(noted.last_seq - 1)), None)
    now = store.head()
    return now.count >= noted.count and at is not None and (at.seq, at.digest) == (noted.last_seq, noted.digest)


def test_a_log_that_goes_on_extends_its_head(place: Place) -> None:
    noted = write(place.open(), "abc")
    assert (noted.count, noted.last_seq) == (3, 3)
    write(place.open(), "de")
    assert extends(place.open(), noted)


def test_a_restored_backup_shows(place: Place) -> None:
    write(place.open(), "abc")
    restore = place.backup()
    noted = write(place.open(), "de")
    place.close()
    restore()
    store = place.open()
    assert store.head().count == 3 < noted.count
    assert not extends(store, noted)
    write(store, "xyz")  # and goes on to show once other records stand in the place of the lost ones
    assert store.head().count > noted.count
    assert not extends(store, noted)


def test_a_tail_cut_off_shows(place: Place) -> None:
    noted = write(place.open(), "abcde")
    place.cut(after=3)
    store = place.open()
    assert not extends(store, noted)
    write(store, "xyz")
    assert [stored.seq for stored in store.scan()] == [1, 2, 3, 4, 5, 6], "their places were taken"
    assert not extends(store, noted)


def test_a_clock_that_goes_back_changes_neither_order_nor_limits(place: Place) -> None:
    store = place.open()
    times = ["2026-03-01T12:00:00Z", "2026-03-01T11:00:00Z", "2026-03-02T00:00:00Z", "1999-12-31T23:59:59Z"]
    for n, at in enumerate(times):
        decision = sample_decision(f"d{n}", action_key="k", call_id=f"c{n}", timestamp=at)
        store.append(decision)
        assert store.claim(sample_step(decision, "executing")) is not None
        assert store.finish(sample_step(decision, "executed")) is not None
    assert [stored.record.timestamp for stored in store.scan()] == [at for at in times for _ in range(3)]
    scope = sample_decision("d").scope
    newest = store.latest_executed(scope, "u_01", "k", "f" * 64)
    assert newest is not None
    assert newest.record.decision_id == "d3", "newest is what was stored last"
    for n, at in ((4, times[0]), (5, times[3])):
        store.append(sample_decision(f"d{n}", call_id="c3", timestamp=at))
        latest = store.latest_for_call(scope, "c3")
        assert latest is not None
        assert latest.record.record_id == f"d{n}"
    seen: list[str] = []

    def judge(starts: Iterator[object]) -> bool:
        seen.extend(start.decision_id for start in starts)  # type: ignore[attr-defined]
        return True

    # a start that lies in the future of the present clock counts against the limit too
    decision = sample_decision("d9", timestamp="2026-03-01T11:30:00Z")
    store.append(decision)
    assert store.claim(sample_step(decision, "executing"), admit=Admission("2026-03-01T11:00:00Z", judge)) is not None
    assert seen == ["d1", "d0", "d2"]
