from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from preflight.hosts.store import PATH, Store
from preflight.testing import FakeClock


@pytest.fixture
def words_db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that hooks write to in this test."""
    path = tmp_path / "state" / "words.db"
    monkeypatch.setenv(PATH, str(path))
    return path


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def store(tmp_path: Path, clock: FakeClock) -> Iterator[Store]:
    with closing(Store(str(tmp_path / "store.db"), now=clock.now)) as made:
        yield made
