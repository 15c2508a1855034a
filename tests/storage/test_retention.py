from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest

from preflight.audit import Report, head_of, verify
from preflight.clock import iso
from preflight.errors import InvalidInput, StorageError
from preflight.model.record import UNKEYED
from preflight.ports import Grave, Query
from preflight.retention import Removed, Retention, apply, graves
from preflight.signing import HmacKey, Keyring
from preflight.storage.contract_deferral import later, note, row
from preflight.storage.postgres import PostgresStorage
from preflight.storage.sqlite import SqliteStorage
from preflight.testing import (
    FakeClock,
    MemoryStorage,
    sample_answer,
    sample_decision,
    sample_no_answer,
    sample_question,
    sample_step,
)
from tests.storage.postgres_server import Server

RING = Keyring(HmacKey(b"k" * 32))
DAY = 86_400.0
CANARY = "kept no longer"
NOW = FakeClock().now()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param == "memory":
        return MemoryStorage()
    if request.param == "sqlite":
        return SqliteStorage(tmp_path / "records.db")
    server: Server = request.getfixturevalue("postgres")
    return server.store()


def at(days: float) -> str:
    return iso(NOW - days * DAY)


def decide(storage: Any, name: str, days: float, state: str = "hold", **more: Any) -> Any:
    decision = sample_decision(name, state, timestamp=at(days), **{"action_key": "a", **more})
    storage.append(decision, signer=RING)
    return decision


def run(storage: Any, name: str, days: float, *states: str, **more: Any) -> None:
    decision = decide(storage, name, days, "execute", **more)
    for state in states:
        step = sample_step(decision, state)  # type: ignore[arg-type]
        _ = storage.claim(step, signer=RING) if state == "executing" else storage.finish(step, signer=RING)


def filled(storage: Any) -> None:
    """Old and new records under three keys; the last one is new, and under none of them."""
    decide(storage, "old", 40, reason=CANARY)
    run(storage, "ran", 40, "executing", "executed", reason=CANARY)
    decide(storage, "old unkeyed", 10, action_key=None, reason=CANARY)
    decide(storage, "b old", 40, action_key="b")
    decide(storage, "new unkeyed", 1, action_key=None)
    decide(storage, "new", 1)
    decide(storage, "last", 0, action_key="c")


def verified(storage: Any, head: Any = None) -> Report:
    buried, faults = graves(storage, RING)
    assert faults == []
    return verify(storage.raw_scan, RING, head, buried)


def left(storage: Any) -> list[str]:
    return [stored.record.record_id for stored in storage.scan()]


def test_each_bucket_has_its_own_time(storage: Any) -> None:
    filled(storage)
    removed = apply(Retention(keyed=30 * DAY, unkeyed=7 * DAY), storage, RING, FakeClock())
    assert removed == Removed({"a": 4, UNKEYED: 1}, 1)
    assert removed.records == 5
    assert left(storage) == ["b old", "new unkeyed", "new", "last"]  # `b old` is what the next under `b` chains to


@pytest.mark.parametrize(
    ("retention", "gone"),
    [
        (Retention(), set()),
        (Retention(keyed=50 * DAY, unkeyed=50 * DAY), set()),
        (Retention(unkeyed=7 * DAY), {"old unkeyed"}),
        (Retention(keyed=7 * DAY), {"old", "ran", "ran/executing", "ran/executed"}),
        (Retention(keyed=7 * DAY, keys={"a": None}), set()),
        (Retention(keys={"a": 7 * DAY}), {"old", "ran", "ran/executing", "ran/executed"}),
    ],
)
def test_a_key_may_have_a_time_of_its_own(retention: Retention, gone: set[str]) -> None:
    storage = MemoryStorage()
    filled(storage)
    before = set(left(storage))
    apply(retention, storage, RING, FakeClock())
    assert before - set(left(storage)) == gone


def test_the_chain_and_the_tree_stay_whole(storage: Any) -> None:
    filled(storage)
    head, size = head_of(storage.raw_scan(), at(0)), storage.head()
    apply(Retention(keyed=30 * DAY, unkeyed=7 * DAY), storage, RING, FakeClock())
    report = verified(storage, head)
    assert (report.findings, report.records, report.removed, report.vouched) == ((), 9, 5, 9)
    assert (report.root, storage.head()) == (head.root, size)
    decide(storage, "later", 0)
    decide(storage, "later unkeyed", 0, action_key=None)
    assert verified(storage, head).intact
    assert verified(storage).records == 11
    assert {f.kind for f in verify(storage.raw_scan, RING).findings} == {"body_missing"}


def test_what_is_removed_is_found_no_more(storage: Any) -> None:
    filled(storage)
    storage.ask(sample_question("q1"))
    apply(Retention(keyed=30 * DAY), storage, RING, FakeClock())
    assert storage.get("old") is None
    assert storage.steps("ran") == []
    assert {s.record.record_id for s in storage.find(Query(action_key="a"))} == {"new"}
    assert {s.record.record_id for s in storage.find(Query(field="amount"))} == set(left(storage))
    assert storage.latest_executed(sample_decision("d").scope, "u_01", "a", "f" * 64) is None
    assert storage.unfinished() == []


def test_it_goes_on_where_it_stopped(storage: Any) -> None:
    filled(storage)
    apply(Retention(keyed=30 * DAY), storage, RING, FakeClock())
    assert apply(Retention(keyed=30 * DAY), storage, RING, FakeClock()) == Removed({}, 0)
    assert apply(Retention(unkeyed=7 * DAY), storage, RING, FakeClock()) == Removed({UNKEYED: 1}, 1)
    assert len(storage.tombstones()) == 2
    assert verified(storage).removed == 5


def test_a_dry_run_only_counts(storage: Any) -> None:
    filled(storage)
    before = left(storage)
    assert apply(Retention(keyed=30 * DAY), storage, RING, FakeClock(), dry_run=True) == Removed({"a": 4}, 0)
    assert (left(storage), storage.tombstones()) == (before, [])


@pytest.mark.parametrize(
    "kept",
    [
        lambda store: run(store, "x", 90, "executing"),
        lambda store: run(store, "x", 90, "executing", "in_doubt"),
        lambda store: decide(store, "x", 90, "deferred"),
        lambda store: decide(store, "x", 90, "ask_user", question_id="q open"),
    ],
)
def test_what_is_not_over_is_kept(storage: Any, kept: Callable[[Any], None]) -> None:
    storage.ask(sample_question("q open", expires_at="2099-01-01T00:00:00+00:00"))
    kept(storage)
    decide(storage, "last", 0)
    assert apply(Retention(keyed=DAY), storage, RING, FakeClock()).records == 0
    assert "x" in left(storage)


def test_a_deferred_run_is_kept_until_it_is_over(storage: Any) -> None:
    #
    for name in ("x", "y"):
        record = sample_decision(name, "deferred", timestamp=at(90), action_key="a")
        storage.defer(record, row(name), signer=RING)
    decide(storage, "last", 0)
    apart = row("x@1", decision_id="x", state="held")
    storage.change(later(row("x"), state="done"), note("x"), apart=apart)
    storage.change(later(row("y"), state="cancelled"), note("y"))
    assert apply(Retention(keyed=DAY), storage, RING, FakeClock()).records == 1
    assert left(storage) == ["x", "last"]
    storage.change(later(apart, state="done"), note("x@1"))
    assert apply(Retention(keyed=DAY), storage, RING, FakeClock()).records == 1
    assert left(storage) == ["last"]


def test_a_question_and_its_answer_go_with_their_record(storage: Any) -> None:
    for name in ("q1", "q2"):
        storage.ask(sample_question(name, expires_at=at(60)))
        storage.no_answer(sample_no_answer(name))
        storage.answer(sample_answer(name))
    decide(storage, "x", 90, "ask_user", question_id="q1")
    decide(storage, "last", 0, question_id="q2")
    assert apply(Retention(keyed=DAY), storage, RING, FakeClock()).records == 1
    assert (storage.question("q1"), storage.answer_to("q1"), storage.no_answers("q1")) == (None, None, [])
    assert storage.question("q2") is not None
    assert storage.answer_to("q2") is not None
    assert storage.no_answers("q2") == [sample_no_answer("q2")]
    assert verified(storage).intact


def test_a_question_of_several_runs_goes_with_the_one_that_asked(storage: Any) -> None:
    for name in ("x", "y", "z"):
        question = sample_question(f"q {name}", call_id=name, decision_id=name, expires_at=at(60))
        assert storage.ask_once(question, ("f",), at(61)).question_id == "q x"
    storage.answer(sample_answer("q x"))
    decide(storage, "y", 90, "ask_user", question_id="q x", call_id="y")
    decide(storage, "x", 40, "ask_user", question_id="q x", call_id="x")
    decide(storage, "last", 0)
    assert apply(Retention(keyed=50 * DAY), storage, RING, FakeClock()).records == 1
    assert left(storage) == ["x", "last"]
    assert [answer.question_id for answer in storage.answers_for_call(sample_decision("z").scope, "z")] == ["q x"]
    assert apply(Retention(keyed=DAY), storage, RING, FakeClock()).records == 1
    assert (storage.question("q x"), storage.answer_to("q x"), storage.attached("q x")) == (None, None, [])
    assert verified(storage).intact


def test_a_question_is_kept_while_a_held_run_may_go_on_with_its_answer(storage: Any) -> None:
    storage.ask_once(sample_question("q", call_id="x", decision_id="x", expires_at=at(60)), ("f",), at(61))
    storage.defer(sample_decision("y", "deferred", action_key="held", timestamp=at(95)), row("y"))
    storage.change(later(row("y"), state="held", question_id="q"), note("y"))
    decide(storage, "x", 90, "ask_user", question_id="q")
    decide(storage, "last", 0)
    assert apply(Retention(keyed=DAY), storage, RING, FakeClock()).records == 0
    storage.change(later(later(row("y")), state="done"), note("y"))
    assert apply(Retention(keyed=DAY), storage, RING, FakeClock()).records == 1


def test_the_newest_under_a_key_cannot_be_removed(storage: Any) -> None:
    decide(storage, "x", 90)
    with pytest.raises(StorageError):
        storage.bury([Grave(1)], b"{}")
    assert (left(storage), storage.tombstones()) == (["x"], [])


def test_a_removal_without_a_right_signature_is_reported(storage: Any) -> None:
    filled(storage)
    apply(Retention(keyed=30 * DAY), storage, Keyring(HmacKey(b"x" * 32)), FakeClock())
    buried, faults = graves(storage, RING)
    assert len(faults) == 1
    assert {f.kind for f in verify(storage.raw_scan, RING, None, buried).findings} == {"body_missing"}


def test_large_logs_take_several_tombstones(monkeypatch: pytest.MonkeyPatch) -> None:
    storage = MemoryStorage()
    monkeypatch.setattr("preflight.retention.BATCH", 5)
    for n in range(12):
        decide(storage, f"d{n}", 90)
    decide(storage, "last", 0)
    assert apply(Retention(keyed=DAY), storage, RING, FakeClock()) == Removed({"a": 12}, 3)
    assert verified(storage).removed == 12


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_time_that_is_none_is_refused(seconds: float) -> None:
    for retention in (Retention(keyed=seconds), Retention(unkeyed=seconds), Retention(keys={"a": seconds})):
        with pytest.raises(InvalidInput, match="cannot be kept"):
            apply(retention, MemoryStorage(), RING, FakeClock())


def test_a_store_that_cannot_remove_says_so() -> None:
    class Plain:
        """A store of one's own, without retention."""

    with pytest.raises(StorageError, match="`Plain` keeps records for ever"):
        apply(Retention(keyed=1), Plain(), RING, FakeClock())  # type: ignore[arg-type]
    assert graves(Plain(), RING) == ({}, [])  # type: ignore[arg-type]


# in a file


def test_what_is_removed_is_gone_from_the_file(tmp_path: Path) -> None:
    storage = SqliteStorage(tmp_path / "records.db")
    filled(storage)
    list(storage.find(Query()))

    def found() -> bool:
        return any(CANARY.encode() in path.read_bytes() for path in tmp_path.iterdir())

    assert found()
    apply(Retention(keyed=30 * DAY, unkeyed=7 * DAY), storage, RING, FakeClock())
    assert not found()
    storage.close()


def test_nothing_else_may_be_deleted(tmp_path: Path) -> None:
    storage = SqliteStorage(tmp_path / "records.db")
    filled(storage)
    apply(Retention(keyed=30 * DAY), storage, RING, FakeClock())
    storage.close()
    db = apsw.Connection(str(tmp_path / "records.db"))
    copied = """
    INSERT INTO buried (seq, record_id, decision_id, state, tenant, conversation, action_key, digest)
    SELECT seq, record_id, decision_id, state, tenant, conversation, action_key, digest FROM record
    """
    forged = """
    INSERT INTO buried (seq, record_id, decision_id, state, tenant, conversation, action_key, digest)
    VALUES (5, 'x', 'x', 'x', 'x', 'x', 'x', 'x')
    """
    for statement in (
        "DELETE FROM record WHERE seq = 8",
        "DELETE FROM buried",
        "UPDATE buried SET digest = ''",
        "DELETE FROM tombstone",
        "UPDATE tombstone SET body = x''",
        "UPDATE record SET body = x'' WHERE seq = 8",
        copied,
        forged,
    ):
        with pytest.raises(apsw.ConstraintError):
            db.execute(statement).fetchall()
    db.execute("INSERT OR REPLACE INTO tombstone (seq, body) VALUES (1, x'')").fetchall()
    assert db.execute("SELECT count(*) FROM tombstone WHERE body = x''").fetchall() == [(0,)]
    db.close()


# in a database


def test_only_the_owner_of_the_schema_removes(postgres: Server) -> None:
    store = postgres.store()
    filled(store)
    for url in postgres.roles(store._pool._url):
        limited = PostgresStorage(url)
        with pytest.raises(StorageError, match=r"permission denied"):
            limited.bury([Grave(1)], b"{}")
        limited.close()
    assert "old" in left(store)
    apply(Retention(keyed=30 * DAY), store, RING, FakeClock())
    app, operator = postgres.roles(store._pool._url)
    ours, theirs, all_tenants = (
        PostgresStorage(app, tenant="tenant"),
        PostgresStorage(app, tenant="x"),
        PostgresStorage(operator),
    )
    counts = [(len(list(s.raw_scan())), len(s.tombstones())) for s in (ours, theirs, all_tenants)]
    assert counts == [(9, 0), (0, 0), (9, 1)]
    for opened in (ours, theirs, all_tenants):
        opened.close()


def test_nothing_else_may_be_deleted_there_either(postgres: Server) -> None:
    store = postgres.store()
    filled(store)
    apply(Retention(keyed=30 * DAY), store, RING, FakeClock())
    url = store._pool._url
    forged = """
    INSERT INTO preflight.buried (seq, record_id, decision_id, state, tenant, conversation, action_key, digest)
    VALUES (8, 'x', 'x', 'x', 'x', 'x', 'x', 'x')
    """
    for statement in (
        "DELETE FROM preflight.record WHERE seq = 8",
        "UPDATE preflight.record SET body = '' WHERE seq = 8",
        "DELETE FROM preflight.buried",
        "UPDATE preflight.buried SET digest = ''",
        "DELETE FROM preflight.tombstone",
        "TRUNCATE preflight.tombstone",
        forged,
    ):
        with pytest.raises(psycopg.errors.RestrictViolation):
            postgres.run(statement, url=url)
