from __future__ import annotations

from pathlib import Path

import pytest

from preflight.model.question import Question
from preflight.model.request import Scope
from preflight.ports import Storage
from preflight.storage.sqlite import SqliteStorage
from preflight.testing import MemoryStorage, StorageContract, check_storage


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


def test_the_suite_runs_without_pytest() -> None:
    check_storage(MemoryStorage)


def test_the_suite_names_the_promise_that_does_not_hold() -> None:
    class Forgetful(MemoryStorage):
        def asked(self, scope: Scope, call_id: str) -> list[Question]:
            return []

    with pytest.raises(AssertionError, match="asked about the call: expected"):
        check_storage(Forgetful)


def test_the_suite_needs_a_store() -> None:
    with pytest.raises(NotImplementedError):
        StorageContract().open_storage()
