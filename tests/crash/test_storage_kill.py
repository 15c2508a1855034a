"""kill -9 at random, and eight processes after the same decisions: nothing is lost, nothing starts twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

import preflight
from preflight.core import lifecycle
from preflight.ports import Query, Stored
from preflight.storage.sqlite import SqliteStorage

WORKERS = Path(__file__).with_name("storage_workers.py")
EVERYTHING = Query(limit=1_000_000)


def run(*arguments: object) -> dict[str, object]:
    source = str(Path(preflight.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, WORKERS, *map(str, arguments)],
        check=True, stdout=subprocess.PIPE, text=True, timeout=120, env=os.environ | {"PYTHONPATH": source},
    )  # fmt: skip
    found: dict[str, object] = json.loads(done.stdout)
    return found


def chains(store: SqliteStorage) -> dict[str, list[Stored]]:
    """Every decision's records, oldest first."""
    grouped: dict[str, list[Stored]] = {}
    for stored in reversed(list(store.find(EVERYTHING))):
        grouped.setdefault(stored.record.decision_id, []).append(stored)
    return grouped


def follows_the_lifecycle(chain: list[Stored]) -> bool:
    states = [None, *(stored.record.execution_decision for stored in chain)]
    return all(lifecycle.may_follow(*pair) for pair in pairwise(states))  # type: ignore[arg-type]


def calls(path: Path) -> Counter[str]:
    return Counter(path.with_suffix(".calls").read_text().split())


@pytest.mark.parametrize("seed", [1])
def test_killed_writers_lose_nothing_that_was_acknowledged(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "r.db"
    printed = run("kill", path, 60, seed)
    store = SqliteStorage(path)
    assert store._file.reading(lambda db: db.pragma("integrity_check")) == "ok"
    stored = chains(store)
    ids = {step.record.record_id for chain in stored.values() for step in chain}
    acknowledged = printed["acknowledged"]
    assert isinstance(acknowledged, list)
    assert len(acknowledged) > 1_500
    assert not set(acknowledged) - ids, "acknowledged and lost"
    assert len(acknowledged) == len(set(acknowledged)), "acknowledged twice"
    assert all(follows_the_lifecycle(chain) for chain in stored.values())
    waiting = [chain[-1] for chain in stored.values() if lifecycle.unfinished(chain[-1].record.execution_decision)]
    assert store.unfinished() == sorted(waiting, key=lambda step: step.seq)
    assert waiting, "some of the killed had started what they could not finish"
    called = calls(path)
    assert max(called.values()) == 1, "called twice"
    started = {chain[0].record.record_id for chain in stored.values() if len(chain) > 1}
    assert called.keys() <= started, "called without a stored start"


def test_eight_processes_start_each_decision_exactly_once(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    assert run("race", path, 100) == {"ended": 8}
    stored = chains(SqliteStorage(path))
    states = {tuple(step.record.execution_decision for step in chain) for chain in stored.values()}
    assert (len(stored), states) == (100, {("execute", "executing", "executed")})
    assert calls(path) == Counter(stored.keys())
    winners = {chain[1].record.record_id.rpartition(" ")[2] for chain in stored.values()}
    assert len(winners) > 1, "a race"


def test_eight_processes_run_one_at_a_time_under_a_key(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    assert run("race", path, 2) == {"ended": 8}
    store = SqliteStorage(path)
    running: dict[str, str] = {}
    for stored in reversed(list(store.find(EVERYTHING))):
        record = stored.record
        if record.execution_decision == "executing":
            assert record.key not in running, "R-77: two runs under one key"
            running[record.key] = record.decision_id
        elif record.execution_decision == "executed":
            assert running.pop(record.key) == record.decision_id
    assert max(calls(path).values()) == 1
    assert len(calls(path)) > 10
