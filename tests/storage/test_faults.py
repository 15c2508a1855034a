"""One failing statement at a time, everywhere: the store stays consistent, and a repetition ends as it would have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import apsw
import pytest

from preflight.errors import StorageError
from preflight.ports import Query, Storage
from preflight.storage.sqlite import SqliteStorage
from preflight.storage.sqlite_file import SqliteFile
from preflight.testing import sample_answer, sample_decision, sample_question, sample_step


class Plan:
    """Which statement fails, counted from 1 over all connections, before it runs or just after."""

    def __init__(self, fail_at: int, *, after: bool) -> None:
        self.fail_at, self.after, self.seen = fail_at, after, 0

    @property
    def failed(self) -> bool:
        return self.seen >= self.fail_at

    def run(self, statement: Callable[[], Any]) -> Any:
        self.seen += 1
        if self.seen == self.fail_at and not self.after:
            raise apsw.IOError("disk I/O error")
        done = statement()
        if self.seen == self.fail_at:
            raise apsw.IOError("disk I/O error")
        return done


def failing_storage(path: Path | str, plan: Plan) -> SqliteStorage:
    class FailingConnection(apsw.Connection):
        def execute(self, *given: Any, **named: Any) -> Any:
            return plan.run(lambda: super(FailingConnection, self).execute(*given, **named))

        def executemany(self, *given: Any, **named: Any) -> Any:
            return plan.run(lambda: super(FailingConnection, self).executemany(*given, **named))

    class FailingFile(SqliteFile):
        def _connect(self) -> apsw.Connection:
            return FailingConnection(self.path)

    class FailingStorage(SqliteStorage):
        def _opened(self, path: str, wait_seconds: float) -> SqliteFile:
            return FailingFile(path, wait_seconds=wait_seconds)

    return FailingStorage(path)


def story(store: Storage) -> Iterator[object]:
    """One run of everything that writes, step by step; each step may be repeated with the same ids."""
    paid, doubtful, asked = (sample_decision(name, call_id="c") for name in ("paid", "doubtful", "asked"))
    yield store.append(paid)
    yield store.claim(sample_step(paid, "executing"))
    yield store.finish(sample_step(paid, "executed"))
    yield store.append(asked, durable=True)
    yield store.ask(sample_question("q1"))
    yield store.answer(sample_answer("q1"))
    yield store.append(doubtful)
    yield store.claim(sample_step(doubtful, "executing"))
    yield store.finish(sample_step(doubtful, "in_doubt"))
    yield store.finish(sample_step(doubtful, "settled"))
    yield list(store.find(Query(field="amount")))
    yield store.learn(paid.scope, "u_01", "pay", "bank", "transfer", "u_01", "2026-03-01")
    yield store.forget(paid.scope, "u_01", "pay", "2026-03-02")


def end_state(store: Storage) -> list[object]:
    here = sample_decision("any").scope
    return [
        [stored.body for stored in store.find(Query())],
        [stored.record.record_id for stored in store.find(Query(field="amount", source="instruction"))],
        store.unfinished(),
        store.question("q1"),
        store.answer_to("q1"),
        store.open_questions(None, "2026-03-01T09:30:00Z"),
        store.learned(here, "u_01"),
    ]


def consistent(path: Path) -> None:
    """Whatever was stored is a whole, with no more than one record for each step of a decision."""
    store = SqliteStorage(path)
    assert store._file.reading(lambda db: db.pragma("integrity_check")) == "ok"
    for stored in store.find(Query()):
        states = [step.record.execution_decision for step in store.steps(stored.record.decision_id)]
        assert states[: len(states)] in (
            ["execute", "executing", "executed", "settled"][: len(states)],
            ["execute", "executing", "in_doubt", "settled"][: len(states)],
        )
    store.close()


EXPECTED: list[list[object]] = []


@pytest.fixture(scope="module", autouse=True)
def _without_faults() -> None:
    store = SqliteStorage(":memory:")
    assert len(list(story(store))) == 13
    EXPECTED.append(end_state(store))


@pytest.mark.parametrize("after", [False, True], ids=["before it runs", "after it ran"])
def test_a_story_repeated_after_any_failing_statement_ends_as_without_it(tmp_path: Path, after: bool) -> None:
    stories = 0
    for fail_at in count(1):
        plan = Plan(fail_at, after=after)
        path = tmp_path / f"{fail_at}.db"
        with suppress(StorageError):
            for _ in story(failing_storage(path, plan)):
                pass
        if not plan.failed:
            break
        consistent(path)
        again = SqliteStorage(path)
        for _ in story(again):
            pass
        assert end_state(again) == EXPECTED[0], f"statement {fail_at}"
        again.close()
        stories += 1
    assert stories > 40


@pytest.mark.parametrize("after", [False, True], ids=["before it runs", "after it ran"])
def test_the_same_store_goes_on_after_any_failing_statement(tmp_path: Path, after: bool) -> None:
    opening = Plan(1 << 30, after=after)
    failing_storage(tmp_path / "count.db", opening)
    for fail_at in count(opening.seen + 1):
        plan = Plan(fail_at, after=after)
        store = failing_storage(tmp_path / f"{fail_at}.db", plan)
        with suppress(StorageError):
            for _ in story(store):
                pass
        if not plan.failed:
            break
        for _ in story(store):
            pass
        assert end_state(store) == EXPECTED[0], f"statement {fail_at}"
        store.close()
    assert fail_at > opening.seen + 20


def test_a_roll_back_that_fails_gives_the_connection_up(tmp_path: Path) -> None:
    store = SqliteStorage(tmp_path / "r.db")
    store.append(sample_decision("d1"))
    connection = store._file._connection
    assert connection is not None

    def tracer(cursor: apsw.Cursor, statement: str, bindings: object) -> bool:
        if statement in ("COMMIT", "ROLLBACK"):
            raise apsw.IOError("disk I/O error")
        return True

    connection.exec_trace = tracer
    start = sample_step(sample_decision("d1"), "executing")
    with pytest.raises(StorageError, match=r"cannot write `.*r\.db`: disk I/O error; .*check the disk"):
        store.claim(start)
    assert store._file._connection is None
    assert store.claim(start) is not None, "nothing of the first claim remained"


def test_an_interrupted_claim_leaves_nothing(tmp_path: Path) -> None:
    store = SqliteStorage(tmp_path / "r.db")
    store.append(sample_decision("d1"))
    connection = store._file._connection
    assert connection is not None

    def interrupt(cursor: apsw.Cursor, statement: str, bindings: object) -> bool:
        if statement == "COMMIT":
            raise KeyboardInterrupt
        return True

    connection.exec_trace = interrupt
    start = sample_step(sample_decision("d1"), "executing")
    with pytest.raises(KeyboardInterrupt):
        store.claim(start)
    connection.exec_trace = None
    assert store.claim(start) is not None


def test_a_row_that_a_foreign_trigger_swallows_is_not_taken_for_stored(tmp_path: Path) -> None:
    store = SqliteStorage(tmp_path / "r.db")
    other = apsw.Connection(str(tmp_path / "r.db"))
    other.execute("CREATE TRIGGER foreign_one BEFORE INSERT ON record BEGIN SELECT RAISE(IGNORE); END")
    with pytest.raises(StorageError, match=r"record `d1` was refused by .*; a foreign trigger is in its way"):
        store.append(sample_decision("d1"))
