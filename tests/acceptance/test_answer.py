"""`preflight pending` and `answer`: a person says what is missing, once; nobody else can (R-91 to R-93)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.requests import TRANSFER, complete, transfer
from tests.acceptance.terminal import Shell

SCRIPT = ("--channel", "script", "--person", "minji")


def asked(shell: Shell, **changes: object) -> str:
    """Check a call that lacks its receiver, and return the question's id."""
    shell.learn("send won", "bank/transfer")
    ran = shell("check", "--json", shell.request("r.json", transfer(**changes)))
    assert ran.code == 10
    return str(ran.json["question"]["question_id"])


def test_a_question_waits_and_shows_no_candidate(shell: Shell) -> None:
    question = asked(shell)
    text, shape = shell("pending"), shell("pending", "--json")
    assert question in text.out
    assert "to_account: text, matching `^[0-9]{10}$`" in text.out
    assert [each["question_id"] for each in shape.json] == [question]
    assert "9988776655" not in text.out + shape.out
    assert shell("pending", "--user", "nobody").out == "no question is open\n"


def test_an_answer_leads_to_a_decision(shell: Shell) -> None:
    ran = shell("answer", asked(shell), "to_account=3520198845", "--json", *SCRIPT)
    assert ran.code == 0
    fields = {field["name"]: field for field in ran.json["record"]["fields"]}
    assert (fields["to_account"]["value"], fields["to_account"]["source"]) == ("3520198845", "user_answer")
    assert shell("pending").out == "no question is open\n"


def test_a_person_types_the_answer_at_a_terminal(shell: Shell) -> None:
    ran = shell.at_a_terminal("answer", asked(shell), types="3520198845\n")
    assert ran.code == 0, ran.err
    assert "execute (may run)" in ran.out
    decision = shell("audit", "--decision", "execute", "--json").json["record_id"]
    assert "answered   to_account: minji by terminal at" in shell("explain", decision).out


def test_a_person_may_leave_a_question_open(shell: Shell) -> None:
    question = asked(shell)
    ran = shell.at_a_terminal("answer", question, types="\n")
    assert ran.code == 2
    assert "nothing is read from silence" in ran.err
    assert question in shell("pending").out


def test_what_does_not_fit_is_asked_again_at_the_terminal(shell: Shell) -> None:
    ran = shell.at_a_terminal("answer", asked(shell), types="35201988\n3520198845\n")
    assert ran.code == 0, ran.out
    assert "it takes text, matching `^[0-9]{10}$`" in ran.out


def test_a_word_of_the_prompt_is_no_value_at_a_terminal(shell: Shell) -> None:
    shell.learn("send won", "bank/transfer")
    given = of_type({"type": ["string", "null"]})
    checked = shell("check", "--json", shell.request("r.json", given))
    question = checked.json["question"]["question_id"]
    assert "`--none x` says that there is none" in shell("pending").out
    ran = shell.at_a_terminal("answer", question, "--json", types="none\n2\n")
    assert ran.code == 0, ran.out + ran.err
    assert "type one of the numbers 1, 2" in ran.out
    decision = shell("audit", "--decision", "execute", "--json").json
    [field] = decision["fields"]
    assert (field["status"], field["value"]) == ("null", None)


def test_without_a_terminal_nothing_is_answered(shell: Shell) -> None:
    question = asked(shell)
    ran = shell("answer", question, "to_account=3520198845")
    assert ran.code == 2
    assert "a person at a terminal" in ran.err
    assert question in shell("pending").out


def test_a_script_answers_only_where_that_was_allowed(shell: Shell) -> None:
    question = asked(shell)
    ran = shell("answer", question, "to_account=3520198845", *SCRIPT, PREFLIGHT_CHANNELS="")
    assert ran.code == 2
    assert "the channel `script` is not allowed here" in ran.err
    unsigned = shell("answer", question, "to_account=3520198845", "--channel", "script")
    assert unsigned.code == 2
    assert "has to say who answers" in unsigned.err


REFUSED: dict[str, tuple[list[str], str]] = {
    "another person": (["to_account=3520198845", "--channel", "script", "--person", "bo"], "`bo` is not the person"),
    "a slot that was not asked": (["amount=5", *SCRIPT], "`amount` was not asked; asked are `to_account`"),
    "a value that does not fit": (["to_account=my landlord", *SCRIPT], "`/to_account"),
    "no value": (["to_account", *SCRIPT], "write FIELD=VALUE"),
    "nothing": ([*SCRIPT], "nothing is read from silence"),
    "a slot twice": (["to_account=3520198845", "to_account=1", *SCRIPT], "answered twice"),
    "none of what is required": (["--none", "to_account", *SCRIPT], "`to_account` cannot be left empty"),
    "JSON that is none": (["to_account:=[1", *SCRIPT], "the answer is not JSON"),
}


@pytest.mark.parametrize(("arguments", "said"), REFUSED.values(), ids=REFUSED)
def test_an_answer_that_does_not_fit_changes_nothing(shell: Shell, arguments: list[str], said: str) -> None:
    question = asked(shell)
    ran = shell("answer", question, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert question in shell("pending").out


def test_the_first_answer_stands(shell: Shell) -> None:
    question = asked(shell)
    assert shell("answer", question, "to_account=3520198845", *SCRIPT).code == 0
    again = shell("answer", question, "to_account=1102534488", *SCRIPT)
    assert again.code == 2
    assert "the first answer stands" in again.err


def test_an_unknown_question_is_named(shell: Shell) -> None:
    asked(shell)
    ran = shell("answer", "no-such-id", "a=1", *SCRIPT)
    assert ran.code == 2
    assert "no question has the id `no-such-id`" in ran.err


def test_the_act_may_be_said_again(shell: Shell) -> None:
    shell.learn("pay rent", "bank/transfer")
    question = shell("check", "--json", shell.request("r.json", transfer())).json["question"]
    assert question["kind"] == "restatement"
    ran = shell("answer", question["question_id"], "restatement=pay 500,000 won of rent", "--json", *SCRIPT)
    assert ran.code == 10
    record = ran.json["record"]
    assert record["fixed"]["c2_user_action_name"] == "pay 500,000 won of rent"
    assert record["gate"]["kind"] == "value_gate"  # the tool gate opened for the new words


def test_a_checklist_item_is_confirmed_by_exactly_true(shell: Shell) -> None:
    shell.learn("send won", "bank/transfer")
    given = transfer(
        "send 500,000 won to 3520198845", user_checklist=[{"id": "chk_rent", "description": "rent is due"}]
    )
    given["claims"] = {"from_account": "1102534471", "to_account": "3520198845", "amount": 500_000}
    ran = shell("check", "--json", shell.request("r.json", given))
    question = ran.json["question"]["question_id"]
    assert "rent is due (confirmed by exactly `true`)" in shell("pending").out
    assert "confirmed by exactly `true`" in shell("answer", question, "chk_rent=yes", *SCRIPT).err
    assert shell("answer", question, "chk_rent=true", *SCRIPT).code == 0


def of_type(schema: dict[str, Any]) -> dict[str, Any]:
    tool = {
        "server": "bank",
        "name": "transfer",
        "inputSchema": {"type": "object", "properties": {"x": schema}, "required": ["x"]},
    }
    return {**TRANSFER, "tool": tool, "claims": {}}


TYPED: dict[str, tuple[dict[str, Any], str, object]] = {
    "text that looks like a number": ({"type": "string"}, "x=007", "007"),
    "text with an equals sign": ({"type": "string"}, "x=a=b", "a=b"),
    "a whole number": ({"type": "integer"}, "x=500000", 500_000),
    "a number": ({"type": "number"}, "x=0.5", 0.5),
    "true": ({"type": "boolean"}, "x=true", True),
    "a list": ({"type": "array", "items": {"type": "string"}}, 'x:=["a", "b"]', ["a", "b"]),
    "a list without the colon": ({"type": "array", "items": {"type": "string"}}, 'x=["a"]', ["a"]),
    "a member": ({"enum": ["low", "high"]}, "x=high", "high"),
    "a member that is a number": ({"enum": [1, 2]}, "x=2", 2),
    "text where both are allowed": ({"type": ["string", "integer"]}, "x=7", "7"),
    "a number where both are allowed": ({"type": ["string", "integer"]}, "x:=7", 7),
    "one of several types": ({"anyOf": [{"type": "integer"}, {"type": "boolean"}]}, "x=7", 7),
}


@pytest.mark.parametrize(("schema", "typed", "value"), TYPED.values(), ids=TYPED)
def test_a_value_is_read_as_its_slot_wants_it(shell: Shell, schema: dict[str, Any], typed: str, value: object) -> None:
    shell.learn("send won", "bank/transfer")
    checked = shell("check", "--json", shell.request("r.json", of_type(schema)))
    ran = shell("answer", checked.json["question"]["question_id"], typed, "--json", *SCRIPT)
    assert ran.code == 0, ran.err + ran.out
    [field] = ran.json["record"]["fields"]
    assert repr(field["value"]) == repr(value)


MISTYPED = {
    "a word for a number": ({"type": "integer"}, "x=five", "it takes a whole number"),
    "yes for true": ({"type": "boolean"}, "x=yes", "it takes true or false"),
    "no member": ({"enum": ["low", "high"]}, "x=middle", "it takes one of low, high"),
    "a part of a number": ({"type": "integer"}, "x=0.5", "does not fit"),
}


@pytest.mark.parametrize(("schema", "typed", "said"), MISTYPED.values(), ids=MISTYPED)
def test_a_value_of_another_type_is_refused(shell: Shell, schema: dict[str, Any], typed: str, said: str) -> None:
    shell.learn("send won", "bank/transfer")
    checked = shell("check", "--json", shell.request("r.json", of_type(schema)))
    ran = shell("answer", checked.json["question"]["question_id"], typed, *SCRIPT)
    assert ran.code == 2
    assert said in ran.err


def test_a_default_of_the_tool_is_never_shown(shell: Shell) -> None:
    shell.learn("send won", "bank/transfer")
    schema = {"type": "string", "default": "4410077123", "examples": ["4410077123"]}
    ran = shell("check", shell.request("r.json", of_type(schema)))
    assert ran.code == 10
    assert "4410077123" not in ran.out + shell("pending").out + shell("pending", "--json").out


def test_what_several_runs_ask_stands_once_with_their_number(shell: Shell, tmp_path: Path) -> None:
    rules = {"servers": {"bank": {"tools": {"transfer": {"effect": "reversible"}}}}}
    shell.env["PREFLIGHT_RULES"] = str(tmp_path / "rules.json")
    (tmp_path / "rules.json").write_text(json.dumps({"version": 1, **rules}), encoding="utf-8")
    asked_by = [asked(shell, unattended=True, call_id=f"c{n}") for n in range(3)]
    assert len(set(asked_by)) == 1
    text, shape = shell("pending"), shell("pending", "--json")
    assert text.out.count("to_account") == 1
    assert "the answer goes to 3 runs that ask the same" in text.out
    assert [each["runs"] for each in shape.json] == [3]
    ran = shell.at_a_terminal("answer", asked_by[0], types="3520198845\n")
    assert ran.code == 0, ran.err
    assert "the answer goes to 3 runs" in ran.out
    for n in range(3):
        again = shell("check", "--json", shell.request("r.json", transfer(unattended=True, call_id=f"c{n}")))
        assert (again.code, again.json["record"]["unattended"]) == (0, True)


def test_a_question_says_what_it_is_about_and_which_words_it_is_about(shell: Shell) -> None:
    shell.learn("send won", "bank/transfer")
    said = [{"text": "send 500,000 won to 3520198845 on 4 December at 18:30", "trust": "user"}]
    request = {**complete(), "instruction": said, "zone": "Asia/Seoul"}
    assert shell("check", shell.request("r.json", request)).code == 10
    shown = shell("pending").out
    assert 'about   "send 500,000 won to 3520198845 on 4 December at 18:30", by bank/transfer' in shown
    assert 'the user wrote "4 December at 18:30"' in shown


RULES = {"servers": {"bank": {"tools": {"transfer": {"effect": "reversible"}}}}}


def under_rules(shell: Shell, tmp_path: Path) -> Path:
    rules = tmp_path / "my rules.json"
    rules.write_text(json.dumps({"version": 1, **RULES}), encoding="utf-8")
    shell.env["PREFLIGHT_RULES"] = str(rules)
    return rules


def test_the_command_that_answers_is_told_whole(shell: Shell, tmp_path: Path) -> None:
    rules = under_rules(shell, tmp_path)
    question = asked(shell)
    command = f"preflight --rules '{rules}' answer {question} --db {shell.db}"
    assert command in shell("pending").out
    del shell.env["PREFLIGHT_RULES"]
    assert f"preflight --rules PATH answer {question}" in shell("pending").out


def test_missing_rules_are_said_before_anything_is_typed(shell: Shell, tmp_path: Path) -> None:
    under_rules(shell, tmp_path)
    question = asked(shell)
    del shell.env["PREFLIGHT_RULES"]
    ran = shell.at_a_terminal("answer", question, types="3520198845\n")
    assert (ran.code, ran.out) == (2, "")
    assert "was asked under rules, and none are given here" in ran.err


def test_what_a_client_called_goes_on_when_it_calls_again(shell: Shell) -> None:
    ran = shell("answer", asked(shell, call_id=f"{'0a' * 16}.0"), "to_account=3520198845", *SCRIPT)
    assert ran.code == 0
    assert "it goes on when its client sends exactly the same call again" in ran.out
    assert "preflight execute" not in ran.out


def test_the_command_that_learns_names_the_user(shell: Shell) -> None:
    shell.learn("pay rent", "bank/transfer")
    ran = shell("check", shell.request("r.json", transfer()))
    assert f"preflight learn PHRASE SERVER/TOOL --user minji --db {shell.db}" in ran.out
    shell.learn("send won", "bank/transfer")
    assert shell("check", shell.request("r.json", transfer(call_id="c2"))).code == 10
