"""What a session can do to what PostgreSQL stores (R-71): the owner nothing by accident, the program's role nothing."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from preflight.errors import StorageError
from preflight.storage import open_storage
from preflight.storage.postgres import PostgresStorage
from preflight.testing import sample_answer, sample_decision, sample_question, sample_slot, sample_step
from tests.storage.filled import fill
from tests.storage.postgres_server import Server, name_of

TABLES = {
    "record": "at",
    "slot": "source",
    "question": "expires_at",
    "answer": "body",
    "no_answer": "body",
    "meaning": "at",
    "attachment": "fold",
}


@pytest.fixture(scope="module")
def url(postgres_server: Server) -> str:
    """A database in which something stands; no attack changes it, so that all share it."""
    store = postgres_server.store()
    fill(store)
    postgres_server.keep()
    return store._pool._url


def content(url: str) -> dict[str, list[object]]:
    with psycopg.connect(url, autocommit=True) as db:
        return {table: db.execute(f"SELECT * FROM preflight.{table} ORDER BY 1, 2").fetchall() for table in TABLES}  # noqa: S608


_ALL_AGAIN = "INSERT INTO preflight.{0} OVERRIDING SYSTEM VALUE SELECT * FROM preflight.{0} "
CHANGES = [
    "UPDATE preflight.{0} SET {1} = {1}",
    "DELETE FROM preflight.{0}",
    "TRUNCATE preflight.{0} CASCADE",
    _ALL_AGAIN + "ON CONFLICT ON CONSTRAINT {0}_pkey DO UPDATE SET {1} = EXCLUDED.{1}",
    "MERGE INTO preflight.{0} t USING (SELECT 1) AS s ON true WHEN MATCHED THEN DELETE",
]


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("mode", ["origin", "replica"])
@pytest.mark.parametrize("change", CHANGES)
def test_the_owner_changes_nothing(url: str, table: str, mode: str, change: str) -> None:
    before = content(url)
    with psycopg.connect(url, autocommit=True) as db:
        db.execute(f"SET session_replication_role = {mode}")
        with pytest.raises(psycopg.errors.RestrictViolation, match=r"are append-only|must name the digest"):
            db.execute(change.format(table, TABLES[table]))
    assert content(url) == before


FORGERIES = {
    "a digest of other bytes": "digest => 'x'",
    "a place in the chain of its own": "previous_digest => NULL",
    "a state at a stage of another": "stage => 1",
    "a decision of another id": "decision_id => 'd1'",
    "an id that is taken": "record_id => 'd1', decision_id => 'd1'",
}


@pytest.mark.parametrize("changed", FORGERIES.values(), ids=FORGERIES)
def test_a_record_that_does_not_fit_is_not_let_in(url: str, changed: str) -> None:
    """The database checks by itself what the program would never send."""
    before = content(url)
    kept = "tenant conversation user_id action_key at body"
    columns: dict[str, str | None] = dict.fromkeys(kept.split())
    with psycopg.connect(url, autocommit=True) as db:
        columns |= {"record_id": "'d9'", "decision_id": "'d9'", "stage": "0", "unfinished": "0", "state": "'execute'"}
        columns |= {"digest": "encode(sha256(body), 'hex')", "previous_digest": "digest"}
        columns |= dict(part.split(" => ") for part in changed.split(", "))
        values = ", ".join(value or name for name, value in columns.items())
        with pytest.raises(psycopg.Error):
            db.execute(
                f"INSERT INTO preflight.record ({', '.join(columns)}) "  # noqa: S608
                f"SELECT {values} FROM preflight.record WHERE seq = 3"
            )
    assert content(url) == before


@pytest.fixture
def app(postgres_server: Server, url: str) -> Iterator[psycopg.Connection[object]]:
    """A session of a role that may read and append one tenant's rows."""
    address, _ = postgres_server.roles(url)
    with psycopg.connect(address, autocommit=True) as db:
        db.execute("SET preflight.tenant = 'tenant'")
        yield db


_QUESTION = "INSERT INTO preflight.question ({}question_id, tenant, conversation, expires_at, body) "
REFUSED = [
    *(change.format(table, column) for table, column in TABLES.items() for change in CHANGES),
    _QUESTION.format("seq, ") + "OVERRIDING SYSTEM VALUE VALUES (1, 'q9', 'tenant', 'c', 0, '')",
    _QUESTION.format("") + "VALUES ('q1', 'tenant', 'c', 0, '') ON CONFLICT (question_id) DO UPDATE SET body = ''",
    "INSERT INTO preflight.record (seq, record_id) VALUES (1, 'd9')",
    "COPY preflight.record (seq) FROM STDIN",
    "ALTER TABLE preflight.record DISABLE TRIGGER ALL",
    "ALTER TABLE preflight.record DISABLE ROW LEVEL SECURITY",
    "DROP TRIGGER no_change ON preflight.record",
    "DROP TABLE preflight.record CASCADE",
    "CREATE OR REPLACE FUNCTION preflight.place() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
    "CREATE RULE r AS ON INSERT TO preflight.record DO INSTEAD NOTHING",
    "CREATE TABLE preflight.mine (x TEXT)",
    "SET session_replication_role = replica",
    "SET ROLE preflight_operator",
    "INSERT INTO preflight.schema_version VALUES (99)",
    "DELETE FROM preflight.schema_version",
]


@pytest.mark.parametrize("attack", REFUSED)
def test_the_programs_role_may_only_read_and_append(url: str, app: psycopg.Connection[object], attack: str) -> None:
    before = content(url)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        app.execute(attack)  # type: ignore[call-overload]
    assert content(url) == before


def test_a_table_of_the_sessions_own_does_not_stand_in_for_the_log(postgres: Server) -> None:
    store = postgres.store(tenant="tenant")
    store.append(sample_decision("d1"))

    def shadow(db: psycopg.Connection[object]) -> None:
        db.execute("CREATE TEMPORARY TABLE record (LIKE preflight.record)")
        db.execute("SET search_path = pg_temp, preflight")
        store._store(db, sample_decision("d2"), None)

    store._pool.run("write", shadow)
    assert [stored.record.record_id for stored in store.scan()] == ["d1", "d2"]


def test_the_whole_program_runs_in_either_role(postgres: Server) -> None:
    address, operator = postgres.roles(postgres.database())
    for store in (open_storage(address, tenant="tenant"), open_storage(operator)):
        decision = sample_decision(f"by {type(store).__name__}", fields=(sample_slot("to", "instruction"),))
        seq = store.append(decision, durable=True).seq
        assert store.claim(sample_step(decision, "executing")) is not None
        assert store.finish(sample_step(decision, "executed")) is not None
        question = sample_question(f"q by {type(store).__name__}")
        store.ask(question)
        assert store.answer(sample_answer(question.question_id))
        store.learn(decision.scope, "u_01", "see", "bank", "balance", "u_01", "2026-03-01")
        assert [stored.seq for stored in store.scan()] == list(range(1, seq + 3))
        store.close()


def test_a_role_without_a_tenant_sees_and_writes_nothing(postgres_server: Server, url: str) -> None:
    address, _ = postgres_server.roles(url)
    store = PostgresStorage(address)
    assert (store.get("d1"), list(store.scan()), store.learned(sample_decision("d").scope, "u_01")) == (None, [], [])
    with pytest.raises(StorageError, match=r"row-level security.*; the role may not do this; see `roles\.sql`"):
        store.append(sample_decision("d9"))
    store.close()


def test_a_role_that_may_not_change_the_schema_says_what_is_missing(postgres: Server) -> None:
    address, _ = postgres.roles(postgres.database())
    bare = postgres.database(template=None)
    with pytest.raises(
        StorageError, match=r"has schema 0 and this program needs \d+; open it once as the owner.*permission denied"
    ):
        PostgresStorage(postgres.address(name_of(bare), "preflight_test_app"))
    PostgresStorage(address).close()
