"""Records in one SQLite file: the default store of one machine, for several threads and processes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import apsw

from preflight import codec
from preflight.core import lifecycle
from preflight.errors import InvalidInput, StorageError
from preflight.model.question import Answer, Question
from preflight.model.record import Record, RecordState
from preflight.model.request import Scope
from preflight.ports import Query, Stored
from preflight.storage import sqlite_audit
from preflight.storage.entry import check_way, encode, instant
from preflight.storage.matching import matcher
from preflight.storage.sqlite_file import SqliteFile

WAIT_SECONDS = 10.0
"""How long another process's lock is waited for; 8 processes claiming at once stayed under 2 s."""

_NEWEST = 1 << 62  # above every place in the log
_PAGE = 100  # records a search reads at a time: the lock is free while the caller looks at them

_INSERT = """
INSERT INTO record (record_id, decision_id, stage, unfinished, state, tenant, conversation, user_id, action_key,
                    tool, fingerprint, call_id, at, digest, previous_digest, body)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING RETURNING seq
"""
_BY_ID = "SELECT seq, digest, body FROM record WHERE record_id = ?"
_STEPS = """
SELECT seq, digest, body FROM (
    SELECT seq, digest, body, 0 AS stage FROM record WHERE record_id = ?1 AND decision_id = ?1
    UNION ALL
    SELECT seq, digest, body, stage FROM record WHERE decision_id = ?1 AND stage > 0
) ORDER BY stage
"""
_DECISION_STATE = "SELECT state FROM record WHERE record_id = ? AND stage = 0"
_STEP_STATE = "SELECT state FROM record WHERE decision_id = ? AND stage > 0 ORDER BY stage DESC LIMIT 1"
# `stage > 0` is said wherever the index of steps is wanted: SQLite does not conclude it from `stage = 2`.
# Only the newest start under a key can be without an outcome: no later one was let in while it was.
_RUNNING = """
SELECT 1 FROM (
    SELECT decision_id FROM record WHERE tenant = ? AND conversation = ? AND action_key = ? AND stage = 1
    ORDER BY seq DESC LIMIT 1
) AS newest WHERE NOT EXISTS (
    SELECT 1 FROM record WHERE decision_id = newest.decision_id AND stage = 2 AND stage > 0
)
"""
_FOR_CALL = """
SELECT seq, digest, body FROM record
WHERE tenant = ? AND conversation = ? AND call_id = ? AND stage = 0 ORDER BY seq DESC LIMIT 1
"""
_EXECUTED = """
SELECT seq, digest, body FROM record
WHERE tenant = ? AND conversation = ? AND user_id = ? AND action_key = ? AND fingerprint = ? AND state = 'executed'
ORDER BY seq DESC LIMIT 1
"""
_UNFINISHED = """
SELECT seq, digest, body FROM record INDEXED BY record_unfinished
WHERE unfinished = 1 AND NOT EXISTS (
    SELECT 1 FROM record AS later
    WHERE later.stage > 0 AND later.decision_id = record.decision_id AND later.stage = record.stage + 1
) ORDER BY seq
"""
_AFTER = "SELECT seq, digest, body FROM record WHERE seq > ? AND seq < ? ORDER BY seq DESC LIMIT ?"
_ASK = """
INSERT INTO question (question_id, tenant, conversation, call_id, expires_at, body) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING
"""
_QUESTION = "SELECT body FROM question WHERE question_id = ?"
_OPEN_QUESTIONS = """
SELECT body FROM question
WHERE expires_at > ?1 AND (?2 IS NULL OR (tenant = ?2 AND conversation = ?3))
  AND NOT EXISTS (SELECT 1 FROM answer WHERE answer.question_id = question.question_id)
ORDER BY seq
"""
_ASKED = "SELECT body FROM question WHERE tenant = ? AND conversation = ? AND call_id = ? ORDER BY seq"
_ANSWER = "INSERT INTO answer (question_id, body) VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING seq"
_ANSWER_TO = "SELECT body FROM answer WHERE question_id = ?"
_ANSWERS_FOR_CALL = """
SELECT answer.body FROM question JOIN answer USING (question_id)
WHERE tenant = ? AND conversation = ? AND call_id = ? ORDER BY answer.seq
"""
_MEANING = """
SELECT server, tool FROM meaning
WHERE tenant = ? AND conversation = ? AND user_id = ? AND name = ? ORDER BY seq DESC LIMIT 1
"""
_MEANINGS = """
SELECT name, server, tool FROM meaning AS this
WHERE tenant = ?1 AND conversation = ?2 AND user_id = ?3 AND tool IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM meaning AS later
    WHERE tenant = ?1 AND conversation = ?2 AND user_id = ?3 AND name = this.name AND later.seq > this.seq
) ORDER BY seq
"""
_MEAN = """
INSERT INTO meaning (tenant, conversation, user_id, name, server, tool, confirmed_by, at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""

Row = tuple[int, str, bytes]


class SqliteStorage:
    """The `Storage` protocol on one file; `path` may be `:memory:`. See the protocol for every method.

    A claim and an outcome wait for the disk, and so does everything written before them; other writes
    survive the death of the process at once and a loss of power after a moment.
    """

    def __init__(self, path: str | Path, *, wait_seconds: float = WAIT_SECONDS) -> None:
        """Open the file, making it where it is missing; raises StorageError when that is not possible."""
        self.path = str(path)
        self._file = self._opened(self.path, wait_seconds)

    def _opened(self, path: str, wait_seconds: float) -> SqliteFile:
        return SqliteFile(path, wait_seconds=wait_seconds)

    # records

    def append(self, record: Record, *, durable: bool = False) -> Stored:
        """Append a decision; the same `record_id` again returns the stored one."""
        check_way(record, "append")
        row = _row(record)
        found = self._file.writing(lambda db: _insert(db, row), durable=durable)
        if found is None:
            return self._appended_before(record.record_id, durable=durable)
        return _just_stored(found, record, row)

    def _appended_before(self, record_id: str, *, durable: bool) -> Stored:
        stored = self.get(record_id)
        if stored is None:
            raise StorageError(f"record `{record_id}` was refused by `{self.path}`; a foreign trigger is in its way")
        if durable:
            self._file.sync()
        return stored

    def claim(self, record: Record) -> Stored | None:
        """Append an `executing` record durably, or return None when it may not start.

        Permission is given once: a repetition of a claim that succeeded gets None too.
        """
        check_way(record, "claim")
        row = _row(record)

        def work(db: apsw.Connection) -> int | None:
            if not lifecycle.may_follow(_state(db, record.decision_id), record.execution_decision):
                return None
            if db.execute(_RUNNING, (record.scope.tenant, record.scope.conversation, record.key)).fetchall():
                return None
            return _insert(db, row)

        seq = self._file.transaction(work, durable=True)
        return None if seq is None else _just_stored(seq, record, row)

    def finish(self, record: Record) -> Stored | None:
        """Append an outcome durably; the same `record_id` again returns the stored one."""
        check_way(record, "finish")
        row = _row(record)

        def work(db: apsw.Connection) -> int | None:
            if lifecycle.may_follow(_state(db, record.decision_id), record.execution_decision):
                return _insert(db, row)
            return None

        seq = self._file.transaction(work, durable=True)
        return self._finished_before(record) if seq is None else _just_stored(seq, record, row)

    def _finished_before(self, record: Record) -> Stored | None:
        stored = self.get(record.record_id)
        if stored is None or stored.record.decision_id != record.decision_id:
            return None
        return stored if stored.record.execution_decision == record.execution_decision else None

    def get(self, record_id: str) -> Stored | None:
        """Return the record with this id."""
        return self._one(_BY_ID, record_id)

    def steps(self, decision_id: str) -> list[Stored]:
        """Return a decision and the steps of its execution, oldest first."""
        return self._all(_STEPS, decision_id)

    def latest_for_call(self, scope: Scope, call_id: str) -> Stored | None:
        """Return the newest decision that was made for this call."""
        return self._one(_FOR_CALL, scope.tenant, scope.conversation, call_id)

    def latest_executed(self, scope: Scope, user_id: str, action_key: str, fingerprint: str) -> Stored | None:
        """Return the newest `executed` record of this scope, user, key and tool (R-42)."""
        return self._one(_EXECUTED, scope.tenant, scope.conversation, user_id, action_key, fingerprint)

    def unfinished(self) -> list[Stored]:
        """Return the records that wait for an outcome or a settlement, oldest first."""
        return self._all(_UNFINISHED)

    def find(self, query: Query) -> Iterator[Stored]:
        """Yield the records that match, newest first, at most `query.limit`.

        Records are read a page at a time as the caller asks for them; no lock is held in between. In a file
        that may only be read, what is not in the catalogue yet is read through.
        """
        statement, wanted = sqlite_audit.search(query)
        matches, limit = matcher(query), max(query.limit, 0)
        if self._catch_up():
            return self._pages(statement, wanted, _NEWEST, limit)
        last = self._file.reading(sqlite_audit.last)
        rest = (stored for stored in self._pages(_AFTER, [last], _NEWEST, _NEWEST) if matches(stored.record))
        return islice(chain(rest, self._pages(statement, wanted, last + 1, limit)), limit)

    def _catch_up(self) -> bool:
        """Bring the catalogue up to date; False in a file that may only be read."""
        try:
            while self._file.reading(sqlite_audit.behind):
                self._file.transaction(sqlite_audit.catch_up, durable=False)
        except StorageError as error:
            if isinstance(error.__cause__, apsw.ReadOnlyError):
                return False
            raise
        return True

    def _pages(self, statement: str, wanted: Iterable[object], before: int, limit: int) -> Iterator[Stored]:
        left = limit
        while left > 0:
            page = self._all(statement, *wanted, before, min(left, _PAGE))
            yield from page
            if len(page) < _PAGE:
                return
            before, left = page[-1].seq, left - len(page)

    # questions

    def ask(self, question: Question) -> None:
        """Store a question; the same `question_id` again is harmless."""
        scope, expires = question.scope, instant(question.expires_at, "expires_at")
        row = (question.question_id, scope.tenant, scope.conversation, question.call_id, expires, encode(question))
        self._file.writing(lambda db: db.execute(_ASK, row).fetchall(), durable=False)

    def question(self, question_id: str) -> Question | None:
        """Return a question, answered or not."""
        return next((codec.decode_question(body) for body in self._bodies(_QUESTION, question_id)), None)

    def open_questions(self, scope: Scope | None, now: str) -> list[Question]:
        """Return the questions without an answer that have not expired at `now`, oldest first."""
        tenant, conversation = (None, None) if scope is None else (scope.tenant, scope.conversation)
        bodies = self._bodies(_OPEN_QUESTIONS, instant(now, "now"), tenant, conversation)
        return [codec.decode_question(body) for body in bodies]

    def asked(self, scope: Scope, call_id: str) -> list[Question]:
        """Return every question asked about this call, oldest first (R-94)."""
        bodies = self._bodies(_ASKED, scope.tenant, scope.conversation, call_id)
        return [codec.decode_question(body) for body in bodies]

    def answer(self, answer: Answer) -> bool:
        """Store an answer durably; False when the question was answered before (first write wins, R-91)."""
        body = encode(answer)

        def work(db: apsw.Connection) -> bool:
            if not db.execute(_QUESTION, (answer.question_id,)).fetchall():
                raise InvalidInput("question_id", f"no question `{answer.question_id}` was asked")
            return bool(db.execute(_ANSWER, (answer.question_id, body)).fetchall())

        return self._file.transaction(work, durable=True)

    def answer_to(self, question_id: str) -> Answer | None:
        """Return the answer of a question, if one was given."""
        return next((codec.decode_answer(body) for body in self._bodies(_ANSWER_TO, question_id)), None)

    def answers_for_call(self, scope: Scope, call_id: str) -> list[Answer]:
        """Return the answers given to questions about this call, oldest first."""
        bodies = self._bodies(_ANSWERS_FOR_CALL, scope.tenant, scope.conversation, call_id)
        return [codec.decode_answer(body) for body in bodies]

    # learned names

    def learn(self, scope: Scope, user_id: str, name: str, server: str, tool: str, by: str, at: str) -> None:
        """Remember durably that this user means this tool by `name`; the same again is harmless."""
        self._mean(scope, user_id, name, (server, tool), (by, at))

    def forget(self, scope: Scope, user_id: str, name: str, at: str) -> None:
        """Revoke durably what this user means by `name`; the history stays."""
        self._mean(scope, user_id, name, None, (None, at))

    def _mean(
        self, scope: Scope, user_id: str, name: str, meant: tuple[str, str] | None, said: tuple[str | None, str]
    ) -> None:
        key = (scope.tenant, scope.conversation, user_id, name)

        def work(db: apsw.Connection) -> None:
            if _meaning(db, key) != meant:
                db.execute(_MEAN, (*key, *(meant or (None, None)), *said))

        self._file.transaction(work, durable=True)

    def learned(self, scope: Scope, user_id: str) -> list[tuple[str, str, str]]:
        """Return `(name, server, tool)` of every mapping of this user that is in force, oldest first."""
        key = (scope.tenant, scope.conversation, user_id)
        return self._file.reading(lambda db: _rows(db, _MEANINGS, key))

    def close(self) -> None:
        """Release the file; further calls raise StorageError, a second close does nothing."""
        self._file.close()

    # reading

    def _one(self, statement: str, *wanted: object) -> Stored | None:
        return next(iter(self._all(statement, *wanted)), None)

    def _all(self, statement: str, *wanted: object) -> list[Stored]:
        return [self._stored(*row) for row in self._file.reading(lambda db: _rows(db, statement, wanted))]

    def _bodies(self, statement: str, *wanted: object) -> list[bytes]:
        return [body for (body,) in self._file.reading(lambda db: _rows(db, statement, wanted))]

    def _stored(self, seq: int, digest: str, body: bytes) -> Stored:
        if codec.digest(body) != digest:
            raise StorageError(
                f"record {seq} of `{self.path}` is damaged: its bytes do not match their digest; see a backup"
            )
        return Stored(seq, codec.decode_record(body), body, digest)


def _rows(db: apsw.Connection, statement: str, wanted: Sequence[Any]) -> list[Any]:
    return db.execute(statement, wanted).fetchall()


def _row(record: Record) -> tuple[Any, ...]:
    """Return the columns of `_INSERT` for a record."""
    body = encode(record)
    scope, tool, state = record.scope, record.tool, record.execution_decision
    return (
        record.record_id,
        record.decision_id,
        lifecycle.stage(state),
        lifecycle.unfinished(state),
        state,
        scope.tenant,
        scope.conversation,
        record.user_id,
        record.key,
        None if tool is None else tool.name,
        None if tool is None else tool.fingerprint,
        record.call_id,
        instant(record.timestamp, "timestamp"),
        codec.digest(body),
        record.previous_digest,
        body,
    )


def _just_stored(seq: int, record: Record, row: tuple[Any, ...]) -> Stored:
    *_, digest, _previous, body = row
    return Stored(seq, record, body, digest)


def _insert(db: apsw.Connection, row: tuple[Any, ...]) -> int | None:
    """Insert a record; None where the log holds its id, or its decision's step, already."""
    rows = _rows(db, _INSERT, row)
    return rows[0][0] if rows else None


def _state(db: apsw.Connection, decision_id: str) -> RecordState | None:
    """Return the state a decision is in: its last step's, or its own."""
    rows = _rows(db, _STEP_STATE, (decision_id,)) or _rows(db, _DECISION_STATE, (decision_id,))
    return rows[0][0] if rows else None


def _meaning(db: apsw.Connection, key: tuple[str, str, str, str]) -> tuple[str, str] | None:
    rows = _rows(db, _MEANING, key)
    meant: tuple[str, str] | None = rows[0] if rows and rows[0][1] is not None else None
    return meant
