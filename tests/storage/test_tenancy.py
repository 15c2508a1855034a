"""A store opened for one tenant reaches no row of another's, by whatever method and whatever id."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import psycopg
import pytest

from preflight.errors import PreflightError
from preflight.model.request import Scope
from preflight.ports import Admission, LogHead, Query, Storage
from preflight.storage import open_storage
from preflight.storage.memory import MemoryStorage
from preflight.storage.tenancy import TenantStorage
from preflight.testing import sample_answer, sample_decision, sample_no_answer, sample_question, sample_step
from tests.storage.postgres_server import Server

OURS, THEIRS = Scope("ours", "c"), Scope("theirs", "c")
MORNING = "2026-03-01T09:00:00Z"


def fill(store: Storage, scope: Scope) -> None:
    """Write the same story for a tenant, under ids that begin with its name."""
    name = scope.tenant
    for n, end in enumerate(("executed", None)):
        decision = sample_decision(f"{name}{n}", scope=scope, action_key="k", call_id=("call", "next")[n])
        store.append(decision)
        assert store.claim(sample_step(decision, "executing")) is not None
        if end is not None:
            assert store.finish(sample_step(decision, "executed")) is not None
    for n in range(2):
        store.ask(sample_question(f"{name}{n}", scope=scope))
    store.answer(sample_answer(f"{name}0"))
    store.no_answer(sample_no_answer(f"{name}1"))
    store.learn(scope, "u_01", "pay", name, name, "u_01", MORNING)


KINDS = ["memory", "sqlite", "postgres", "postgres, one tenant's role"]


@contextmanager
def opened(kind: str, request: pytest.FixtureRequest, folder: Path) -> Iterator[tuple[Storage, Storage]]:
    """Open the same filled store twice: whole, and cut down to `ours`."""
    whole: Storage = MemoryStorage()
    own: Storage = TenantStorage(whole, "ours")
    if kind == "sqlite":
        whole, own = open_storage(folder / "r.db"), open_storage(folder / "r.db", tenant="ours")
    elif kind != "memory":
        server: Server = request.getfixturevalue("postgres_server")
        url = server.database()
        server.keep()
        whole, own = open_storage(url), open_storage(server.roles(url)[0] if "role" in kind else url, tenant="ours")
    fill(whole, THEIRS)
    fill(own, OURS)
    yield whole, own
    own.close()
    whole.close()


@pytest.fixture(params=KINDS)
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Storage, Storage]]:
    with opened(request.param, request, tmp_path) as both:
        yield both


@pytest.fixture(scope="module", params=KINDS)
def shared(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Storage, Storage]]:
    """For the tests that change nothing."""
    with opened(request.param, request, tmp_path_factory.mktemp("tenants")) as both:
        yield both


READS: dict[str, Callable[[Storage], object]] = {
    "get": lambda s: [s.get(f"theirs{n}") for n in range(2)] + [s.get("theirs0/executing")],
    "steps": lambda s: s.steps("theirs0"),
    "find": lambda s: [r for r in s.find(Query()) if r.record.scope != OURS],
    "find by slot": lambda s: [r for r in s.find(Query(field="amount")) if r.record.scope != OURS],
    "scan": lambda s: [r for r in s.scan() if r.record.scope != OURS],
    "raw_scan": lambda s: [r for r in s.raw_scan() if r.tenant != "ours"],
    "unfinished": lambda s: [r for r in s.unfinished() if r.record.scope != OURS],
    "question": lambda s: s.question("theirs0"),
    "open_questions": lambda s: [q for q in s.open_questions(None, MORNING) if q.scope != OURS],
    "answer_to": lambda s: s.answer_to("theirs0"),
    "no_answers": lambda s: s.no_answers("theirs1"),
}
REFUSED: dict[str, Callable[[Storage], object]] = {
    "append": lambda s: s.append(sample_decision("new", scope=THEIRS)),
    "append under a taken id": lambda s: s.append(sample_decision("theirs0", scope=OURS)),
    "claim": lambda s: s.claim(sample_step(sample_decision("theirs1", scope=THEIRS), "executing", "x")),
    "finish": lambda s: s.finish(sample_step(sample_decision("theirs1", scope=THEIRS), "executed")),
    "latest_for_call": lambda s: s.latest_for_call(THEIRS, "call"),
    "started_as": lambda s: s.started_as(sample_decision("theirs2", scope=THEIRS, call_id="call")),
    "started_on": lambda s: s.started_on("theirs", "i1"),
    "latest_executed": lambda s: s.latest_executed(THEIRS, "u_01", "k", "f" * 64),
    "find by scope": lambda s: s.find(Query(scope=THEIRS)),
    "find by tenant": lambda s: s.find(Query(tenant="theirs")),
    "ask": lambda s: s.ask(sample_question("new", scope=THEIRS)),
    "open_questions": lambda s: s.open_questions(THEIRS, MORNING),
    "answer": lambda s: s.answer(sample_answer("theirs1")),
    "no_answer": lambda s: s.no_answer(sample_no_answer("theirs1")),
    "answers_for_call": lambda s: s.answers_for_call(THEIRS, "call"),
    "asked": lambda s: s.asked(THEIRS, "call"),
    "learn": lambda s: s.learn(THEIRS, "u_01", "n", "s", "t", "u", MORNING),
    "forget": lambda s: s.forget(THEIRS, "u_01", "pay", MORNING),
    "learned": lambda s: s.learned(THEIRS, "u_01"),
}
OTHERWISE = {"head", "close"}


def test_every_method_is_tried() -> None:
    methods = {name for name in vars(Storage) if not name.startswith("_")}
    assert methods == {name.partition(" ")[0] for name in [*READS, *REFUSED]} | OTHERWISE


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_nothing_of_another_tenant_is_read(shared: tuple[Storage, Storage], read: Callable[[Storage], object]) -> None:
    whole, own = shared
    assert read(whole) not in (None, [], [None, None, None]), "there is something to be hidden"
    assert read(own) in (None, [], [None, None, None])


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_nothing_of_another_tenant_is_written_or_asked_for(
    shared: tuple[Storage, Storage], call: Callable[[Storage], object]
) -> None:
    whole, own = shared

    def theirs() -> list[object]:
        open_ones = whole.open_questions(None, MORNING)
        silent = whole.no_answers("theirs1")
        return [[stored.body for stored in whole.scan()], open_ones, silent, whole.learned(THEIRS, "u_01")]

    before = theirs()
    with pytest.raises(PreflightError, match=r"has no place|is taken|was asked|may not see it"):
        call(own)
    assert theirs() == before


def test_its_own_rows_are_all_there(stores: tuple[Storage, Storage]) -> None:
    whole, own = stores
    mine = [stored for stored in whole.scan() if stored.record.scope == OURS]
    assert list(own.scan()) == mine
    assert list(own.find(Query(limit=1))) == mine[-1:]
    assert [row.seq for row in own.raw_scan()] == [stored.seq for stored in mine]
    assert own.head() == LogHead(len(mine), mine[-1].seq, mine[-1].digest)
    assert own.latest_executed(OURS, "u_01", "k", "f" * 64) == whole.get("ours0/executed")
    assert own.latest_for_call(OURS, "call") == whole.get("ours0")
    assert own.started_as(sample_decision("ours2", scope=OURS, action_key="k", call_id="call")) == "ours0"
    assert own.started_on("ours", "i1") == []
    assert [question.question_id for question in own.open_questions(OURS, MORNING)] == ["ours1"]
    assert [answer.question_id for answer in own.answers_for_call(OURS, "call")] == ["ours0"]
    assert own.no_answers("ours1") == [sample_no_answer("ours1")]
    assert [question.question_id for question in own.asked(OURS, "call")] == ["ours0", "ours1"]
    assert own.learned(OURS, "u_01") == [("pay", "ours", "ours")]
    own.forget(OURS, "u_01", "pay", MORNING)
    assert own.learned(OURS, "u_01") == []


def test_another_tenants_starts_do_not_count_against_a_limit(stores: tuple[Storage, Storage]) -> None:
    _, own = stores
    decision = sample_decision("limited", scope=OURS)
    own.append(decision)
    seen: list[str] = []

    def judge(starts: object) -> bool:
        seen.extend(start.scope.tenant for start in starts)  # type: ignore[attr-defined]
        return True

    assert own.claim(sample_step(decision, "executing"), admit=Admission("2026-01-01T00:00:00Z", judge)) is not None
    assert set(seen) == {"ours"}


def test_the_database_itself_draws_the_line(postgres: Server) -> None:
    """Row-level security: a session of the program's role that names a tenant, with SQL of its own."""
    store = postgres.store()
    fill(store, THEIRS)
    fill(store, OURS)
    address, operator = postgres.roles(store._pool._url)
    tables = ("record", "slot", "question", "answer", "no_answer", "meaning")

    def counts(url: str, tenant: str | None) -> list[int]:
        with psycopg.connect(url, autocommit=True) as db:
            if tenant is not None:
                db.execute("SELECT set_config('preflight.tenant', %s, false)", (tenant,))
            rows = [db.execute(f"SELECT count(*) FROM preflight.{table}").fetchone() for table in tables]  # noqa: S608
            return [row[0] for row in rows if row]

    assert counts(address, None) == counts(address, "") == [0, 0, 0, 0, 0, 0]
    assert counts(address, "ours") == counts(address, "theirs") == [5, 2, 2, 1, 1, 1]
    assert counts(operator, None) == [10, 4, 4, 2, 2, 2]
    with psycopg.connect(address, autocommit=True) as db:
        db.execute("SET preflight.tenant = 'ours'")
        for row in ("('x', 'theirs', 'c', 0, '')", "('x', '', 'c', 0, '')"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
                db.execute(
                    f"INSERT INTO preflight.question (question_id, tenant, conversation, expires_at, body) VALUES {row}"  # noqa: S608
                )
        for table in ("answer", "no_answer"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
                db.execute(f"INSERT INTO preflight.{table} (question_id, body) VALUES ('theirs1', '')")  # noqa: S608


def test_a_key_is_one_tenants(stores: tuple[Storage, Storage]) -> None:
    """The same action key of two tenants: two chains, and neither waits for the other (R-77)."""
    whole, own = stores
    assert {stored.record.scope.tenant for stored in whole.unfinished()} == {"ours", "theirs"}
    first = [next(stored for stored in whole.scan() if stored.record.scope == scope) for scope in (OURS, THEIRS)]
    assert [stored.record.previous_digest for stored in first] == [None, None]
    other = msgspec.structs.replace(sample_decision("ours2", scope=OURS, action_key="k"))
    own.append(other)
    assert own.claim(sample_step(other, "executing")) is None
