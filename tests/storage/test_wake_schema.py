"""What the engine for many machines keeps in the database: made once, made anew, filled by whoever defers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from procrastinate.schema import SchemaManager

from preflight.clock import iso
from preflight.deferral.engines import wake_schema
from preflight.errors import StorageError
from preflight.model.request import Scope
from preflight.storage import open_storage
from preflight.storage.contract_deferral import note, row
from preflight.storage.entry import instant
from preflight.storage.postgres_pool import PostgresPool
from preflight.testing import sample_answer, sample_decision, sample_question
from tests.storage.postgres_server import Server

JOBS = "SELECT args->>'deferral_id', (extract(epoch FROM scheduled_at) * 1000000)::BIGINT FROM {}.procrastinate_jobs"
NO_JOBS = "SET search_path = preflight_wake", "DELETE FROM procrastinate_jobs"
SOON, LATER = 60.0, 3_600.0  # seconds from now: within the horizon and beyond it


@pytest.fixture
def url(postgres: Server) -> str:
    return postgres.database()


@pytest.fixture
def pool(url: str) -> Iterator[PostgresPool]:
    pool = pool_of(url)
    yield pool
    pool.close()


def pool_of(url: str) -> PostgresPool:
    return PostgresPool(url, size=2, wait_seconds=10, tenant=None)


def jobs(server: Server, url: str) -> list[tuple[str, int]]:
    return sorted(server.run(JOBS.format(wake_schema.SCHEMA), url=url))


def at(seconds: float) -> str:
    return iso(time.time() + seconds)


def defer(url: str, deferral_id: str, due: str, **changes: Any) -> None:
    """Defer a run as a program does that knows nothing of engines."""
    store: Any = open_storage(url)
    store.defer(sample_decision(deferral_id, "deferred"), row(deferral_id, due, **changes))
    store.close()


def waited_for(server: Server, url: str, work: Callable[[], object], commit: Callable[[], object]) -> None:
    """Begin `work`, and `commit` once it waits for a lock that another session holds."""
    with ThreadPoolExecutor(1) as executor:
        done = executor.submit(work)
        until(lambda: bool(server.run("SELECT 1 FROM pg_locks WHERE NOT granted", url=url)))
        commit()
        done.result(30)


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline


def test_several_workers_may_be_the_first(postgres: Server, url: str) -> None:
    begin = threading.Barrier(6)

    def first(_: int) -> None:
        pool = pool_of(url)
        begin.wait(30)
        wake_schema.set_up(pool)
        pool.close()

    with ThreadPoolExecutor(6) as executor:
        list(executor.map(first, range(6)))
    assert len(postgres.run("SELECT * FROM preflight_wake.made", url=url)) == 1


def test_who_waited_for_the_first_does_not_make_it_anew(postgres: Server, url: str, pool: PostgresPool) -> None:
    # The session looked before it waited, and PostgreSQL may answer from then: the first one's jobs would be dropped.
    with psycopg.connect(url) as first:
        first.execute("SELECT pg_advisory_xact_lock(%s)", (wake_schema._SETTING_UP,))
        wake_schema._make(first, wake_schema._wanted())
        first.execute("CREATE TABLE preflight_wake.of_the_first ()")
        waited_for(postgres, url, lambda: wake_schema.set_up(pool), first.commit)
    assert postgres.run("SELECT * FROM preflight_wake.of_the_first", url=url) == []


def test_an_older_one_is_made_anew_and_nothing_is_lost(postgres: Server, url: str, pool: PostgresPool) -> None:
    wake_schema.set_up(pool)
    due = at(SOON)
    defer(url, "d1", due)
    postgres.run("UPDATE preflight_wake.made SET engine = '02.14.01_01_x.sql'", url=url)
    wake_schema.set_up(pool)
    assert jobs(postgres, url) == []
    wake_schema.catch_up(pool)
    assert jobs(postgres, url) == [("d1", instant(due, "due"))]
    assert postgres.run("SELECT engine FROM preflight_wake.made", url=url) == [(wake_schema._wanted()[1],)]


@pytest.mark.parametrize("newer", ["engine = '99.00.00_01_x.sql'", "ours = 99"])
def test_a_newer_one_is_refused(postgres: Server, url: str, pool: PostgresPool, newer: str) -> None:
    wake_schema.set_up(pool)
    postgres.run(f"UPDATE preflight_wake.made SET {newer}", url=url)  # noqa: S608
    with pytest.raises(StorageError, match="use the newer version here too"):
        wake_schema.set_up(pool)


def test_what_another_program_made_is_left_alone(postgres: Server, url: str, pool: PostgresPool) -> None:
    postgres.run("CREATE SCHEMA preflight_wake", "CREATE TABLE preflight_wake.theirs ()", url=url)
    with pytest.raises(StorageError, match="this program did not make; rename or drop it"):
        wake_schema.set_up(pool)
    assert postgres.run("SELECT * FROM preflight_wake.theirs", url=url) == []


def test_an_engine_of_the_adopters_own_is_not_touched(postgres: Server, url: str, pool: PostgresPool) -> None:
    postgres.run(SchemaManager.get_schema(), url=url)
    wake_schema.set_up(pool)
    defer(url, "d1", at(SOON))
    assert len(jobs(postgres, url)) == 1
    assert postgres.run("SELECT * FROM public.procrastinate_jobs", url=url) == []


def test_a_role_that_may_not_says_who_must(postgres: Server, url: str, pool: PostgresPool) -> None:
    _, operator = postgres.roles(url)
    theirs = pool_of(operator)
    with pytest.raises(StorageError, match=r"--engine procrastinate --set-up` once as the owner .* `roles\.sql` again"):
        wake_schema.set_up(theirs)
    wake_schema.set_up(pool)
    with pytest.raises(StorageError, match=r"the role may not do this; see `roles\.sql`"):
        wake_schema.set_up(theirs)
    app, _ = postgres.roles(url)
    for allowed in (wake_schema.set_up, wake_schema.catch_up, lambda pool: wake_schema.again(pool, "d1")):
        allowed(theirs)
    theirs.close()
    with psycopg.connect(app) as one_tenant, pytest.raises(psycopg.errors.InsufficientPrivilege):
        one_tenant.execute("SELECT * FROM preflight_wake.procrastinate_jobs")


def test_a_program_of_one_tenant_defers_with_a_wake_up(postgres: Server, url: str, pool: PostgresPool) -> None:
    wake_schema.set_up(pool)
    app, _ = postgres.roles(url)
    due = at(SOON)
    scope = Scope("acme", "c")
    store: Any = open_storage(app, tenant="acme")
    store.defer(sample_decision("d1", "deferred", scope=scope), row("d1", due, scope=scope))
    store.close()
    assert jobs(postgres, url) == [("d1", instant(due, "due"))]


def test_only_what_is_soon_due_has_a_wake_up(postgres: Server, url: str, pool: PostgresPool) -> None:
    wake_schema.set_up(pool)
    far = at(LATER)
    defer(url, "d1", far)
    wake_schema.catch_up(pool)
    assert jobs(postgres, url) == []
    near = at(SOON)
    store: Any = open_storage(url)
    assert store.change(row("d1", near, version=2), note("d1", what="moved"))
    assert jobs(postgres, url) == [("d1", instant(near, "due"))]
    # moved again: the first wake-up is stale, and stays
    assert store.change(row("d1", far, version=3), note("d1", what="moved"))
    assert store.change(row("d1", near, version=4), note("d1", what="moved"))
    assert store.change(row("d1", near, version=5, state="cancelled"), note("d1", what="cancelled"))
    assert jobs(postgres, url) == [("d1", instant(near, "due"))]
    store.close()


def test_rows_from_before_the_engine_and_those_that_come_near_are_caught_up(
    postgres: Server, url: str, pool: PostgresPool
) -> None:
    past, near = at(-LATER), at(SOON)
    defer(url, "past", past)
    defer(url, "near", near)
    defer(url, "far", at(LATER))
    defer(url, "over", near, state="done")
    wake_schema.set_up(pool)
    for _ in range(2):  # the second finds nothing missing
        wake_schema.catch_up(pool)
        assert jobs(postgres, url) == [("near", instant(near, "due")), ("past", instant(past, "due"))]
    store: Any = open_storage(url)
    until_ = iso(time.time() + SOON)
    assert [held.deferral_id for held in store.lease(iso(time.time()), until_, 9)] == ["past"]
    store.close()
    wake_schema.catch_up(pool)  # whoever holds it may die
    assert ("past", instant(until_, "until")) in jobs(postgres, url)


def test_taking_and_releasing_a_lease_writes_nothing_of_the_engines(
    postgres: Server, url: str, pool: PostgresPool
) -> None:
    # the due scan costs what it cost
    wake_schema.set_up(pool)
    defer(url, "d1", at(-SOON))
    before = jobs(postgres, url)
    store: Any = open_storage(url)
    assert store.lease(at(0), at(SOON), 1)
    store.release("d1", at(1))
    store.close()
    assert jobs(postgres, url) == before


def test_catching_up_goes_on_in_batches(
    postgres: Server, url: str, pool: PostgresPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wake_schema, "_BATCH", 2)
    for n in range(5):
        defer(url, f"d{n}", at(SOON))
    wake_schema.set_up(pool)
    wake_schema.catch_up(pool)
    assert len(jobs(postgres, url)) == 5
    with psycopg.connect(url) as other:  # another worker is at it
        postgres.run(*NO_JOBS, url=url)
        other.execute("SELECT pg_advisory_xact_lock(8097402)")
        wake_schema.catch_up(pool)
        assert jobs(postgres, url) == []


def test_a_row_that_still_waits_is_woken_for_again_but_not_at_once(
    postgres: Server, url: str, pool: PostgresPool
) -> None:
    wake_schema.set_up(pool)
    defer(url, "d\\1", at(-1))
    defer(url, "far", at(LATER))
    postgres.run(*NO_JOBS, url=url)
    for name in ("d\\1", "far", "nothing"):
        wake_schema.again(pool, name)
    ((name, due),) = jobs(postgres, url)
    assert name == "d\\\\1"  # as the store writes it
    assert 0 < due / 1e6 - time.time() <= 1


def test_an_answer_wakes_for_what_it_was_asked_for(postgres: Server, url: str, pool: PostgresPool) -> None:
    wake_schema.set_up(pool)
    defer(url, "d1", at(-SOON), state="held", question_id="q1")
    defer(url, "d2", at(-SOON), state="held", question_id="q2")
    store = open_storage(url)
    store.ask(sample_question("q1"))
    assert store.answer(sample_answer("q1"))
    store.close()
    assert [name for name, _ in jobs(postgres, url)] == ["d1"]


def test_an_engine_that_is_broken_keeps_nobody_from_deferring_or_answering(
    postgres: Server, url: str, pool: PostgresPool
) -> None:
    wake_schema.set_up(pool)
    postgres.run("DROP TABLE preflight_wake.procrastinate_jobs CASCADE", url=url)
    defer(url, "d1", at(SOON))
    defer(url, "d2", at(-SOON), state="held", question_id="q1")
    store: Any = open_storage(url)
    store.ask(sample_question("q1"))
    assert store.answer(sample_answer("q1"))
    assert {found.deferral_id for found in store.deferrals()} == {"d1", "d2"}
    store.close()
    with pytest.raises(StorageError, match="cannot schedule"):
        wake_schema.catch_up(pool)


def test_dropping_its_schema_takes_the_engine_away(postgres: Server, url: str, pool: PostgresPool) -> None:
    wake_schema.set_up(pool)
    postgres.run("DROP SCHEMA preflight_wake CASCADE", url=url)
    defer(url, "d1", at(SOON))
    assert postgres.run("SELECT tgname FROM pg_trigger WHERE tgname = 'wake_up'", url=url) == []
