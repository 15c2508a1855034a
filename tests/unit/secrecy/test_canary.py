"""A secret planted wherever one can come from never shows where something leaves (R-78, P18)."""

from __future__ import annotations

import io
import json
import logging
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from preflight import (
    Asking,
    AsyncPreflight,
    Executable,
    Executed,
    Failed,
    FieldRules,
    Held,
    InDoubt,
    Preflight,
    ProviderError,
    Refused,
    StorageError,
    ToolRules,
    create_preflight,
)
from preflight.codec import encode
from preflight.errors import AnswerRefused, Erased, InvalidInput
from preflight.executor import META_KEY
from preflight.model.question import Answer, Question
from preflight.model.record import Record
from preflight.model.sealed import MASK
from preflight.render import asked, explanation, public, summary
from preflight.render.public import public_question
from preflight.results import Claimed
from preflight.storage.sqlite import SqliteStorage
from preflight.testing import FakeClock, MemoryStorage
from tests.unit.gates import ABSENT, hooks, located, request, tool

CANARY = "kanari-7391"
NUMBER = 73917391
TOOL = tool(pin={"type": "string"}, to={"type": "string"})
RULES = {("bank", "transfer"): ToolRules(fields={"pin": FieldRules(secret=True), "code": FieldRules(secret=True)})}


class Exits:
    """Everything that left: texts, log lines, and the bytes of every file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = io.StringIO()
        self.texts: list[str] = []

    def left(self, *things: object) -> None:
        for thing in things:
            self.texts += [repr(thing), str(thing)]
            for record in (thing, getattr(thing, "record", None)):
                if isinstance(record, Record | Question | Answer):
                    self.texts.append(encode(record).decode())

    def whole(self) -> str:
        stored = [path.read_bytes().decode("latin-1") for path in self.folder.rglob("*") if path.is_file()]
        return "\n".join([*self.texts, self.log.getvalue(), *stored])


@pytest.fixture
def exits(tmp_path: Path) -> Iterator[Exits]:
    found = Exits(tmp_path)
    handler = logging.StreamHandler(found.log)
    root = logging.getLogger()
    root.addHandler(handler)
    before = root.level
    root.setLevel(logging.DEBUG)
    yield found
    root.removeHandler(handler)
    root.setLevel(before)


def gate(storage: Any = None, *, tools: Any = RULES, keep: bool = True, **replaced: Any) -> Preflight:
    return create_preflight(
        storage=storage or MemoryStorage(),
        hooks=hooks(**replaced),
        rules=tools,
        clock=FakeClock(),
        store_instruction=keep,
    )


def said(**parts: Any) -> dict[str, Any]:
    whole = {
        "tool": TOOL,
        "instruction": [{"text": f"pay bob, my pin is {CANARY}", "trust": "user"}],
        "claims": {"pin": CANARY, "to": "bob"},
    }
    return request(**{**whole, **parts})


def quiet(exits: Exits, *also: str) -> None:
    whole = exits.whole()
    for secret in (CANARY, *also):
        assert secret not in whole
        assert json.dumps(secret) not in whole


def raising(text: str) -> Any:
    def hook(*_: Any) -> Any:
        raise ValueError(text)

    return hook


def test_a_call_runs_with_its_secret_and_nothing_else_has_it(exits: Exits, tmp_path: Path) -> None:
    storage = SqliteStorage(tmp_path / "records.db")
    made = gate(storage)
    checked = made.check(said())
    assert isinstance(checked, Executable)
    exits.left(checked, *summary(checked.record), public(checked.record), *explanation([checked.record]))
    called = []

    def pay(call: Any) -> Any:
        called.append(call.arguments)
        exits.left(call)
        return {"content": [{"type": "text", "text": f"paid with {CANARY}"}], "echo": {CANARY: [CANARY]}}

    executed = made.execute_if_ready(checked, pay)
    assert isinstance(executed, Executed)
    assert called == [{"pin": CANARY, "to": "bob"}]
    assert executed.result["echo"] == {CANARY: [CANARY]}  # type: ignore[index]  the program gets what the tool said
    assert executed.shown == {"content": [{"type": "text", "text": f"paid with {MASK}"}], "echo": {MASK: [MASK]}}
    exits.left(executed, executed.shown, *(stored.record for stored in storage.scan()))
    quiet(exits)
    assert made.reveal(checked).call_arguments == {"pin": CANARY, "to": "bob"}
    assert executed.record.call_arguments == {"pin": MASK, "to": "bob"}
    storage.close()
    quiet(exits)


def test_a_claimed_call_does_not_show_it(exits: Exits) -> None:
    made = gate()
    checked = made.check(said())
    assert isinstance(checked, Executable)
    claimed = made.claim(checked)
    assert isinstance(claimed, Claimed)
    assert claimed.call.arguments["pin"] == CANARY
    assert claimed.call.meta == {META_KEY: checked.decision_id}
    exits.left(claimed, claimed.call)
    exits.left(made.settle(claimed, {"isError": True, "content": CANARY}))
    quiet(exits)


@pytest.mark.parametrize("fault", [ProviderError(f"bad pin {CANARY}"), TimeoutError(f"{CANARY} timed out")])
def test_what_a_provider_says_of_it_is_masked(exits: Exits, fault: Exception) -> None:
    made = gate()
    checked = made.check(said())
    assert isinstance(checked, Executable)

    def pay(_call: Any) -> Any:
        raise fault

    ended = made.execute_if_ready(checked, pay)
    assert isinstance(ended, Failed | InDoubt)
    assert MASK in ended.error
    exits.left(ended, *made.in_doubt())
    quiet(exits)


HOOKS = """
classify_when_case confirm_tool_name_matches_intent extract_from_instruction measure_from_environment
build_action_key apply_field_policy validate_field_schema verify_user_checklist_item
""".split()


@pytest.mark.parametrize("hook", HOOKS)
def test_a_hook_that_tells_it_is_masked(exits: Exits, hook: str) -> None:
    storage = MemoryStorage()
    made = gate(storage, **{hook: raising(f"cannot read {CANARY} of {{'pin': '{CANARY}'}}")})
    given = said(user_checklist=[{"id": "seen", "description": "the terms"}], measured_data=ABSENT)
    checked = made.check(given)
    exits.left(checked, *summary(checked.record), public(checked.record), *(s.record for s in storage.scan()))
    if isinstance(checked, Asking):
        exits.left(*asked(checked.question), public_question(checked.question))
    quiet(exits)


def test_a_hook_that_returns_it_where_texts_go_is_masked(exits: Exits) -> None:
    made = gate(
        build_action_key=lambda *_: f"pay with {CANARY}",
        validate_field_schema=lambda slot, value, _given: f"{value} is too short" if slot.name == "pin" else None,
        confirm_tool_name_matches_intent=lambda *_: {"approved": True, "reason": f"heard {CANARY}"},
    )
    checked = made.check(said())
    assert isinstance(checked, Asking)
    exits.left(checked, *asked(checked.question), *summary(checked.record), public_question(checked.question))
    quiet(exits)


@pytest.mark.parametrize("keep", [True, False])
def test_an_answer_is_kept_and_not_shown(exits: Exits, tmp_path: Path, keep: bool) -> None:
    storage = SqliteStorage(tmp_path / "records.db")
    made = gate(storage, keep=keep)
    checked = made.check(said(instruction=[{"text": "pay bob", "trust": "user"}]))
    assert isinstance(checked, Asking)
    exits.left(checked, *made.pending(), *(public_question(q) for q in made.pending()))
    answered = made.answer(checked.question.question_id, {"pin": CANARY}, person="u1")
    assert isinstance(answered, Executable)
    answer = storage.answer_to(checked.question.question_id)
    exits.left(answered, answer, *explanation([answered.record], checked.question, [answer] if answer else ()))
    assert answer is not None
    assert answer.values == {"pin": MASK}
    quiet(exits)
    called = []
    made.execute_if_ready(answered, lambda call: called.append(call.arguments))
    assert called == [{"pin": CANARY, "to": "bob"}]
    storage.close()
    quiet(exits)


def test_an_answer_that_does_not_fit_is_refused_without_repeating_it(exits: Exits) -> None:
    numbered = tool(pin={"type": "integer"}, to={"type": "string"})
    made = gate()
    checked = made.check(said(tool=numbered, claims={"pin": NUMBER, "to": "bob"}, instruction=ABSENT))
    assert isinstance(checked, Asking)
    for values in ({"pin": CANARY}, {"pin": [CANARY]}, {"other": CANARY}, {CANARY: 1}):
        with pytest.raises(AnswerRefused) as refused:
            made.answer(checked.question.question_id, values, person="u1")
        exits.left(refused.value)
        exits.texts.append("".join(traceback.format_exception_only(refused.value)))
    quiet(exits, str(NUMBER))


def test_settings_and_measurements_are_hidden_too(exits: Exits) -> None:
    both = tool(pin={"type": "string"}, code={"type": "integer"})
    made = gate()
    given = said(
        tool=both,
        instruction=[{"text": "pay", "trust": "user"}],
        claims={},
        pre_set_data={"pin": {"value": CANARY, "trust": "user"}},
        measured_data={"code": {"valid": True, "value": NUMBER}},
    )
    checked = made.check(given)
    assert isinstance(checked, Executable)
    exits.left(checked, *summary(checked.record))
    quiet(exits, str(NUMBER), f"{NUMBER:,}")


def test_a_claim_that_is_not_sent_is_hidden_too(exits: Exits) -> None:
    optional = {
        "type": "object",
        "properties": {"to": {"type": "string"}, "pin": {"type": "string"}},
        "required": ["to"],
    }
    effect = {("bank", "transfer"): msgspec.structs.replace(RULES["bank", "transfer"], effect="reversible")}
    made = gate(tools=effect)
    checked = made.check(
        said(tool={**TOOL, "inputSchema": optional}, instruction=[{"text": "pay bob", "trust": "user"}])
    )
    assert [claim.name for claim in checked.record.dropped_claims] == ["pin"]
    exits.left(checked, *summary(checked.record), public(checked.record))
    quiet(exits)


def test_a_store_that_repeats_it_in_an_error_does_not_tell(exits: Exits) -> None:
    class Full(MemoryStorage):
        def append(self, record: Any, **_named: Any) -> Any:
            raise StorageError(f"disk full while writing {CANARY}")

    checked = gate(Full()).check(said())
    assert isinstance(checked, Held)
    assert checked.recorded is False
    exits.left(checked)
    assert "disk full while writing [secret]" in exits.log.getvalue()
    quiet(exits)


@pytest.mark.parametrize(
    "wrong", [{"user_id": 5}, {"zone": [CANARY]}, {"stray": CANARY}, {"scope": {"x": CANARY}}, {"call_id": 7}]
)
def test_a_malformed_request_is_refused_without_repeating_it(exits: Exits, wrong: dict[str, Any]) -> None:
    checked = gate().check(said(**wrong))
    exits.left(checked)
    quiet(exits)


def test_a_repeated_check_finds_its_verdict_by_a_keyed_digest(exits: Exits) -> None:
    made = gate()
    first, again, other = made.check(said()), made.check(said()), made.check(said(claims={"pin": "x", "to": "bob"}))
    assert first.record.record_id == again.record.record_id != other.record.record_id
    plain = create_preflight(storage=MemoryStorage(), hooks=hooks(), clock=FakeClock()).check(said())
    assert plain.record.request_digest != first.record.request_digest


def test_a_secret_is_asked_for_again_and_never_carried(exits: Exits) -> None:
    tools = {
        ("bank", "transfer"): ToolRules(
            fields={"pin": FieldRules(secret=True, carry_seconds=1e9), "to": FieldRules(carry_seconds=1e9)}
        )
    }
    made = gate(tools=tools)
    checked = made.check(said())
    assert isinstance(checked, Executable)
    made.execute_if_ready(checked, lambda _call: None)
    prior = made.get_prior_execution_state(user_id="u1", action_key="u1:transfer", tool=TOOL)
    assert prior is not None
    again = made.check(
        said(
            call_id="c2",
            claims={},
            instruction=[{"text": "again", "trust": "user"}],
            prior_execution_state=public(prior),
        )
    )
    assert isinstance(again, Asking)
    assert [slot.name for slot in again.question.slots] == ["pin"]


def test_after_erasure_nothing_can_be_called_or_revealed(exits: Exits, tmp_path: Path) -> None:
    from preflight.audit import verify

    storage = SqliteStorage(tmp_path / "records.db")
    made = gate(storage)
    checked = made.check(said())
    assert isinstance(checked, Executable)
    assert verify(storage.raw_scan, made.signer).intact  # type: ignore[arg-type]
    assert made.erase("u1") is True
    assert made.erase("u1") is False
    answer = made.execute_if_ready(checked, raising("must not be called"))
    assert isinstance(answer, Refused)
    assert answer.code == "erased"
    with pytest.raises(Erased):
        made.reveal(checked)
    with pytest.raises(InvalidInput):
        made.reveal("no such id")
    assert verify(storage.raw_scan, made.signer).intact  # type: ignore[arg-type]
    storage.close()
    quiet(exits)


def test_equal_secrets_of_a_person_are_found_without_opening_any() -> None:
    made = gate()
    first, other = made.check(said()), made.check(said(call_id="c2", claims={"pin": "x", "to": "bob"}))
    again = made.check(said(call_id="c3"))
    found = made.find_secret("pin", CANARY, user_id="u1")
    assert [r.record_id for r in found] == [again.record.record_id, first.record.record_id]
    assert other.record.record_id not in [r.record_id for r in found]
    for wanted in (("pin", "kanari"), ("to", CANARY)):
        assert made.find_secret(*wanted, user_id="u1") == []
    assert (
        made.find_secret("pin", CANARY, user_id="u2") == made.find_secret("pin", CANARY, user_id="u1", tenant="t") == []
    )
    made.erase("u1")
    assert made.find_secret("pin", CANARY, user_id="u1") == []


def test_a_limit_over_a_secret_does_not_open_the_log() -> None:
    from preflight.model.rules import LimitRule

    amount = tool(code={"type": "integer"})
    limit = LimitRule("daily", "sum", 10, 3600, field="code")
    tools = {("bank", "transfer"): ToolRules(fields={"code": FieldRules(secret=True)}, limits=(limit,))}
    made = gate(tools=tools, extract_from_instruction=located)
    checked = made.check(said(tool=amount, claims={"code": 5}, instruction=[{"text": "pay 5", "trust": "user"}]))
    assert isinstance(checked, Held)
    assert "secret" in repr(checked.record.conditions[0].note)


def test_the_asynchronous_face_has_the_same_care(exits: Exits) -> None:
    import asyncio

    from preflight import create_async_preflight

    made: AsyncPreflight = create_async_preflight(
        storage=MemoryStorage(), hooks=hooks(), rules=RULES, clock=FakeClock()
    )

    async def run() -> None:
        checked = await made.check(said())
        exits.left(checked)
        assert isinstance(checked, Executable)

        async def pay(call: Any) -> Any:
            exits.left(call)
            raise TimeoutError(CANARY)

        exits.left(await made.execute_if_ready(checked, pay))

    asyncio.run(run())
    quiet(exits)
