"""Deferred runs at the command line: from the words to the call, with a real server, and what people change."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.acceptance.requests import complete
from tests.acceptance.terminal import BANK, Shell

RULES = """
version: 1
triggers:
  salary: {phrases: [my salary arrives], event: salary.received, match: {amount: 5}}
"""


@pytest.fixture
def servers(shell: Shell, tmp_path: Path) -> Path:
    """A file that declares the bank, with the rules in force."""
    shell.learn("send won", "bank/transfer")
    rules = tmp_path / "rules.yaml"
    rules.write_text(RULES, encoding="utf-8")
    shell.env["PREFLIGHT_RULES"] = str(rules)
    path = tmp_path / "servers.json"
    args = [str(BANK), "--db", str(tmp_path / "bank.db")]
    path.write_text(json.dumps({"mcpServers": {"bank": {"command": sys.executable, "args": args}}}), encoding="utf-8")
    return path


def defer(shell: Shell, when: str, code: int = 12) -> str:
    """Check a request with a time in its words, and return the id of its record."""
    said = [{"text": f"send 500,000 won to 3520198845 {when}", "trust": "user"}]
    given = {**complete(), "instruction": said, "zone": "Asia/Seoul", "call_id": when}
    ran = shell("check", "--json", shell.request("r.json", given))
    assert ran.code == code, ran.out
    decision_id: str = ran.json["record"]["decision_id"]
    return decision_id


def by(shell: Shell, *arguments: str) -> None:
    ran = shell(*arguments, "--by", "minji", "--channel", "script")
    assert (ran.code, ran.err) == (0, ""), ran.err


def test_from_the_words_to_the_call(shell: Shell, servers: Path) -> None:
    name = defer(shell, "tomorrow at 9am")
    listed = shell("deferred", "list")
    assert name in listed.out
    assert "09:00 Asia/Seoul" in listed.out
    assert shell("worker", "--connections", servers, "--once").out == "nothing is due\n"
    by(shell, "deferred", "run-now", name)
    fired = shell("worker", "--connections", servers, "--once", "--json").json
    assert [(each["what"], each["status"]) for each in fired] == [("fired", "executed")]
    shown = shell("deferred", "show", name)
    assert [line.split()[1] for line in shown.out.splitlines() if line.startswith("20")] == [
        "scheduled", "hastened", "fired",
    ]  # fmt: skip
    assert shell("deferred", "list").out == "nothing is deferred\n"
    assert [row["state"] for row in shell("deferred", "list", "--all", "--json").json] == ["done"]


def test_a_run_is_shown_with_its_call_and_words_and_a_misspelt_event_with_those_waited_for(
    shell: Shell, servers: Path
) -> None:
    name = defer(shell, "once my salary arrives")
    shown = shell("deferred", "show", name).out
    assert "bank/transfer" in shown
    assert "send 500,000 won to 3520198845 once my salary arrives" in shown.replace("[", "").replace("]", "")
    ran = shell("event", "salary.receivd", "amount:=5", "--by", "minji", "--channel", "script")
    assert ran.out == "0 deferred run(s) are due; waited for: salary.received\n"


def test_a_time_that_is_left_open_is_answered(shell: Shell, servers: Path) -> None:
    defer(shell, "tomorrow", code=10)
    asked = shell("pending")
    assert "the time of day is not said beside the day" in asked.out
    assert "the tool's own description: a time" not in asked.out
    question = shell("pending", "--json").json[0]["question_id"]
    who = ("--person", "minji", "--channel", "script")
    wrong = shell("answer", question, "when=tomorrow", *who)
    assert wrong.code == 10
    (question,) = [q["question_id"] for q in shell("pending", "--json").json]
    ran = shell("answer", question, "when=2999-12-04T09:00:00+09:00", *who)
    assert ran.code == 12
    assert "Wednesday 4 December 2999, 09:00 Asia/Seoul" in ran.out


def test_people_move_and_cancel(shell: Shell, servers: Path) -> None:
    name = defer(shell, "tomorrow at 9am")
    by(shell, "deferred", "move", name, "2999-12-04T10:00:00+09:00")
    row = shell("deferred", "show", name, "--json").json
    assert (row["due"], row["said"]) == (
        "2999-12-04T01:00:00.000000+00:00", "Wednesday 4 December 2999, 10:00 Asia/Seoul",
    )  # fmt: skip
    assert [note["what"] for note in row["notes"]] == ["scheduled", "moved"]
    assert row["notes"][1]["by"] == "minji (script)"
    by(shell, "deferred", "cancel", name)
    again = shell("deferred", "cancel", name, "--by", "minji", "--channel", "script")
    assert (again.code, "nothing left to change" in again.err) == (2, True)
    assert shell("resume", name, "--by", "minji", "--channel", "script").code == 2


def test_an_event_makes_what_waits_for_it_due(shell: Shell, servers: Path) -> None:
    name = defer(shell, "as soon as my salary arrives")
    report = ("--by", "payroll", "--channel", "script")
    other = shell("event", "salary.received", "amount:=4", *report).out
    assert other == "0 deferred run(s) are due; it is waited for, with another content\n"
    assert [row["deferral_id"] for row in shell("event", "salary.received", "amount:=5", "--json", *report).json] == [
        name
    ]
    assert "fired (executed)" in shell("worker", "--connections", servers, "--once").out
    assert shell("event", "salary.received", "amount", *report).code == 2


def test_a_model_changes_nothing(shell: Shell, servers: Path) -> None:
    # whoever has no terminal and no allowed channel is no person
    name = defer(shell, "tomorrow at 9am")
    for arguments in (
        ("deferred", "cancel", name), ("deferred", "move", name, "2999-12-04T10:00:00+09:00"),
        ("deferred", "run-now", name), ("resume", name), ("event", "salary.received"),
    ):  # fmt: skip
        ran = shell(*arguments, "--by", "minji")
        assert ran.code == 2
        assert "for a person at a terminal" in ran.err
    assert [note["what"] for note in shell("deferred", "show", name, "--json").json["notes"]] == ["scheduled"]


def test_what_cannot_be_read_is_said(shell: Shell, servers: Path, tmp_path: Path) -> None:
    assert "cannot be read" in shell("worker", "--connections", tmp_path / "none.json", "--once").err
    name = defer(shell, "tomorrow at 9am")
    moved = shell("deferred", "move", name, "soon", "--by", "minji", "--channel", "script")
    assert (moved.code, "is no time" in moved.err) == (2, True)
