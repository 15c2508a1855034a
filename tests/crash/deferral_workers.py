"""Workers of deferred runs that are killed; run as a script by the test beside it.

    python deferral_workers.py fill STORE RUNS            # defers RUNS runs, all due
    python deferral_workers.py kill STORE CALLS KILLS     # 8 workers over them, KILLS of them killed by -9

A worker that is to die kills itself: half of them once they hold a row and before anything is decided, half inside
the call. Each call leaves a line in CALLS, where a kill cannot take it back.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from preflight import Preflight, ShippedHooks, create_preflight
from preflight.deferral.connections import Callables
from preflight.deferral.worker import Worker
from preflight.hooks.shipped import Meaning
from preflight.ports import Storage
from preflight.results import ToolCall
from preflight.storage import open_storage
from preflight.testing import FakeClock

WORKERS = 8
TOOL: dict[str, Any] = {
    "name": "transfer",
    "inputSchema": {
        "type": "object",
        "properties": {"amount": {"type": "integer"}, "to": {"type": "string"}},
        "required": ["amount", "to"],
    },
}
NOW = 1_796_083_200.0  # 2026-12-01T00:00:00Z
LEASE_SECONDS = 30.0


def gate_of(storage: Storage, clock: FakeClock) -> Preflight:
    hooks = ShippedHooks(storage=storage, meanings=[Meaning("transfer", "bank", "transfer", shared=True)])
    return create_preflight(storage=storage, hooks=hooks, clock=clock)


def fill(address: str, runs: int) -> None:
    """Defer runs of as many users, so that none waits for another."""
    gate = gate_of(open_storage(address), FakeClock(NOW))
    for n in range(runs):
        checked = gate.check(
            {
                "user_id": f"u{n}",
                "zone": "Asia/Seoul",
                "instruction": [{"text": f"Transfer {1000 + n} to bob in 2 minutes", "trust": "user"}],
                "tool": {"server": "bank", **TOOL},
                "claims": {"amount": 1000 + n, "to": "bob"},
            }
        )
        assert checked.decision == "deferred", checked.record.reason
    gate.close()


class Dying(Callables):
    """Connections of a worker that is killed at one of its steps."""

    def __init__(self, tools: Any, step: str | None) -> None:
        super().__init__(tools)
        self.step = step

    def tool(self, server: str, name: str) -> Any:
        if self.step == "leased":
            os.kill(os.getpid(), signal.SIGKILL)
        return super().tool(server, name)

    def call(self, call: ToolCall) -> object:
        done = super().call(call)
        if self.step == "called":
            os.kill(os.getpid(), signal.SIGKILL)
        return done


def work(address: str, calls: Path, step: str | None, begin: int) -> None:
    """Work, once something is written to `begin`, until nothing is due; the leases of the dead run out meanwhile."""
    log = os.open(calls, os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o600)

    def transfer(call: ToolCall) -> object:
        os.write(log, f"{call.arguments['amount']}\n".encode())
        return {"ok": True}

    clock = FakeClock(NOW + 130)
    gate = gate_of(open_storage(address), clock)
    worker = Worker(gate, Dying({("bank", "transfer"): (TOOL, transfer)}, step), lease_seconds=LEASE_SECONDS)
    os.read(begin, 1)
    worker.run_due()
    clock.advance(LEASE_SECONDS + 1)
    worker.run_due()
    gate.close()


def kill(address: str, calls: Path, kills: int) -> None:
    """Let the doomed work side by side and die, then the others, while the leases of the dead still run."""
    doomed = [started(address, calls, "leased" if number % 2 else "called") for number in range(kills)]
    ends = all_at_once(doomed)
    others = [started(address, calls, None) for _ in range(WORKERS - kills)]
    ends += all_at_once(others)
    print(sum(os.WIFSIGNALED(end) for end in ends), sum(end == 0 for end in ends))


def started(address: str, calls: Path, step: str | None) -> tuple[int, int]:
    """Return a worker's process, and the pipe that it waits at."""
    begin, hold = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(hold)
        work(address, calls, step, begin)
        os._exit(0)
    os.close(begin)
    return child, hold


def all_at_once(workers: list[tuple[int, int]]) -> list[int]:
    """Let the workers begin, and return how each ended."""
    for _, hold in workers:
        os.write(hold, b".")
    return [os.waitpid(child, 0)[1] for child, _ in workers]


if __name__ == "__main__":
    if sys.argv[1] == "fill":
        fill(sys.argv[2], int(sys.argv[3]))
    else:
        kill(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
