"""The worker as a process: it fires what comes due while it runs, and ends when it is told to."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import preflight
from preflight import ShippedHooks, create_preflight
from preflight.deferral.connections import ServerFile
from preflight.hooks.shipped import Meaning
from preflight.storage import open_storage

BANK = Path(__file__).resolve().parents[2] / "examples" / "bank" / "server.py"


def defer(db: Path, servers: Path) -> str:
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


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_fires_what_comes_due_and_ends_when_told(tmp_path: Path, number: signal.Signals) -> None:
    db, servers = tmp_path / "records.db", tmp_path / "servers.json"
    args = [str(BANK), "--db", str(tmp_path / "bank.db")]
    servers.write_text(
        json.dumps({"mcpServers": {"bank": {"command": sys.executable, "args": args}}}), encoding="utf-8"
    )
    name = defer(db, servers)
    command = [
        sys.executable,
        "-m",
        "preflight",
        "worker",
        "--connections",
        str(servers),
        "--db",
        str(db),
        "--poll",
        "0.1",
    ]
    env = os.environ | {"PYTHONPATH": str(Path(preflight.__file__).parents[1])}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env) as worker:
        assert worker.stderr is not None
        told = next(line for line in worker.stderr if "fired" in line)
        assert name in told
        worker.send_signal(number)
        assert worker.wait(20) == 0
    store = open_storage(db)
    try:
        notes = store.notes(name)  # type: ignore[attr-defined]
        assert [(note.what, note.status) for note in notes] == [("scheduled", None), ("fired", "executed")]
    finally:
        store.close()
