"""Records in one SQLite file: the default store of one machine, for several threads and processes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import apsw

from preflight.errors import StorageError
from preflight.model.deferral import Deferral
from preflight.model.record import Record
from preflight.model.request import Scope
from preflight.ports import Admission, Grave, Query, Signer, Stored
from preflight.storage import sqlite_audit, statements
from preflight.storage.burial import burying
from preflight.storage.deferrals import Rows, T, Undo, may_start, put_in
from preflight.storage.entry import COLUMNS, Entry, Heads, check_way, columns, make_entry
from preflight.storage.matching import matcher
from preflight.storage.sql_store import (
    NEWEST,
    Durability,
    SqlStorage,
    Wanted,
    asked,
    may_follow,
    place,
    repeats,
    started,
    started_as,
)
from preflight.storage.sqlite_file import SqliteFile

WAIT_SECONDS = 10.0
"""How long another process's lock is waited for; 8 processes claiming at once stayed under 2 s."""


# The guards of the table drop what collides or does not chain; without RETURNING this is 1.5 us quicker.
_INSERT = f"INSERT INTO record ({COLUMNS}) VALUES ({', '.join('?' * len(COLUMNS.split(',')))}) ON CONFLICT DO NOTHING"  # noqa: S608  fixed words
_KNOWN = "SELECT 1 FROM record WHERE record_id = ?"
_CHAIN_HEAD = """
SELECT digest FROM record WHERE tenant = ? AND conversation = ? AND action_key = ? ORDER BY seq DESC LIMIT 1
"""
_AFTER = """
SELECT seq, digest, body, key_id, signature FROM record
WHERE seq > :after AND seq < :before ORDER BY seq DESC LIMIT :page
"""


class SqliteStorage(SqlStorage):
    """The `Storage` protocol on one file; `path` may be `:memory:`. See the protocol for every method.

    With `durability="effects"`, what stands before or after a side effect waits for the disk, and so does
    everything written before it: claims, outcomes, answers, learned names. Other writes survive the death of
    the process at once and a loss of power after a moment. With `"always"`, every write waits.
    """

    def __init__(
        self, path: str | Path, *, wait_seconds: float = WAIT_SECONDS, durability: Durability = "effects"
    ) -> None:
        """Open the file, making it where it is missing; raises StorageError when that is not possible."""
        self.name = self.path = str(path)
        self._always = durability == "always"
        self._heads = Heads()
        self._file = self._opened(self.path, wait_seconds)

    def _opened(self, path: str, wait_seconds: float) -> SqliteFile:
        return SqliteFile(path, wait_seconds=wait_seconds)

    def append(self, record: Record, *, durable: bool = False, signer: Signer | None = None) -> Stored:
        """Append a decision; the same `record_id` again returns the stored one."""
        check_way(record, "append")
        durable = durable or self._always
        entry = make_entry(record, self._heads.guess(record), signer)
        row = columns(entry)
        stored = self._file.write(
            lambda db: _enter(db, record, entry, signer), quick=lambda db: _insert(db, entry, row), durable=durable
        )
        if stored is None:
            return self._appended_before(record.record_id, durable=durable)
        self._heads.learn(stored)
        return stored

    def _appended_before(self, record_id: str, *, durable: bool) -> Stored:
        stored = self.get(record_id)
        if stored is None:
            raise StorageError(f"record `{record_id}` was refused by `{self.path}`; a foreign trigger is in its way")
        if durable:
            self._file.sync()
        return stored

    def claim(self, record: Record, *, signer: Signer | None = None, admit: Admission | None = None) -> Stored | None:
        """Append an `executing` record durably, or return None when it may not start.

        Permission is given once: a repetition of a claim that succeeded gets None too.
        """
        check_way(record, "claim")
        entry = make_entry(record, self._heads.guess(record), signer)
        wanted = None if admit is None else asked(record, admit)

        def work(db: apsw.Connection) -> Stored | None:
            if not _follows(db, record) or _rows(db, statements.RUNNING, place(record)):
                return None
            if started_as(partial(_rows, db), record) or repeats(partial(_rows, db), record):
                return None
            if not may_start(partial(_rows, db), record, look=True):
                return None
            if admit is not None and wanted is not None:
                starts = started(_rows(db, statements.STARTED, wanted), record.tool)
                if admit.judge(starts) is not True:
                    return None
            stored = _enter(db, record, entry, signer)
            if stored is not None:
                may_start(partial(_rows, db), record)
            return stored

        return self._learnt(self._file.write(work, durable=True))

    def defer(self, record: Record, row: Deferral, *, signer: Signer | None = None) -> Stored:
        """Append a `deferred` record and its row durably, in one transaction."""
        check_way(record, "append")
        entry = make_entry(record, self._heads.guess(record), signer)

        def work(db: apsw.Connection) -> Stored | None:
            stored = _enter(db, record, entry, signer)
            if stored is not None:
                put_in(partial(_rows, db), record, row)
            return stored

        return self._learnt(self._file.write(work, durable=True)) or self._appended_before(
            record.record_id, durable=True
        )

    def _together(self, work: Callable[[Rows], T]) -> T | None:
        def run(db: apsw.Connection) -> T | None:
            db.execute("SAVEPOINT together")  # others may share the transaction
            done = None
            with suppress(Undo):
                done = work(partial(_rows, db))
            if done is None:
                db.execute("ROLLBACK TO together")
            db.execute("RELEASE together")
            return done

        return self._file.write(run, durable=True)

    def _one_by_one(self, rows: Rows, scope: Scope) -> None:
        """Do nothing: there is one writer at a time."""

    def finish(self, record: Record, *, signer: Signer | None = None) -> Stored | None:
        """Append an outcome durably; the same `record_id` again returns the stored one."""
        check_way(record, "finish")
        entry = make_entry(record, self._heads.guess(record), signer)

        def work(db: apsw.Connection) -> Stored | None:
            return _enter(db, record, entry, signer) if _follows(db, record) else None

        return self._learnt(self._file.write(work, durable=True)) or self._before(record)

    def _learnt(self, stored: Stored | None) -> Stored | None:
        if stored is not None:
            self._heads.learn(stored)
        return stored

    def find(self, query: Query) -> Iterator[Stored]:
        """Yield the records that match, newest first, at most `query.limit`.

        Records are read a page at a time as the caller asks for them; no lock is held in between. In a file
        that may only be read, what is not in the catalogue yet is read through.
        """
        statement, wanted = sqlite_audit.search(query)
        matches, limit = matcher(query), max(query.limit, 0)
        if self._catch_up():
            return self._pages(statement, wanted, NEWEST, limit)
        last = self._file.reading(sqlite_audit.last)
        rest = (stored for stored in self._pages(_AFTER, {"after": last}, NEWEST, NEWEST) if matches(stored.record))
        return islice(chain(rest, self._pages(statement, wanted, last + 1, limit)), limit)

    def _catch_up(self) -> bool:
        """Bring the catalogue up to date; False in a file that may only be read."""
        try:
            while self._file.reading(sqlite_audit.behind):
                self._file.write(sqlite_audit.catch_up, durable=False)
        except StorageError as error:
            if isinstance(error.__cause__, apsw.ReadOnlyError):
                return False
            raise
        return True

    def bury(self, graves: Sequence[Grave], tombstone: bytes) -> None:
        """Remove records durably."""
        steps = list(burying(graves, tombstone, ("catalogue", "catalogue_slot")))

        def work(db: apsw.Connection) -> None:
            for statement, wanted in steps:
                _rows(db, statement, wanted)

        self._file.write(work, durable=True)

    def compact(self) -> None:
        """Write the file anew: copies of removed records are left in the unused parts of its pages."""

        def work(db: apsw.Connection) -> None:
            _rows(db, "VACUUM", {})
            # what was written before lives on in the write-ahead log, until it is written back and cut off
            _rows(db, "PRAGMA wal_checkpoint(TRUNCATE)", {})

        self._file.reading(work)

    def close(self) -> None:
        """Release the file; further calls raise StorageError, a second close does nothing."""
        self._file.close()

    def _read(self, statement: str, wanted: Wanted) -> list[Any]:
        return self._file.reading(lambda db: _rows(db, statement, wanted))

    def _run(self, statement: str, wanted: Wanted, *, durable: bool) -> list[Any]:
        def work(db: apsw.Connection) -> list[Any]:
            return _rows(db, statement, wanted)

        return self._file.write(work, quick=work, durable=durable or self._always)


def _rows(db: apsw.Connection, statement: str, wanted: Any) -> list[Any]:
    return db.execute(hinted(statement), wanted).fetchall()


@cache  # the statements are few and fixed, the searches a few hundred
def hinted(statement: str) -> str:
    """Return a shared statement with its hints as SQLite reads them."""
    return re.sub(r"/\*\+ (\w+) \*/", r"INDEXED BY \1", statement)


def _insert(db: apsw.Connection, entry: Entry, row: tuple[Any, ...]) -> Stored | None:
    """Insert an entry; None where the log holds its id or its decision's step, or it does not chain."""
    db.execute(_INSERT, row)
    return entry.stored(db.last_insert_rowid()) if db.changes() else None


def _enter(db: apsw.Connection, record: Record, guess: Entry, signer: Signer | None) -> Stored | None:
    """Insert a record at the end of its chain, inside a transaction; None where the log holds its id or step."""
    if stored := _insert(db, guess, columns(guess)):
        return stored
    if _rows(db, _KNOWN, (record.record_id,)):
        return None
    rows = _rows(db, _CHAIN_HEAD, (record.scope.tenant, record.scope.conversation, record.key))
    entry = make_entry(record, rows[0][0] if rows else None, signer)
    return _insert(db, entry, columns(entry))


def _follows(db: apsw.Connection, record: Record) -> bool:
    rows = _rows(db, statements.STATE, {"decision_id": record.decision_id})
    return may_follow(rows, record.execution_decision)
