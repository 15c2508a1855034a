"""Deferred runs in SQL: the statements, and what both databases do with them alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from msgspec.structs import replace

from preflight import codec
from preflight.model.deferral import Deferral, DeferralNote, DeferralState
from preflight.model.record import Record
from preflight.model.request import Scope
from preflight.storage.entry import encode, instant

T = TypeVar("T")
Rows = Callable[[str, Any], list[Any]]
"""Runs a statement inside a transaction and returns its rows."""

_INSERT = """
INSERT INTO deferral (
    deferral_id, decision_id, tenant, conversation, call_id, state, due, occurrence, event, question_id, version, body
) VALUES (
    :deferral_id, :decision_id, :tenant, :conversation, :call_id, :state, :due, :occurrence, :event, :question_id,
    :version, :body
) ON CONFLICT DO NOTHING
"""
_OF_CALL = """
SELECT body FROM deferral
WHERE tenant = :tenant AND conversation = :conversation AND call_id = :call_id AND state IN ('waiting', 'held')
"""
_UPDATE = """
UPDATE deferral SET state = :state, due = :due, occurrence = :occurrence, event = :event, question_id = :question_id,
    version = :version, lease = 0, body = :body
WHERE deferral_id = :deferral_id AND version = :version - 1 RETURNING 1
"""
_NOTE = "INSERT INTO deferral_note (deferral_id, body) VALUES (:deferral_id, :body)"
_ROW = "SELECT body FROM deferral WHERE deferral_id = :deferral_id"
_ROWS = """
SELECT body FROM deferral
WHERE (CAST(:tenant AS TEXT) IS NULL OR (tenant = :tenant AND conversation = :conversation))
  AND (:any_state = 1 OR state IN (:one, :two, :three, :four))
ORDER BY due, deferral_id
"""
_AWAITING = "SELECT body FROM deferral WHERE state = 'waiting' AND event = :event ORDER BY due, deferral_id"
LEASE = """
UPDATE deferral SET lease = :until WHERE deferral_id IN (
    SELECT deferral_id FROM deferral
    WHERE state = 'waiting' AND due <= :now AND lease <= :now
      AND (CAST(:only AS TEXT) IS NULL OR deferral_id = :only)
      AND (CAST(:tenant AS TEXT) IS NULL OR tenant = :tenant)
    ORDER BY due LIMIT :most
) RETURNING body
"""
_RELEASE = "UPDATE deferral SET lease = :until WHERE deferral_id = :deferral_id AND state = 'waiting'"
_NOTES = "SELECT body FROM deferral_note WHERE deferral_id = :deferral_id ORDER BY seq"
_ANSWERED = """
SELECT body FROM deferral WHERE state = 'held' AND question_id IS NOT NULL AND EXISTS (
    SELECT 1 FROM answer WHERE answer.question_id = deferral.question_id
) ORDER BY due, deferral_id
"""
_STARTED = "SELECT started_id FROM occurrence WHERE decision_id = :decision_id AND occurrence = :occurrence"
# The row of the run that waits for an occurrence, and of the same occurrence where it was held apart.
_PLACES = "SELECT state, occurrence FROM deferral WHERE decision_id = :decision_id"
_START = """
INSERT INTO occurrence (decision_id, occurrence, started_id, tenant)
VALUES (:decision_id, :occurrence, :started_id, :tenant) ON CONFLICT DO NOTHING RETURNING 1
"""


class SqlDeferrals(ABC):
    """The `Scheduling` protocol over shared statements. See the protocol for every method."""

    @abstractmethod
    def _read(self, statement: str, wanted: Any) -> list[Any]:
        """Return the rows of a statement that reads."""

    @abstractmethod
    def _run(self, statement: str, wanted: Any, *, durable: bool) -> list[Any]:
        """Run one statement as a transaction and return its rows."""

    @abstractmethod
    def _together(self, work: Callable[[Rows], T]) -> T | None:
        """Run `work` in one durable transaction, of which nothing remains when it raises `Undo`; then None."""

    def deferral(self, deferral_id: str) -> Deferral | None:
        """Return a row."""
        return next(iter(self._rows(_ROW, {"deferral_id": deferral_id})), None)

    def deferrals(self, scope: Scope | None = None, states: Sequence[DeferralState] = ()) -> list[Deferral]:
        """Return the rows of a scope, or of all, in these states, or in any, the next due first."""
        named = dict(zip(("one", "two", "three", "four"), [*states, "", "", "", ""][:4], strict=True))
        place = {"tenant": scope and scope.tenant, "conversation": scope and scope.conversation}
        return self._rows(_ROWS, {**place, **named, "any_state": int(not states)})

    def awaiting(self, event: str) -> list[Deferral]:
        """Return the rows that wait for an event of this name, oldest first."""
        return self._rows(_AWAITING, {"event": event})

    def lease(
        self, now: str, until: str, limit: int, only: str | None = None, tenant: str | None = None
    ) -> list[Deferral]:
        """Return waiting rows that are due and that nobody holds, and hold them until `until`."""
        times = {"now": instant(now, "now"), "until": instant(until, "until")}
        wanted = {**times, "most": limit, "only": only, "tenant": tenant}
        found = [codec.decode_deferral(body) for (body,) in self._run(self._lease_statement(), wanted, durable=False)]
        return sorted(found, key=lambda row: row.due)

    def _lease_statement(self) -> str:
        return LEASE

    def release(self, deferral_id: str, until: str) -> None:
        """Let go of a row that was leased."""
        self._run(_RELEASE, {"deferral_id": deferral_id, "until": instant(until, "until")}, durable=False)

    def change(
        self, row: Deferral, note: DeferralNote, *, apart: Deferral | None = None, unless_started: bool = False
    ) -> bool:
        """Replace a row by its next version durably, and add a note."""

        def work(rows: Rows) -> bool:
            before = rows(_ROW, {"deferral_id": row.deferral_id})
            if not rows(_UPDATE, _columns(row)):
                return False
            waited = codec.decode_deferral(before[0][0])
            # asked after the row is locked: a start that comes later finds it changed
            if unless_started and rows(_STARTED, _of(waited.decision_id, waited.occurrence)):
                raise Undo
            if apart is not None:
                rows(_INSERT, _columns(apart))
            rows(_NOTE, _noted(note))
            return True

        return bool(self._together(work))

    def note(self, note: DeferralNote) -> None:
        """Add a note."""
        self._run(_NOTE, _noted(note), durable=False)

    def notes(self, deferral_id: str) -> list[DeferralNote]:
        """Return the notes about a row, oldest first."""
        return [codec.decode_note(body) for (body,) in self._read(_NOTES, {"deferral_id": deferral_id})]

    def answered(self) -> list[Deferral]:
        """Return the held rows whose question was answered, oldest first."""
        return self._rows(_ANSWERED, {})

    def over(self, record: Record) -> bool:
        """Whether a record with a trigger cannot start."""
        return not may_start(self._read, record, look=True)

    def started(self, decision_id: str, occurrence: str) -> str | None:
        """Return the id of the decision that an occurrence of a deferred record started, or None."""
        return next((found for (found,) in self._read(_STARTED, _of(decision_id, occurrence))), None)

    def _rows(self, statement: str, wanted: Any) -> list[Deferral]:
        return [codec.decode_deferral(body) for (body,) in self._read(statement, wanted)]


class Undo(Exception):
    """Take a transaction back."""


def put_in(rows: Rows, record: Record, row: Deferral) -> None:
    """Insert the row of a new run with its note, and supersede those of the same call that still wait."""
    if row.call_id is not None:
        of_call = {"tenant": row.scope.tenant, "conversation": row.scope.conversation, "call_id": row.call_id}
        for (body,) in rows(_OF_CALL, of_call):
            replaced, note = superseded(codec.decode_deferral(body), record)
            rows(_UPDATE, _columns(replaced))
            rows(_NOTE, _noted(note))
    rows(_INSERT, _columns(row))
    rows(_NOTE, _noted(scheduled(record, row)))


def may_start(rows: Rows, record: Record, *, lock: str = "", look: bool = False) -> bool:
    """Note the start of a record with a trigger, if it is the first of its occurrence and still waited for (R-83).

    With `look`, nothing is noted. `lock` is what makes the database hold the row until the transaction ends.
    """
    decision_id, occurrence = trigger_ids(record)
    if occurrence is None:
        return True
    places = rows(_PLACES + lock, {"decision_id": decision_id})
    if places and ("waiting", occurrence) not in [tuple(place) for place in places]:
        return False
    if look:
        return not rows(_STARTED, _of(decision_id, occurrence))
    wanted = {**_of(decision_id, occurrence), "started_id": record.decision_id, "tenant": record.scope.tenant}
    return bool(rows(_START, wanted))


def trigger_ids(record: Record) -> tuple[str, str | None]:
    """Return the deferred record and the occurrence that a record was fired by; None where by none."""
    trigger = record.trigger if isinstance(record.trigger, dict) else {}
    decision_id, occurrence = trigger.get("decision_id"), trigger.get("occurrence")
    return str(decision_id), occurrence if type(occurrence) is str else None


def superseded(row: Deferral, by: Record) -> tuple[Deferral, DeferralNote]:
    """Return a waiting row as it is when the same call was deferred anew, and the note of it."""
    note = DeferralNote(
        deferral_id=row.deferral_id, at=by.timestamp, what="cancelled", reason="superseded", record_id=by.record_id
    )
    return replace(row, state="cancelled", reason="superseded", version=row.version + 1), note


def scheduled(record: Record, row: Deferral) -> DeferralNote:
    """Return the first note about a row."""
    return DeferralNote(
        deferral_id=row.deferral_id,
        at=record.timestamp,
        what="scheduled",
        by=row.user_id,
        occurrence=row.occurrence,
        record_id=record.record_id,
    )


def _columns(row: Deferral) -> dict[str, Any]:
    return {
        "deferral_id": row.deferral_id,
        "decision_id": row.decision_id,
        "tenant": row.scope.tenant,
        "conversation": row.scope.conversation,
        "call_id": row.call_id,
        "state": row.state,
        "due": instant(row.due, "due"),
        "occurrence": row.occurrence,
        "event": row.event,
        "question_id": row.question_id,
        "version": row.version,
        "body": encode(row),
    }


def _noted(note: DeferralNote) -> dict[str, Any]:
    return {"deferral_id": note.deferral_id, "body": encode(note)}


def _of(decision_id: str, occurrence: str | None) -> dict[str, Any]:
    return {"decision_id": decision_id, "occurrence": occurrence}
