"""One failing statement at a time, on PostgreSQL: the connection breaks before it is sent or before its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from typing import Any

import psycopg
import pytest

from preflight.errors import StorageError
from preflight.ports import Query
from preflight.storage import postgres_pool
from preflight.storage.postgres import PostgresStorage
from preflight.testing import MemoryStorage
from tests.storage.postgres_server import Server
from tests.storage.test_faults import Plan, end_state, story

SHUT = "the connection broke"


class BrokenPlan(Plan):
    """Which statement meets a broken connection; the session ends with it, as it does when a network fails."""

    def run_on(self, connection: psycopg.Connection[Any], statement: Callable[[], Any]) -> Any:
        self.seen += 1
        if self.seen == self.fail_at and not self.after:
            connection.close()
            raise psycopg.OperationalError(SHUT)
        done = statement()
        if self.seen == self.fail_at:
            connection.close()
            raise psycopg.OperationalError(SHUT)
        return done


@contextmanager
def failing(monkeypatch: pytest.MonkeyPatch, plan: BrokenPlan) -> Iterator[None]:
    """Have every statement of every store go by the plan."""
    real = psycopg.Connection.execute

    def execute(connection: psycopg.Connection[Any], *given: Any, **named: Any) -> Any:
        if connection.info.status != psycopg.pq.ConnStatus.OK:
            return real(connection, *given, **named)
        return plan.run_on(connection, lambda: real(connection, *given, **named))

    with monkeypatch.context() as patched:
        patched.setattr(psycopg.Connection, "execute", execute)
        # a connection is configured by the pool's own threads, which try again by themselves
        patched.setattr(postgres_pool.PostgresPool, "_configure", lambda self, connection: None)
        yield


EXPECTED: list[list[object]] = []


@pytest.fixture(scope="module", autouse=True)
def _without_faults() -> None:
    store = MemoryStorage()
    for _ in story(store):
        pass
    EXPECTED.append(end_state(store))


def check(store: PostgresStorage, number: int) -> None:
    for _ in story(store):
        pass
    assert end_state(store) == EXPECTED[0], f"statement {number}"
    assert [row.seq for row in store.raw_scan()] == list(range(1, store.head().count + 1))
    store.close()


@pytest.mark.parametrize("after", [False, True], ids=["before it is sent", "before its answer comes"])
def test_a_story_repeated_after_any_broken_statement_ends_as_without_it(
    postgres: Server, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    stories = 0
    for fail_at in count(4):  # the first three only look at the schema's version and the role's grants
        plan, url = BrokenPlan(fail_at, after=after), postgres.database()
        with failing(monkeypatch, plan), suppress(StorageError):
            store = PostgresStorage(url, pool_size=1)
            try:
                for _ in story(store):
                    pass
            finally:
                store.close()
        if not plan.failed:
            break
        check(PostgresStorage(url, pool_size=1), fail_at)
        stories += 1
    assert stories > 15


@pytest.mark.slow
def test_the_same_store_goes_on_after_any_broken_statement(postgres: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for fail_at in count(1):
        plan, store = BrokenPlan(fail_at, after=True), postgres.store(pool_size=1)
        with failing(monkeypatch, plan), suppress(StorageError):
            for _ in story(store):
                pass
        if not plan.failed:
            break
        check(store, fail_at)
    assert fail_at > 15


def test_a_broken_migration_is_begun_anew(postgres: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for fail_at in count(1):
        plan, url = BrokenPlan(fail_at, after=False), postgres.database(template=None)
        with failing(monkeypatch, plan), suppress(StorageError):
            PostgresStorage(url, pool_size=1).close()
        if not plan.failed:
            break
        store = PostgresStorage(url, pool_size=1)
        assert list(store.find(Query())) == []
        store.close()
    assert fail_at > 5
