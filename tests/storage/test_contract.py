from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from preflight.model.question import Answer, Question
from preflight.model.record import Record
from preflight.model.request import Scope
from preflight.ports import Admission, Query, Signer, Storage, Stored
from preflight.storage.sqlite import SqliteStorage
from preflight.testing import FakeClock, MemoryStorage, StorageContract, check_storage
from tests.storage.postgres_server import Server


class TestMemory(StorageContract):
    def open_storage(self) -> Storage:
        return MemoryStorage()


class TestSqliteInMemory(StorageContract):
    def open_storage(self) -> Storage:
        return SqliteStorage(":memory:")


class TestSqliteFile(StorageContract):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def open_storage(self) -> Storage:
        return SqliteStorage(self.folder / "records.db")


class TestPostgres(StorageContract):
    @pytest.fixture(autouse=True)
    def _server(self, postgres: Server) -> None:
        self.server = postgres

    def open_storage(self) -> Storage:
        return self.server.store()


def test_the_suite_runs_without_pytest() -> None:
    check_storage(MemoryStorage)


class ForgetsQuestions(MemoryStorage):
    def asked(self, scope: Scope, call_id: str) -> list[Question]:
        return []


class OverwritesAnswers(MemoryStorage):
    def answer(self, answer: Answer) -> bool:
        self._answers.pop(answer.question_id, None)
        return super().answer(answer)


class RefusesOutcomes(MemoryStorage):
    def finish(self, record: Record, *, signer: Signer | None = None) -> Stored | None:
        super().finish(record, signer=signer)
        return None


class SwallowsOddTimes(MemoryStorage):
    def find(self, query: Query) -> Iterator[Stored]:
        return super().find(query if query.since != "yesterday" else Query())


class LetsTwoRun(MemoryStorage):
    def claim(self, record: Record, **given: Any) -> Stored | None:
        self._running.clear()
        return super().claim(record, **given)

    def _store(self, record: Record, signer: Signer | None) -> Stored:
        self._running.setdefault(record.decision_id, (record.scope, record.key))
        return super()._store(record, signer)


class FailsInThreads(MemoryStorage):
    def claim(self, record: Record, **given: Any) -> Stored | None:
        assert threading.current_thread() is threading.main_thread(), "claimed in a thread"
        return super().claim(record, **given)


class ForgetsTheChain(MemoryStorage):
    def _store(self, record: Record, signer: Signer | None) -> Stored:
        self._heads.clear()
        return super()._store(record, signer)


class AdmitsAll(MemoryStorage):
    def claim(self, record: Record, *, signer: Signer | None = None, admit: Admission | None = None) -> Stored | None:
        return super().claim(record, signer=signer)


class SignsNothing(MemoryStorage):
    def append(self, record: Record, *, durable: bool = False, signer: Signer | None = None) -> Stored:
        return super().append(record, durable=durable)


@pytest.mark.parametrize(
    ("broken", "named"),
    [
        (ForgetsQuestions, "asked about the call: expected"),
        (OverwritesAnswers, "R-91: second: does not hold"),
        (RefusesOutcomes, "the first outcome: expected"),
        (SwallowsOddTimes, "a `since` that is no time: `InvalidInput` was expected, nothing was raised"),
        (LetsTwoRun, "R-77: same key"),
        (FailsInThreads, "claimed in a thread"),
        (ForgetsTheChain, "R-72: chained to"),
        (AdmitsAll, "R-66: what a judge raises goes through"),
        (SignsNothing, "R-73: the seal"),
    ],
)
def test_the_suite_names_the_promise_that_does_not_hold(broken: type[MemoryStorage], named: str) -> None:
    with pytest.raises(AssertionError, match=named):
        check_storage(broken)


def test_the_suite_needs_a_store() -> None:
    with pytest.raises(NotImplementedError):
        StorageContract().open_storage()


def test_a_fake_clock_moves_when_it_is_told() -> None:
    clock = FakeClock()
    assert clock.now() == datetime(2026, 3, 1, 9, tzinfo=UTC).timestamp()
    clock.advance(90)
    assert clock.now() - FakeClock().now() == 90
    assert FakeClock(5.0).now() == 5.0
