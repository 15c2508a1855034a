"""What people do with deferred runs, and what comes from outside: cancel, move, hasten, resume, events, conditions."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from preflight.deferral.changes import DeferredRuns
from preflight.errors import ConstructionError, InvalidInput
from preflight.rules import load_rules
from tests.unit.deferral.runs import BALANCE, DAY, HOUR, RULES, Bank, schema

EVERY_DAY = "Transfer 100 to Bob every day at 09:00 until I cancel"
AWAITED = (
    RULES
    + """
triggers:
  salary: {phrases: [my salary arrives], event: salary.received, match: {employer: acme}, deadline: 2d}
  funded: {phrases: [the account holds enough], expression: measured.balance >= args.amount, poll: 30s, deadline: 2d}
"""
)


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    return Bank(tmp_path, AWAITED)


def when(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def test_a_cancelled_run_does_not_fire(bank: Bank) -> None:
    name = bank.defer()
    assert bank.runs.cancel(name, by="minji").state == "cancelled"
    assert bank.at(DAY) == []
    assert (bank.noted(name)[-1], bank.store.notes(name)[-1].by) == (("cancelled", None), "minji")
    for change in (bank.runs.cancel, bank.runs.run_now):
        with pytest.raises(InvalidInput, match="there is nothing left to change"):
            change(name, by="minji")


def test_a_run_whose_record_is_gone_can_be_cancelled(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    name = bank.defer(EVERY_DAY)
    monkeypatch.setattr(bank.store, "get", lambda _decision_id: None)
    assert bank.runs.cancel(name, by="u1").state == "cancelled"


def test_cancelling_a_recurrence_ends_it(bank: Bank) -> None:
    name = bank.defer(EVERY_DAY)
    assert bank.at(DAY) == [("fired", None, "executed")]
    bank.runs.cancel(name, by="u1")
    assert bank.at(2 * DAY) == []


def test_what_has_started_is_neither_cancelled_nor_moved(bank: Bank) -> None:
    # the claim came first; the worker has not come to change the row
    name = bank.defer()
    row = bank.row(name)
    bank.clock.advance(DAY)
    checked = bank.gate.check(
        bank.worker._firing._request(_due(bank, name), {"server": "bank", **bank.tools["bank", "transfer"][0]})
    )
    bank.gate.claim(checked)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="has started"):
        bank.runs.cancel(name, by="u1")
    with pytest.raises(InvalidInput, match="has started"):
        bank.runs.move(name, when("2026-12-05T00:00"), by="u1")
    assert bank.row(name) == row


def _due(bank: Bank, name: str):  # noqa: ANN202
    from preflight.deferral import triggers
    from preflight.deferral.firing import Due
    from preflight.scheduling import when_of

    record = bank.store.get(name).record
    spec = triggers.spec_of(when_of(record).trigger)
    return Due(bank.row(name), record, spec, bank.rules.for_tool("bank", "transfer"), when("2026-12-02T00:00"))


def test_a_change_meets_a_row_that_was_changed_meanwhile(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    name = bank.defer()
    stale = bank.row(name)
    bank.runs.run_now(name, by="u1")
    monkeypatch.setattr(bank.runs, "_row", lambda _: stale)
    with pytest.raises(InvalidInput, match="was changed meanwhile; look again"):
        bank.runs.cancel(name, by="u1")


def test_a_moved_run_fires_where_it_was_moved_to(bank: Bank) -> None:
    name = bank.defer()
    moved = bank.runs.move(name, when("2026-12-03T03:00"), by="u1")
    assert moved.said == "Thursday 3 December 2026, 12:00 Asia/Seoul"
    assert bank.at(DAY) == []
    assert bank.at(2 * DAY + 3 * HOUR) == [("fired", None, "executed")]
    assert bank.store.started(name, "u1:transfer@2026-12-03T03:00:00.000000+00:00")


def test_one_occurrence_of_a_recurrence_is_moved_and_the_next_stays(bank: Bank) -> None:
    name = bank.defer(EVERY_DAY)
    moved = bank.runs.move(name, when("2026-12-01T12:00"), by="u1")
    assert moved.said.startswith("At 09:00 every day")
    assert bank.at(12 * HOUR) == [("fired", None, "executed")]
    assert bank.at(DAY) == []  # the moved one stood for it
    assert bank.at(2 * DAY) == [("fired", None, "executed")]
    with pytest.raises(InvalidInput, match="is not before the next one"):
        bank.runs.move(name, when("2026-12-09T12:00"), by="u1")


@pytest.mark.parametrize("to", [datetime(2026, 12, 5), when("2026-11-30T00:00"), when("2026-12-01T00:00")])  # noqa: DTZ001
def test_a_run_is_moved_to_a_moment_to_come(bank: Bank, to: datetime) -> None:
    with pytest.raises(InvalidInput, match="is not a time to come"):
        bank.runs.move(bank.defer(), to, by="u1")


def test_a_hastened_run_fires_at_the_next_look_and_keeps_its_id(bank: Bank) -> None:
    name = bank.defer()
    occurrence = bank.row(name).occurrence
    bank.runs.run_now(name, by="u1")
    assert bank.at(HOUR) == [("fired", None, "executed")]
    assert bank.store.started(name, str(occurrence))
    assert bank.at(DAY) == []


def test_only_what_is_held_is_resumed_and_what_is_held_is_not_moved(bank: Bank) -> None:
    name = bank.defer()
    with pytest.raises(InvalidInput, match="is `waiting`, not `held`"):
        bank.runs.resume(name, by="u1")
    bank.at(DAY + HOUR)
    for change in (bank.runs.run_now, lambda row, by: bank.runs.move(row, when("2026-12-09T00:00"), by=by)):
        with pytest.raises(InvalidInput, match="is held: missed"):
            change(name, by="u1")
    bank.runs.cancel(name, by="u1")


def test_what_is_not_there_is_said(bank: Bank) -> None:
    with pytest.raises(InvalidInput, match="no deferred run has the id `x`"):
        bank.runs.show("x")


def test_runs_are_listed_with_their_notes(bank: Bank) -> None:
    first, second = bank.defer(), bank.defer("Transfer 100 to Bob on Friday at 09:00")
    assert [row.deferral_id for row in bank.runs.find()] == [first, second]
    bank.runs.cancel(first, by="u1")
    assert [row.deferral_id for row in bank.runs.find()] == [second]
    row, notes = bank.runs.show(first)
    assert (row.state, [note.what for note in notes]) == ("cancelled", ["scheduled", "cancelled"])


def test_an_event_fires_the_runs_that_wait_for_it(bank: Bank) -> None:
    name = bank.defer("Transfer 100 to Bob as soon as my salary arrives")
    assert bank.row(name).occurrence is None
    assert bank.at(HOUR) == []
    assert bank.runs.event("salary.received", {"employer": "other"}, by="payroll") == []
    assert bank.runs.event("bonus.received", {"employer": "acme"}, by="payroll") == []
    (row,) = bank.runs.event("salary.received", {"employer": "acme", "amount": 5}, by="payroll")
    assert (row.deferral_id, row.happened) == (name, {"employer": "acme", "amount": 5})
    assert bank.runs.event("salary.received", {"employer": "acme"}, by="payroll") == []
    assert bank.at(HOUR) == [("fired", None, "executed")]
    assert [what for what, _ in bank.noted(name)] == ["scheduled", "happened", "fired"]


def test_an_event_that_does_not_come_in_time_is_not_waited_for(bank: Bank) -> None:
    name = bank.defer("Transfer 100 to Bob as soon as my salary arrives")
    assert bank.at(2 * DAY) == [("expired", "deadline_passed", None)]
    assert (bank.row(name).state, bank.row(name).reason) == ("done", "deadline_passed")
    assert bank.runs.event("salary.received", {"employer": "acme"}, by="payroll") == []


def test_an_event_run_is_not_moved_but_may_be_hastened(bank: Bank) -> None:
    name = bank.defer("Transfer 100 to Bob as soon as my salary arrives")
    with pytest.raises(InvalidInput, match="waits for something to happen"):
        bank.runs.move(name, when("2026-12-03T00:00"), by="u1")
    bank.runs.run_now(name, by="u1")
    assert bank.at(1) == [("fired", None, "executed")]


def test_a_condition_is_looked_at_until_it_holds(bank: Bank) -> None:
    BALANCE["now"] = 99
    name = bank.defer("Transfer 100 to Bob once the account holds enough")
    assert bank.at(0) == [(None, "condition_not_yet", None)]
    assert bank.at(29) == []
    BALANCE.pop("now")  # it cannot be measured: that is not "it holds"
    assert bank.at(30) == [(None, "condition_not_yet", None)]
    BALANCE["now"] = 100
    assert bank.at(60) == [("fired", None, "executed")]
    assert bank.row(name).occurrence == "u1:transfer@2026-12-01T00:01:00.000000+00:00"
    assert bank.noted(name)[1:] == [("happened", "funded"), ("fired", None)]


def test_a_condition_that_nobody_declares_any_more_does_not_hold(bank: Bank) -> None:
    BALANCE["now"] = 500
    name = bank.defer("Transfer 100 to Bob once the account holds enough")
    bank.file.write_text(RULES, encoding="utf-8")
    bank.rules = load_rules(bank.file)
    assert bank.at(1) == [(None, "condition_not_yet", None)]
    assert bank.at(2 * DAY) == [("expired", "deadline_passed", None)]
    assert bank.row(name).state == "done"


def test_a_store_without_rows_has_no_deferred_runs(bank: Bank) -> None:
    class Bare:
        storage = object()

    with pytest.raises(ConstructionError, match="keeps no deferred runs"):
        DeferredRuns(Bare())  # type: ignore[arg-type]


def test_cancelling_a_recurrence_cancels_what_is_held_of_it(bank: Bank) -> None:
    name = bank.defer("Transfer 100 to Bob every day at 09:00 until I cancel")
    bank.tools["bank", "transfer"] = ({"name": "transfer", "inputSchema": schema("memo")}, bank.transfer)
    bank.at(DAY)
    (held,) = [row for row in bank.store.deferrals(None, ("held",)) if row.decision_id == name]
    bank.runs.cancel(name, by="u1")
    assert bank.row(held.deferral_id).state == "cancelled"
    assert bank.noted(held.deferral_id)[-1] == ("cancelled", None)
    assert bank.at(3 * DAY) == []
    assert bank.calls == []


def test_a_run_is_not_moved_to_the_end_of_the_calendar(bank: Bank) -> None:
    name = bank.defer()
    with pytest.raises(InvalidInput, match="is not a time to come"):
        bank.runs.move(name, datetime(9999, 12, 31, 23, 59, tzinfo=UTC), by="u1")
