"""Random programs over few ids, run on all drivers: the same answers, step by step."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
from hypothesis import given, settings
from hypothesis import strategies as st

from preflight.errors import PreflightError
from preflight.model.record import Record, RecordState
from preflight.model.request import Scope
from preflight.model.slot import Source
from preflight.ports import Query, Storage, Stored
from preflight.storage.postgres import PostgresStorage
from preflight.storage.sqlite import SqliteStorage
from preflight.testing import (
    MemoryStorage,
    sample_answer,
    sample_decision,
    sample_no_answer,
    sample_question,
    sample_slot,
    sample_step,
)
from tests.storage.postgres_server import Server

Step = Callable[[Storage], object]

SCOPES = st.sampled_from([Scope("t", "c"), Scope("t", "d"), Scope("u", "c")])
USERS = st.sampled_from(["u_01", "u_02"])
NAMES = st.sampled_from(["", "to", "amount"])
CALLS = st.sampled_from([None, "c1", "c2"])
TIMES = st.sampled_from(["2026-03-01T09:00:00Z", "2026-03-01T09:00:00+02:00", "2026-03-01T10:30:00+01:00"])
STATES: list[RecordState] = ["execute", "ask_user", "hold", "executing", "executed", "failed", "in_doubt", "settled"]
SOURCES: list[Source | None] = ["instruction", "prior_state", None]


@st.composite
def decisions(draw: st.DrawFn) -> Record:
    slots = st.builds(sample_slot, NAMES, st.sampled_from(SOURCES))
    return sample_decision(
        draw(st.sampled_from(["d1", "d2", "d3", "d4"])),
        draw(st.sampled_from(["execute", "execute", "execute", "hold"])),
        action_key=draw(st.sampled_from(["k1", "k2", None])),
        scope=draw(SCOPES),
        user_id=draw(USERS),
        call_id=draw(CALLS),
        timestamp=draw(TIMES),
        fields=draw(st.none() | st.lists(slots, max_size=3).map(tuple)),
        extra_fields=tuple(draw(st.lists(slots, max_size=1))),
    )


@st.composite
def queries(draw: st.DrawFn) -> Query:
    maybe = st.none()
    return Query(
        scope=draw(maybe | SCOPES),
        action_key=draw(maybe | st.sampled_from(["k1", "preflight:unkeyed"])),
        tool=draw(maybe | st.just("transfer")),
        field=draw(maybe | NAMES),
        source=draw(maybe | st.sampled_from(["instruction", "prior_state", "x"])),
        decision=draw(maybe | st.sampled_from(STATES)),
        user_id=draw(maybe | USERS),
        since=draw(maybe | TIMES),
        limit=draw(st.sampled_from([1, 2, 100])),
    )


def record_step(way: str, record: Record, state: RecordState) -> Step:
    step = record if state == record.execution_decision else sample_step(record, state)
    return lambda store: getattr(store, way)(step)


WRITES = st.one_of(
    st.builds(lambda record: lambda store: store.append(record), decisions()),
    st.builds(record_step, st.just("claim"), decisions(), st.just("executing")),
    st.builds(record_step, st.just("finish"), decisions(), st.sampled_from(STATES[4:])),
    st.builds(record_step, st.sampled_from(["append", "claim", "finish"]), decisions(), st.sampled_from(STATES)),
    st.builds(
        lambda name, scope, call, expires: lambda store: store.ask(
            sample_question(name, scope=scope, call_id=call, expires_at=expires)
        ),
        st.sampled_from(["q1", "q2", "q3"]), SCOPES, CALLS, TIMES,
    ),
    st.builds(lambda name: lambda store: store.answer(sample_answer(name)), st.sampled_from(["q1", "q2", "q9"])),
    st.builds(lambda name: lambda store: store.no_answer(sample_no_answer(name)), st.sampled_from(["q1", "q2", "q9"])),
    st.builds(
        lambda scope, user, name, tool: lambda store: store.learn(scope, user, name, "s", tool, "u", "2026-03-01"),
        SCOPES, USERS, NAMES, st.sampled_from(["a", "b"]),
    ),
    st.builds(
        lambda scope, user, name: lambda store: store.forget(scope, user, name, "2026-03-01"), SCOPES, USERS, NAMES
    ),
)  # fmt: skip
READS = st.one_of(
    st.builds(lambda query: lambda store: list(store.find(query)), queries()),
    st.builds(lambda scope, call: lambda store: store.latest_for_call(scope, call or ""), SCOPES, CALLS),
    st.builds(
        lambda scope, user, key: lambda store: store.latest_executed(scope, user, key, "f" * 64),
        SCOPES, USERS, st.sampled_from(["k1", "preflight:unkeyed"]),
    ),
    st.builds(lambda name: lambda store: store.steps(name), st.sampled_from(["d1", "d2", "d3"])),
    st.builds(lambda scope, now: lambda store: store.open_questions(scope, now), st.none() | SCOPES, TIMES),
    st.builds(lambda scope, call: lambda store: store.asked(scope, call or ""), SCOPES, CALLS),
    st.builds(lambda scope, call: lambda store: store.answers_for_call(scope, call or ""), SCOPES, CALLS),
    st.builds(lambda name: lambda store: store.no_answers(name), st.sampled_from(["q1", "q2", "q9"])),
    st.builds(lambda scope, user: lambda store: store.learned(scope, user), SCOPES, USERS),
    st.just(lambda store: store.unfinished()),
    st.just(lambda store: store.head()),
    st.just(lambda store: list(store.raw_scan())),
    st.builds(lambda after: lambda store: list(store.scan(after)), st.integers(-1, 5)),
)  # fmt: skip


EMPTY = "DROP SCHEMA preflight CASCADE"


def outcome(step: Step, store: Storage) -> object:
    try:
        found = step(store)
    except PreflightError as error:
        return type(error)
    if isinstance(found, Stored):
        return found.seq, found.body, found.digest
    return found


@given(st.lists(WRITES | READS, min_size=5, max_size=40))
def test_sqlite_answers_as_memory_does(program: list[Step]) -> None:
    memory, sqlite = MemoryStorage(), SqliteStorage(":memory:")
    for number, step in enumerate(program):
        assert outcome(step, memory) == outcome(step, sqlite), f"step {number}"
    sqlite.close()


def test_postgres_answers_as_memory_does(postgres: Server) -> None:
    """One database, whose schema each program makes anew."""
    url = postgres.database()
    examples = settings.get_profile(settings.get_current_profile_name()).max_examples // 10

    @settings(max_examples=examples)
    @given(st.lists(WRITES | READS, min_size=5, max_size=40))
    def agree(program: list[Step]) -> None:
        with psycopg.connect(url, autocommit=True) as owner:
            owner.execute(EMPTY)
        memory, store = MemoryStorage(), PostgresStorage(url, pool_size=1)
        try:
            for number, step in enumerate(program):
                assert outcome(step, memory) == outcome(step, store), f"step {number}"
        finally:
            store.close()

    agree()
