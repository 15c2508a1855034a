"""Processes that write to one store until they are killed; run as a script by the tests beside it.

    python storage_workers.py kill STORE CALLS KILLS SEED   # prints what was acknowledged, and how many were killed
    python storage_workers.py race STORE CALLS KEYS         # 8 processes over the same 100 decisions
    python storage_workers.py limit STORE CALLS ROUNDS      # 8 processes, each with a transfer of 40 where 100 may go

Workers are forked from one parent whose own store is open, as a server's would be. A worker acknowledges
on a pipe what the store has acknowledged to it, and writes each "call" it makes to the file CALLS.
"""

from __future__ import annotations

import hashlib
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
from preflight.ports import Admission, Seal, Storage
from preflight.storage import open_storage
from preflight.testing import sample_decision, sample_step

WORKERS = 8
SHARED = 200
RACED = 100
LONG_AGO = "2026-01-01T00:00:00Z"


class Marks:
    """A signer of which the test can tell what it signed."""

    def sign(self, body: bytes) -> Seal:
        return Seal("marks", hashlib.sha256(b"signed " + body).digest())

    def verify(self, body: bytes, seal: Seal) -> None:
        assert seal == self.sign(body)


def call(path: Path, decision_id: str) -> None:
    """Do what must happen once: leave a line where a kill cannot take it back."""
    log = os.open(path, os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o600)
    os.write(log, f"{decision_id}\n".encode())
    os.close(log)


def shared(number: int) -> Record:
    """Return one of the decisions that all workers try to start."""
    return sample_decision(f"shared-{number}", action_key=f"key {number % 40}")


def work_for_ever(address: str, calls: Path, name: str, acknowledge: int) -> None:
    """Append decisions, start them and some shared ones, finish them; acknowledge each success."""
    store, chance, signer = open_storage(address), random.Random(name), Marks()
    for n in range(1_000_000):
        own = sample_decision(f"{name}-{n}", action_key=f"key {chance.randrange(40)}")
        store.append(own, signer=signer)
        os.write(acknowledge, f"{own.record_id}\n".encode())
        for decision in (own, shared(chance.randrange(SHARED))):
            start = sample_step(decision, "executing", f"{decision.record_id} started by {name}")
            if store.claim(start, signer=signer) is None:
                continue
            os.write(acknowledge, f"{start.record_id}\n".encode())
            call(calls, decision.record_id)
            end = sample_step(decision, chance.choice(["executed", "failed"]))
            if store.finish(end, signer=signer) is not None:
                os.write(acknowledge, f"{end.record_id}\n".encode())


class Worker:
    """A forked process and the pipe it acknowledges on."""

    def __init__(self, address: str, calls: Path, name: str) -> None:
        self.name, self.rest = name, b""
        self.pipe, write = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            work_for_ever(address, calls, name, write)
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


def recover(store: Storage, dead: str) -> Iterator[str]:
    """Mark what a dead worker left without an outcome, as the program does when it starts again."""
    for stored in store.unfinished():
        if stored.record.record_id.endswith(f" by {dead}"):
            doubt = sample_step(stored.record, "in_doubt", f"{stored.record.decision_id}/in_doubt")
            assert lifecycle.may_follow(stored.record.execution_decision, "in_doubt")
            if store.finish(doubt, signer=Marks()) is not None:
                yield doubt.record_id


def kill_at_random(address: str, calls: Path, kills: int, seed: str) -> None:
    store, chance = open_storage(address), random.Random(seed)
    acknowledged = [store.append(shared(n), signer=Marks()).record.record_id for n in range(SHARED)]
    workers = [Worker(address, calls, f"{seed}.{n}") for n in range(WORKERS)]
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
        workers.append(Worker(address, calls, f"{seed}.{WORKERS + n}"))
    for worker in workers:
        acknowledged += worker.kill()
    print(json.dumps({"acknowledged": acknowledged, "kills": kills + WORKERS}))


def together(work: object, count: int) -> int:
    """Fork `count` processes that do `work(number)` at the same time; return how many ended well."""
    start_read, start_write = os.pipe()
    children = []
    for number in range(count):
        child = os.fork()
        if child == 0:
            os.close(start_write)
            os.read(start_read, 1)  # returns when the parent closes its end: all at once
            work(number)  # type: ignore[operator]
            os._exit(0)
        children.append(child)
    os.close(start_write)
    return sum(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0 for child in children)


def race(address: str, calls: Path, keys: int) -> None:
    """Start every decision from 8 processes at once."""
    store = open_storage(address)
    decisions = [sample_decision(f"d{n}", action_key=f"key {n % keys}") for n in range(RACED)]
    for decision in decisions:
        store.append(decision)

    def work(name: int) -> None:
        mine = open_storage(address)
        for decision in decisions:
            if mine.claim(sample_step(decision, "executing", f"{decision.record_id} by {name}")) is not None:
                call(calls, decision.record_id)
                assert mine.finish(sample_step(decision, "executed")) is not None

    print(json.dumps({"ended": together(work, WORKERS)}))


def limit(address: str, calls: Path, rounds: int) -> None:
    """In each round, let every process try a transfer of 40 on an account of its own, where 100 a day may go."""
    store = open_storage(address)
    for number in range(rounds):
        for worker in range(WORKERS):
            store.append(transfer(number, worker))

    def work(worker: int) -> None:
        mine = open_storage(address)
        for number in range(rounds):
            decision = transfer(number, worker)
            admit = Admission(LONG_AGO, lambda starts, n=number: within(starts, n))
            if mine.claim(sample_step(decision, "executing"), admit=admit) is not None:
                call(calls, decision.record_id)

    print(json.dumps({"ended": together(work, WORKERS)}))


def transfer(number: int, worker: int) -> Record:
    return sample_decision(f"r{number} w{worker}", user_id=f"user {number}", call_arguments={"amount": 40})


def within(starts: Iterator[Record], number: int) -> bool:
    """Whether another 40 of this round's user stays within 100."""
    spent = 0
    for start in starts:
        assert isinstance(start.call_arguments, dict)
        spent += start.call_arguments["amount"] if start.user_id == f"user {number}" else 0
    return spent + 40 <= 100


if __name__ == "__main__":
    what, where, file, amount = sys.argv[1:5]
    if what == "kill":
        kill_at_random(where, Path(file), int(amount), sys.argv[5])
    else:
        {"race": race, "limit": limit}[what](where, Path(file), int(amount))
