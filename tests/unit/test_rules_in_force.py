"""Rules in a file, through the whole gate: conditions, labels, references, members, reads, pins, approvals, reloads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from preflight import Asking, Executable, Held, Preflight, Refused, Tool
from preflight.errors import AnswerRefused, CallerError, HookError
from preflight.model.json_value import confirmation_id
from preflight.render.changes import would_have_changed
from preflight.render.styled import plain
from preflight.rules import LiveRules
from preflight.testing import MemoryStorage
from tests.unit.gates import TOOL, executable, gate, request
from tests.unit.ruled import MEASURES, Bank, condition, field, ruled, rules_of, write

ENOUGH = {"id": "enough", "expression": "measured.balance.won >= args.amount", "message": "it does not hold that much"}


# conditions


def test_a_condition_is_measured_and_met(tmp_path: Path) -> None:
    checked = ruled(tmp_path, {"conditions": [ENOUGH]}).check(request())
    assert isinstance(checked, Executable)
    state = condition(checked, "enough")
    assert (state.status, state.declared_by, state.note) == ("met", "organisation", None)
    assert state.measured["balance"]["value"] == {"won": 1_000, "open": True}
    assert state.measured["balance"]["by"] == "bank/balance"


def test_what_a_condition_held_is_decided_again_when_it_comes_again(tmp_path: Path) -> None:
    # the balance of then is no fact of the request
    rules = {"conditions": [{"id": "enough", "expression": "measured.balance.won >= args.amount"}]}
    for before in ({"won": 1}, {}):  # not met, and not known
        bank = Bank(balance=before)
        preflight = ruled(tmp_path, rules, bank)
        assert isinstance(preflight.check(request()), Held)
        bank.results["balance"] = {"won": 1_000}
        assert isinstance(preflight.check(request()), Executable)


def test_an_unmet_condition_holds_with_its_message(tmp_path: Path) -> None:
    checked = ruled(tmp_path, {"conditions": [ENOUGH]}, Bank(balance={"won": 499, "open": True})).check(request())
    assert isinstance(checked, Held)
    assert [(c.id, c.note) for c in checked.record.gate.unmet] == [("enough", "it does not hold that much")]


@pytest.mark.parametrize("fault", [OSError("no route"), ValueError("odd"), HookError("no such account")])
def test_what_cannot_be_measured_leaves_the_condition_unknown(tmp_path: Path, fault: Any) -> None:
    # a missing input is neither true nor false
    checked = ruled(tmp_path, {"conditions": [ENOUGH]}, Bank(balance=fault)).check(request())
    assert isinstance(checked, Held)
    state = condition(checked, "enough")
    assert (state.status, state.route, state.missing) == ("unknown", "system_lookup", ("measured.balance",))
    assert state.note is not None
    assert "measured.balance: " in state.note
    assert str(fault) in state.note


@pytest.mark.parametrize("balance", [{"won": "a lot"}, {"won": None}, {}])
def test_a_measurement_that_is_not_what_the_rule_reads_needs_repair(tmp_path: Path, balance: Any) -> None:
    checked = ruled(tmp_path, {"conditions": [ENOUGH]}, Bank(balance=balance)).check(request())
    assert isinstance(checked, Held)
    assert (condition(checked, "enough").status, condition(checked, "enough").route) == ("unknown", "definition_repair")


def test_a_defect_of_a_measure_fails_the_check_and_opens_nothing(tmp_path: Path) -> None:
    checked = ruled(tmp_path, {"conditions": [ENOUGH]}, Bank(balance=TypeError("a bug"))).check(request())
    assert isinstance(checked, Held)
    assert (condition(checked, "enough").status, condition(checked, "enough").route) == ("unknown", "definition_repair")


def test_a_condition_whose_slot_is_asked_for_waits_for_it(tmp_path: Path) -> None:
    checked = ruled(tmp_path, {"conditions": [ENOUGH]}).check(request(claims={"to": "bob"}))
    assert isinstance(checked, Asking)
    assert [slot.name for slot in checked.question.slots] == ["amount"]
    assert condition(checked, "enough").route == "ask_user"


def test_what_the_request_measured_already_is_not_measured_again(tmp_path: Path) -> None:
    bank = Bank()
    bank_gate = ruled(tmp_path, {"conditions": [ENOUGH]}, bank)
    given = {"balance": {"valid": True, "value": {"won": 10}}}
    assert isinstance(bank_gate.check(request(measured_data=given)), Held)
    assert bank.asked == []
    unusable = {"balance": {"valid": 1, "value": {"won": 10}}}  # exactly true
    assert isinstance(bank_gate.check(request(measured_data=unusable, call_id="c2")), Executable)
    assert bank.asked == [("balance", {})]


IS_OPEN = {"id": "open", "measure": "is_open"}
OPEN = {**MEASURES["balance"], "pointer": "/open", "type": "boolean"}


@pytest.mark.parametrize(
    ("value", "status", "route"),
    [
        (True, "met", None),
        (False, "unmet", None),
        *((odd, "unknown", "definition_repair") for odd in (1, "true", None, [True])),
        (OSError("no route"), "unknown", "system_lookup"),
    ],
)
def test_a_measure_holds_only_when_it_is_exactly_true(tmp_path: Path, value: Any, status: str, route: Any) -> None:
    #
    bank = Bank(balance=value if isinstance(value, Exception) else {"open": value})
    checked = ruled(tmp_path, {"conditions": [IS_OPEN], "measures": {"is_open": OPEN}}, bank).check(request())
    assert (condition(checked, "open").status, condition(checked, "open").route) == (status, route)
    assert isinstance(checked, Executable) is (value is True)
    if isinstance(value, OSError):
        assert "no route" in (condition(checked, "open").note or "")


@pytest.mark.parametrize(
    ("expression", "holds"),
    [
        ("user.id == 'u1'", True),
        ("user.tenant == ''", True),
        ("record.tool == 'transfer' && record.server == 'bank'", True),
        ("record.call_id == 'c1'", True),
        ("preset.limit >= args.amount", True),
        ("preset.limit < args.amount", False),
        ("now > timestamp('2026-01-01T00:00:00Z')", True),
    ],
)
def test_an_expression_reads_who_what_and_when(tmp_path: Path, expression: str, holds: bool) -> None:
    bank_gate = ruled(tmp_path, {"conditions": [{"id": "c", "expression": expression}]})
    settings = {"limit": {"value": 600, "trust": "user"}}
    checked = bank_gate.check(request(pre_set_data=settings))
    assert condition(checked, "c").status == ("met" if holds else "unmet")


@pytest.mark.parametrize("setting", [600, {"value": 600}, {"value": 600, "trust": "untrusted"}, {"trust": "user"}])
def test_a_setting_that_no_user_approved_is_missing(tmp_path: Path, setting: Any) -> None:
    #
    bank_gate = ruled(tmp_path, {"conditions": [{"id": "c", "expression": "preset.limit >= args.amount"}]})
    state = condition(bank_gate.check(request(pre_set_data={"limit": setting})), "c")
    assert (state.status, state.missing) == ("unknown", ("preset.limit",))


# what the provider declares: R-63

LABELLED = {
    **TOOL,
    "description": "Moves won.\n[Required] the account is open\n[Verify] the payee is meant\n[Notice] It is final.",
}


def test_labels_of_a_trusted_server_become_conditions_and_notices(tmp_path: Path) -> None:
    checked = ruled(tmp_path, {"trust_labels": True}).check(request(tool=LABELLED))
    assert isinstance(checked, Asking)  # the other is listed: nothing says how `[Required]` is checked
    states = {(s.declared_by, s.status, s.route) for s in checked.record.conditions}
    assert states == {("provider", "unknown", "definition_repair"), ("provider", "unknown", "ask_user")}
    assert checked.record.notices == ("It is final.",)


def test_a_verify_label_is_asked_and_an_answer_opens_it(tmp_path: Path) -> None:
    bank_gate = ruled(tmp_path, {"trust_labels": True})
    verify = {**TOOL, "description": "[Verify] the payee is who you mean"}
    asked = bank_gate.check(request(tool=verify))
    assert isinstance(asked, Asking)
    key = asked.record.conditions[0].id
    assert isinstance(bank_gate.answer(asked.question.question_id, {key: True}, person="u1"), Executable)


def test_labels_of_other_servers_are_prose(tmp_path: Path) -> None:
    checked = ruled(tmp_path, {}).check(request(tool=LABELLED))
    assert isinstance(checked, Executable)
    assert (checked.record.conditions, checked.record.notices) == ((), ())
    assert "the account is open" in checked.record.advisory_notes


@pytest.mark.parametrize("label", ["[Required]", "[Verify]   "])
def test_a_label_that_cannot_be_read_is_a_condition_nobody_meets(tmp_path: Path, label: str) -> None:
    checked = ruled(tmp_path, {"trust_labels": True}).check(request(tool={**TOOL, "description": label}))
    assert isinstance(checked, Held)
    state = condition(checked, "unreadable_1")
    assert (state.declared_by, state.status, state.route) == ("provider", "unknown", "definition_repair")
    assert state.note


def test_a_checklist_in_meta_is_checked_as_it_says(tmp_path: Path) -> None:
    expression = {
        "id": "funds",
        "label": "required",
        "text": "Enough.",
        "expression": "measured.funds.won >= args.amount",
    }
    declared = {"version": 1, "items": [expression], "measures": {"funds": {"tool": "balance", "type": "object"}}}
    listed = {**TOOL, "_meta": {"preflight/checklist": declared}}
    bank_gate = ruled(tmp_path, {"trust_labels": True})
    checked = bank_gate.check(request(tool=listed))
    assert [(s.declared_by, s.status) for s in checked.record.conditions] == [("provider", "met")]


# effects and pins


def test_a_read_passes_without_intent_or_grounding(tmp_path: Path) -> None:
    bank_gate = ruled(tmp_path, {"effect": "read"}, classify_when_case=lambda *_: None)
    checked = bank_gate.check(request(instruction=[], claims={"amount": 7, "to": "anyone"}))
    assert isinstance(checked, Executable)
    assert checked.record.call_arguments == {"amount": 7, "to": "anyone"}


@pytest.mark.parametrize("effect", ["read", "reversible"])
def test_a_tool_that_the_rules_forbid_is_held_before_anything_is_asked(tmp_path: Path, effect: str) -> None:
    held = ruled(tmp_path, {"effect": effect, "forbidden": True}).check(request(claims={}))
    assert isinstance(held, Held)
    assert held.record.gate.kind == "tool_forbidden"
    assert "rules that do not forbid the tool" in plain(would_have_changed([held.record])[0])


def test_a_pinned_tool_that_changed_holds_until_the_rules_accept_it(tmp_path: Path) -> None:
    pinned = Tool.from_mcp(TOOL).fingerprint
    bank_gate = ruled(tmp_path, {"pin": pinned})
    assert isinstance(bank_gate.check(request()), Executable)
    changed = {**TOOL, "description": "Moves won. Harmless."}
    held = bank_gate.check(request(tool=changed, call_id="c2"))
    assert isinstance(held, Held)
    assert held.record.gate.kind == "tool_changed"
    other = tmp_path / "accepted"
    other.mkdir()
    assert isinstance(
        ruled(other, {"pin": Tool.from_mcp(changed).fingerprint}).check(request(tool=changed)), Executable
    )


# approvals through question and answer


def test_a_value_that_must_be_approved_is_shown_and_approved(tmp_path: Path) -> None:
    bank_gate = ruled(tmp_path, {"confirm": ["to"]})
    asked = bank_gate.check(request())
    assert isinstance(asked, Asking)
    key = confirmation_id("to", "bob")
    assert [c.id for c in asked.record.conditions] == [key]
    assert isinstance(bank_gate.answer(asked.question.question_id, {key: True}, person="u1"), Executable)


@pytest.mark.parametrize("withheld", [False, None, 1, "true"])
def test_anything_but_the_exact_approval_is_no_answer(tmp_path: Path, withheld: Any) -> None:
    #
    bank_gate = ruled(tmp_path, {"confirm": ["to"]})
    asked = bank_gate.check(request())
    assert isinstance(asked, Asking)
    with pytest.raises(AnswerRefused, match="confirmed by exactly `true`"):
        bank_gate.answer(asked.question.question_id, {confirmation_id("to", "bob"): withheld}, person="u1")
    assert isinstance(bank_gate.check(request()), Asking)


def test_an_approval_dies_with_the_value(tmp_path: Path) -> None:
    bank_gate = ruled(tmp_path, {"confirm": ["to"]})
    asked = bank_gate.check(request())
    assert isinstance(asked, Asking)
    said = [{"text": "send 500 to eve", "trust": "user"}]
    bank_gate.answer(asked.question.question_id, {confirmation_id("to", "bob"): True}, person="u1")
    again = bank_gate.check(request(instruction=said, claims={"amount": 500, "to": "eve"}, call_id="c2"))
    assert isinstance(again, Asking)


def test_a_condition_the_user_confirms_is_asked_in_its_own_words(tmp_path: Path) -> None:
    bank_gate = ruled(tmp_path, {"conditions": [{"id": "sure", "confirmation": "The payee is who you mean."}]})
    asked = bank_gate.check(request())
    assert isinstance(asked, Asking)
    assert isinstance(bank_gate.answer(asked.question.question_id, {"sure": True}, person="u1"), Executable)


# rules change while the program runs


def reloading(folder: Path) -> tuple[Preflight, LiveRules]:
    """A gate whose rules are looked at before every check, instead of once a second."""
    live = LiveRules(write(folder / "rules.json", rules_of({})), interval=0)
    return gate(named={"rules": live.current, "read_tool": Bank()}), live


def test_an_edit_of_the_rules_is_in_force_at_the_next_check(tmp_path: Path) -> None:
    bank_gate, _ = reloading(tmp_path)
    before = bank_gate.check(request())
    assert isinstance(before, Executable)
    write(tmp_path / "rules.json", rules_of({"conditions": [{**ENOUGH, "expression": "args.amount < 5"}]}))
    after = bank_gate.check(request(call_id="c2"))
    assert isinstance(after, Held)
    assert after.record.rules_digest != before.record.rules_digest


def test_a_broken_edit_leaves_the_last_good_rules(tmp_path: Path) -> None:
    bank_gate, live = reloading(tmp_path)
    before = bank_gate.check(request())
    (tmp_path / "rules.json").write_text('{"version": 1, "servers": ', encoding="utf-8")
    after = bank_gate.check(request(call_id="c2"))
    assert isinstance(after, Executable)
    assert after.record.rules_digest == before.record.rules_digest
    assert live.fault is not None


def test_rules_that_cannot_be_loaded_at_all_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CallerError, match="efect"):
        ruled(tmp_path, {"efect": "read"})


# what holds for one user


def for_minji(**transfer: object) -> dict[str, object]:
    return {"users": {"u1": {"servers": {"bank": {"tools": {"transfer": transfer}}}}}}


def test_a_user_may_have_tighter_rules(tmp_path: Path) -> None:
    bank_gate = ruled(tmp_path, {}, top=for_minji(confirm=["to"]))
    assert isinstance(bank_gate.check(request()), Asking)
    assert isinstance(bank_gate.check(request(user_id="u2")), Executable)


def test_a_user_s_conditions_settings_and_items_join_the_request(tmp_path: Path) -> None:
    when = "2026-03-01T09:00:00Z"
    mine = {
        "settings": {"to": {"value": "bob", "approved_by": "u1", "approved_at": when}},
        "checklist": [{"id": "home", "description": "I am at home"}],
        "conditions": [{"id": "awake", "confirmation": "I am awake."}],
    }
    bank_gate = ruled(tmp_path, {}, top={"users": {"u1": mine}})
    asked = bank_gate.check(request(claims={"amount": 500}))
    assert isinstance(asked, Asking)
    assert (field(asked, "to").value, field(asked, "to").source) == ("bob", "pre_set_data")
    assert [item.id for item in asked.record.user_checklist] == ["home"]
    assert [c.id for c in asked.record.conditions] == ["awake"]
    ran = bank_gate.answer(asked.question.question_id, {"home": True, "awake": True}, person="u1")
    assert isinstance(ran, Executable)
    assert isinstance(bank_gate.check(request(claims={"amount": 500}, user_id="u2")), Asking)  # nothing of it is theirs


# rules that are left out: what was decided under rules goes on under rules


def test_what_was_asked_under_rules_is_not_answered_without_any(tmp_path: Path) -> None:
    store = MemoryStorage()
    ruled_gate = gate(store, named={"rules": write(tmp_path / "rules.json", rules_of({}))})
    asked = ruled_gate.check(request(claims={"to": "bob"}))
    assert isinstance(asked, Asking)
    answer = {"amount": 500}
    with pytest.raises(AnswerRefused, match="under rules, and none are given here; give them: `preflight --rules"):
        gate(store).answer(asked.question.question_id, answer, person="u1", channel="api")
    assert store.answer_to(asked.question.question_id) is None
    assert isinstance(ruled_gate.answer(asked.question.question_id, answer, person="u1", channel="api"), Executable)


def test_what_was_decided_under_rules_does_not_start_without_any(tmp_path: Path) -> None:
    store = MemoryStorage()
    made = executable(gate(store, named={"rules": write(tmp_path / "rules.json", rules_of({}))}))
    refused = gate(store).execute_if_ready(made, lambda _call: {"ok": True})
    assert isinstance(refused, Refused)
    assert refused.code == "rules_changed"
    assert "was made under rules, and none are given here" in refused.why
    assert len(store.steps(made.decision_id)) == 1


def test_a_question_that_was_asked_without_rules_is_answered_under_some(tmp_path: Path) -> None:
    store = MemoryStorage()
    asked = gate(store).check(request(claims={"to": "bob"}))
    assert isinstance(asked, Asking)
    ruled_gate = gate(store, named={"rules": write(tmp_path / "rules.json", rules_of({}))})
    ruled_gate.answer(asked.question.question_id, {"amount": 500}, person="u1", channel="api")
    assert store.answer_to(asked.question.question_id) is not None
