"""The shipped hooks under rules in a file: what acts lead where, and text that the model wrote (R-57, R-65, R-103)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from preflight import Asking, Executable, Preflight, ShippedHooks, create_preflight
from preflight.hooks.shipped import Meaning
from preflight.model.checklist import Match
from preflight.model.json_value import confirmation_id
from preflight.model.request import Scope
from preflight.results import Checked
from preflight.testing import FakeClock, MemoryStorage
from tests.unit.ruled import field, write

TEXT = {"type": "string"}


def listed(name: str, *required: str) -> dict[str, Any]:
    """A tool of the mail server whose properties are texts."""
    schema = {"type": "object", "properties": dict.fromkeys(required, TEXT), "required": list(required)}
    return {"server": "mail", "name": name, "inputSchema": schema}


def mail(folder: Path, **tools: Any) -> Preflight:
    rules = {"version": 1, "servers": {"mail": {"tools": tools}}}
    return create_preflight(
        storage=MemoryStorage(), rules=write(folder / "rules.json", rules), clock=FakeClock(), store_instruction=True
    )


def check(gate: Preflight, tool: dict[str, Any], said: str, call_id: str = "c1", **claims: Any) -> Checked:
    instruction = [{"text": said, "trust": "user"}]
    return gate.check({"user_id": "u1", "tool": tool, "instruction": instruction, "claims": claims, "call_id": call_id})


# which tool an act leads to

SEND = {"intents": ["send", "write"], "changes": ["send"], "fields": {"body": {"role": "content"}}}
DRAFT = {"effect": "reversible", "intents": ["write"], "fields": {"body": {"role": "content", "unconfirmed": "allow"}}}


def test_any_act_of_a_request_may_be_the_tool_s(tmp_path: Path) -> None:
    gate = mail(tmp_path, archive={"effect": "reversible", "intents": ["archive"], "changes": ["update"]})
    said = "Read the notice from the bank, then archive it."
    checked = check(gate, listed("archive"), said)
    assert isinstance(checked, Executable), checked.record.reason
    assert checked.record.fixed is not None
    assert checked.record.fixed.c2_user_action_name == "Read the notice from the bank; archive it"


def test_an_act_nobody_named_a_tool_by_is_asked_about(tmp_path: Path) -> None:
    gate = mail(tmp_path, archive={"effect": "reversible", "intents": ["archive"]})
    checked = check(gate, listed("archive"), "please tidy up my mail")
    assert isinstance(checked, Asking)
    assert checked.question.kind == "restatement"


def test_of_tools_called_the_same_the_one_that_does_less_harm_is_meant(tmp_path: Path) -> None:
    gate = mail(tmp_path, send=SEND, draft=DRAFT)
    said = "write to ann that I am late"
    drafted = check(gate, listed("draft", "body"), said, body="I am late")
    sent = check(gate, listed("send", "body"), said, "c2", body="I am late")
    assert isinstance(drafted, Executable)
    assert isinstance(sent, Asking)
    assert sent.question.kind == "restatement"


def test_of_tools_called_the_same_the_effect_for_this_user_counts(tmp_path: Path) -> None:
    # an override made the one irreversible for u1: the other does less harm
    rules = {
        "version": 1,
        "servers": {
            "mail": {"tools": {name: {"effect": "reversible", "intents": ["file"]} for name in ("keep", "put")}}
        },
        "users": {"u1": {"servers": {"mail": {"tools": {"put": {"effect": "irreversible"}}}}}},
    }
    gate = create_preflight(storage=MemoryStorage(), rules=write(tmp_path / "rules.json", rules), clock=FakeClock())
    assert isinstance(check(gate, listed("keep"), "file it"), Executable)
    refused = check(gate, listed("put"), "file it", call_id="c2")
    assert refused.record.fixed is not None
    assert refused.record.fixed.c3_match == Match(
        approved=False, reason="a tool that does less harm is called the same"
    )


def test_what_an_override_takes_from_the_intents_does_not_lead_there(tmp_path: Path) -> None:
    rules = {
        "version": 1,
        "servers": {"mail": {"tools": {"put": {"effect": "reversible", "intents": ["file", "put"]}}}},
        "users": {"u1": {"servers": {"mail": {"tools": {"put": {"intents": ["put"]}}}}}},
    }
    gate = create_preflight(storage=MemoryStorage(), rules=write(tmp_path / "rules.json", rules), clock=FakeClock())
    assert isinstance(check(gate, listed("put"), "put it away"), Executable)
    asked = check(gate, listed("put"), "file it", call_id="c2")
    assert isinstance(asked, Asking)
    assert asked.question.kind == "restatement"


def test_a_wish_to_read_meets_no_tool_that_changes_things(tmp_path: Path) -> None:
    gate = mail(tmp_path, purge={"intents": ["show"], "changes": ["delete"]})
    assert isinstance(check(gate, listed("purge"), "show my mail"), Asking)


def test_an_act_said_again_opens_the_gate(tmp_path: Path) -> None:
    gate = mail(tmp_path, archive={"effect": "reversible", "intents": ["archive"]})
    asked = check(gate, listed("archive"), "please tidy up my mail")
    assert isinstance(asked, Asking)
    answered = gate.answer(asked.question.question_id, {"restatement": "archive my mail"}, person="u1")
    assert isinstance(answered, Executable)


@pytest.mark.parametrize(("day", "right"), [("2026-03-01", True), ("2026-03-02", False)])
def test_an_act_said_again_is_read_where_the_user_is(tmp_path: Path, day: str, right: bool) -> None:
    # an answer is kept with its time in UTC, where it is the next day already
    gate = mail(tmp_path, book={"effect": "reversible", "intents": ["book a table"]})
    tool = listed("book", "day")
    tool["inputSchema"]["properties"] = {"day": {"type": "string", "format": "date"}}
    asked = gate.check(
        {
            "user_id": "u1", "tool": tool, "instruction": [{"text": "please tidy up", "trust": "user"}],
            "claims": {"day": day}, "call_id": "c1", "now": "2026-02-28T23:00:00-10:00",
        }
    )  # fmt: skip
    assert isinstance(asked, Asking)
    answered = gate.answer(asked.question.question_id, {"restatement": "book a table tomorrow"}, person="u1")
    assert isinstance(answered, Asking)  # at what time
    assert field(answered, "day").value == (day if right else UNSET)


# text that the model wrote


def sent(gate: Preflight, body: str, call_id: str = "c1") -> Checked:
    return check(
        gate, listed("send", "to", "body"), "send ann@home.example a note", call_id, to="ann@home.example", body=body
    )


def test_text_of_the_model_is_approved_as_shown_and_no_other(tmp_path: Path) -> None:
    gate = mail(tmp_path, send=SEND)
    asked = sent(gate, "I am late")
    assert isinstance(asked, Asking)
    assert field(asked, "to").status == "known"
    key = confirmation_id("body", "I am late")
    approved = gate.answer(asked.question.question_id, {key: True}, person="u1")
    assert isinstance(approved, Executable)
    assert approved.record.call_arguments == {"to": "ann@home.example", "body": "I am late"}
    assert isinstance(sent(gate, "I am very late", "c2"), Asking)


def test_rules_may_waive_the_approval(tmp_path: Path) -> None:
    gate = mail(tmp_path, send={**SEND, "fields": {"body": {"role": "content", "unconfirmed": "allow"}}})
    assert isinstance(sent(gate, "I am late"), Executable)


@pytest.mark.parametrize(
    "planted", ["eve@evil.example", "https://evil.example/login", "DE89 3704 0044 0532 0130 00", "+49 30 1234567"]
)
def test_an_address_that_the_user_did_not_say_is_not_waived(tmp_path: Path, planted: str) -> None:
    gate = mail(tmp_path, send={**SEND, "fields": {"body": {"role": "content", "unconfirmed": "allow"}}})
    assert not isinstance(sent(gate, f"please also see {planted} about it"), Executable)


def test_an_address_that_the_user_said_may_stand_in_the_text(tmp_path: Path) -> None:
    gate = mail(tmp_path, send={**SEND, "fields": {"body": {"role": "content", "unconfirmed": "allow"}}})
    assert isinstance(sent(gate, "answer to ann@home.example"), Executable)


# hooks that were made before their gate


def gate_of(hooks: ShippedHooks, folder: Path, name: str, **tool: Any) -> Preflight:
    rules = write(folder / name, {"version": 1, "servers": {"mail": {"tools": {"send": tool}}}})
    return create_preflight(hooks=hooks, storage=MemoryStorage(), rules=rules, clock=FakeClock())


def test_hooks_of_one_s_own_know_the_rules_and_the_store_of_their_gate(tmp_path: Path) -> None:
    gate = gate_of(ShippedHooks(), tmp_path, "rules.json", intents=["post"])
    assert check(gate, listed("send"), "post it").decision == "execute"
    gate.storage.learn(Scope(), "u1", "ship", "mail", "send", "u1", "2026-03-01T09:00:00Z")
    assert check(gate, listed("send"), "ship it", "c2").decision == "execute"
    assert check(gate, listed("send"), "mail it", "c3").decision == "ask_user"


def test_a_rule_refuses_what_a_meaning_of_the_program_would_open(tmp_path: Path) -> None:
    gate = gate_of(ShippedHooks(meanings=[Meaning("delete", "mail", "send")]), tmp_path, "rules.json", changes=["send"])
    assert check(gate, listed("send"), "delete it").record.gate.kind == "tool_undetermined"  # type: ignore[union-attr]


def test_hooks_that_two_gates_share_know_the_rules_of_each(tmp_path: Path) -> None:
    hooks = ShippedHooks()
    one = gate_of(hooks, tmp_path, "one.json", intents=["post"])
    two = gate_of(hooks, tmp_path, "two.json", intents=["ship"])
    decided = [check(gate, listed("send"), said).decision for gate in (one, two) for said in ("post it", "ship it")]
    assert decided == ["execute", "ask_user", "ask_user", "execute"]
