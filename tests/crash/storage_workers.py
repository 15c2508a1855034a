"""Processes that write to one store until they are killed; run as a script by the tests beside it.

    python storage_workers.py kill DATABASE KILLS SEED   # prints what was acknowledged, and what was killed
    python storage_workers.py race DATABASE KEYS         # 8 processes over the same 100 decisions

Workers are forked from one parent whose own store is open, as a server's would be. A worker acknowledges
on a pipe what the store has acknowledged to it, and writes each "call" it makes to a file of its own.
"""

from __future__ import annotations

import json
import os
import random
import select
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

from preflight.core import lifecycle
from preflight.model.record import Record
from preflight.storage.sqlite import SqliteStorage
from preflight.testing import sample_decision, sample_step

WORKERS = 3
SHARED = 200
RACERS, RACED = 8, 100


def call(path: Path, decision_id: str) -> None:
    """Do what must happen once: leave a line where a kill cannot take it back."""
    log = os.open(path.with_suffix(".calls"), os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o600)
    os.write(log, f"{decision_id}\n".encode())
    os.close(log)


def shared(number: int) -> Record:
    """Return one of the decisions that all workers try to start."""
    return sample_decision(f"shared-{number}", action_key=f"key {number % 40}")


def work_for_ever(path: Path, name: str, acknowledge: int) -> None:
    """Append decisions, start them and some shared ones, finish them; acknowledge each success."""
    store, chance = SqliteStorage(path), random.Random(name)
    for n in range(1_000_000):
        own = sample_decision(f"{name}-{n}", action_key=f"key {chance.randrange(40)}")
        store.append(own)
        os.write(acknowledge, f"{own.record_id}\n".encode())
        for decision in (own, shared(chance.randrange(SHARED))):
            start = sample_step(decision, "executing", f"{decision.record_id} started by {name}")
            if store.claim(start) is None:
                continue
            os.write(acknowledge, f"{start.record_id}\n".encode())
            call(path, decision.record_id)
            end = sample_step(decision, chance.choice(["executed", "failed"]))
            if store.finish(end) is not None:
                os.write(acknowledge, f"{end.record_id}\n".encode())


class Worker:
    """A forked process and the pipe it acknowledges on."""

    def __init__(self, path: Path, name: str) -> None:
        self.name, self.rest = name, b""
        self.pipe, write = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            work_for_ever(path, name, write)
            os._exit(1)
        os.close(write)

    def acknowledged(self) -> list[str]:
        """Return what came since the last look; an empty list at the end."""
        *lines, self.rest = (self.rest + os.read(self.pipe, 1 << 16)).split(b"\n")
        return [line.decode() for line in lines]

    def kill(self) -> list[str]:
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        acknowledged: list[str] = []
        while lines := self.acknowledged():
            acknowledged += lines
        os.close(self.pipe)
        return acknowledged


def recover(store: SqliteStorage, dead: str) -> Iterator[str]:
    """Mark what a dead worker left without an outcome, as the program does when it starts again."""
    for stored in store.unfinished():
        if stored.record.record_id.endswith(f" by {dead}"):
            doubt = sample_step(stored.record, "in_doubt", f"{stored.record.decision_id}/in_doubt")
            assert lifecycle.may_follow(stored.record.execution_decision, "in_doubt")
            if store.finish(doubt) is not None:
                yield doubt.record_id


def kill_at_random(path: Path, kills: int, seed: str) -> None:
    store, chance = SqliteStorage(path), random.Random(seed)
    acknowledged = [store.append(shared(n)).record.record_id for n in range(SHARED)]
    workers = [Worker(path, f"{seed}.{n}") for n in range(WORKERS)]
    for n in range(kills):
        # after a number of acknowledgements, so that kills fall everywhere in a worker's round
        wanted, seen = chance.randrange(1, 60), 0
        while seen < wanted:
            ready, _, _ = select.select([worker.pipe for worker in workers], [], [])
            for worker in workers:
                if worker.pipe in ready:
                    lines = worker.acknowledged()
                    acknowledged += lines
                    seen += len(lines)
        victim = workers.pop(chance.randrange(WORKERS))
        acknowledged += victim.kill()
        if n % 2:  # half of the dead are recovered at once, the others stay in doubt
            acknowledged += recover(store, victim.name)
        workers.append(Worker(path, f"{seed}.{WORKERS + n}"))
    for worker in workers:
        acknowledged += worker.kill()
    print(json.dumps({"acknowledged": acknowledged, "kills": kills + WORKERS}))


def race(path: Path, keys: int) -> None:
    """Start every decision from 8 processes at once and print how often each was started."""
    store = SqliteStorage(path)
    decisions = [sample_decision(f"d{n}", action_key=f"key {n % keys}") for n in range(RACED)]
    for decision in decisions:
        store.append(decision)
    start_read, start_write = os.pipe()
    result_read, result_write = os.pipe()
    for name in range(RACERS):
        if os.fork() == 0:
            os.close(start_write)
            os.read(start_read, 1)  # returns when the parent closes its end: all at once
            mine = SqliteStorage(path, wait_seconds=60)
            for decision in decisions:
                if mine.claim(sample_step(decision, "executing", f"{decision.record_id} by {name}")) is not None:
                    call(path, decision.record_id)
                    assert mine.finish(sample_step(decision, "executed")) is not None
            os.write(result_write, b".")
            os._exit(0)
    os.close(result_write)
    os.close(start_write)
    ended = b""
    while more := os.read(result_read, RACERS):
        ended += more
    print(json.dumps({"ended": len(ended)}))


if __name__ == "__main__":
    if sys.argv[1] == "kill":
        kill_at_random(Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
    else:
        race(Path(sys.argv[2]), int(sys.argv[3]))
