"""Deferred runs in memory: the `Scheduling` protocol on dictionaries, behind the store's lock."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager

from preflight import codec
from preflight.model.deferral import Deferral, DeferralNote, DeferralState
from preflight.model.question import Answer
from preflight.model.record import Record
from preflight.model.request import Scope
from preflight.ports import Signer, Stored
from preflight.storage.deferrals import scheduled, superseded, trigger_ids
from preflight.storage.entry import check_way, encode, instant


class MemoryDeferrals(ABC):
    """See the protocol for every method."""

    def __init__(self) -> None:
        """Start empty."""
        self._rows: dict[str, bytes] = {}
        self._leases: dict[str, int] = {}
        self._notes: list[tuple[str, bytes]] = []
        self._starts: dict[tuple[str, str], str] = {}

    @abstractmethod
    def _opened(self) -> AbstractContextManager[None]:
        """Hold the lock; raises StorageError when the store is closed."""

    @abstractmethod
    def get(self, record_id: str) -> Stored | None:
        """Return the record with this id."""

    @abstractmethod
    def _store(self, record: Record, signer: Signer | None) -> Stored:
        """Append a record."""

    @abstractmethod
    def answer_to(self, question_id: str) -> Answer | None:
        """Return the answer of a question, if one was given."""

    def defer(self, record: Record, row: Deferral, *, signer: Signer | None = None) -> Stored:
        """Append a `deferred` record and its row."""
        check_way(record, "append")
        with self._opened():
            before = self.get(record.record_id)
            if before is not None:
                return before
            stored = self._store(record, signer)
            for other in self.deferrals(row.scope, ("waiting", "held")):
                if row.call_id is not None and other.call_id == row.call_id:
                    replaced, note = superseded(other, record)
                    self._put(replaced)
                    self.note(note)
            self._put(row)
            self.note(scheduled(record, row))
            return stored

    def _may_start(self, record: Record) -> bool:
        decision_id, occurrence = trigger_ids(record)
        if occurrence is None:
            return True
        places = [row for row in self.deferrals() if row.decision_id == decision_id]
        waited = any(row.state == "waiting" and row.occurrence == occurrence for row in places)
        return (waited or not places) and (decision_id, occurrence) not in self._starts

    def _note_start(self, record: Record) -> None:
        decision_id, occurrence = trigger_ids(record)
        if occurrence is not None:
            self._starts[decision_id, occurrence] = record.decision_id

    def deferral(self, deferral_id: str) -> Deferral | None:
        """Return a row."""
        with self._opened():
            body = self._rows.get(deferral_id)
        return None if body is None else codec.decode_deferral(body)

    def deferrals(self, scope: Scope | None = None, states: Sequence[DeferralState] = ()) -> list[Deferral]:
        """Return the rows of a scope, or of all, in these states, or in any, the next due first."""
        with self._opened():
            rows = [codec.decode_deferral(body) for body in self._rows.values()]
        found = [row for row in rows if scope in (None, row.scope) and (not states or row.state in states)]
        return sorted(found, key=lambda row: (instant(row.due, "due"), row.deferral_id))

    def awaiting(self, event: str) -> list[Deferral]:
        """Return the rows that wait for an event of this name, oldest first."""
        return [row for row in self.deferrals(None, ("waiting",)) if row.event == event]

    def lease(
        self, now: str, until: str, limit: int, only: str | None = None, tenant: str | None = None
    ) -> list[Deferral]:
        """Return waiting rows that are due and that nobody holds, and hold them until `until`."""
        at = instant(now, "now")
        with self._opened():
            due = [
                row
                for row in self.deferrals(None, ("waiting",))
                if instant(row.due, "due") <= at
                and self._leases.get(row.deferral_id, 0) <= at
                and only in (None, row.deferral_id)
                and tenant in (None, row.scope.tenant)
            ][:limit]
            self._leases |= {row.deferral_id: instant(until, "until") for row in due}
            return due

    def release(self, deferral_id: str, until: str) -> None:
        """Let go of a row that was leased."""
        with self._opened():
            self._leases[deferral_id] = instant(until, "until")

    def change(
        self, row: Deferral, note: DeferralNote, *, apart: Deferral | None = None, unless_started: bool = False
    ) -> bool:
        """Replace a row by its next version, and add a note."""
        with self._opened():
            before = self.deferral(row.deferral_id)
            if before is None or before.version != row.version - 1:
                return False
            if unless_started and (before.decision_id, before.occurrence) in self._starts:
                return False
            self._put(row)
            self._leases.pop(row.deferral_id, None)
            if apart is not None:
                self._put(apart)
            self.note(note)
            return True

    def note(self, note: DeferralNote) -> None:
        """Add a note."""
        with self._opened():
            self._notes.append((note.deferral_id, encode(note)))

    def notes(self, deferral_id: str) -> list[DeferralNote]:
        """Return the notes about a row, oldest first."""
        with self._opened():
            return [codec.decode_note(body) for name, body in self._notes if name == deferral_id]

    def answered(self) -> list[Deferral]:
        """Return the held rows whose question was answered, oldest first."""
        held = self.deferrals(None, ("held",))
        return [row for row in held if row.question_id is not None and self.answer_to(row.question_id) is not None]

    def over(self, record: Record) -> bool:
        """Whether a record with a trigger cannot start."""
        return not self._may_start(record)

    def started(self, decision_id: str, occurrence: str) -> str | None:
        """Return the id of the decision that an occurrence of a deferred record started, or None."""
        with self._opened():
            return self._starts.get((decision_id, occurrence))

    def _put(self, row: Deferral) -> None:
        instant(row.due, "due")
        self._rows[row.deferral_id] = encode(row)
