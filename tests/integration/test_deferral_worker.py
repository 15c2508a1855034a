"""The worker as a process: it fires what comes due while it runs, and ends when it is told to."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import preflight
from preflight import ShippedHooks, create_preflight
from preflight.deferral.connections import ServerFile
from preflight.hooks.shipped import Meaning
from preflight.storage import open_storage
from tests.storage.postgres_server import Server

BANK = Path(__file__).resolve().parents[2] / "examples" / "bank" / "server.py"


def defer(db: str, servers: Path) -> str:
    """Defer a transfer by a second, of the tool as the server lists it."""
    storage = open_storage(db)
    hooks = ShippedHooks(storage=storage, meanings=[Meaning("send won", "bank", "transfer")])
    gate = create_preflight(storage=storage, hooks=hooks)
    with ServerFile(servers) as connections:
        tool = {"server": "bank", **connections.tool("bank", "transfer")}
    storage.learn(gate.check({}).record.scope, "minji", "send won", "bank", "transfer", "minji", "2026-12-01T00:00:00Z")
    checked = gate.check(
        {
            "user_id": "minji",
            "instruction": [{"text": "send 5,000 won from 1102534471 to 3520198845 in one second", "trust": "user"}],
            "tool": tool,
            "claims": {"from_account": "1102534471", "to_account": "3520198845", "amount": 5000},
        }
    )
    assert checked.decision == "deferred", checked.record.reason
    gate.close()
    return checked.record.decision_id


def declared(folder: Path) -> Path:
    """Write the file that declares the bank."""
    servers = folder / "servers.json"
    args = [str(BANK), "--db", str(folder / "bank.db")]
    servers.write_text(
        json.dumps({"mcpServers": {"bank": {"command": sys.executable, "args": args}}}), encoding="utf-8"
    )
    return servers


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "preflight", "worker", *map(str, arguments)]


def environment(folder: Path) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(Path(preflight.__file__).parents[1]), "XDG_STATE_HOME": str(folder)}


def ran(folder: Path, *arguments: object, block: str = "") -> tuple[int, str]:
    """Run the command with a package that cannot be imported, and return its code and what it said."""
    lines = f"import sys; sys.modules[{block!r}] = None; from preflight.cli import main; main()"
    start = [sys.executable, "-c", lines, "worker"] if block else command()
    done = subprocess.run(
        [*start, *map(str, arguments)], check=False, capture_output=True, text=True, cwd=folder, env=environment(folder)
    )
    return done.returncode, done.stdout + done.stderr


def fires_and_ends(folder: Path, db: str, number: signal.Signals, *options: str) -> None:
    servers = declared(folder)
    name = defer(db, servers)
    given = command("--connections", servers, "--db", db, "--poll", "0.1", *options)
    with subprocess.Popen(given, stderr=subprocess.PIPE, text=True, env=environment(folder)) as worker:
        assert worker.stderr is not None
        told = next(line for line in worker.stderr if "fired" in line)
        assert name in told
        worker.send_signal(number)
        assert worker.wait(20) == 0
        assert "Traceback" not in worker.stderr.read()
    store = open_storage(db)
    try:
        notes = store.notes(name)  # type: ignore[attr-defined]
        assert [(note.what, note.status) for note in notes] == [("scheduled", None), ("fired", "executed")]
    finally:
        store.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_fires_what_comes_due_and_ends_when_told(tmp_path: Path, number: signal.Signals) -> None:
    fires_and_ends(tmp_path, str(tmp_path / "records.db"), number)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


def test_the_engine_for_many_machines_too(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))  # where a database elsewhere has its keys
    url = server.database()
    fires_and_ends(tmp_path, url, signal.SIGTERM, "--engine", "procrastinate")
    jobs = "SELECT count(*) FROM preflight_wake.procrastinate_jobs"
    workers = "SELECT count(*) FROM preflight_wake.procrastinate_workers"
    assert [server.run(count, url=url) for count in (jobs, workers)] == [[(0,)], [(0,)]]


def test_the_engine_is_set_up_beforehand(server: Server, tmp_path: Path) -> None:
    url = server.database()
    for _ in range(2):
        assert ran(tmp_path, "--engine", "procrastinate", "--set-up", "--db", url) == (0, "the engine is set up\n")
    assert server.run("SELECT count(*) FROM preflight_wake.procrastinate_jobs", url=url) == [(0,)]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--engine", "procrastinate", "--db", "records.db"], "`records.db` is another kind of store; give `--db post"),
        (["--engine", "procrastinate", "--db", ":memory:"], "`:memory:` is another kind of store"),
        (["--engine", "celery"], "is not one of 'poll', 'procrastinate'"),
        (
            ["--set-up", "--db", "records.db"],
            "`--set-up`: the engine `poll` keeps nothing; add `--engine procrastinate`",
        ),
        (["--db", "records.db"], "`--connections`: missing; name the file with the servers whose tools are called"),
    ],
)
def test_what_cannot_work_is_said(tmp_path: Path, arguments: list[str], told: str) -> None:
    code, said = ran(tmp_path, *arguments)
    assert (code, told in said) == (2, True), said
    assert not (tmp_path / "records.db").exists()


def test_a_missing_extra_is_named(tmp_path: Path) -> None:
    given = ["--engine", "procrastinate", "--db", "postgresql://127.0.0.1:1/x"]
    code, said = ran(tmp_path, *given, block="procrastinate")
    assert code == 2
    assert "`procrastinate` is not installed; install the extra: pip install" in said
    assert "'execution-state-preflight[procrastinate]'" in said
