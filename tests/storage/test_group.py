"""Writes that come together: one wait for the disk, each its own result, nobody left behind."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from preflight.errors import StorageError
from preflight.model.record import Record
from preflight.ports import Admission, Query, Seal
from preflight.storage.group import Groups, Write
from preflight.storage.sqlite import SqliteStorage
from preflight.testing import sample_answer, sample_decision, sample_step


class Held:
    """A store whose connection is held by the test, so that writes gather; see what each transaction committed."""

    def __init__(self, path: Path) -> None:
        self.store = SqliteStorage(path)
        self.results: dict[str, Any] = {}
        self.threads: list[threading.Thread] = []
        connection = self.store._file._connection
        assert connection is not None
        self.connection = connection
        self.commits: list[int] = []

        def commit() -> bool:
            self.commits.append(int(connection.pragma("synchronous")))
            return False

        connection.set_commit_hook(commit)
        self.store._file._lock.acquire()

    def write(self, name: str, call: Callable[[], Any]) -> None:
        """Start a write in a thread of its own; return when it waits, or leads."""

        def work() -> None:
            try:
                self.results[name] = call()
            except BaseException as fault:  # noqa: BLE001  it is looked at afterwards
                self.results[name] = fault

        groups, gathered = self.store._file._groups, len(self.threads)
        self.threads.append(threading.Thread(target=work))
        self.threads[-1].start()
        # the first one leads and has taken itself out of the queue; the others stand in it
        while not groups._led or len(groups._queue) < gathered:
            self.threads[-1].join(0.001)

    def let_go(self) -> None:
        self.store._file._lock.release()
        for thread in self.threads:
            thread.join(30)
        assert not any(thread.is_alive() for thread in self.threads)


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Held]:
    found = Held(tmp_path / "r.db")
    yield found
    found.store.close()


def test_writes_that_wait_share_a_transaction_and_its_wait_for_the_disk(held: Held) -> None:
    for n in range(10):
        held.write(f"d{n}", lambda n=n: held.store.append(sample_decision(f"d{n}", action_key="k"), durable=n == 5))
    held.let_go()
    assert sorted(stored.seq for stored in held.results.values()) == list(range(1, 11))
    normal, full = 1, 2
    assert held.commits == [normal, full], "one alone, nine together"
    chain = [None, *(stored.digest for stored in held.store.scan())]
    assert [stored.record.previous_digest for stored in held.store.scan()] == chain[:-1]


def test_one_that_fails_takes_nobody_along(held: Held) -> None:
    held.write("first", lambda: held.store.append(sample_decision("first")))
    for n in range(3):
        held.write(f"d{n}", lambda n=n: held.store.append(sample_decision(f"d{n}")))

    def judge(starts: Iterator[Record]) -> bool:
        raise ZeroDivisionError

    start = sample_step(sample_decision("first"), "executing")
    held.write("judge", lambda: held.store.claim(start, admit=Admission("2026-01-01T00:00:00Z", judge)))
    held.write("no question", lambda: held.store.answer(sample_answer("q1")))
    held.let_go()
    assert isinstance(held.results.pop("judge"), ZeroDivisionError)
    assert "no question `q1` was asked" in str(held.results.pop("no question"))
    assert sorted(stored.record.record_id for stored in held.results.values()) == ["d0", "d1", "d2", "first"]
    assert len(list(held.store.find(Query()))) == 4


def test_a_commit_that_fails_fails_all_of_it(held: Held) -> None:
    held.write("first", lambda: held.store.append(sample_decision("first")))
    for n in range(3):
        held.write(f"d{n}", lambda n=n: held.store.append(sample_decision(f"d{n}")))
    held.connection.set_commit_hook(lambda: len(list(held.results)) > 0)  # the first alone may
    held.let_go()
    faults = [held.results.pop(f"d{n}") for n in range(3)]
    assert all(isinstance(fault, StorageError) and "cannot write" in str(fault) for fault in faults)
    assert len({id(fault) for fault in faults}) == 3, "an error belongs to one thread"
    held.connection.set_commit_hook(None)
    assert [stored.record.record_id for stored in held.store.find(Query())] == ["first"]
    assert held.store.append(sample_decision("d1")).seq == 2, "it goes on"


def test_starts_of_one_decision_in_one_group_start_it_once(held: Held) -> None:
    held.write("decision", lambda: held.store.append(sample_decision("d1")))
    for n in range(5):
        start = sample_step(sample_decision("d1"), "executing", f"start {n}")
        held.write(f"{n}", lambda start=start: held.store.claim(start))
    held.let_go()
    held.results.pop("decision")
    assert sum(found is not None for found in held.results.values()) == 1


def test_neither_signer_nor_judge_may_use_the_store(tmp_path: Path) -> None:
    store = SqliteStorage(tmp_path / "r.db")
    store.append(sample_decision("d1", action_key="k"))
    other = SqliteStorage(tmp_path / "r.db")
    other.append(sample_decision("d2", action_key="k"))  # so that the guess of the first store is wrong

    class Nosy:
        def __init__(self) -> None:
            self.calls = 0

        def sign(self, body: bytes) -> Seal:
            self.calls += 1
            if self.calls == 2:  # within the transaction
                store.get("d1")
            return Seal("nosy", b"")

        def verify(self, body: bytes, seal: Seal) -> None: ...

    with pytest.raises(StorageError, match="must not use the store that called it"):
        store.append(sample_decision("d3", action_key="k"), signer=Nosy())
    for call in (lambda: store.get("d1"), lambda: store.append(sample_decision("d9"))):

        def judge(starts: Iterator[Record], call: Callable[[], object] = call) -> bool:
            return bool(call())

        start = sample_step(sample_decision("d1", action_key="k"), "executing")
        with pytest.raises(StorageError, match="must not use the store that called it"):
            store.claim(start, admit=Admission("2026-01-01T00:00:00Z", judge))
    assert [stored.record.record_id for stored in store.scan()] == ["d1", "d2"]


class Steered:
    """Groups whose runs wait for the test."""

    def __init__(self) -> None:
        self.seen: list[list[str]] = []
        self.go, self.running = threading.Semaphore(0), threading.Semaphore(0)
        self.groups: Groups[str] = Groups(self.run)
        self.fault: BaseException | None = None

    def run(self, group: list[Write[str]]) -> None:
        self.seen.append([write.work("") for write in group])
        self.running.release()
        self.go.acquire()
        if self.fault is not None:
            fault, self.fault = self.fault, None
            raise fault
        for write in group:
            write.settle(write.work(""))

    def do(self, name: str, *, leads: bool = False) -> threading.Thread:
        found: list[object] = []

        def call() -> None:
            try:
                found.append(self.groups.do(Write(lambda _: name, durable=False)))
            except KeyboardInterrupt:
                found.append("interrupted")

        thread = threading.Thread(target=call)
        thread.found = found  # type: ignore[attr-defined]
        before = len(self.groups._queue)
        thread.start()
        while not leads and len(self.groups._queue) == before:
            thread.join(0.001)
        return thread


def test_a_leader_that_is_interrupted_hands_on_what_it_had_taken() -> None:
    steered = Steered()
    threads = [steered.do("a", leads=True)]
    steered.running.acquire()
    threads += [steered.do("b"), steered.do("c")]
    steered.go.release()  # a is done; b leads a group of b and c
    steered.running.acquire()
    steered.fault = KeyboardInterrupt()
    steered.go.release()  # b is interrupted; c leads
    steered.running.acquire()
    steered.go.release()
    for thread in threads:
        thread.join(30)
    assert [thread.found for thread in threads] == [["a"], ["interrupted"], ["c"]]  # type: ignore[attr-defined]
    assert steered.seen == [["a"], ["b", "c"], ["c"]]
    assert not steered.groups._led


def test_one_that_is_interrupted_while_it_waits_is_withdrawn_and_hands_the_lead_on() -> None:
    class Interrupting:
        """A lock that is interrupted when it is waited for."""

        def acquire(self) -> bool:
            raise KeyboardInterrupt

        def release(self) -> None: ...

    steered = Steered()
    leader = steered.do("a", leads=True)
    steered.running.acquire()
    withdrawn = Write[str](lambda _: "b", durable=False)
    withdrawn.wake = Interrupting()  # type: ignore[assignment]
    steered.groups._queue.append(withdrawn)
    with pytest.raises(KeyboardInterrupt):
        steered.groups._await(withdrawn, Interrupting())  # type: ignore[arg-type]
    assert not steered.groups._queue, "what had not begun is withdrawn"

    steered.groups._queue.append(withdrawn)
    last = steered.do("c")
    steered.go.release()  # a is done and hands the lead to b
    leader.join(30)
    with pytest.raises(KeyboardInterrupt):
        steered.groups._await(withdrawn, Interrupting())  # type: ignore[arg-type]
    steered.running.acquire()
    steered.go.release()
    last.join(30)
    assert steered.seen == [["a"], ["c"]]
    assert last.found == ["c"]  # type: ignore[attr-defined]


def test_apsw_reports_dropped_rows_as_no_change() -> None:
    """What the insert of a record relies on."""
    db = apsw.Connection(":memory:")
    db.execute("CREATE TABLE t (x INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)")
    db.execute("CREATE TRIGGER g BEFORE INSERT ON t WHEN NEW.x < 0 BEGIN SELECT RAISE(IGNORE); END")
    changes = []
    for value in (2, -1, 2, 3):
        db.execute("INSERT INTO t VALUES (?) ON CONFLICT DO NOTHING", (value,))
        changes.append((db.changes(), db.last_insert_rowid()))
    assert changes == [(1, 2), (0, 2), (0, 2), (1, 3)]
