"""PostgreSQL stops dead and comes back while it is written to: what was acknowledged as durable is there."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator

import pytest

from preflight.errors import StorageError
from preflight.storage.postgres import PostgresStorage
from preflight.testing import sample_decision, sample_step
from tests.crash.test_storage_kill import chained, chains, follows_the_lifecycle
from tests.storage.postgres_server import ELSEWHERE, Server

WRITERS = 6


@pytest.fixture
def server() -> Iterator[Server]:
    if ELSEWHERE:
        pytest.skip("another server than the tests' own is not stopped")
    server = Server(lasting=True)
    yield server
    server.close()


class Load:
    """Writers over one store, and what each was told."""

    def __init__(self, store: PostgresStorage) -> None:
        self.store = store
        self.plain: set[str] = set()
        self.durable: set[str] = set()
        self.called: Counter[str] = Counter()
        self.errors: list[str] = []
        self.ended = threading.Event()
        self.progress = threading.Semaphore(0)
        self.threads = [threading.Thread(target=self.write, args=(n,)) for n in range(WRITERS)]

    def write(self, writer: int) -> None:
        number = 0
        while not self.ended.is_set():
            number += 1
            try:
                self.one(f"w{writer}-{number}", durable=number % 3 == 0)
            except StorageError as error:
                self.errors.append(str(error))

    def one(self, name: str, *, durable: bool) -> None:
        decision = sample_decision(name, action_key=f"key {hash(name) % 20}")
        self.store.append(decision, durable=durable)
        (self.durable if durable else self.plain).add(name)
        if self.store.claim(sample_step(decision, "executing")) is None:
            return
        self.durable |= {name, f"{name}/executing"}
        self.called[name] += 1
        if self.store.finish(sample_step(decision, "executed")) is not None:
            self.durable.add(f"{name}/executed")
            self.progress.release()


def test_a_server_that_stops_dead_loses_nothing_that_was_durable(server: Server) -> None:
    store = server.store(pool_size=WRITERS, wait_seconds=20)
    load = Load(store)
    for thread in load.threads:
        thread.start()
    for _ in range(2):
        for _ in range(20):
            assert load.progress.acquire(timeout=60), load.errors[-3:]
        server.kill()
        server.start()
    for _ in range(20):
        assert load.progress.acquire(timeout=60), load.errors[-3:]
    load.ended.set()
    for thread in load.threads:
        thread.join(60)
    assert load.errors, "some writes met the stop"
    assert all("cannot " in error and "postgresql://" in error for error in load.errors)

    stored = chains(store)
    ids = {step.record.record_id for chain in stored.values() for step in chain}
    assert not load.durable - ids, "acknowledged as durable, and lost"
    assert chained(store), "what was lost was the end of the log"
    assert all(follows_the_lifecycle(chain) for chain in stored.values())
    assert max(load.called.values()) == 1
    assert all(len(stored[name]) > 1 for name in load.called), "called without a stored start"
    # a start whose acknowledgement was lost stands without an outcome: in doubt, and never called
    waiting = {step.record.decision_id for step in store.unfinished()}
    assert waiting == {name for name, chain in stored.items() if len(chain) == 2}
