"""At its time: everything anew, once, and nobody waits for a person (R-80, R-82, R-83)."""

from __future__ import annotations

import threading
from pathlib import Path

import msgspec
import pytest

from preflight import Asking, Executable, ProviderError, Refused
from preflight.deferral import rows
from preflight.deferral.connections import Callables
from preflight.deferral.engines.polling import Polling
from preflight.deferral.worker import Worker
from preflight.errors import AnswerRefused, ConstructionError
from preflight.replaying import replay
from preflight.results import ToolCall
from preflight.rulebook import FixedRules
from preflight.rules import load_rules
from preflight.storage.sqlite import SqliteStorage
from tests.unit.deferral.runs import BALANCE, DAY, HOUR, NOW, RULES, TOMORROW, Bank, schema

EVERY_DAY = "Transfer 100 to Bob every day at 09:00 until I cancel"
POLICY = RULES + "        deferral: {%s}\n"
FUNDED = RULES + '        conditions: [{id: funded, expression: "measured.balance >= args.amount"}]\n'


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    return Bank(tmp_path)


def test_a_run_fires_once_at_its_time(bank: Bank) -> None:
    name = bank.defer()
    assert (bank.row(name).due, bank.row(name).occurrence) == (TOMORROW, f"u1:transfer@{TOMORROW}")
    assert bank.at(DAY - 1) == []
    assert bank.at(DAY) == [("fired", None, "executed")]
    assert bank.at(DAY + 1) == []
    assert bank.calls == [{"amount": 100, "to": "Bob"}]
    assert bank.row(name).state == "done"
    note = bank.store.notes(name)[-1]
    assert (note.what, note.status, note.late_seconds) == ("fired", "executed", 0)
    record = bank.store.get(note.record_id).record
    assert (record.phase, record.trigger["occurrence"]) == ("at_trigger", f"u1:transfer@{TOMORROW}")


def test_what_is_kept_is_what_was_meant_and_nothing_that_was_measured(bank: Bank) -> None:
    #
    name = bank.defer(
        measured_data={"balance": {"valid": True, "value": 5}},
        checklist_answers={"ok": True},
        pre_set_data={"memo": {"value": "x", "trust": "user"}},
    )
    kept = bank.store.get(name).record.request
    assert not {"measured_data", "checklist_answers", "prior_execution_state", "trigger"} & kept.keys()
    assert (kept["claims"], kept["now"]) == ({"amount": 100, "to": "Bob"}, "2026-12-01T00:00:00.000000+00:00")
    assert kept["pre_set_data"] == {"memo": {"value": "x", "trust": "user"}}


def test_the_same_words_mean_the_same_day_when_it_fires(bank: Bank) -> None:
    # "Friday" of the instruction's week, not of the week it fires in
    bank.tools["bank", "transfer"] = (
        {
            "name": "transfer",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "amount": {"type": "integer"},
                    "to": {"type": "string"},
                    "day": {"type": "string", "format": "date"},
                },
                "required": ["amount", "to", "day"],
            },
        },
        bank.transfer,
    )
    said = "In 2 weeks; transfer 100 to Bob for the invoice of tomorrow"
    checked = bank.say(said, claims={"amount": 100, "to": "Bob", "day": "2026-12-02"})
    assert isinstance(checked, Asking)
    done = bank.gate.answer(checked.question.question_id, {"when": "2026-12-15T09:00:00+09:00"}, person="u1")
    assert done.decision == "deferred", done.record.gate
    assert bank.at(14 * DAY) == [("fired", None, "executed")]
    assert bank.calls == [{"amount": 100, "to": "Bob", "day": "2026-12-02"}]


def test_a_recurrence_goes_on_and_one_occurrence_never_fires_twice(bank: Bank) -> None:
    name = bank.defer(EVERY_DAY)
    for day in (1, 2, 3):
        assert bank.at(day * DAY) == [("fired", None, "executed")]
    assert bank.at(2 * DAY) == []  # the clock was set back
    assert len(bank.calls) == 3
    assert bank.row(name).slot == "2026-12-05T00:00:00.000000+00:00"


def test_another_worker_that_held_the_same_row_starts_nothing(bank: Bank) -> None:
    name = bank.defer()
    bank.clock.advance(DAY)
    (row,) = bank.store.lease(TOMORROW, TOMORROW, 1)
    assert bank.at(DAY) == [("fired", None, "executed")]
    second = bank.worker._firing.look(row)
    assert (second.what, second.status) == ("fired", "executed")  # it finds that the occurrence has started
    assert len(bank.calls) == 1
    assert bank.row(name).version == 2


@pytest.mark.parametrize(
    ("policy", "fired", "state"),
    [
        ("{}", ("held", "missed", None), "held"),
        ("misfire: skip", ("skipped", "missed", None), "done"),
        ("misfire: run_once", ("fired", "missed", "executed"), "done"),
        ("missed_after: 2h", ("fired", None, "executed"), "done"),
    ],
)
def test_a_missed_run_follows_the_rules(
    tmp_path: Path, policy: str, fired: tuple[str, str | None, str | None], state: str
) -> None:
    # hold by default, the tool being irreversible
    bank = Bank(tmp_path, RULES if policy == "{}" else POLICY % policy)
    name = bank.defer()
    assert bank.at(DAY + HOUR) == [fired]
    assert bank.row(name).state == state
    assert bank.store.notes(name)[-1].late_seconds == HOUR


def test_a_reversible_tool_runs_late_by_default(tmp_path: Path) -> None:
    bank = Bank(tmp_path, RULES + "        effect: reversible\n")
    bank.defer()
    assert bank.at(DAY + HOUR) == [("fired", "missed", "executed")]


@pytest.mark.parametrize(
    ("policy", "what", "calls", "rows"),
    [
        ("run_once", "fired", 1, ["waiting"]),
        ("skip", "skipped", 0, ["waiting"]),
        ("hold", "held", 0, ["held", "waiting"]),
    ],
)
def test_of_several_missed_ones_one_is_treated_and_the_rest_counted(
    tmp_path: Path, policy: str, what: str, calls: int, rows: list[str]
) -> None:
    bank = Bank(tmp_path, POLICY % f"misfire: {policy}")
    name = bank.defer(EVERY_DAY)
    assert [fired[0] for fired in bank.at(4 * DAY + HOUR)] == [what]
    assert (len(bank.calls), [row.state for row in bank.store.deferrals()]) == (calls, rows)
    assert bank.row(name).slot == "2026-12-06T00:00:00.000000+00:00"
    assert bank.store.notes(name)[-1].missed == 3


def test_a_required_field_that_is_new_is_asked_for_and_the_late_answer_runs_it(bank: Bank) -> None:
    # schema fetched anew; the question is parked
    name = bank.defer()
    bank.tools["bank", "transfer"] = ({"name": "transfer", "inputSchema": schema("memo")}, bank.transfer)
    assert bank.at(DAY) == [("held", "unknown_at_trigger", None)]
    (question,) = bank.gate.pending()
    assert [slot.name for slot in question.slots] == ["memo"]
    assert bank.row(name).question_id == question.question_id
    assert bank.at(3 * DAY) == []
    answered = bank.gate.answer(question.question_id, {"memo": "rent"}, person="u1")
    assert isinstance(answered, Executable)
    refused = bank.gate.execute_if_ready(answered, bank.transfer)
    assert isinstance(refused, Refused)
    assert refused.code == "occurrence_over"  # only the worker starts it
    assert bank.at(3 * DAY + HOUR) == [("fired", None, "executed")]
    assert bank.calls == [{"amount": 100, "to": "Bob", "memo": "rent"}]
    assert ("resumed", "answered") in bank.noted(name)


def test_a_held_occurrence_does_not_keep_the_next_one_waiting(bank: Bank) -> None:
    #
    name = bank.defer(EVERY_DAY)
    usual = bank.tools["bank", "transfer"]
    bank.tools["bank", "transfer"] = ({"name": "transfer", "inputSchema": schema("memo")}, bank.transfer)
    assert bank.at(DAY) == [("held", "unknown_at_trigger", None)]
    bank.tools["bank", "transfer"] = usual
    assert bank.at(2 * DAY) == [("fired", None, "executed")]
    (held,) = bank.store.deferrals(None, ("held",))
    assert held.deferral_id == f"{name}@{TOMORROW}"
    bank.runs.resume(held.deferral_id, by="u1")
    assert bank.at(2 * DAY + HOUR) == [("fired", None, "executed")]
    assert len(bank.calls) == 2
    assert [row.state for row in bank.store.deferrals()] == ["done", "waiting"]


def test_a_removed_tool_is_held_and_resumed_when_it_is_back(bank: Bank) -> None:
    name, there = bank.defer(), dict(bank.tools)
    bank.tools.clear()
    assert bank.at(DAY) == [("held", "tool_removed", None)]
    bank.tools.update(there)
    assert bank.at(DAY + HOUR) == []
    bank.runs.resume(name, by="minji")
    assert bank.at(DAY + HOUR) == [("fired", None, "executed")]
    assert [what for what, _ in bank.noted(name)] == ["scheduled", "held", "resumed", "fired"]


def test_a_server_that_does_not_answer_is_tried_again_and_then_held(bank: Bank) -> None:
    name = bank.defer()

    class Dead(Callables):
        def tool(self, server: str, name: str) -> dict[str, object]:
            raise OSError("no route")

    bank.worker = Worker(bank.gate, Dead({}))
    assert bank.at(DAY) == [(None, "no_connection", None)]
    assert bank.at(DAY + 0.5) == []
    assert bank.at(DAY + 2) == [(None, "no_connection", None)]
    assert bank.at(DAY + 299) == [(None, "no_connection", None)]
    assert bank.at(DAY + 301) == [("held", "missed", None)]
    bank.runs.resume(name, by="u1")
    bank.worker = Worker(bank.gate, Callables(bank.tools))
    assert bank.at(DAY + 302) == [("fired", None, "executed")]


@pytest.mark.parametrize(("unresolved", "what", "state"), [("hold", "held", "held"), ("skip", "skipped", "done")])
def test_a_condition_that_does_not_hold_is_held_or_skipped(
    tmp_path: Path, unresolved: str, what: str, state: str
) -> None:
    bank = Bank(tmp_path, FUNDED + f"        deferral: {{unresolved: {unresolved}}}\n")
    name = bank.defer()
    BALANCE["now"] = 5
    assert bank.at(DAY) == [(what, "condition_unmet", None)]
    assert bank.row(name).state == state


def test_resuming_measures_anew(tmp_path: Path) -> None:
    bank = Bank(tmp_path, FUNDED)
    name = bank.defer()
    BALANCE.pop("now", None)
    assert bank.at(DAY) == [("held", "unknown_at_trigger", None)]
    for held in (5, 50):
        BALANCE["now"] = held
        bank.runs.resume(name, by="u1")
        assert bank.at(DAY + held) == [("held", "condition_unmet", None)]
    BALANCE["now"] = 500
    bank.runs.resume(name, by="u1")
    assert bank.at(DAY + HOUR) == [("fired", None, "executed")]


def test_a_limit_that_is_spent_when_it_fires_is_held(tmp_path: Path) -> None:
    limit = "        limits: [{id: daily, kind: sum, field: amount, at_most: 150, window: 24h}]\n"
    bank = Bank(tmp_path, RULES + limit)
    first, second = bank.defer(), bank.defer()
    fired = bank.at(DAY)
    assert sorted(fired) == [("fired", None, "executed"), ("held", "condition_unmet", None)]
    held = next(name for name in (first, second) if bank.row(name).state == "held")
    bank.clock.advance(DAY)
    bank.runs.resume(held, by="u1")
    assert bank.at(2 * DAY + 1) == [("fired", None, "executed")]


def test_new_rules_hold_at_the_trigger(bank: Bank, tmp_path: Path) -> None:
    name = bank.defer()
    bank.file.write_text(FUNDED, encoding="utf-8")
    bank.rules = load_rules(bank.file)
    BALANCE["now"] = 1
    assert bank.at(DAY) == [("held", "condition_unmet", None)]
    assert bank.row(name).reason == "condition_unmet"


@pytest.mark.parametrize(
    ("fault", "status"), [(ProviderError("refused"), "failed"), (TimeoutError("no answer"), "in_doubt")]
)
def test_a_call_that_fails_is_not_called_again(bank: Bank, fault: Exception, status: str) -> None:
    name = bank.defer()
    bank.fault = fault
    assert bank.at(DAY) == [("fired", None, status)]
    assert bank.at(2 * DAY) == []
    assert bank.row(name).state == "done"


def test_two_runs_of_one_key_at_the_same_time_both_fire(bank: Bank) -> None:
    # one id for each deferred record and occurrence
    bank.defer()
    bank.defer()
    assert bank.at(DAY) == [("fired", None, "executed")] * 2
    assert len(bank.calls) == 2


def test_a_start_without_an_outcome_keeps_others_of_its_key_waiting(bank: Bank) -> None:
    stuck = bank.say("Transfer 100 to Bob now")
    assert isinstance(stuck, Executable)
    bank.gate.claim(stuck)
    bank.defer()
    assert bank.at(DAY) == [(None, "key_busy", None)]
    bank.gate.recover()
    bank.gate.resolve(stuck.decision_id, "failed", by="u1", evidence="ledger")
    assert bank.at(DAY + 2) == [("fired", None, "executed")]


def test_a_record_that_is_not_as_it_was_signed_is_held(bank: Bank) -> None:
    name = bank.defer()
    stored = bank.store._by_id[name]
    bank.store._by_id[name] = msgspec.structs.replace(stored, body=stored.body.replace(b"Bob", b"Eve"))
    assert bank.at(DAY) == [("held", "record_not_believed", None)]
    assert bank.calls == []


def test_what_was_erased_does_not_run(tmp_path: Path) -> None:
    bank = Bank(tmp_path, RULES + "        fields: {to: {secret: true}}\n")
    name = bank.defer()
    assert "Bob" not in bank.store.get(name).body.decode()
    bank.gate.erase("u1")
    assert bank.at(DAY) == [("held", "erased", None)]


def test_a_secret_runs_and_stays_one(tmp_path: Path) -> None:
    #
    bank = Bank(tmp_path, RULES + "        fields: {to: {secret: true}}\n")
    name = bank.defer()
    assert bank.at(DAY) == [("fired", None, "executed")]
    assert bank.calls == [{"amount": 100, "to": "Bob"}]
    assert b"Bob" not in b"".join(stored.body for stored in bank.store.scan())
    assert bank.row(name).state == "done"


def test_the_same_call_said_again_is_scheduled_once(bank: Bank) -> None:
    first = bank.defer(call_id="c")
    assert bank.defer(call_id="c") == first
    other = bank.defer("Transfer 100 to Bob on Friday at 09:00", call_id="c")
    assert (bank.row(first).state, bank.row(first).reason, bank.row(other).state) == (
        "cancelled",
        "superseded",
        "waiting",
    )
    assert bank.at(DAY) == []


def test_a_store_without_rows_leaves_the_scheduling_to_the_caller(tmp_path: Path) -> None:
    #
    class Plain:
        def __init__(self) -> None:
            self.inner = SqliteStorage(":memory:")

        def __getattr__(self, name: str) -> object:
            if name in ("defer", "lease"):
                raise AttributeError(name)
            return getattr(self.inner, name)

    bank = Bank.__new__(Bank)
    with pytest.raises(ConstructionError, match="keeps no deferred runs"):
        Bank.__init__(bank, tmp_path, storage=Plain())
    assert bank.say("Transfer 100 to Bob tomorrow").decision == "deferred"


def test_the_loop_ends_when_it_is_told_and_survives_a_store_that_fails(bank: Bank) -> None:
    bank.defer()
    bank.clock.advance(DAY)
    stop, looks = threading.Event(), []
    usual = bank.worker.run_due

    def look(only: str | None = None) -> object:
        from preflight.errors import StorageError

        looks.append(1)
        if len(looks) == 1:
            raise StorageError("busy")
        stop.set()
        return usual()

    bank.worker.run_due = look  # type: ignore[assignment, method-assign]
    Polling(0.001).run(bank.worker, stop)
    assert (len(looks), len(bank.calls)) == (2, 1)


def test_a_run_that_fired_replays_by_the_clock_of_its_words(tmp_path: Path) -> None:
    #
    bank = Bank(tmp_path, store_instruction=True)
    dated = schema()
    dated["properties"]["day"] = {"type": "string", "format": "date"}
    bank.tools["bank", "transfer"] = (
        {"name": "transfer", "inputSchema": {**dated, "required": ["amount", "day"]}},
        bank.transfer,
    )
    said = "Transfer 100 to Bob in 2 hours for the invoice of today"
    name = bank.defer(said, claims={"amount": 100, "to": "Bob", "day": "2026-12-01"})
    bank.runs.move(name, rows.at(NOW + 3 * DAY), by="u1")
    assert bank.at(3 * DAY) == [("fired", None, "executed")]
    assert bank.calls == [{"amount": 100, "to": "Bob", "day": "2026-12-01"}]
    record = bank.store.get(bank.store.notes(name)[-1].record_id).record
    assert replay(record, bank.store, rules=lambda: bank.rules).changes == ()


def test_what_was_pending_is_not_excused_at_the_trigger(tmp_path: Path) -> None:
    #
    bank = Bank(tmp_path, RULES + "        fields: {to: {pending_at_trigger: true}}\n")
    name = bank.defer("Transfer 100 tomorrow at 9am", claims={"amount": 100})
    assert bank.at(DAY) == [("held", "unknown_at_trigger", None)]
    (question,) = bank.gate.pending()
    assert [slot.name for slot in question.slots] == ["to"]
    bank.clock.advance(30 * DAY)
    with pytest.raises(AnswerRefused, match="expired"):
        bank.gate.answer(question.question_id, {"to": "Bob"}, person="u1")
    bank.runs.resume(name, by="u1")  # asked anew, and answered
    assert bank.at(31 * DAY) == [("held", "unknown_at_trigger", None)]
    (question,) = bank.gate.pending()
    bank.gate.answer(question.question_id, {"to": "Bob"}, person="u1")
    assert bank.at(32 * DAY) == [("fired", None, "executed")]
    assert bank.calls == [{"amount": 100, "to": "Bob"}]


def test_a_pinned_tool_that_changed_is_held_by_that_name(tmp_path: Path) -> None:
    #
    bank = Bank(tmp_path)
    name = bank.defer()
    fingerprint = bank.store.get(name).record.tool.fingerprint
    bank.file.write_text(RULES + f"        pin: {fingerprint}\n", encoding="utf-8")
    bank.rules = load_rules(bank.file)
    usual = bank.tools["bank", "transfer"]
    bank.tools["bank", "transfer"] = ({**usual[0], "description": "sends to somebody else"}, bank.transfer)
    assert bank.at(DAY) == [("held", "tool_changed", None)]
    bank.tools["bank", "transfer"] = usual
    bank.runs.resume(name, by="u1")
    assert bank.at(DAY + 1) == [("fired", None, "executed")]


def test_a_run_whose_record_is_of_another_tool_is_not_verified(bank: Bank) -> None:
    name = bank.defer()
    row = bank.row(name)
    bank.store.change(msgspec.structs.replace(row, decision_id="none", version=2), bank.store.notes(name)[0])
    assert bank.at(DAY) == [("held", "record_not_believed", None)]


def test_what_a_person_changed_while_it_fired_stays_changed(bank: Bank) -> None:
    # the worker has leased the row; then it is cancelled
    name = bank.defer()
    bank.clock.advance(DAY)
    (leased,) = bank.store.lease(TOMORROW, TOMORROW, 1)
    bank.runs.cancel(name, by="u1")
    looked = bank.worker._firing.look(leased)
    assert (looked.what, looked.reason) == (None, "changed_meanwhile")
    assert (bank.calls, bank.row(name).state) == ([], "cancelled")


def test_what_is_held_while_a_person_changes_it_stays_as_they_left_it(bank: Bank) -> None:
    name = bank.defer()
    bank.tools.clear()
    bank.clock.advance(DAY)
    (leased,) = bank.store.lease(TOMORROW, TOMORROW, 1)
    bank.runs.cancel(name, by="u1")
    looked = bank.worker._firing.look(leased)
    assert (looked.what, looked.reason, bank.row(name).state) == (None, "changed_meanwhile", "cancelled")


def test_a_recurrence_cancelled_while_it_fires_notes_what_was_started(bank: Bank) -> None:
    name = bank.defer(EVERY_DAY)
    usual = bank.tools["bank", "transfer"]

    def cancels(call: ToolCall) -> object:
        bank.runs.cancel(name, by="u1")
        return bank.transfer(call)

    bank.tools["bank", "transfer"] = (usual[0], cancels)
    assert bank.at(DAY) == [("fired", None, "executed")]
    assert (bank.row(name).state, bank.noted(name)[-1]) == ("cancelled", ("fired", None))
    assert bank.at(2 * DAY) == []


@pytest.mark.parametrize("policy", ["hold", "skip", "run_once"])
def test_what_was_started_before_a_long_outage_is_not_missed(tmp_path: Path, policy: str) -> None:
    # the worker died inside the call, and nobody looked for a day
    bank = Bank(tmp_path, POLICY % f"misfire: {policy}")
    name = bank.defer()
    bank.clock.advance(DAY)
    (row,) = bank.store.lease(TOMORROW, TOMORROW, 1)
    before = bank.store.change
    bank.store.change = lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        bank.worker._firing.look(row)
    bank.store.change = before
    assert bank.at(2 * DAY) == [("fired", None, "executed")]
    assert (len(bank.calls), bank.row(name).state) == (1, "done")


def test_a_run_that_was_deferred_under_rules_does_not_fire_without_any(bank: Bank) -> None:
    # of what the rules say must hold, nothing would be looked at
    name = bank.defer()
    ruled, bank.rules = bank.rules, FixedRules()  # type: ignore[assignment]
    assert bank.at(DAY) == [(None, "rules_missing", None)]
    assert bank.at(DAY + 2) == [(None, "rules_missing", None)]
    assert bank.row(name).state == "waiting"
    assert bank.calls == []
    bank.rules = ruled
    assert bank.at(DAY + 4) == [("fired", None, "executed")]
    assert len(bank.calls) == 1
