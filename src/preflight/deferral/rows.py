"""The next version of a row: waiting for its next occurrence, held, moved, over. Pure."""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec.structs import replace

from preflight.deferral import triggers
from preflight.deferral.triggers import Spec
from preflight.model.deferral import Deferral, occurrence_id


def at(seconds: float) -> datetime:
    """Return a clock's seconds as an instant."""
    return datetime.fromtimestamp(seconds, UTC)


def late(row: Deferral, now: datetime) -> float:
    """Return by how many seconds a row is late; a hastened one is not early."""
    return max(0.0, (now - triggers.instant_of(row.due)).total_seconds())


def occurring(row: Deferral, instant: datetime) -> Deferral:
    """Return a row that waits for an occurrence: it has one id, `action_key@instant` (R-83)."""
    text = triggers.text_of(instant)
    return replace(
        row,
        state="waiting",
        due=text,
        slot=text,
        occurrence=occurrence_id(row.action_key, text),
        event=None,
        reason=None,
        question_id=None,
        forced=False,
        version=row.version + 1,
    )


def following(row: Deferral, spec: Spec, now: datetime, *, missed: bool) -> tuple[Deferral, int]:
    """Return a row after its occurrence, and how many passed unseen: done, or waiting for the next.

    The next is the first after the occurrence's own place, however the clock was set meanwhile; after a `missed`
    one, the first that is still to come.
    """
    if row.deferral_id != row.decision_id or row.slot is None:
        return ended(row, "done", None), 0
    place = triggers.instant_of(row.slot)
    passed = 0
    found = triggers.next_after(spec, place)
    if missed and found is not None and found <= now:
        passed = count_between(spec, place, now)
        found = triggers.next_after(spec, now)
    return (ended(row, "done", None) if found is None else occurring(row, found)), passed


def count_between(spec: Spec, after: datetime, until: datetime, most: int = 1_000) -> int:
    """Return how many occurrences lie after one instant and not after another; counting stops at `most`."""
    counted = 0
    found = triggers.next_after(spec, after)
    while found is not None and found <= until and counted < most:
        counted, found = counted + 1, triggers.next_after(spec, found)
    return counted


def ended(row: Deferral, state: str, reason: str | None) -> Deferral:
    """Return a row that is over."""
    return replace(row, state=state, reason=reason, question_id=None, version=row.version + 1)


def held(row: Deferral, reason: str, question_id: str | None) -> Deferral:
    """Return a row whose occurrence is held."""
    return replace(row, state="held", reason=reason, question_id=question_id, version=row.version + 1)


def apart(row: Deferral, reason: str, question_id: str | None) -> Deferral:
    """Return the row of one occurrence that is held for itself, so that the next one need not wait (R-82)."""
    return replace(
        row,
        deferral_id=f"{row.decision_id}@{row.slot}",
        call_id=None,
        state="held",
        reason=reason,
        question_id=question_id,
        version=1,
    )


def resumed(row: Deferral, now: datetime) -> Deferral:
    """Return a held row that is to run now; that it is late is no reason to hold it again."""
    return replace(
        row, state="waiting", due=triggers.text_of(now), reason=None, question_id=None, forced=True,
        version=row.version + 1,
    )  # fmt: skip
