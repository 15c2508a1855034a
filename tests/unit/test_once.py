"""Of one instruction, an act is started once, however often and in whatever shape it is proposed (R-79)."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from preflight import Asking, Deferred, Executable, Held, Preflight, ToolRules, create_preflight
from preflight.deferral.changes import DeferredRuns
from preflight.model.json_value import exact
from preflight.model.record import Instructed, Sent
from preflight.model.request import Request, request_digest
from preflight.model.rules import FieldRules
from preflight.render.changes import would_have_changed
from preflight.replaying import Replay, replay
from preflight.results import Executed, Failed, InDoubt, Refused
from preflight.storage import open_storage
from preflight.testing import FakeClock, MemoryStorage
from tests.unit.gates import SCHEMA, TOOL, gate, request
from tests.unit.ruled import ruled, rules_of, write

OPTIONAL = {**SCHEMA, "properties": {**SCHEMA["properties"], "memo": {"type": "string"}, "urgent": {"type": "boolean"}}}
WORDS = "send 500 to bob for rent"


def said(call: str, instruction: str | None = "i1", text: str = WORDS, **parts: Any) -> dict[str, Any]:
    words = [{"text": text, "trust": "user"}]
    return request(
        tool={**TOOL, "inputSchema": OPTIONAL}, instruction=words, call_id=call, instruction_id=instruction, **parts
    )


def run(preflight: Preflight, given: dict[str, Any], call: Any = lambda call: call.arguments) -> Any:
    """What a client does: an approval that is asked for is given, and what may run is executed."""
    checked = preflight.check(given)
    while isinstance(checked, Asking):
        approved: dict[str, object] = {item.id: True for item in checked.question.items}
        approved |= {slot.name: None for slot in checked.question.slots}
        checked = preflight.answer(checked.question.question_id, approved, person=given["user_id"])  # type: ignore[assignment]
    return preflight.execute_if_ready(checked, call) if isinstance(checked, Executable) else checked


def kind(result: Any) -> str | None:
    assert isinstance(result, Held)
    assert result.record.gate is not None
    return result.record.gate.kind


@pytest.mark.parametrize(
    "claims",
    [
        {"amount": 500, "to": "bob"},
        {"to": "bob", "amount": 500.0},
        {"amount": 500, "to": "bob", "zz": 1},
        {"amount": 500, "to": "bob", "memo": "rent"},
        {"amount": 500, "to": "bob", "memo": "something else"},
        {"amount": 500, "to": "bob", "urgent": True},
    ],
)
def test_a_proposal_that_sends_the_same_is_not_started_again(claims: dict[str, object]) -> None:
    preflight, sent = gate(), list[object]()
    first = run(preflight, said("c1"), lambda call: sent.append(call.arguments))
    assert isinstance(first, Executed)
    again = run(preflight, said("c2", claims=claims), lambda call: sent.append(call.arguments))
    assert kind(again) == "repeated"
    assert again.record.gate.repeats == first.record.decision_id
    assert again.record.reason == "the same instruction led to this act before"
    assert again.record.call_arguments is None
    assert sent == [{"amount": 500, "to": "bob"}]


@pytest.mark.parametrize("memo", ["rent", "something else"])
def test_what_said_more_at_first_may_not_say_less_later(memo: str) -> None:
    preflight = gate()
    assert isinstance(run(preflight, said("c1", claims={"amount": 500, "to": "bob", "memo": memo})), Executed)
    assert kind(run(preflight, said("c2"))) == "repeated"
    assert kind(run(preflight, said("c3", claims={"amount": 500, "to": "bob", "memo": "rent"}))) == "repeated"


@pytest.mark.parametrize(
    "parts",
    [
        {"instruction": "i2"},
        {"instruction": None},
        {"user_id": "u2"},
        {"scope": {"tenant": "other"}},
        {"text": f"{WORDS}, and 300 to ann", "claims": {"amount": 300, "to": "ann"}},
    ],
)
def test_another_instruction_user_tenant_or_act_is_started(parts: dict[str, Any]) -> None:
    preflight = gate()
    assert isinstance(run(preflight, said("c1")), Executed)
    assert isinstance(run(preflight, said("c2", **parts)), Executed)


def test_the_conversation_makes_no_other_act_of_it() -> None:
    preflight = gate()
    assert isinstance(run(preflight, said("c1", scope={"conversation": "a"})), Executed)
    assert kind(run(preflight, said("c2", scope={"conversation": "b"}))) == "repeated"


def test_nobody_is_asked_what_more_to_say_of_what_was_done() -> None:
    preflight = gate()
    assert isinstance(run(preflight, said("c1")), Executed)
    assert kind(preflight.check(said("c2", claims={"amount": 500, "to": "bob", "memo": "invented"}))) == "repeated"
    assert isinstance(preflight.check(said("c3", claims={"to": "bob"})), Asking)  # it may come to another amount
    assert len(preflight.pending()) == 1


def test_nobody_is_asked_about_what_was_done(tmp_path: Path) -> None:
    preflight = ruled(tmp_path, {"effect": "irreversible"})
    alone: dict[str, Any] = {"unattended": True}
    assert isinstance(run(preflight, said("c1", claims={"to": "bob", "amount": 500, "memo": "x"}, **alone)), Executed)
    # all of this is known, and only the approval of a person is missing
    assert kind(preflight.check(said("c2", **alone))) == "repeated"
    assert preflight.pending() == []


def test_what_is_known_to_have_failed_may_be_started_again() -> None:
    preflight = gate()

    def refuse(_call: object) -> object:
        return {"isError": True}

    assert isinstance(run(preflight, said("c1"), refuse), Failed)
    assert isinstance(run(preflight, said("c2")), Executed)


def test_what_is_in_doubt_may_not_until_a_person_found_that_it_failed() -> None:
    preflight = gate()

    def lost(_call: object) -> object:
        raise TimeoutError

    doubt = run(preflight, said("c1"), lost)
    assert isinstance(doubt, InDoubt)
    assert kind(run(preflight, said("c2"))) == "repeated"
    preflight.resolve(doubt.record.decision_id, "failed", by="u1", evidence="no such transfer")
    assert isinstance(run(preflight, said("c2")), Executed)  # the same call: it was held for what was true then


def test_a_read_may_be_repeated(tmp_path: Path) -> None:
    preflight = ruled(tmp_path, {"effect": "read"})
    assert isinstance(run(preflight, said("c1")), Executed)
    assert isinstance(run(preflight, said("c2")), Executed)


def test_of_two_decisions_made_at_one_moment_one_is_started(tmp_path: Path) -> None:
    # each was decided while the other was not started: the claim finds it
    for storage in (MemoryStorage(), open_storage(tmp_path / "records.db")):
        preflight = gate(storage)
        first, second = (
            preflight.check(said("c1")),
            preflight.check(said("c2", claims={"amount": 500, "to": "bob", "zz": 1})),
        )
        assert isinstance(first, Executable)
        assert isinstance(second, Executable)
        assert isinstance(preflight.execute_if_ready(first, lambda call: call.arguments), Executed)
        refused = preflight.execute_if_ready(second, lambda call: call.arguments)
        assert isinstance(refused, Refused)
        assert (refused.code, refused.record) == ("repeated", second.record)
        assert first.decision_id in refused.why
        preflight.close()


def test_it_holds_in_another_process_and_where_no_words_are_kept(tmp_path: Path) -> None:
    with_words = gate(open_storage(tmp_path / "records.db"), named={"store_instruction": True})
    assert isinstance(run(with_words, said("c1")), Executed)
    with_words.close()
    without = gate(open_storage(tmp_path / "records.db"), named={"store_instruction": False})
    assert kind(run(without, said("c2"))) == "repeated"
    without.close()


def test_secret_values_leave_no_digest_that_could_be_guessed_at(tmp_path: Path) -> None:
    open_rules, secret = {"effect": "irreversible"}, {"effect": "irreversible", "fields": {"to": {"secret": True}}}
    made = []
    for name, rules in (("open", open_rules), ("secret", secret)):
        folder = tmp_path / name
        folder.mkdir()
        preflight = ruled(folder, rules, storage=open_storage(folder / "records.db"))
        done = run(preflight, said("c1"))
        assert isinstance(done, Executed)
        assert kind(run(preflight, said("c2", claims={"amount": 500.0, "to": "bob"}))) == "repeated"
        made.append(done.record.instructed)
        preflight.close()
    plain, keyed = made
    assert plain.sent.keys() == keyed.sent.keys() == {"amount", "to"}
    assert not {plain.by, plain.proposed, *plain.sent.values()} & {keyed.by, keyed.proposed, *keyed.sent.values()}


def test_a_tool_whose_schema_cannot_be_read_is_compared_by_all_that_is_proposed() -> None:
    preflight = gate()
    odd = {**TOOL, "inputSchema": {"type": "array"}}
    assert kind(preflight.check({**said("c1"), "tool": odd})) == "schema_unsupported"


def test_the_instruction_is_a_fact_of_the_request() -> None:
    plain, one, two = (Request.parse(said("c1", name)) for name in (None, "i1", "i2"))
    assert len({request_digest(each) for each in (plain, one, two)}) == 3
    assert request_digest(plain) == request_digest(Request.parse({**said("c1"), "instruction_id": None}))
    assert kind(gate().check(said("c1", 7))) == "request_invalid"  # type: ignore[arg-type]


def test_it_is_seen_without_recording_too_and_comes_out_the_same_in_a_replay() -> None:
    preflight = gate(named={"store_instruction": True})
    first = preflight.check(said("c1"))
    assert preflight.run_preflight(said("c2")).executable
    assert isinstance(preflight.execute_if_ready(first, lambda call: call.arguments), Executed)  # type: ignore[arg-type]
    for call, claims in (("c3", {"amount": 500, "to": "bob"}), ("c4", {"amount": 500, "to": "bob", "memo": "rent"})):
        looked = preflight.run_preflight(said(call, claims=claims))
        assert looked.gate is not None
        assert (looked.execution_decision, looked.gate.kind) == ("hold", "repeated")
        recorded = preflight.record_execution_state(said(call, claims=claims), looked)
        assert kind(recorded) == "repeated"
        assert recorded.record.gate.repeats == first.record.decision_id


def test_a_replay_sees_what_was_started_by_then(tmp_path: Path) -> None:
    rules = write(tmp_path / "rules.json", rules_of({"effect": "irreversible", "intents": ["send"]}))
    preflight = create_preflight(storage=MemoryStorage(), rules=rules, store_instruction=True)
    done = run(preflight, said("c1"))
    assert isinstance(done, Executed)
    held = preflight.check(said("c2"))
    assert kind(held) == "repeated"
    for record in (preflight.storage.get(done.record.decision_id).record, held.record):  # type: ignore[union-attr]
        assert replay(record, preflight.storage, rules) == Replay(record.record_id, whole=True, changes=())


def test_explain_says_what_would_have_changed_it() -> None:
    preflight = gate()
    run(preflight, said("c1"))
    held = preflight.check(said("c2"))
    assert "words that say that it is to be done once more" in str(would_have_changed([held.record]))


ANN, BOB = Sent(("ann",), told=True, places=(("t", 5, 8),)), Sent(("bob",), told=True, places=(("t", 13, 16),))
ANSWERED, MODEL = Sent(("eve",), told=True), Sent(("text",))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({}, {}, True),
        ({}, {"to": ANN}, True),
        ({"to": ANN}, {"to": ANN, "memo": MODEL}, True),
        ({"to": ANN, "memo": MODEL}, {"to": ANN, "memo": Sent(("other",))}, True),
        ({"to": ANN}, {"to": BOB}, False),
        ({"to": ANN}, {"to": ANSWERED}, False),
        ({"to": ANN}, {"to": MODEL}, True),  # the user told one thing only
        ({"to": ANN}, {"recipient": ANN}, True),
        ({"to": ANN}, {"recipient": BOB}, False),
        ({"to": ANN}, {"to": Sent(("ann k",), told=True, places=(("t", 7, 12),))}, True),
        ({"to": ANN}, {"to": Sent(("ann k",), told=True, places=(("u", 5, 8),))}, False),
        ({"to": ANN | BOB}, {"to": BOB}, True),
        ({"to": ANN, "sum": ANSWERED}, {"to": ANN, "sum": BOB}, False),
    ],
)
def test_what_the_user_told_tells_acts_apart(one: dict[str, Sent], other: dict[str, Sent], same: bool) -> None:
    first, second = Instructed("i", "p", one), Instructed("i", "q", other)
    assert first.repeats(second) is same
    assert second.repeats(first) is same
    assert not msgspec.structs.replace(first, by="j").repeats(second)
    assert msgspec.structs.replace(first, proposed="q").repeats(second)  # the same proposal


def test_a_record_repeats_another_decision_only() -> None:
    preflight = gate(MemoryStorage(), FakeClock())
    record = preflight.check(said("c1")).record
    assert not record.repeats(record)
    twin = msgspec.structs.replace(record, record_id="twin", decision_id="twin")
    assert twin.repeats(record)
    assert not msgspec.structs.replace(twin, instructed=None).repeats(record)


def shop(**schema: Any) -> Callable[..., Any]:
    """A shop behind the hooks that ship: returns what orders one thing of a text, and whether it was started."""
    verbs, memo = ("order", "cancel", "pay", "delete", "set"), FieldRules(unconfirmed="allow")
    rules = ToolRules(effect="irreversible", intents=verbs, fields={"memo": memo})
    preflight = create_preflight(storage=MemoryStorage(), clock=FakeClock(), rules={("shop", "do"): rules})
    numbers = itertools.count()

    def order(text: str, **claims: Any) -> bool:
        words = [{"text": text, "trust": "user"}]
        tool = {"server": "shop", "name": "do", "inputSchema": {"type": "object", **schema}}
        given = request(tool=tool, instruction=words, claims=claims, call_id=f"c{next(numbers)}", instruction_id=text)
        result = run(preflight, given)
        if isinstance(result, Held):
            assert kind(result) == "repeated", result.record.reason
        return isinstance(result, Executed)

    return order


TEXT, NUMBER, LIST = {"type": "string"}, {"type": "number"}, {"type": "array", "items": {"type": "string"}}
PAY = {"properties": {"to": TEXT, "amount": NUMBER, "memo": TEXT}, "required": ["to", "amount"]}


@pytest.mark.parametrize(
    ("text", "ways"),
    [
        ("pay 500 to Kim Minji", [{"to": "Kim Minji"}, {"to": "Minji"}, {"to": "Kim"}, {"to": "kim minji"}]),
        ("pay 500 to account 3520198845", [{"to": "3520198845"}, {"to": "account 3520198845"}]),
        ("pay 500 to Minji (3520198845)", [{"to": "Minji"}, {"to": "3520198845"}]),
        ("pay 500 to Minji (3520198845)", [{"to": "3520198845"}, {"to": "Minji"}]),
        (
            "pay 500 to Minji",
            [{"to": "Minji", "memo": "rent"}, {"to": "Minji", "memo": "rent, December"}, {"to": "Minji"}],
        ),
    ],
)
def test_another_cut_of_the_same_words_is_the_same_act(text: str, ways: list[dict[str, Any]]) -> None:
    pay = shop(**PAY)
    assert [pay(text, amount=500, **way) for way in ways] == [True] + [False] * (len(ways) - 1)


def test_another_name_or_alternative_for_the_same_is_the_same_act() -> None:
    pay = shop(properties={"to": TEXT, "amount": NUMBER, "recipient": TEXT, "value": NUMBER})
    assert pay("pay 500 to Minji", to="Minji", amount=500)
    assert not pay("pay 500 to Minji", recipient="Minji", value=500)
    one_of = {"oneOf": [{"required": ["iban"]}, {"required": ["account"]}]}
    pay = shop(properties={"iban": TEXT, "account": TEXT, "amount": NUMBER}, required=["amount"], **one_of)
    assert pay("pay 500 to 3520198845", iban="3520198845", amount=500)
    assert not pay("pay 500 to 3520198845", account="3520198845", amount=500)


def test_a_list_is_the_same_act_in_any_order_and_in_part() -> None:
    text, ids = "order A100, B200 and C300", {"properties": {"ids": LIST}, "required": ["ids"]}
    order = shop(**ids)
    ways = [["A100", "B200"], ["B200", "A100"], ["A100"], ["B200"], ["C300"], ["A100", "C300"]]
    assert [order(text, ids=way) for way in ways] == [True, False, False, False, True, False]
    rows = {"type": "array", "items": {"type": "object", "properties": {"id": TEXT}, "required": ["id"]}}
    order = shop(properties={"rows": rows}, required=["rows"])
    wanted = [["A100", "B200"], ["B200", "A100"], ["C300"]]
    assert [order(text, rows=[{"id": each} for each in way]) for way in wanted] == [True, False, True]


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        ("delete Readme.md and README.md", {"to": "Readme.md"}, {"to": "README.md"}),
        ("pay 500 to Ann and 500 to Bob", {"to": "Ann", "amount": 500}, {"to": "Bob", "amount": 500}),
        ("delete old.txt (and new.txt", {"to": "old.txt"}, {"to": "new.txt"}),  # nothing closes what was opened
        ("set theme to dark and language to Korean", {"theme": "dark"}, {"language": "Korean"}),
    ],
)
def test_what_the_user_said_apart_is_started_each(text: str, first: dict[str, Any], second: dict[str, Any]) -> None:
    do = shop(properties={"to": TEXT, "amount": NUMBER, "theme": TEXT, "language": TEXT})
    assert do(text, **first)
    assert do(text, **second)
    assert not do(text, **first)
    assert not do(text, **second)


def test_what_was_answered_first_and_is_found_in_the_words_later_is_the_same() -> None:
    preflight = gate()
    text = "send 500 to bob"
    asked = preflight.check(said("c1", text=text, claims={"amount": 500, "to": "b-o-b"}))
    assert isinstance(asked, Asking)
    answered = preflight.answer(asked.question.question_id, {"to": "bob"}, person="u1")
    assert isinstance(preflight.execute_if_ready(answered, lambda call: call.arguments), Executed)  # type: ignore[arg-type]
    assert kind(run(preflight, said("c2", text=text))) == "repeated"


LATER = "pay 500 to Minji tomorrow at 9:00"


def later(preflight: Preflight, call: str, text: str = LATER, **claims: Any) -> Any:
    tool = {"server": "shop", "name": "do", "inputSchema": {"type": "object", **PAY}}
    words = [{"text": text, "trust": "user"}]
    claims = {"to": "Minji", "amount": 500, **claims}
    return preflight.check(
        request(tool=tool, instruction=words, claims=claims, call_id=call, instruction_id=text, zone="Asia/Seoul")
    )


def test_what_is_deferred_is_deferred_once_whatever_became_of_it() -> None:
    rules = {("shop", "do"): ToolRules(effect="irreversible", intents=("pay",))}
    preflight = create_preflight(storage=MemoryStorage(), clock=FakeClock(), rules=rules)
    first = later(preflight, "c1")
    assert isinstance(first, Deferred)
    assert kind(later(preflight, "c2", amount=500.0)) == "repeated"
    assert kind(later(preflight, "c3", memo="rent")) == "repeated"
    runs = DeferredRuns(preflight)
    (row,) = runs.find()
    runs.cancel(row.deferral_id, by="u1")
    assert kind(later(preflight, "c4", amount=500.0)) == "repeated"  # who cancelled it did not say it again
    assert isinstance(later(preflight, "c5", "please " + LATER), Deferred)


def test_a_slot_that_became_secret_hides_nothing_that_was_done(tmp_path: Path) -> None:
    plain = ruled(tmp_path, {"effect": "irreversible"}, storage=open_storage(tmp_path / "records.db"))
    assert isinstance(run(plain, said("c1")), Executed)
    plain.close()
    secret = {"effect": "irreversible", "fields": {"to": {"secret": True}}}
    hidden = ruled(tmp_path, secret, storage=open_storage(tmp_path / "records.db"))
    assert kind(run(hidden, said("c2", claims={"amount": 500, "to": "bob", "zz": 1}))) == "repeated"
    hidden.close()


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (500.0, "500"),
        (0.5, "0.5"),
        (1e22, "10000000000000000000000"),
        (True, "true"),
        ("500.0", '"500.0"'),
        (({"a": 1.0}, (2.0, None)), '[{"a": 1}, [2, null]]'),
    ],
)
def test_a_number_has_one_form(value: object, form: str) -> None:
    assert json.dumps(exact(value)) == form


def test_what_was_answered_is_compared_by_its_value() -> None:
    preflight = gate()
    text = "send money to bob"
    assert isinstance(run(preflight, said("c1", text=text, user_answers={"amount": 500})), Executed)
    other = {"amount": 7, "to": "bob"}
    assert kind(run(preflight, said("c2", text=text, claims=other, user_answers={"amount": 500.0}))) == "repeated"
    assert isinstance(run(preflight, said("c3", text=text, claims=other, user_answers={"amount": 501})), Executed)
