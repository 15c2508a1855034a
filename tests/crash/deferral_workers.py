"""Workers of deferred runs that are killed; run as a script by the test beside it.

    python deferral_workers.py fill STORE RUNS [SECONDS]  # defers RUNS runs, due at NOW + 120, or so long ago
    python deferral_workers.py kill STORE CALLS KILLS     # 8 workers over them, KILLS of them killed by -9
    python deferral_workers.py wake STORE CALLS KILLS     # the same, woken by the engine for many machines

A worker that is to die kills itself: half of them once they hold a row and before anything is decided, half inside
the call. Each call leaves a line in CALLS, where a kill cannot take it back: the amount, and what it was woken by.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from preflight import Preflight, ShippedHooks, create_preflight
from preflight.clock import SystemClock
from preflight.deferral.connections import Callables
from preflight.deferral.worker import Worker
from preflight.hooks.shipped import Meaning
from preflight.ports import Clock, Storage
from preflight.results import ToolCall
from preflight.storage import open_storage
from preflight.testing import FakeClock

WORKERS = 8
Way = Callable[[str, Path, str | None, int], None]
TOOL: dict[str, Any] = {
    "name": "transfer",
    "inputSchema": {
        "type": "object",
        "properties": {"amount": {"type": "integer"}, "to": {"type": "string"}},
        "required": ["amount", "to"],
    },
}
NOW = 1_796_083_200.0  # 2026-12-01T00:00:00Z
LEASE_SECONDS, SHORT_LEASE = 30.0, 4.0
NEVER = 3_600.0  # seconds between scans: whatever fires was woken for


def gate_of(storage: Storage, clock: Clock) -> Preflight:
    hooks = ShippedHooks(storage=storage, meanings=[Meaning("transfer", "bank", "transfer", shared=True)])
    return create_preflight(storage=storage, hooks=hooks, clock=clock)


def fill(address: str, runs: int, ago: float | None) -> None:
    """Defer runs of as many users, so that none waits for another."""
    gate = gate_of(open_storage(address), FakeClock(NOW if ago is None else time.time() - 120 - ago))
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


class Watched(Worker):
    """A worker that knows what it was woken by."""

    by = "looked"

    def look(self, only: str | None = None) -> None:
        self.by = "scanned" if only is None else "woken"
        super().look(only)


def worker_of(gate: Preflight, calls: Path, step: str | None, lease_seconds: float) -> Watched:
    log = os.open(calls, os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o600)

    def transfer(call: ToolCall) -> object:
        os.write(log, f"{call.arguments['amount']} {worker.by}\n".encode())
        return {"ok": True}

    connections = Dying({("bank", "transfer"): (TOOL, transfer)}, step)
    worker = Watched(gate, connections, lease_seconds=lease_seconds)
    return worker


def work(address: str, calls: Path, step: str | None, begin: int) -> None:
    """Work, once something is written to `begin`, until nothing is due; the leases of the dead run out meanwhile."""
    clock = FakeClock(NOW + 130)
    gate = gate_of(open_storage(address), clock)
    worker = worker_of(gate, calls, step, LEASE_SECONDS)
    os.read(begin, 1)
    worker.run_due()
    clock.advance(LEASE_SECONDS + 1)
    worker.run_due()
    gate.close()


def wake(address: str, calls: Path, step: str | None, begin: int) -> None:
    """The same, when the engine wakes and nothing else does; until no run waits any more."""
    from preflight.deferral.engines.waking import Procrastinate

    store: Any = open_storage(address)
    gate = gate_of(store, SystemClock())
    worker = worker_of(gate, calls, step, SHORT_LEASE)
    engine = Procrastinate(address, poll_seconds=0.2, scan_seconds=NEVER)
    stop = threading.Event()
    os.read(begin, 1)
    threading.Thread(target=until_done, args=(store, stop), daemon=True).start()
    engine.run(worker, stop)
    engine.close()
    gate.close()


def until_done(store: Any, stop: threading.Event) -> None:
    """Look ten times a second whether a run still waits."""
    while store.deferrals(states=("waiting",)):
        stop.wait(0.1)
    stop.set()


def kill(address: str, calls: Path, kills: int, way: Way) -> None:
    """Let the doomed work side by side and die, then the others, while the leases of the dead still run."""
    doomed = [started(way, address, calls, "leased" if number % 2 else "called") for number in range(kills)]
    ends = all_at_once(doomed)
    others = [started(way, address, calls, None) for _ in range(WORKERS - kills)]
    ends += all_at_once(others)
    print(sum(os.WIFSIGNALED(end) for end in ends), sum(end == 0 for end in ends))


def started(way: Way, address: str, calls: Path, step: str | None) -> tuple[int, int]:
    """Return a worker's process, and the pipe that it waits at."""
    begin, hold = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(hold)
        status = 1
        try:
            way(address, calls, step, begin)
            status = 0
        except Exception:  # noqa: BLE001  a child of a fork tells it, and does not return into its parent's code
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(begin)
    return child, hold


def all_at_once(workers: list[tuple[int, int]]) -> list[int]:
    """Let the workers begin, and return how each ended."""
    for _, hold in workers:
        os.write(hold, b".")
    return [os.waitpid(child, 0)[1] for child, _ in workers]


if __name__ == "__main__":
    command, store, *rest = sys.argv[1:]
    if command == "fill":
        fill(store, int(rest[0]), float(rest[1]) if rest[1:] else None)
    else:
        kill(store, Path(rest[0]), int(rest[1]), work if command == "kill" else wake)
