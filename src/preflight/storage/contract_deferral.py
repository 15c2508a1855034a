"""The part of the contract that is about deferred runs: rows, leases, notes, and the one start of an occurrence."""

# ruff: noqa: D102  each test's name is the promise it holds a store to

from __future__ import annotations

from typing import Protocol, cast

from msgspec.structs import replace

from preflight.errors import StorageError
from preflight.model.deferral import Deferral, DeferralNote
from preflight.model.record import Record
from preflight.model.request import Scope
from preflight.ports import Scheduling, Storage
from preflight.storage.contract_log import LogContract, holds, ids, refused, run_together, same
from preflight.storage.samples import HERE, MORNING, sample_answer, sample_decision, sample_question, sample_step

NINE = "2026-03-01T09:00:00.000000+00:00"
TEN = "2026-03-01T10:00:00.000000+00:00"
ELEVEN = "2026-03-01T11:00:00.000000+00:00"


class _Store(Storage, Scheduling, Protocol):
    """Both protocols at once."""


def row(deferral_id: str, due: str = NINE, **changes: object) -> Deferral:
    """Return a row that waits."""
    plain = Deferral(
        deferral_id=deferral_id,
        decision_id=deferral_id,
        scope=HERE,
        user_id="u_01",
        action_key="k",
        state="waiting",
        said="at nine",
        due=due,
        slot=due,
        occurrence=f"k@{due}",
    )
    return replace(plain, **changes)


def note(deferral_id: str, **changes: object) -> DeferralNote:
    """Return a note."""
    plain = DeferralNote(deferral_id=deferral_id, at=NINE, what="held", reason="because")
    return replace(plain, **changes)


def later(before: Deferral, **changes: object) -> Deferral:
    """Return the next version of a row."""
    return replace(before, version=before.version + 1, **changes)


def fired(record_id: str, decision_id: str, occurrence: str, key: str | None = None) -> Record:
    """Return an `execute` decision of a run that was fired by an occurrence."""
    trigger = {"decision_id": decision_id, "occurrence": occurrence, "when_case": "scheduled"}
    return sample_decision(record_id, trigger=trigger, action_key=key or f"key of {record_id}")


def _raced(store: _Store, name: str, decision: Record, *, cancel_first: bool) -> tuple[bool, bool]:
    """Start an occurrence and cancel its run in two threads; whether the one and the other was done."""
    done: dict[str, bool] = {}

    def work(number: int) -> None:
        if (number == 0) == cancel_first:
            done["cancelled"] = store.change(later(row(name), state="cancelled"), note(name), unless_started=True)
        else:
            done["started"] = store.claim(sample_step(decision, "executing")) is not None

    run_together(work, 2)
    return done["started"], done["cancelled"]


class DeferralContract(LogContract):
    """One test for each promise of `preflight.ports.Scheduling`; nothing is asked of a store that has no such part."""

    def _scheduling(self) -> _Store | None:
        store = self.open_storage()
        return cast("_Store", store) if isinstance(store, Scheduling) else None

    def test_a_deferred_record_and_its_row_come_together(self) -> None:
        store = self._scheduling()
        if store is None:
            return
        stored = store.defer(sample_decision("d1", "deferred"), row("d1"))
        same(store.get("d1"), stored, "the record")
        same(store.deferral("d1"), row("d1"), "the row")
        same(store.deferral("d2"), None, "no row")
        same([n.what for n in store.notes("d1")], ["scheduled"], "its first note")
        again = store.defer(sample_decision("d1", "deferred"), row("d1"))
        same((again.seq, len(store.notes("d1"))), (stored.seq, 1), "the same again")
        with refused(StorageError, "a record without a JSON form"):
            store.defer(sample_decision("d2", "deferred", reason="\ud800"), row("d2"))
        same((store.get("d2"), store.deferral("d2")), (None, None), "neither without the other")

    def test_the_same_call_deferred_anew_supersedes_what_waits(self) -> None:
        store = self._scheduling()
        if store is None:
            return
        elsewhere = Scope("tenant", "other")
        store.defer(sample_decision("d1", "deferred"), row("d1", call_id="c"))
        store.defer(sample_decision("d2", "deferred", scope=elsewhere), row("d2", call_id="c", scope=elsewhere))
        store.defer(sample_decision("d3", "deferred"), row("d3", call_id="c"))
        store.defer(sample_decision("d4", "deferred"), row("d4"))
        states = {r.deferral_id: r.state for r in store.deferrals()}
        same(states, {"d1": "cancelled", "d2": "waiting", "d3": "waiting", "d4": "waiting"}, "superseded")
        same([n.reason for n in store.notes("d1")], [None, "superseded"], "noted")

    def test_rows_are_listed_by_scope_and_state(self) -> None:
        store = self._scheduling()
        if store is None:
            return
        elsewhere = Scope("tenant", "other")
        store.defer(sample_decision("d1", "deferred"), row("d1", TEN))
        store.defer(sample_decision("d2", "deferred"), row("d2", NINE, event="paid", occurrence=None))
        store.defer(
            sample_decision("d3", "deferred", scope=elsewhere), row("d3", ELEVEN, scope=elsewhere, event="paid")
        )
        store.change(later(row("d1", TEN), state="held"), note("d1"))

        def found(rows: list[Deferral]) -> list[str]:
            return [r.deferral_id for r in rows]

        same(found(store.deferrals()), ["d2", "d1", "d3"], "all, the next due first")
        same(found(store.deferrals(HERE)), ["d2", "d1"], "of a scope")
        same(found(store.deferrals(None, ("held",))), ["d1"], "held")
        same(found(store.deferrals(HERE, ("waiting", "done"))), ["d2"], "waiting or done")
        same(found(store.awaiting("paid")), ["d2", "d3"], "awaiting an event")
        same(found(store.awaiting("other")), [], "awaiting another")

    def test_what_is_due_is_leased_once(self) -> None:
        store = self._scheduling()
        if store is None:
            return
        for name, due in (("d1", TEN), ("d2", NINE), ("d3", ELEVEN)):
            store.defer(sample_decision(name, "deferred"), row(name, due))

        def leased(now: str, limit: int = 10, only: str | None = None) -> list[str]:
            return [r.deferral_id for r in store.lease(now, ELEVEN, limit, only)]

        same(leased(MORNING, only="d1"), [], "not due yet")
        same(leased(TEN, 1), ["d2"], "the longest due first")
        same(leased(TEN), ["d1"], "what nobody holds")
        same(leased(TEN), [], "all are held")
        same(leased(ELEVEN, only="d1"), ["d1"], "the lease has run out")
        store.release("d2", TEN)
        same(leased(TEN), ["d2"], "let go")
        held = later(row("d2", NINE), state="held")
        holds(store.change(held, note("d2")), "a change")
        same(leased(ELEVEN), ["d1", "d3"], "what is held is not due")

    def test_a_change_is_made_to_the_version_it_was_made_of(self) -> None:
        store = self._scheduling()
        if store is None:
            return
        store.defer(sample_decision("d1", "deferred"), row("d1"))
        apart = row("d1@x", decision_id="d1", state="held")
        first = later(row("d1"), due=TEN)
        holds(store.change(first, note("d1"), apart=apart), "the first change")
        holds(not store.change(later(row("d1"), state="done"), note("d1", reason="lost")), "a second of the same")
        holds(not store.change(later(row("d9")), note("d9")), "of nothing")
        same((store.deferral("d1"), store.deferral("d1@x")), (first, apart), "rows")
        store.note(note("d1", reason="more"))
        same([n.reason for n in store.notes("d1")], [None, "because", "more"], "notes")

    def test_an_occurrence_starts_once(self) -> None:
        store = self._scheduling()
        if store is None:
            return
        store.defer(sample_decision("d1", "deferred"), row("d1"))
        occurrence = f"k@{NINE}"
        for name in ("e1", "e2"):
            store.append(fired(name, "d1", occurrence))
        start, second = (sample_step(fired(name, "d1", occurrence), "executing") for name in ("e1", "e2"))
        same((store.started("d1", occurrence), store.over(start)), (None, False), "not started")
        holds(store.claim(start) is not None, "R-83: the first start")
        same((store.started("d1", occurrence), store.over(second)), ("e1", True), "started")
        same(store.claim(second), None, "R-83: another decision of the same occurrence")
        same(store.get(second.record_id), None, "nothing of it is stored")
        moved = later(row("d1"), state="cancelled")
        holds(not store.change(moved, note("d1"), unless_started=True), "cancelled too late")
        same(store.deferral("d1"), row("d1"), "the row as it was")
        holds(store.change(moved, note("d1")), "changed all the same")

    def test_what_is_not_waited_for_does_not_start(self) -> None:
        store = self._scheduling()
        if store is None:
            return
        store.defer(sample_decision("d1", "deferred"), row("d1"))
        old, new, stray = (
            fired(n, d, o) for n, d, o in (("e1", "d1", f"k@{NINE}"), ("e2", "d1", f"k@{TEN}"), ("e3", "?", "x"))
        )
        for decision in (old, new, stray):
            store.append(decision)
        moved = later(row("d1"), occurrence=f"k@{TEN}", due=TEN)
        holds(store.change(moved, note("d1"), unless_started=True), "moved in time")
        same(store.claim(sample_step(old, "executing")), None, "where it was")
        holds(store.over(sample_step(old, "executing")), "it is over")
        holds(store.claim(sample_step(new, "executing")) is not None, "where it is")
        holds(store.claim(sample_step(stray, "executing")) is not None, "what another program schedules")
        holds(not store.over(sample_step(sample_decision("e4"), "executing")), "what was fired by nothing")
        same(ids(store.steps("e1")), ["e1"], "steps of what did not start")

    def test_when_cancelling_and_starting_race_one_wins(self) -> None:
        store = self._scheduling()
        if store is None:
            return
        for n in range(12):
            name = f"d{n}"
            store.defer(sample_decision(name, "deferred"), row(name))
            decision = fired(f"e{n}", name, f"k@{NINE}")
            store.append(decision)
            started, cancelled = _raced(store, name, decision, cancel_first=n % 2 == 0)
            same(started, not cancelled, "R-83: exactly one of both")

    def test_rows_whose_question_was_answered_are_found(self) -> None:
        store = self._scheduling()
        if store is None:
            return
        for n in (1, 2, 3):
            store.ask(sample_question(f"q{n}"))
            store.defer(sample_decision(f"d{n}", "deferred"), row(f"d{n}"))
        for n in (1, 2):
            store.change(later(row(f"d{n}"), state="held", question_id=f"q{n}"), note(f"d{n}"))
        store.change(later(row("d3"), question_id="q3"), note("d3"))
        same(store.answered(), [], "none answered")
        store.answer(sample_answer("q2"))
        store.answer(sample_answer("q3"))
        same([r.deferral_id for r in store.answered()], ["d2"], "answered and held")
