"""Workers killed with -9: every deferred run fires once, on both databases (R-83)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import preflight
from preflight.ports import Scheduling
from preflight.storage import open_storage
from tests.storage.postgres_server import Server

RUNS, KILLS = 80, 5
SCRIPT = Path(__file__).with_name("deferral_workers.py")
ENVIRONMENT = os.environ | {
    "PYTHONPATH": os.pathsep.join([str(Path(preflight.__file__).parents[1]), str(Path(__file__).parents[2])]),
}


def run(folder: Path, *arguments: object) -> str:
    command = [sys.executable, "-W", "ignore::DeprecationWarning", str(SCRIPT), *map(str, arguments)]
    environment = ENVIRONMENT | {"XDG_STATE_HOME": str(folder)}  # where a database elsewhere has its keys
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def fires_once(address: str, folder: Path, way: str = "kill", *ago: int) -> set[str]:
    """Return what the workers that called were woken by."""
    calls = folder / "calls"
    run(folder, "fill", address, RUNS, *ago)
    killed, ended = map(int, run(folder, way, address, calls, KILLS).split())
    assert (killed, ended) == (KILLS, 8 - KILLS)
    lines = [line.split() for line in calls.read_text().splitlines()]
    made = Counter(amount for amount, _ in lines)
    store = open_storage(address)
    assert isinstance(store, Scheduling)
    try:
        assert made == {str(1000 + n): 1 for n in range(RUNS)}
        assert {row.state for row in store.deferrals()} == {"done"}
        ends = Counter(
            store.steps(str(store.started(row.decision_id, str(row.occurrence))))[-1].record.execution_decision
            for row in store.deferrals()
        )
        # who died inside the call left no outcome: in doubt, and never called again
        assert ends == {"executed": RUNS - 3, "executing": 3}
        return {by for _, by in lines}
    finally:
        store.close()


def test_in_one_file(tmp_path: Path) -> None:
    fires_once(str(tmp_path / "records.db"), tmp_path)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


def test_in_postgres(server: Server, tmp_path: Path) -> None:
    fires_once(server.database(), tmp_path)


def test_woken_by_the_engine_for_many_machines(server: Server, tmp_path: Path) -> None:
    # no worker scans: those of the dead, too, are fired because somebody was woken for them
    assert fires_once(server.database(), tmp_path, "wake", 5) == {"woken"}
