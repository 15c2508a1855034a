"""kill -9 at random under eight processes, and races between them: nothing is lost, nothing starts twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

import preflight
from preflight.core import lifecycle
from preflight.ports import Storage, Stored
from preflight.storage import open_storage
from preflight.storage.sqlite import SqliteStorage
from tests.crash.storage_workers import Marks
from tests.storage.postgres_server import Server

WORKERS = Path(__file__).with_name("storage_workers.py")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server(lasting=True)
    yield server
    server.close()


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new store is."""
    if request.param == "sqlite":
        return str(tmp_path / "r.db")
    server: Server = request.getfixturevalue("server")
    return server.database()


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    """The file in which each call leaves a line."""
    return tmp_path / "calls"


def run(*arguments: object) -> dict[str, object]:
    source = str(Path(preflight.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, WORKERS, *map(str, arguments)],
        check=True, stdout=subprocess.PIPE, text=True, timeout=600, env=os.environ | {"PYTHONPATH": source},
    )  # fmt: skip
    found: dict[str, object] = json.loads(done.stdout)
    return found


def chains(store: Storage) -> dict[str, list[Stored]]:
    """Every decision's records, oldest first."""
    grouped: dict[str, list[Stored]] = {}
    for stored in store.scan():
        grouped.setdefault(stored.record.decision_id, []).append(stored)
    return grouped


def follows_the_lifecycle(chain: list[Stored]) -> bool:
    states = [None, *(stored.record.execution_decision for stored in chain)]
    return all(lifecycle.may_follow(*pair) for pair in pairwise(states))  # type: ignore[arg-type]


def chained(store: Storage) -> bool:
    """Whether places count from 1 and every record names the digest before it under its key (R-72)."""
    newest: dict[tuple[str, str, str], str] = {}
    for place, row in enumerate(store.raw_scan(), start=1):
        key = (row.tenant, row.conversation, row.action_key)
        if row.seq != place or row.previous_digest != newest.get(key):
            return False
        newest[key] = row.digest
    return True


@pytest.mark.parametrize(
    ("kills", "seed"), [(30, 1), *(pytest.param(300, seed, marks=pytest.mark.slow) for seed in (2, 3))]
)
def test_killed_writers_lose_nothing_that_was_acknowledged(address: str, calls: Path, kills: int, seed: int) -> None:
    printed = run("kill", address, calls, kills, seed)
    store = open_storage(address)
    if isinstance(store, SqliteStorage):
        assert store._file.reading(lambda db: db.pragma("integrity_check")) == "ok"
    stored = chains(store)
    ids = {step.record.record_id for chain in stored.values() for step in chain}
    acknowledged = printed["acknowledged"]
    assert isinstance(acknowledged, list)
    assert len(acknowledged) > 200 + 20 * kills
    assert printed["kills"] == kills + 8
    assert not set(acknowledged) - ids, "acknowledged and lost"
    assert len(acknowledged) == len(set(acknowledged)), "acknowledged twice"
    assert chained(store)
    assert store.head().count == len(ids)
    for step in store.scan():
        assert step.seal is not None
        Marks().verify(step.body, step.seal)
    assert all(follows_the_lifecycle(chain) for chain in stored.values())
    waiting = [chain[-1] for chain in stored.values() if lifecycle.unfinished(chain[-1].record.execution_decision)]
    assert store.unfinished() == sorted(waiting, key=lambda step: step.seq)
    assert waiting, "some of the killed had started what they could not finish"
    called = Counter(calls.read_text().split())
    assert max(called.values()) == 1, "called twice"
    started = {chain[0].record.record_id for chain in stored.values() if len(chain) > 1}
    assert called.keys() <= started, "called without a stored start"
    store.close()


def test_eight_processes_start_each_decision_exactly_once(address: str, calls: Path) -> None:
    assert run("race", address, calls, 100) == {"ended": 8}
    store = open_storage(address)
    stored = chains(store)
    states = {tuple(step.record.execution_decision for step in chain) for chain in stored.values()}
    assert (len(stored), states) == (100, {("execute", "executing", "executed")})
    assert Counter(calls.read_text().split()) == Counter(stored.keys())
    assert chained(store)
    store.close()


def test_eight_processes_run_one_at_a_time_under_a_key(address: str, calls: Path) -> None:
    assert run("race", address, calls, 2) == {"ended": 8}
    store = open_storage(address)
    running: dict[str, str] = {}
    for stored in store.scan():
        record = stored.record
        if record.execution_decision == "executing":
            assert record.key not in running, "R-77: two runs under one key"
            running[record.key] = record.decision_id
        elif record.execution_decision == "executed":
            assert running.pop(record.key) == record.decision_id
    called = Counter(calls.read_text().split())
    assert max(called.values()) == 1
    assert len(called) > 10
    store.close()


def test_transfers_of_eight_processes_that_pass_a_limit_together_are_held(address: str, calls: Path) -> None:
    """R-66: two of 40 fit into 100, whoever comes first; the other six are held, each time."""
    rounds = 12
    assert run("limit", address, calls, rounds) == {"ended": 8}
    called = Counter(line.split()[0] for line in calls.read_text().splitlines())
    assert called == {f"r{number}": 2 for number in range(rounds)}
    store = open_storage(address)
    assert sum(stored.record.execution_decision == "executing" for stored in store.scan()) == 2 * rounds
    store.close()
