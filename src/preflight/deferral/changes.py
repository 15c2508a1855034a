"""What people do with deferred runs: look, cancel, move, hasten, resume, report an event. Every change is noted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import MAXYEAR, UTC, datetime

from msgspec.structs import replace

from preflight.api import AsyncPreflight, Preflight
from preflight.clock import iso
from preflight.deferral import rows, triggers
from preflight.deferral.triggers import RECURRING, Event, Spec
from preflight.errors import ConstructionError, InvalidInput
from preflight.model.deferral import Deferral, DeferralNote, DeferralState, NoteKind
from preflight.model.json_value import same_value
from preflight.model.request import Scope
from preflight.ports import Scheduling
from preflight.scheduling import when_of

OPEN: tuple[DeferralState, ...] = ("waiting", "held")


class DeferredRuns:
    """The deferred runs of a store, for the people they belong to.

    A run that has started can be neither cancelled nor moved. Methods raise InvalidInput saying why not; a change
    that was made of a row as it was `seen` (its version) is refused when the row is another by now.
    """

    def __init__(self, gate: AsyncPreflight | Preflight) -> None:
        """Work on the store of `gate`; raises ConstructionError for one that keeps no deferred runs."""
        if not isinstance(gate.storage, Scheduling):
            raise ConstructionError(f"`{type(gate.storage).__name__}` keeps no deferred runs; use another store")
        self._gate = gate
        self._store: Scheduling = gate.storage

    def find(self, scope: Scope | None = None, states: Sequence[DeferralState] = OPEN) -> list[Deferral]:
        """Return the rows, the next due first."""
        return self._store.deferrals(scope, states)

    def show(self, deferral_id: str) -> tuple[Deferral, list[DeferralNote]]:
        """Return a row and what happened to it."""
        return self._row(deferral_id), self._store.notes(deferral_id)

    def started(self, row: Deferral) -> bool:
        """Whether the occurrence that a row waits for has started: its worker has not come to change the row yet."""
        return row.occurrence is not None and self._store.started(row.decision_id, row.occurrence) is not None

    def cancel(self, deferral_id: str, *, by: str, seen: int | None = None) -> Deferral:
        """Cancel a run, with what is held of it: nothing of it fires any more."""
        row = self._open(deferral_id, seen)
        # of a recurrence the further ones are cancelled, whether or not the present one has started
        cancelled = self._cancelled(row, by, unless_started=not self._recurs(row))
        for held in self._apart(row):
            with suppress(InvalidInput):  # somebody else changed it meanwhile
                self._cancelled(held, by, unless_started=True)
        return cancelled

    def _cancelled(self, row: Deferral, by: str, *, unless_started: bool) -> Deferral:
        after = rows.ended(row, "cancelled", "cancelled")
        return self._changed(row, after, "cancelled", by, unless_started=unless_started)

    def _apart(self, row: Deferral) -> list[Deferral]:
        """Return the occurrences of a recurrence that are held for themselves, or were resumed."""
        if row.deferral_id != row.decision_id:
            return []
        found = self._store.deferrals(row.scope, ("held", "waiting"))
        return [each for each in found if each.decision_id == row.decision_id and each.deferral_id != row.deferral_id]

    def move(self, deferral_id: str, to: datetime, *, by: str, seen: int | None = None) -> Deferral:
        """Move the next occurrence of a run to another instant; one of a recurrence, to before the one after it."""
        row = self._waiting(deferral_id, seen)
        spec = self._spec(row)
        if row.occurrence is None:
            raise InvalidInput("deferral", f"`{deferral_id}` waits for something to happen, not for a time")
        now = self._now()
        if to.tzinfo is None or to <= now or to.year == MAXYEAR:
            raise InvalidInput("to", f"`{to.isoformat()}` is not a time to come", "give one with its offset")
        place = triggers.instant_of(row.slot or row.due)
        after_that = triggers.next_after(spec, place) if isinstance(spec, RECURRING) else None
        if after_that is not None and to >= after_that:
            what = f"`{to.isoformat()}` is not before the next one, {triggers.text_of(after_that)}"
            raise InvalidInput("to", what, "cancel this one instead")
        moved = rows.occurring(row, to)
        said = triggers.said_at(to.astimezone(UTC), spec.zone)
        moved = replace(moved, slot=row.slot, said=row.said if after_that else said)
        return self._changed(row, moved, "moved", by, reason=said, unless_started=True)

    def run_now(self, deferral_id: str, *, by: str, seen: int | None = None) -> Deferral:
        """Have a run fire at the worker's next look."""
        row = self._waiting(deferral_id, seen)
        if row.occurrence is None:
            hastened = rows.occurring(row, self._now())
        else:
            hastened = replace(row, due=iso(self._gate.clock.now()), version=row.version + 1)
        return self._changed(row, replace(hastened, forced=True), "hastened", by, unless_started=True)

    def resume(self, deferral_id: str, *, by: str, seen: int | None = None) -> Deferral:
        """Have a held run tried again at the worker's next look: from the beginning, with everything fetched anew."""
        row = self._row(deferral_id)
        if row.state != "held":
            raise InvalidInput("deferral", f"`{deferral_id}` is `{row.state}`, not `held`")
        _as_seen(row, seen)
        return self._changed(row, rows.resumed(row, self._now()), "resumed", by)

    def event(self, name: str, content: Mapping[str, object], *, by: str) -> list[Deferral]:
        """Report an event: every run that waits for it, and whose values it has, is due."""
        found = []
        for row in self._store.awaiting(name):
            spec = self._spec(row)
            if isinstance(spec, Event) and _matches(content, spec.match):
                come = replace(rows.occurring(row, self._now()), happened=dict(content))
                note = self._note(come, "happened", by, name)
                if self._store.change(come, note):
                    found.append(come)
        return found

    def _row(self, deferral_id: str) -> Deferral:
        row = self._store.deferral(deferral_id)
        if row is None:
            raise InvalidInput(
                "deferral", f"no deferred run has the id `{deferral_id}`", "see `preflight deferred list`"
            )
        return row

    def _open(self, deferral_id: str, seen: int | None) -> Deferral:
        row = self._row(deferral_id)
        if row.state not in OPEN:
            raise InvalidInput("deferral", f"`{deferral_id}` is `{row.state}`: there is nothing left to change")
        _as_seen(row, seen)
        return row

    def _waiting(self, deferral_id: str, seen: int | None) -> Deferral:
        row = self._open(deferral_id, seen)
        if row.state == "held":
            raise InvalidInput("deferral", f"`{deferral_id}` is held: {row.reason}", "resume it, or cancel it")
        return row

    def _spec(self, row: Deferral) -> Spec:
        stored = self._gate.storage.get(row.decision_id)
        if stored is None:
            raise InvalidInput("deferral", f"the record of `{row.deferral_id}` is gone")
        return triggers.spec_of(when_of(stored.record).trigger)

    def _recurs(self, row: Deferral) -> bool:
        if self._gate.storage.get(row.decision_id) is None:
            return False  # its record is gone: it can still be cancelled
        return row.deferral_id == row.decision_id and isinstance(self._spec(row), RECURRING)

    def _now(self) -> datetime:
        return rows.at(self._gate.clock.now())

    def _note(self, row: Deferral, what: NoteKind, by: str, reason: str | None) -> DeferralNote:
        return DeferralNote(
            deferral_id=row.deferral_id,
            at=iso(self._gate.clock.now()),
            what=what,
            reason=reason,
            by=by,
            occurrence=row.occurrence,
        )

    def _changed(
        self,
        row: Deferral,
        after: Deferral,
        what: NoteKind,
        by: str,
        *,
        reason: str | None = None,
        unless_started: bool = False,
    ) -> Deferral:
        if self._store.change(after, self._note(after, what, by, reason), unless_started=unless_started):
            return after
        why = "has started" if self.started(row) else "was changed meanwhile; look again"
        raise InvalidInput("deferral", f"`{row.deferral_id}` {why}")


def _as_seen(row: Deferral, seen: int | None) -> None:
    if seen is not None and row.version != seen:
        raise InvalidInput("deferral", f"`{row.deferral_id}` was changed meanwhile; look again")


def time_of(text: str) -> datetime:
    """Read the time that a person moves a run to; raises InvalidInput for what is none."""
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        raise InvalidInput("to", f"`{text}` is no time", "write it like 2026-12-04T10:00:00+09:00") from None


def _matches(content: Mapping[str, object], wanted: Mapping[str, object]) -> bool:
    """Whether an event has every value that is waited for."""
    return all(name in content and same_value(content[name], value) for name, value in wanted.items())
