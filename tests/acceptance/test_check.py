"""`preflight check`: each verdict with its exit code, as text and as JSON."""

from __future__ import annotations

import json

import pytest

from preflight.ports import Query
from preflight.storage import open_storage
from tests.acceptance.requests import complete, transfer
from tests.acceptance.terminal import Shell


def test_an_invented_value_is_asked_for(shell: Shell) -> None:
    shell.learn("send won", "bank/transfer")
    ran = shell("check", shell.request("r.json", transfer()))
    assert ran.code == 10
    assert ran.out.startswith("ask_user (asks): `to_account` is unknown\n")
    assert '"send 500,000 won to my landlord"' in ran.out
    assert "^^^^^^^ amount" in ran.out
    assert "preflight answer" in ran.out
    assert "9988776655" not in ran.out  # what the model proposes is no part of the question


def test_a_confirmed_call_may_run(shell: Shell) -> None:
    shell.learn("send won", "bank/transfer")
    ran = shell("check", "--json", shell.request("r.json", complete()))
    assert ran.code == 0
    assert ran.json["decision"] == "execute"
    assert ran.json["record"]["call_arguments"] == complete()["claims"]


def test_a_tool_nobody_confirmed_is_not_named(shell: Shell) -> None:
    path = shell.request("r.json", transfer())
    text, shape = shell("check", path), shell("check", "--json", path)
    assert (text.code, shape.code) == (10, 10)
    assert "bank" not in text.out
    assert "transfer" not in text.out
    assert shape.json["record"]["gate"]["kind"] == "tool_undetermined"
    assert "_diag" not in shape.json["record"]["gate"]  # for the logs only
    assert shape.json["question"]["kind"] == "restatement"
    assert "request" not in shape.json["question"]


def test_a_tool_that_cannot_be_read_is_held(shell: Shell) -> None:
    shell.learn("send won", "bank/transfer")
    ran = shell("check", shell.request("r.json", transfer(tool={"server": "bank", "name": "transfer"})))
    assert ran.code == 11
    assert ran.out.startswith("hold (held): the tool's input schema cannot be turned into slots")


def test_a_call_for_later_is_deferred(shell: Shell) -> None:
    shell.learn("send won", "bank/transfer")
    given = {**complete(), "instruction": [{"text": "send 500,000 won to 3520198845 tomorrow at 9am", "trust": "user"}]}
    ran = shell("check", shell.request("r.json", given))
    assert ran.code == 12
    assert ran.out.startswith("deferred (waits for its trigger)")


def test_a_request_may_come_from_standard_input(shell: Shell) -> None:
    ran = shell("check", "--json", "-", stdin=json.dumps(transfer()).encode())
    assert ran.code == 10
    assert ran.json["record"]["user_id"] == "minji"


def test_the_same_call_checked_twice_is_asked_once(shell: Shell) -> None:
    path = shell.request("r.json", transfer(call_id="call-1"))
    first, second = shell("check", "--json", path).json, shell("check", "--json", path).json
    assert first["record"]["record_id"] == second["record"]["record_id"]
    assert len(shell("pending", "--json").json) == 1


MALFORMED: dict[str, tuple[object, str]] = {
    "no object": ([1, 2], "not a JSON object"),
    "a stray key": (transfer(tols={}), "`tols`: not a key of a request"),
    "no user": ({**transfer(), "user_id": ""}, "`user_id`"),
    "no tool": ({**transfer(), "tool": None}, "`tool`: missing"),
    "an unnamed tool": (transfer(tool={"name": ""}), "`tool.name`"),
    "a tool with an escape in its name": (transfer(tool={"name": "a\x1b[31m"}), "`tool.name`: has control"),
    "instruction of a number": (transfer(instruction=7), "`instruction`"),
    "a segment without text": (transfer(instruction=[{"trust": "user"}]), "`instruction/0`"),
    "claims of a list": (transfer(claims=[]), "`claims`"),
    "a scope with a stray key": (transfer(scope={"tenat": "a"}), "`scope`"),
}


@pytest.mark.parametrize(("given", "said"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_request_is_an_error_that_names_the_key(shell: Shell, given: object, said: str) -> None:
    ran = shell("check", shell.request("r.json", given))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: ")
    assert said in ran.err
    assert ran.err.count("\n") == 1


def test_what_was_refused_is_recorded_by_digest_alone(shell: Shell) -> None:
    assert shell("check", shell.request("r.json", b'{"user_id": "secret-words"')).code == 2
    assert shell("check", shell.request("s.json", transfer(tols="secret-words"))).code == 2
    store = open_storage(shell.db)
    records = list(store.find(Query(decision="hold")))
    store.close()
    assert [stored.record.gate.kind for stored in records if stored.record.gate] == ["request_invalid"] * 2
    assert all(stored.record.request_digest for stored in records)
    assert b"secret-words" not in b"".join(stored.body for stored in records)


def test_a_missing_file_is_named(shell: Shell) -> None:
    ran = shell("check", shell.folder / "nothing.json")
    assert ran.code == 2
    assert "nothing.json`: cannot be read: No such file" in ran.err


def test_records_that_cannot_be_kept_stop_everything(shell: Shell) -> None:
    path = shell.request("r.json", transfer())
    occupied = shell.request("letter.txt", b"dear landlord, " * 1_000)
    ran = shell("check", path, "--db", occupied)
    assert ran.code == 3
    assert ran.out == ""
    assert "letter.txt" in ran.err
