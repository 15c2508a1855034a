"""Records in PostgreSQL: for several machines. The database itself keeps the order, the chain and the claims."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from psycopg import Rollback

from preflight.core import lifecycle
from preflight.errors import StorageError
from preflight.model.deferral import Deferral
from preflight.model.record import Record
from preflight.model.request import Scope
from preflight.ports import Admission, Grave, Query, Signer, Stored
from preflight.storage import statements
from preflight.storage.burial import burying
from preflight.storage.deferrals import LEASE, Rows, T, Undo, may_start, put_in
from preflight.storage.entry import Entry, Heads, check_way, columns, lock_number, make_entry
from preflight.storage.postgres_audit import search
from preflight.storage.postgres_pool import Connection, PostgresPool, escape, rows
from preflight.storage.sql_store import NEWEST, Durability, SqlStorage, Wanted, asked, repeats, started, started_as

WAIT_SECONDS = 10.0
"""How long a connection, a lock or an answer of the server is waited for."""
POOL_SIZE = 8
"""Connections a process holds at most. A write needs one for about a millisecond."""

_STORE = (
    "SELECT verdict, place, head FROM preflight.store("
    "%s, %s, %s::smallint, %s::smallint, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s::bigint, "
    "%s, %s, %s, %s::bytea, %s::bytea, %s::text[], %s::text[], %s::text[])"
)
_FLUSH = "SELECT preflight.flush()"
_VACUUM = "VACUUM " + ", ".join(
    f"preflight.{table}" for table in ("record", "slot", "question", "answer", "no_answer", "attachment")
)
_LOCK = "SELECT pg_advisory_xact_lock(%s)"


class PostgresStorage(SqlStorage):
    """The `Storage` protocol on one database; `url` is a `postgresql://` address. See the protocol for every method.

    Writes are committed at once and then, where they must, waited for until the server has them on its disk
    (`durability`, as for SQLite): many sessions share one wait. With `tenant`, the store's sessions name it, and
    a role that is bound to one tenant sees and writes that tenant's rows only (row-level security).
    """

    def __init__(
        self,
        url: str,
        *,
        wait_seconds: float = WAIT_SECONDS,
        durability: Durability = "effects",
        pool_size: int = POOL_SIZE,
        tenant: str | None = None,
    ) -> None:
        """Connect, and make or update the schema where the role may; raises StorageError when that fails."""
        self._always = durability == "always"
        self._heads = Heads()
        self._pool = PostgresPool(url, size=pool_size, wait_seconds=wait_seconds, tenant=tenant)
        self.name = self._pool.name
        self.tenant = tenant

    def append(self, record: Record, *, durable: bool = False, signer: Signer | None = None) -> Stored:
        """Append a decision; the same `record_id` again returns the stored one."""
        check_way(record, "append")
        stored = self._write(lambda db: self._store(db, record, signer), durable=durable or self._always)
        return stored if stored is not None else self._appended_before(record.record_id)

    def _appended_before(self, record_id: str) -> Stored:
        stored = self.get(record_id)
        if stored is None:
            raise StorageError(f"record `{record_id}` is in `{self.name}`, and this role may not see it")
        return stored

    def claim(self, record: Record, *, signer: Signer | None = None, admit: Admission | None = None) -> Stored | None:
        """Append an `executing` record durably, or return None when it may not start.

        Permission is given once: a repetition of a claim that succeeded gets None too.
        """
        check_way(record, "claim")
        if admit is None:
            return self._write(lambda db: self._begun(db, record, signer), durable=True)
        wanted = asked(record, admit)
        return self._write(lambda db: self._admitted(db, record, signer, admit, wanted), durable=True)

    def _admitted(
        self, db: Connection, record: Record, signer: Signer | None, admit: Admission, wanted: Wanted
    ) -> Stored | None:
        """Judge and start in one transaction, one after the other for a tenant and tool (R-66)."""
        with db.transaction():
            db.execute(_LOCK, (lock_number(record.scope.tenant, wanted["tool"] or ""),))
            if admit.judge(started(rows(db, statements.STARTED, wanted), record.tool)) is not True:
                return None
            return self._begun(db, record, signer)

    def _begun(self, db: Connection, record: Record, signer: Signer | None) -> Stored | None:
        """Store a start; of a call only its one (R-75), of an instruction the one that does this (R-79)."""
        scope = record.scope
        locks = [] if record.call_id is None else [lock_number(f"{scope.tenant} {scope.conversation}", record.call_id)]
        locks += [] if record.instructed is None else [lock_number("instructed", scope.tenant, record.instructed.by)]
        if not locks:
            return self._begun_alone(db, record, signer)
        with db.transaction():
            for number in locks:  # always in this order, so that no two starts wait for one another
                db.execute(_LOCK, (number,))
            before = started_as(partial(rows, db), record) or repeats(partial(rows, db), record)
            return None if before else self._begun_alone(db, record, signer)

    def _begun_alone(self, db: Connection, record: Record, signer: Signer | None) -> Stored | None:
        """Store a start; of a run with a trigger, the one of its occurrence (R-83)."""
        if record.trigger is None:
            return self._store(db, record, signer)
        begun = None
        with db.transaction() as whole:
            stored = self._store(db, record, signer)
            if stored is not None and not may_start(partial(rows, db), record, lock=" FOR UPDATE"):
                raise Rollback(whole)
            begun = stored
        return begun  # noqa: RET504  what a rollback leaves behind is None

    def defer(self, record: Record, row: Deferral, *, signer: Signer | None = None) -> Stored:
        """Append a `deferred` record and its row durably, in one transaction."""
        check_way(record, "append")

        def work(db: Connection) -> Stored | None:
            with db.transaction():
                stored = self._store(db, record, signer)
                if stored is not None:
                    put_in(partial(rows, db), record, row)
                return stored

        stored = self._write(work, durable=True)
        return stored if stored is not None else self._appended_before(record.record_id)

    def _together(self, work: Callable[[Rows], T]) -> T | None:
        def run(db: Connection) -> T | None:
            done = None
            with suppress(Undo), db.transaction():
                done = work(partial(rows, db))
            db.execute(_FLUSH)
            return done

        return self._pool.run("write", run)

    def _one_by_one(self, rows: Rows, scope: Scope) -> None:
        rows(
            "SELECT pg_advisory_xact_lock(:number)",
            {"number": lock_number("attachment", scope.tenant, scope.conversation)},
        )

    def _lease_statement(self) -> str:
        return LEASE.replace("LIMIT :most", "LIMIT :most FOR UPDATE SKIP LOCKED")

    def finish(self, record: Record, *, signer: Signer | None = None) -> Stored | None:
        """Append an outcome durably; the same `record_id` again returns the stored one."""
        check_way(record, "finish")
        return self._write(lambda db: self._store(db, record, signer), durable=True) or self._before(record)

    def find(self, query: Query) -> Iterator[Stored]:
        """Yield the records that match, newest first, at most `query.limit`, a page at a time."""
        statement, wanted = search(query)
        return self._pages(statement, wanted, NEWEST, max(query.limit, 0))

    def bury(self, graves: Sequence[Grave], tombstone: bytes) -> None:
        """Remove records durably; only the owner of the schema may."""
        steps = list(burying(graves, tombstone, ("slot",)))

        def work(db: Connection) -> None:
            with db.transaction():
                for statement, wanted in steps:
                    rows(db, statement, wanted)
            db.execute(_FLUSH)

        self._pool.run("write", work)

    def compact(self) -> None:
        """Have the server free where removed records stood; its own log and its backups still hold them a while."""
        self._pool.run("write", lambda db: db.execute(_VACUUM))

    def close(self) -> None:
        """Release the connections; further calls raise StorageError, a second close does nothing."""
        self._pool.close()

    def _read(self, statement: str, wanted: Wanted) -> list[Any]:
        return self._pool.run("read", lambda db: rows(db, statement, wanted))

    def _run(self, statement: str, wanted: Wanted, *, durable: bool) -> list[Any]:
        def work(db: Connection) -> list[Any]:
            found = rows(db, statement, wanted)
            if durable or self._always:
                db.execute(_FLUSH)
            return found

        return self._pool.run("write", work)

    def _write(self, work: Any, *, durable: bool) -> Stored | None:
        def run(db: Connection) -> Stored | None:
            stored: Stored | None = work(db)
            if durable:
                # also where nothing was stored now: what was found to be stored is acknowledged
                db.execute(_FLUSH)
            return stored

        stored = self._pool.run("write", run)
        if stored is not None:
            self._heads.learn(stored)
        return stored

    def _store(self, db: Connection, record: Record, signer: Signer | None) -> Stored | None:
        """Store a record at the end of its chain; None where it is known or may not be.

        Other records may come before it while it is encoded and signed; then it is chained anew.
        """
        previous = self._heads.guess(record)
        while True:
            entry = make_entry(record, previous, signer)
            verdict, place, head = db.execute(_STORE, _values(entry), binary=True).fetchone() or ("refused", 0, None)
            if verdict == "stored":
                return entry.stored(place)
            if verdict != "moved":
                return None
            previous = head


def _values(entry: Entry) -> list[Any]:
    record = entry.record
    state = record.execution_decision
    follows = [before for before, after in lifecycle.FOLLOWS.items() if before is not None and state in after]
    decision = lifecycle.stage(state) == 0
    slots = record.states if decision else ()
    row = [escape(value) if type(value) is str else value for value in columns(entry)]
    return [*row, follows, [escape(slot.name) for slot in slots], [slot.source or "" for slot in slots]]
