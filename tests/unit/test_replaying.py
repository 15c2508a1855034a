"""Stored decisions made again, under the same rules or others (R-59)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from preflight import Asking, Preflight, ShippedHooks, create_preflight
from preflight.model.evidence import Evidence
from preflight.model.record import Record
from preflight.model.request import Scope
from preflight.replaying import Change, Replay, differences, measured_then, replay
from preflight.rulebook import rules_source
from preflight.testing import FakeClock, MemoryStorage
from tests.unit.gates import TOOL, request
from tests.unit.ruled import Bank, ruled, rules_of, write

NOW = "2026-03-01T09:00:00Z"
ENOUGH = {"id": "enough", "expression": "measured.balance.won >= args.amount"}


class Made:
    """A gate with the shipped hooks over one store, under rules in a file."""

    def __init__(self, folder: Path, *, stored: bool = True, **transfer: Any) -> None:
        self.folder, self.storage, self.bank, self.clock = folder, MemoryStorage(), Bank(), FakeClock()
        self.rules = self.under(**transfer)
        self.mean("transfer")
        source = rules_source(self.rules)
        hooks = ShippedHooks(storage=self.storage, rules=source, clock=self.clock)
        self.gate: Preflight = create_preflight(
            storage=self.storage, hooks=hooks, rules=source, read_tool=self.bank, clock=self.clock,
            store_instruction=stored,
        )  # fmt: skip

    def mean(self, tool: str) -> None:
        """Let the user mean this tool by `send`, and no other."""
        self.storage.forget(Scope(), "u1", "send", NOW)
        self.storage.learn(Scope(), "u1", "send", "bank", tool, "u1", NOW)

    def under(self, name: str = "rules.json", **transfer: Any) -> str:
        return str(write(self.folder / name, rules_of(transfer)))

    def record(self, **parts: Any) -> Record:
        return self.gate.check(request(**parts)).record

    def again(self, record: Record, rules: Any = None) -> Replay:
        return replay(record, self.storage, rules or self.rules)


def test_a_decision_comes_out_the_same_under_the_same_rules(tmp_path: Path) -> None:
    made = Made(tmp_path, conditions=[ENOUGH])
    record = made.record()
    assert record.execution_decision == "execute", record.reason
    asked = list(made.bank.asked)
    before = len(made.storage._log)
    made.clock.advance(1e6)
    made.bank.results["balance"] = OSError("nothing may be measured")
    assert made.again(record) == Replay(record.record_id, whole=True, changes=())
    assert (made.bank.asked, len(made.storage._log)) == (asked, before)  # nothing was asked, measured or recorded


def test_stricter_rules_show_what_would_have_come_out_otherwise(tmp_path: Path) -> None:
    made = Made(tmp_path)
    record = made.record()
    small = {"id": "small", "expression": "args.amount < 5"}
    result = made.again(record, made.under("stricter.json", conditions=[small]))
    assert result.whole
    changes = {change.what: (change.before, change.after) for change in result.changes}
    assert changes["decision"] == ("execute", "hold")
    assert changes["condition `small`"] == ("absent", "unmet")
    assert changes["arguments"] == ('{"amount":500,"to":"bob"}', "none")


def test_rules_that_narrow_the_sources_show_which_slot_they_touch(tmp_path: Path) -> None:
    made = Made(tmp_path)
    record = made.record()
    narrow = made.under("narrow.json", fields={"to": {"sources": ["user_answer"]}})
    changes = {change.what: (change.before, change.after) for change in made.again(record, narrow).changes}
    assert changes["slot `to`"] == ("known from instruction", "unknown")
    assert changes["decision"] == ("execute", "ask_user")


def test_other_measurements_of_today_change_nothing(tmp_path: Path) -> None:
    made = Made(tmp_path, conditions=[ENOUGH])
    made.bank.results["balance"] = {"won": 1, "open": True}
    record = made.record()
    assert record.execution_decision == "hold"
    made.bank.results["balance"] = {"won": 1_000, "open": True}
    assert made.again(record).changes == ()


def test_what_users_confirmed_since_counts(tmp_path: Path) -> None:
    made = Made(tmp_path)
    record = made.record(tool={**request()["tool"], "name": "wire"})
    assert record.execution_decision == "ask_user"
    made.mean("wire")
    changes = {change.what for change in made.again(record).changes}
    assert "decision" in changes


# without the request, the evidence is read again


def test_where_the_request_was_not_stored_the_evidence_is_read_again(tmp_path: Path) -> None:
    made = Made(tmp_path, stored=False)
    record = made.record()
    assert record.request is msgspec.UNSET
    assert made.again(record) == Replay(record.record_id, whole=False, changes=())


def falsified(record: Record, **evidence: Any) -> Record:
    """The record with its amount's evidence changed."""
    assert record.fields is not None
    amount = next(state for state in record.fields if state.name == "amount")
    assert amount.evidence is not None
    other = msgspec.structs.replace(amount, evidence=msgspec.structs.replace(amount.evidence, **evidence))
    return msgspec.structs.replace(record, fields=(other,))


def test_evidence_that_does_not_say_its_value_is_shown(tmp_path: Path) -> None:
    made = Made(tmp_path, stored=False)
    record = falsified(made.record(), matched_text="600")
    changes = made.again(record).changes
    assert changes == (Change("slot `amount`", "supported", "not supported by the stored words"),)


def test_parts_of_evidence_are_believed_without_the_sentence(tmp_path: Path) -> None:
    made = Made(tmp_path, stored=False)
    part = Evidence(0, 0, 1, "5", "number", "5")
    assert made.again(falsified(made.record(), matched_text="x", parts=(part,))).changes == ()


BEFORE, AFTER = "2026-03-01T23:50:00+09:00", "2026-03-02T00:20:00+09:00"
SEOUL: dict[str, Any] = {"zone": "Asia/Seoul", "now": AFTER}
BOOK = {**TOOL, "name": "transfer", "inputSchema": {
    "type": "object", "required": ["to"],
    "properties": {"to": {"type": "string", "format": "date"}, "amount": {"type": "number"}},
}}  # fmt: skip


@pytest.mark.parametrize("stored", [True, False], ids=["with the request", "from the evidence"])
@pytest.mark.parametrize(
    ("said", "more", "claims"),
    [
        ({"text": "send tomorrow"}, {"now": AFTER}, {"to": "2026-03-03"}),
        ({"text": "send tomorrow"}, SEOUL, {"to": "2026-03-03"}),
        ({"text": "send tomorrow", "said_at": BEFORE}, SEOUL, {"to": "2026-03-02"}),
        ({"text": "send tomorrow", "said_at": BEFORE}, {"now": AFTER}, {"to": "2026-03-02"}),
        ({"text": "send 1.250 on 03/04"}, {**SEOUL, "locale": "de"}, {"to": "2026-04-03", "amount": 1250}),
    ],
)
def test_words_are_read_again_as_they_were_read(
    tmp_path: Path, said: dict[str, Any], more: dict[str, Any], claims: dict[str, Any], stored: bool
) -> None:
    # the clock of the machine, at which the record is written, is another one
    made = Made(tmp_path, stored=stored)
    record = made.record(tool=BOOK, instruction=[{"trust": "user", **said}], claims=claims, **more)
    assert {state.name: state.value for state in record.states if state.source == "instruction"} == claims
    result = made.again(record)
    assert (result.whole, result.changes) == (stored, ())
    cut_out = msgspec.structs.replace(record, request=msgspec.UNSET, instruction=msgspec.UNSET)
    assert made.again(cut_out).changes == ()
    assert record.read_by is not None
    elsewhere = msgspec.structs.replace(record.read_by, now="2026-05-01T09:00:00Z", locale="en-US", said_at=())
    assert made.again(msgspec.structs.replace(cut_out, read_by=elsewhere)).changes


@pytest.mark.parametrize(("start", "supported"), [(5, True), (4, False), (0, False)])
def test_with_the_sentence_the_place_itself_is_read(tmp_path: Path, start: int, supported: bool) -> None:
    made = Made(tmp_path)
    record = falsified(made.record(), start=start, end=start + 3)
    without = msgspec.structs.replace(record, request=msgspec.UNSET)
    assert (made.again(without).changes == ()) is supported


def test_what_was_answered_afterwards_changes_nothing(tmp_path: Path) -> None:
    made = Made(tmp_path)
    asked = made.gate.check(request(claims={"to": "bob"}, call_id="c9"))
    assert isinstance(asked, Asking), asked.record.reason
    names = [slot.name for slot in asked.question.slots]
    ran = made.gate.answer(asked.question.question_id, {"amount": 7}, person="u1", channel="test")
    assert (names, ran.decision) == (["amount"], "execute")
    assert made.again(asked.record).changes == ()  # it was decided before the answer came
    assert made.again(ran.record).changes == ()  # and this one with it


def test_a_request_that_is_no_request_any_more_is_said_so(tmp_path: Path) -> None:
    made = Made(tmp_path)
    record = msgspec.structs.replace(made.record(), request={"no": "request"})
    (change,) = made.again(record).changes
    assert (change.what, change.before) == ("request", "readable")
    assert "not a key of a request" in change.after


# what is compared


def test_what_was_measured_is_found_in_slots_and_conditions(tmp_path: Path) -> None:
    reference = {"to": {"reference": {"measure": "contacts", "match": "/relation", "value": "/account"}}}
    made = ruled(tmp_path, {"conditions": [ENOUGH], "fields": reference})
    record = made.check(request(claims={"amount": 500})).record
    then = measured_then(record)
    assert then["to"] == {"valid": True, "value": "111", "by": "bank/contacts#/0/account"}
    assert then["balance"]["value"] == {"won": 1_000, "open": True}  # type: ignore[index]


def test_items_conditions_and_gates_are_compared(tmp_path: Path) -> None:
    gate = ruled(tmp_path, {"confirm": ["to"]})
    asked = gate.check(request(user_checklist=[{"id": "home"}]))
    given = {**request(user_checklist=[{"id": "home"}]), "checklist_answers": {"home": True}}
    decision = gate.run_preflight({**given, "call_id": "c2"})
    changes = differences(asked.record, decision)
    assert [(c.what, c.before, c.after) for c in changes] == [("item `home`", "unverified", "verified")]
    assert differences(asked.record, asked.record) == []
