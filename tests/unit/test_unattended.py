"""Runs that nobody attends: what may run, what waits for a person, what does not run at all (R-5, R-30, R-57)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from preflight import Asking, Deferred, Executable, Held, Preflight, create_preflight
from preflight.errors import InvalidInput
from preflight.model.record import Record
from preflight.model.request import Request, request_digest
from preflight.render.record import call_lines
from preflight.replaying import replay
from preflight.results import Accepted, Executed
from preflight.rules import RuleSet
from preflight.testing import FakeClock, MemoryStorage
from tests.unit.deferral import runs
from tests.unit.gates import TOOL, gate, request
from tests.unit.ruled import Bank, ruled, rules_of, write
from tests.unit.rules.samples import load, only_fault, transfer

ALONE = {"unattended": True}


def check(folder: Path, rules: dict[str, object], given: dict[str, Any] = ALONE, **top: object) -> Any:
    return ruled(folder, rules, top=top).check(request(**given))


def confirm(checked: Asking) -> str:
    (item,) = checked.question.items
    return item.id


# what the rules say


@pytest.mark.parametrize(
    ("tool", "top", "decision"),
    [
        ({"effect": "reversible"}, {}, Executable),
        ({"effect": "irreversible"}, {}, Asking),
        ({"effect": "irreversible", "unattended": "run"}, {}, Executable),
        ({"effect": "irreversible", "unattended": "hold"}, {}, Held),
        ({"effect": "reversible", "unattended": "park"}, {}, Asking),
        ({"effect": "reversible"}, {"unattended": {"reversible": "park"}}, Asking),
        ({"effect": "reversible"}, {"unattended": {"irreversible": "hold"}}, Executable),
        ({"effect": "irreversible"}, {"unattended": {"irreversible": "run"}}, Executable),
        ({"effect": "irreversible", "unattended": "park"}, {"unattended": {"irreversible": "run"}}, Asking),
    ],
)
def test_what_is_known_follows_the_rules(tmp_path: Path, tool: Any, top: Any, decision: type) -> None:
    checked = check(tmp_path, tool, **top)
    assert isinstance(checked, decision)
    assert checked.record.unattended
    attended = ruled(tmp_path, tool, top=top).check(request())
    assert isinstance(attended, Executable)
    assert not attended.record.unattended


def test_without_rules_nothing_runs_unattended() -> None:
    assert isinstance(gate().check(request(**ALONE)), Asking)


@pytest.mark.parametrize(("word", "decision"), [("run", Asking), ("park", Asking), ("hold", Held)])
def test_what_nobody_listed_is_at_least_parked(tmp_path: Path, word: str, decision: type) -> None:
    rules = {"version": 1, "unattended": {"irreversible": word}}
    preflight = gate(named={"rules": write(tmp_path / "rules.json", rules)})
    assert isinstance(preflight.check(request(**ALONE)), decision)


def test_a_read_passes_and_is_recorded_as_unattended(tmp_path: Path) -> None:
    checked = check(tmp_path, {"effect": "read", "unattended": "hold"})
    assert isinstance(checked, Executable)
    assert checked.record.unattended


def test_what_is_unknown_is_asked_whatever_may_run(tmp_path: Path) -> None:
    checked = check(tmp_path, {"effect": "reversible"}, {**ALONE, "claims": {"to": "bob"}})
    assert isinstance(checked, Asking)
    assert [slot.name for slot in checked.question.slots] == ["amount"]
    assert checked.question.items == ()


def test_a_call_that_never_runs_unattended_asks_nothing(tmp_path: Path) -> None:
    checked = check(tmp_path, {"unattended": "hold"}, {**ALONE, "claims": {"to": "bob"}})
    assert isinstance(checked, Held)
    assert [(c.id, c.declared_by, c.note) for c in checked.record.gate.unmet] == [
        ("preflight:attended", "organisation", "nobody attends the run")
    ]
    assert checked.record.reason.startswith("nobody attends the run")


@pytest.mark.parametrize("odd", [1, "true", "yes", {}, [True]])
def test_only_true_and_false_say_whether_somebody_is_there(odd: object) -> None:
    with pytest.raises(InvalidInput, match="unattended"):
        Request.parse(request(unattended=odd))
    assert isinstance(gate().check(request(unattended=odd)), Held)


def test_attended_and_unattended_runs_are_different_requests() -> None:
    plain, alone, said = (Request.parse(request(**p)) for p in ({}, ALONE, {"unattended": False}))
    assert request_digest(plain) == request_digest(said) != request_digest(alone)


OUTCOMES = {"execute": 0, "ask_user": 1, "hold": 2}


@pytest.mark.parametrize("effect", ["reversible", "irreversible"])
@pytest.mark.parametrize("word", [None, "run", "park", "hold"])
@pytest.mark.parametrize("balance", [{"won": 500}, {"won": 1}, {}])
@pytest.mark.parametrize("claims", [{"amount": 500, "to": "bob"}, {"to": "bob"}, {"amount": 500, "to": "eve"}, {}])
@pytest.mark.parametrize("said", [{}, {"user_checklist": [{"id": "sure"}]}, {"tool_attempt": 2}])
def test_nothing_runs_unattended_that_would_not_run_attended(
    tmp_path: Path, effect: str, word: str | None, balance: Any, claims: Any, said: Any
) -> None:
    # and nothing is asked that would be held
    rules = {"effect": effect, "conditions": [{"id": "enough", "expression": "measured.balance.won >= args.amount"}]}
    rules |= {} if word is None else {"unattended": word}
    preflight = ruled(tmp_path, rules, Bank(balance=balance))
    given = {"claims": claims, **said}
    attended = preflight.check(request(**given, call_id="a"))
    alone = preflight.check(request(**given, **ALONE, call_id="b"))
    assert OUTCOMES[alone.decision] >= OUTCOMES[attended.decision]
    if isinstance(alone, Executable):
        assert (word or {"reversible": "run"}.get(effect)) == "run"
        assert alone.record.call_arguments == attended.record.call_arguments


# a person confirms exactly the call


def test_another_form_of_the_same_number_is_the_same_question(tmp_path: Path) -> None:
    # what is shown to be approved is the same call
    preflight = ruled(tmp_path, {"effect": "irreversible"})
    one, other = (preflight.check(request(**ALONE, user_answers={"amount": amount})) for amount in (500, 500.0))
    assert isinstance(one, Asking)
    assert isinstance(other, Asking)
    assert confirm(one) == confirm(other)
    assert one.question.question_id == other.question.question_id


def test_a_parked_call_shows_all_that_would_be_sent_and_runs_once_confirmed(tmp_path: Path) -> None:
    preflight = ruled(tmp_path, {"effect": "irreversible"})
    checked = preflight.check(request(**ALONE))
    assert isinstance(checked, Asking)
    (item,) = checked.question.items
    assert (checked.question.kind, checked.question.slots) == ("confirmation", ())
    assert item.shown == {"amount": 500, "to": "bob"}
    assert "bank/transfer" in item.description
    assert checked.record.reason == "nobody attends the run, and a person is to confirm the call first"
    confirmed = preflight.answer(checked.question.question_id, {item.id: True}, person="u1")
    assert isinstance(confirmed, Executable)
    assert confirmed.record.unattended
    assert [(c.status, c.id) for c in confirmed.record.conditions] == [("met", item.id)]
    done = preflight.execute_if_ready(confirmed, lambda call: {"sent": call.arguments})
    assert isinstance(done, Executed)
    assert done.record.unattended  # each step says so


def test_the_same_call_goes_on_with_the_confirmation(tmp_path: Path) -> None:
    preflight = ruled(tmp_path, {"effect": "irreversible"})
    first = preflight.check(request(**ALONE))
    assert isinstance(first, Asking)
    again = preflight.check(request(**ALONE))
    assert isinstance(again, Asking)
    assert again.question.question_id == first.question.question_id
    preflight.answer(first.question.question_id, {confirm(first): True}, person="u1")
    assert isinstance(preflight.check(request(**ALONE)), Executable)


def test_a_confirmation_of_one_call_confirms_no_other(tmp_path: Path) -> None:
    # another value is another call, though it is the same run
    preflight = ruled(tmp_path, {"effect": "irreversible"})
    words = [{"text": "send 500 to bob, or 900 to bob", "trust": "user"}]
    first = preflight.check(request(**ALONE, instruction=words))
    assert isinstance(first, Asking)
    preflight.answer(first.question.question_id, {confirm(first): True}, person="u1")
    other = preflight.check(request(**ALONE, instruction=words, claims={"amount": 900, "to": "bob"}))
    assert isinstance(other, Asking)
    assert confirm(other) != confirm(first)
    elsewhere = preflight.check(request(**ALONE, instruction=words, call_id="another"))
    assert isinstance(elsewhere, Asking)  # and another run of the same call is confirmed for itself


@pytest.mark.parametrize("given", [1, "true", False, None])
def test_only_exactly_true_confirms(tmp_path: Path, given: object) -> None:
    #
    preflight = ruled(tmp_path, {"effect": "irreversible"})
    first = preflight.check(request(**ALONE))
    assert isinstance(first, Asking)
    odd = preflight.check(request(**ALONE, call_id="c2", checklist_answers={confirm(first): given}))
    assert isinstance(odd, Asking)


def test_values_that_rules_allow_unconfirmed_are_shown_too(tmp_path: Path) -> None:
    properties = {"amount": {"type": "number"}, "to": {"type": "string"}, "dry_run": {"type": "boolean"}}
    tool = {**TOOL, "inputSchema": {"type": "object", "properties": properties, "required": ["amount", "to"]}}
    rules = {"effect": "irreversible", "fields": {"dry_run": {"unconfirmed": "allow"}}}
    claims = {"amount": 500, "to": "bob", "dry_run": True}
    checked = check(tmp_path, rules, {**ALONE, "tool": tool, "claims": claims})
    assert isinstance(checked, Asking)
    assert checked.question.items[0].shown == claims


@pytest.mark.parametrize("secret", ["to", "dry_run"])
def test_what_cannot_be_shown_is_held(tmp_path: Path, secret: str) -> None:
    # a secret is not shown, and its digest would tell a short one
    properties = {"amount": {"type": "number"}, "to": {"type": "string"}, "dry_run": {"type": "boolean"}}
    tool = {**TOOL, "inputSchema": {"type": "object", "properties": properties, "required": ["amount", "to"]}}
    fields = {"dry_run": {"unconfirmed": "allow"}, secret: {"secret": True, "unconfirmed": "allow"}}
    claims = {"amount": 500, "to": "bob", "dry_run": True}
    checked = check(tmp_path, {"effect": "irreversible", "fields": fields}, {**ALONE, "tool": tool, "claims": claims})
    assert isinstance(checked, Held)
    assert "secret" in checked.record.gate.unmet[0].note


def test_a_slot_that_is_called_like_the_confirmation_is_not_taken_for_it(tmp_path: Path) -> None:
    #
    tool = {**TOOL, "inputSchema": {"type": "object", "properties": {"unattended": {"type": "string"}},
                                    "required": ["unattended"]}}  # fmt: skip
    rules = {"effect": "irreversible", "confirm": ["unattended"], "unattended": "run"}
    checked = check(tmp_path, rules, {**ALONE, "tool": tool, "claims": {"unattended": "bob"}})
    assert isinstance(checked, Asking)
    assert checked.question.items[0].shown == "bob"


def test_asking_for_a_confirmation_ends_as_often_as_rules_say(tmp_path: Path) -> None:
    #
    clock = FakeClock()
    preflight = ruled(tmp_path, {"effect": "irreversible", "value_asks": 1}, clock=clock)
    assert isinstance(preflight.check(request(**ALONE)), Asking)
    clock.advance(8 * 86_400)  # nobody answered
    checked = preflight.check(request(**ALONE))
    assert isinstance(checked, Held)
    assert checked.record.gate.kind == "value_exhausted"


def test_what_was_held_is_tried_again_when_it_is_sent_again(tmp_path: Path) -> None:
    bank = Bank(balance={"won": 499, "open": True})
    enough = {"id": "enough", "expression": "measured.balance.won >= args.amount"}
    preflight = ruled(tmp_path, {"unattended": "run", "conditions": [enough]}, bank)
    assert isinstance(preflight.check(request(**ALONE)), Held)
    assert isinstance(preflight.check(request(**ALONE)), Held)
    bank.results["balance"] = {"won": 500, "open": True}
    assert isinstance(preflight.check(request(**ALONE)), Executable)


# it is kept, shown and repeated


def test_a_run_that_is_deferred_fires_unattended(tmp_path: Path) -> None:
    # otherwise scheduling would be a way around the rules
    bank = runs.Bank(tmp_path)
    name = bank.defer(unattended=True)
    assert bank.store.get(name).record.unattended
    assert bank.at(runs.DAY) == [("held", "unknown_at_trigger", None)]
    (question,) = bank.gate.pending()
    assert question.items[0].shown == {"amount": 100, "to": "Bob"}
    bank.gate.answer(question.question_id, {question.items[0].id: True}, person="u1")
    assert bank.at(runs.DAY + 60) == [("fired", None, "executed")]
    assert bank.row(name).state == "done"


def test_at_the_instruction_nothing_is_held_against_it(tmp_path: Path) -> None:
    preflight = ruled(tmp_path, {"unattended": "hold"}, classify_when_case=lambda *_: "scheduled")
    assert isinstance(preflight.check(request(**ALONE)), Deferred)


def test_a_replay_knows_that_nobody_attended(tmp_path: Path) -> None:
    rules = write(tmp_path / "rules.json", rules_of({"effect": "irreversible", "intents": ["send"]}))
    with_request = create_preflight(storage=MemoryStorage(), rules=rules, store_instruction=True)
    checked = with_request.check(request(**ALONE))
    assert isinstance(checked, Asking)
    again = replay(checked.record, with_request.storage, rules)
    assert (again.whole, again.changes) == (True, ())
    laxer = write(tmp_path / "lax.json", rules_of({"intents": ["send"], "unattended": "run"}))
    changes = replay(checked.record, with_request.storage, laxer).changes
    assert ("decision", "ask_user", "execute") in [(c.what, c.before, c.after) for c in changes]


def test_an_answer_repeats_the_run_unattended_from_what_was_stored(tmp_path: Path) -> None:
    rules = write(tmp_path / "rules.json", rules_of({"effect": "irreversible", "intents": ["send"]}))
    storage = MemoryStorage()
    asked = create_preflight(storage=storage, rules=rules, store_instruction=True).check(request(**ALONE))
    assert isinstance(asked, Asking)
    other = create_preflight(storage=storage, rules=rules)  # another process
    confirmed = other.answer(asked.question.question_id, {confirm(asked): True}, person="u1")
    assert isinstance(confirmed, Executable)
    assert confirmed.record.unattended


def test_without_the_stored_request_the_same_call_goes_on(tmp_path: Path) -> None:
    storage = MemoryStorage()
    asked = ruled(tmp_path, {}, storage=storage).check(request(**ALONE))
    assert isinstance(asked, Asking)
    other = ruled(tmp_path, {}, storage=storage)
    assert isinstance(other.answer(asked.question.question_id, {confirm(asked): True}, person="u1"), Accepted)
    assert isinstance(other.check(request(**ALONE)), Executable)


@pytest.mark.parametrize(("given", "said"), [(ALONE, True), ({}, False)])
def test_a_record_shows_that_nobody_attended(given: dict[str, Any], said: bool) -> None:
    record: Record = gate().check(request(**given)).record
    text = "\n".join("".join(getattr(piece, "text", str(piece)) for piece in row) for row in call_lines(record))
    assert ("by nobody" in text) is said


# the rules themselves


def preflight_of(rules: RuleSet) -> Preflight:
    return gate(named={"rules": lambda: rules})


USER = "users: {u1: {servers: {bank: {tools: {transfer: {%s}}}}}}\n"


@pytest.mark.parametrize(
    ("base", "over", "word"),
    [
        ("{}", "unattended: hold", "hold"),
        ("unattended: run", "unattended: park", "park"),
        ("unattended: run", "value_asks: 1", "run"),
        ("{effect: reversible}", "effect: irreversible", "park"),
        ("{effect: reversible, unattended: run}", "effect: irreversible", "park"),
        ("{effect: reversible, unattended: hold}", "effect: irreversible", "hold"),
        ("{effect: read, unattended: run}", "effect: reversible", "run"),
    ],
)
def test_an_override_only_tightens(base: str, over: str, word: str) -> None:
    rules = load(transfer(base) + USER % over)
    assert rules.for_tool("bank", "transfer", "u1").when_unattended == word


@pytest.mark.parametrize(
    ("base", "over"),
    [
        ("unattended: hold", "unattended: park"),
        ("unattended: park", "unattended: run"),
        ("effect: irreversible", "unattended: run"),
        # what the tool's own rules let a lesser call do says nothing of a graver one
        ("{effect: reversible, unattended: run}", "effect: irreversible, unattended: run"),
    ],
)
def test_an_override_does_not_loosen(base: str, over: str) -> None:
    fault = only_fault(transfer(base) + USER % over)
    over = over.rpartition(" ")[2]
    assert f"`unattended` would loosen the rules: `{over}` is less strict than" in fault


def test_raising_an_effect_lets_nothing_run_that_did_not() -> None:
    top = "version: 1\nunattended: {reversible: hold, irreversible: run}\n"
    rules = load(top + transfer("effect: reversible").replace("version: 1\n", "") + USER % "effect: irreversible")
    assert rules.for_tool("bank", "transfer").when_unattended == "hold"
    assert rules.for_tool("bank", "transfer", "u1").when_unattended == "hold"


def test_an_override_of_what_nobody_listed_stands_on_the_strictest() -> None:
    top = "version: 1\nunattended: {irreversible: hold}\n"
    assert load(top + USER % "value_asks: 1").for_tool("bank", "transfer", "u1").when_unattended == "hold"
    assert "would loosen" in only_fault(top + USER % "unattended: park")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (transfer("unattended: maybe"), "`maybe` is not known here"),
        (transfer("unattended: runn"), "did you mean `run`"),
        ("version: 1\nunattended: run\n", "what calls may do that nobody attends as a mapping"),
        ("version: 1\nunattended: {read: run}\n", "`read` is no key of what calls may do"),
    ],
)
def test_a_word_that_is_none_is_refused(text: str, said: str) -> None:
    assert said in only_fault(text)


def test_an_empty_section_changes_nothing() -> None:
    rules = load("version: 1\nunattended: {}\n")
    assert isinstance(preflight_of(rules).check(request(**ALONE)), Asking)
