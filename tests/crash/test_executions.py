"""kill -9 in the middle of 200 concurrent executions (R-75, P10, P11, P12): several processes over one SQLite file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import preflight
from preflight.storage.sqlite import SqliteStorage
from tests.unit.gates import gate

WORKERS = Path(__file__).with_name("execution_workers.py")
ROOT = Path(__file__).parents[2]


def run(directory: Path, seed: int) -> tuple[list[str], list[list[str]], int]:
    """The decisions, what the workers were told of them, and how many workers were killed."""
    source = str(Path(preflight.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, WORKERS, directory / "r.db", directory / "effects", str(seed)],
        check=True, stdout=subprocess.PIPE, text=True, timeout=120,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([source, str(ROOT)])},
    )  # fmt: skip
    found = json.loads(done.stdout)
    return found["decisions"], [line.split() for line in found["acknowledged"]], found["kills"]


@pytest.mark.parametrize("seed", [1])
def test_killed_executions_lose_nothing_that_was_acknowledged_and_call_nothing_twice(tmp_path: Path, seed: int) -> None:
    decisions, acknowledged, kills = run(tmp_path, seed)
    store = SqliteStorage(tmp_path / "r.db")
    made = gate(store)
    chains = {name: tuple(stored.record.execution_decision for stored in store.steps(name)) for name in decisions}
    effects = Counter((tmp_path / "effects").read_text().split())
    assert len(decisions) == 200
    assert kills >= 20

    # no acknowledged record is lost
    started = {words[1] for words in acknowledged if words[0] == "started"}
    executed = {words[1] for words in acknowledged if words[-1] == "executed"}
    assert started
    assert all(chains[name][:2] == ("execute", "executing") for name in started)
    assert all(chains[name] == ("execute", "executing", "executed") for name in executed)

    # nothing was called twice, and nothing without a record of its start
    assert set(effects.values()) == {1}
    assert all("executing" in chains[name] for name in effects)
    assert set(chains.values()) <= {
        ("execute",),
        ("execute", "executing"),
        ("execute", "executing", "executed"),
    }

    # a start without an outcome is in doubt, and nothing else is
    doubtful = {name for name, chain in chains.items() if chain == ("execute", "executing")}
    assert {record.decision_id for record in made.in_doubt()} == doubtful
    assert doubtful, "no worker was killed between a start and its outcome"
    store.close()
