"""The worker: looks what is due, and fires it. Embedded by `run_due`, or woken by an engine (`deferral.engines`)."""

from __future__ import annotations

import logging

from preflight.api import Preflight
from preflight.clock import iso
from preflight.deferral import rows
from preflight.deferral.connections import Connections
from preflight.deferral.firing import Fired, Firing
from preflight.errors import ConstructionError, StorageError, describe
from preflight.model.deferral import DeferralNote
from preflight.ports import Scheduling, Storage

LEASE_SECONDS = 120.0
"""How long a worker has a row for itself: longer than most calls take. Whoever looks then cannot start it again."""
RECOVER_SECONDS = 60.0
"""How often starts that lost their outcome are put in doubt: they keep others of their key waiting (R-75, R-77)."""
_log = logging.getLogger("preflight.worker")


class Worker:
    """Fires deferred runs. Any number of them may work on one store, in one process or on many machines."""

    def __init__(self, gate: Preflight, connections: Connections, *, lease_seconds: float = LEASE_SECONDS) -> None:
        """Decide and execute with `gate`, reach tools by `connections`.

        Raises ConstructionError for a store that keeps no rows.
        """
        if not isinstance(gate.storage, Scheduling):
            raise ConstructionError(f"`{type(gate.storage).__name__}` keeps no deferred runs; use another store")
        self._gate = gate
        self._store: Scheduling = gate.storage
        self._firing = Firing(gate, connections)
        self._lease_seconds = lease_seconds
        self._recovered: float | None = None

    @property
    def storage(self) -> Storage:
        """The store that it works on."""
        return self._gate.storage

    def run_due(self, limit: int = 1_000, only: str | None = None) -> list[Fired]:
        """Fire what is due now, at most `limit` rows, and return what became of each; `only` names one row."""
        self._free_answered()
        fired: list[Fired] = []
        began = self._gate.clock.now()  # what is put off meanwhile is not due once more in this round
        for _ in range(limit):
            until = self._gate.clock.now() + self._lease_seconds
            leased = self._store.lease(iso(began), iso(until), 1, only)
            if not leased:
                break
            fired += [self._firing.look(row) for row in leased]
        return fired

    def look(self, only: str | None = None) -> None:
        """Fire what is due and log it; a store that fails is tried again at the next look."""
        try:
            self._recover()
            for fired in self.run_due(only=only):
                _log.info("%s: %s %s", fired.row.deferral_id, fired.what or "later", fired.reason or "")
        except StorageError as fault:
            _log.error("the store failed, trying again: %s", describe(fault))

    def _recover(self) -> None:
        now = self._gate.clock.now()
        if self._recovered is None or now - self._recovered >= RECOVER_SECONDS or now < self._recovered:
            self._recovered = now
            self._gate.recover()

    def _free_answered(self) -> None:
        """Let what was held for a question run again, now that it is answered, however late that is (R-82)."""
        for row in self._store.answered():
            answer = None if row.question_id is None else self._gate.storage.answer_to(row.question_id)
            now = self._gate.clock.now()
            note = DeferralNote(
                deferral_id=row.deferral_id,
                at=iso(now),
                what="resumed",
                reason="answered",
                by=None if answer is None else answer.person,
                occurrence=row.occurrence,
            )
            self._store.change(rows.resumed(row, rows.at(now)), note)
