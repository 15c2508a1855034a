"""Deferred runs seen by one tenant: the `Scheduling` protocol over another store."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import cast

from preflight.model.deferral import Deferral, DeferralNote, DeferralState
from preflight.model.record import Record
from preflight.model.request import Scope
from preflight.ports import Scheduling, Signer, Storage, Stored


class TenantDeferrals(ABC):
    """What belongs to another tenant is as if it were not there. See the protocol for every method."""

    _store: Storage
    _tenant: str

    @abstractmethod
    def _check(self, scope: Scope) -> Scope:
        """Return the scope, or refuse another tenant's."""

    @property
    def _runs(self) -> Scheduling:
        return cast("Scheduling", self._store)

    def defer(self, record: Record, row: Deferral, *, signer: Signer | None = None) -> Stored:
        """Append a `deferred` record of this tenant and its row."""
        self._check(record.scope)
        self._check(row.scope)
        return self._runs.defer(record, row, signer=signer)

    def deferral(self, deferral_id: str) -> Deferral | None:
        """Return a row, if it is this tenant's."""
        return next(iter(self._own_rows([self._runs.deferral(deferral_id)])), None)

    def deferrals(self, scope: Scope | None = None, states: Sequence[DeferralState] = ()) -> list[Deferral]:
        """Return the rows of this tenant."""
        return self._own_rows(self._runs.deferrals(scope and self._check(scope), states))

    def awaiting(self, event: str) -> list[Deferral]:
        """Return the rows of this tenant that wait for an event of this name."""
        return self._own_rows(self._runs.awaiting(event))

    def lease(
        self, now: str, until: str, limit: int, only: str | None = None, tenant: str | None = None
    ) -> list[Deferral]:
        """Hold rows of this tenant that are due."""
        if tenant not in (None, self._tenant):
            return []
        return self._runs.lease(now, until, limit, only, self._tenant)

    def release(self, deferral_id: str, until: str) -> None:
        """Let go of a row of this tenant."""
        if self.deferral(deferral_id) is not None:
            self._runs.release(deferral_id, until)

    def change(
        self, row: Deferral, note: DeferralNote, *, apart: Deferral | None = None, unless_started: bool = False
    ) -> bool:
        """Replace a row of this tenant."""
        self._check(row.scope)
        if self.deferral(row.deferral_id) is None:
            return False
        return self._runs.change(row, note, apart=apart, unless_started=unless_started)

    def note(self, note: DeferralNote) -> None:
        """Add a note about a row of this tenant."""
        if self.deferral(note.deferral_id) is not None:
            self._runs.note(note)

    def notes(self, deferral_id: str) -> list[DeferralNote]:
        """Return the notes about a row of this tenant."""
        return [] if self.deferral(deferral_id) is None else self._runs.notes(deferral_id)

    def answered(self) -> list[Deferral]:
        """Return the held rows of this tenant whose question was answered."""
        return self._own_rows(self._runs.answered())

    def over(self, record: Record) -> bool:
        """Whether a record of this tenant with a trigger cannot start."""
        self._check(record.scope)
        return self._runs.over(record)

    def started(self, decision_id: str, occurrence: str) -> str | None:
        """Return the decision that an occurrence of a record of this tenant started, or None."""
        stored = self._store.get(decision_id)
        if stored is None or stored.record.scope.tenant != self._tenant:
            return None
        return self._runs.started(decision_id, occurrence)

    def _own_rows(self, rows: Sequence[Deferral | None]) -> list[Deferral]:
        return [row for row in rows if row is not None and row.scope.tenant == self._tenant]
