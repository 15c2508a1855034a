"""`preflight rules check`, `rules test` and `replay`: rules tried on examples, and on what was decided (R-59, R-67)."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.requests import complete, transfer
from tests.acceptance.terminal import ROOT, Shell

EXAMPLES = ROOT / "examples" / "rules"


def rules(path: Path, **transfer: Any) -> Path:
    """Write rules for the bank's transfer."""
    tools = {"transfer": {"intents": ["send"], **transfer}}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"version": 1, "servers": {"bank": {"tools": tools}}}), encoding="utf-8")
    return path


def cases(path: Path, *expected: dict[str, Any]) -> None:
    """Write one case for each expectation of the same request."""
    path.parent.mkdir(parents=True, exist_ok=True)
    listed = [{"name": f"case {n}", "request": complete(), "expect": expect} for n, expect in enumerate(expected)]
    path.write_text(json.dumps({"version": 1, "cases": listed}), encoding="utf-8")


@pytest.mark.parametrize("name", [path.name for path in sorted(EXAMPLES.iterdir())])
def test_the_example_rules_load(shell: Shell, name: str) -> None:
    ran = shell("rules", "check", EXAMPLES / name)
    assert ran.code == 0, ran.err
    assert "tools; digest " in ran.out


@pytest.mark.parametrize("name", [path.parent.name for path in sorted(EXAMPLES.glob("*/tests"))])
def test_the_example_requests_come_out_as_they_say(shell: Shell, name: str) -> None:
    ran = shell("rules", "test", EXAMPLES / name)
    assert ran.code == 0, ran.out + ran.err
    assert ran.out.endswith(" passed, 0 failed\n")


def test_what_the_example_rules_measure_is_read_at_the_declared_server(shell: Shell) -> None:
    cases = json.loads((EXAMPLES / "bank" / "tests" / "transfer.json").read_text(encoding="utf-8"))["cases"]
    request = next(case["request"] for case in cases if case["expect"] == {"decision": "execute"})
    del request["measured_data"]
    asked = shell.folder / "request.json"
    asked.write_text(json.dumps(request), encoding="utf-8")
    bank = [str(ROOT / "examples" / "bank" / "server.py"), "--db", str(shell.folder / "bank.db")]
    servers = shell.folder / "servers.json"
    servers.write_text(json.dumps({"mcpServers": {"bank": {"command": sys.executable, "args": bank}}}), "utf-8")
    check = ("--rules", EXAMPLES / "bank", "check", "--json", asked)
    held = json.loads(shell(*check).out)["record"]
    assert held["execution_decision"] == "hold"
    assert "no connection was given" in {each["id"]: each for each in held["conditions"]}["enough_balance"]["note"]
    told = shell("--rules", EXAMPLES / "bank", "check", asked).out
    assert "the rules measure at `bank`, and no connections are given here: add --connections FILE\n" in told
    ran = shell(*check, "--connections", servers)
    assert ran.code == 0, ran.out + ran.err
    assert "no connections are given" not in ran.out
    decided = json.loads(ran.out)["record"]["decision_id"]
    executed = shell("--rules", EXAMPLES / "bank", "execute", decided, "--server", shlex.join([sys.executable, *bank]))
    assert executed.code == 0, executed.out + executed.err


def test_an_answer_says_which_connections_it_lacks(shell: Shell) -> None:
    # the question is answered; what the rules measure, or would measure for a field, is not there
    measures = {
        "rate": {"mcp": {"server": "rates", "tool": "get"}},
        "open": {"mcp": {"server": "hours", "tool": "get"}},
    }
    condition = {"id": "open", "measure": "open"}
    path = rules(
        shell.folder / "rules.json", measures=measures, conditions=[condition], fields={"amount": {"measure": "rate"}}
    )
    claims = {"from_account": "1102534471", "to_account": "9988776655", "amount": 7}
    asked = shell("--rules", path, "check", "--json", shell.request("r.json", {**complete(), "claims": claims})).json
    answer = ("--rules", path, "answer", asked["question"]["question_id"], "--channel", "script", "--person", "minji")
    ran = shell(*answer, "to_account=3520198845")
    assert ran.code == 10
    assert (
        "the rules measure at `hours`, `rates`, and no connections are given here: add --connections FILE\n" in ran.out
    )
    servers = shell.request("servers.json", {"mcpServers": {}})
    question = shell("pending", "--json").json[0]["question_id"]
    again = shell(*answer[:3], question, *answer[4:], "amount=7", "--connections", servers)
    assert again.code == 11
    assert "no connections are given" not in again.out
    assert "no connection is declared for `hours`; declared are: none" in again.out


def test_a_verdict_that_lacks_nothing_measured_asks_for_no_connections(shell: Shell) -> None:
    path = rules(shell.folder / "rules.json", measures={"rate": {"mcp": {"server": "rates", "tool": "get"}}})
    ran = shell("--rules", path, "check", shell.request("r.json", transfer()))
    assert ran.code == 10
    assert "connections" not in ran.out
    other = transfer(tool=5)
    assert shell("--rules", path, "check", shell.request("bad.json", other)).code == 2


def test_the_example_request_of_the_page_comes_out_as_it_says(shell: Shell) -> None:
    page = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    for language, path in (("yaml", shell.folder / "rules.yaml"), ("json", shell.folder / "tests" / "cases.json")):
        path.parent.mkdir(exist_ok=True)
        path.write_text(re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[0], encoding="utf-8")
    ran = shell("rules", "test", shell.folder / "rules.yaml")
    assert ran.out == "1 passed, 0 failed\n", ran.out + ran.err


def test_rules_that_do_not_load_are_told_with_their_place(shell: Shell) -> None:
    path = rules(shell.folder / "rules.json", efect="read", effects="read")
    ran = shell("rules", "check", path)
    assert ran.code == 2
    assert ran.err.count("rules.json:1:") == ran.err.count("\n") == 2  # each on a line of its own
    assert "\\n" not in ran.err
    assert "did you mean `effect`?" in ran.err


def test_a_case_that_comes_out_otherwise_fails_and_says_how(shell: Shell) -> None:
    rules(shell.folder / "rules.json", conditions=[{"id": "small", "expression": "args.amount < 5"}])
    cases(
        shell.folder / "tests" / "a.json",
        {"decision": "hold", "unmet": ["small"], "unknown": []},
        {"decision": "execute", "unmet": []},
        {"decision": "hold", "kind": "tool_changed", "unknown": ["amount"]},
    )
    ran = shell("rules", "test", shell.folder)
    assert ran.code == 1
    assert "case 0" not in ran.out
    assert "decision: expected execute, came hold" in ran.out
    assert "unmet: expected none, came small" in ran.out
    assert "kind: expected tool_changed, came value_gate" in ran.out
    assert "unknown: expected amount, came none" in ran.out
    assert "because condition `small` does not hold" in ran.out
    assert ran.out.endswith("1 passed, 2 failed\n")


def test_a_case_without_a_gate_to_compare_is_compared_all_the_same(shell: Shell) -> None:
    rules(shell.folder / "rules.json")
    cases(shell.folder / "tests" / "a.json", {"decision": "execute", "unmet": [], "unknown": []}, {"decision": "hold"})
    ran = shell("rules", "test", shell.folder)
    assert ran.code == 1
    assert "decision: expected hold, came execute" in ran.out


def test_without_cases_there_is_nothing_to_run(shell: Shell) -> None:
    ran = shell("rules", "test", rules(shell.folder / "rules.json"))
    assert ran.code == 2
    assert "no example requests" in ran.err


def test_the_cases_of_a_file_lie_beside_it(shell: Shell) -> None:
    path = rules(shell.folder / "rules.json")
    cases(shell.folder / "tests" / "a.json", {"decision": "execute"})
    ran = shell("rules", "test", path)
    assert (ran.code, ran.out) == (0, "1 passed, 0 failed\n")


def test_trying_rules_records_nothing(shell: Shell) -> None:
    shell("rules", "test", EXAMPLES / "bank")
    assert not shell.db.exists()


# replay


def decided(shell: Shell, *names: str) -> list[str]:
    """Record the same complete request under some call ids; return the records' ids."""
    shell.learn("send won", "bank/transfer")
    made = [shell("check", "--json", shell.request("r.json", {**complete(), "call_id": name})) for name in names]
    return [ran.json["record"]["record_id"] for ran in made]


def test_the_same_rules_change_nothing(shell: Shell) -> None:
    decided(shell, "a", "b")
    ran = shell("replay")
    assert (ran.code, ran.out) == (0, "2 decided again; 0 come out otherwise\n")


def test_other_rules_show_what_they_would_have_changed(shell: Shell) -> None:
    first, second = decided(shell, "a", "b")
    stricter = rules(shell.folder / "new" / "rules.json", conditions=[{"id": "small", "expression": "args.amount < 5"}])
    ran = shell("--rules", stricter, "replay", first, PREFLIGHT_RULES="")
    assert ran.code == 1
    assert first in ran.out
    assert second not in ran.out
    assert "decision: execute -> hold" in ran.out
    assert "condition `small`: absent -> unmet" in ran.out
    assert ran.out.endswith("1 decided again; 1 come out otherwise\n")


def test_replay_as_json_has_every_change(shell: Shell) -> None:
    (first,) = decided(shell, "a")
    stricter = rules(shell.folder / "new" / "rules.json", fields={"amount": {"sources": ["user_answer"]}})
    ran = shell("--rules", stricter, "replay", "--json", PREFLIGHT_RULES="")
    (result,) = ran.json
    assert (ran.code, result["record_id"], result["whole"]) == (1, first, True)
    assert {"what": "decision", "before": "execute", "after": "ask_user"} in result["changes"]


def test_only_so_many_are_replayed_and_steps_of_executions_are_none(shell: Shell) -> None:
    decided(shell, "a", "b", "c")
    assert shell("replay", "--limit", "2").out.startswith("2 decided again")
    assert shell("replay", "--limit", "0").code == 2


def test_an_unknown_id_is_said(shell: Shell) -> None:
    decided(shell, "a")
    ran = shell("replay", "no-such-id")
    assert ran.code == 2
    assert "no record has this id" in ran.err


def test_nothing_decided_is_nothing_to_replay(shell: Shell) -> None:
    shell.learn("send won", "bank/transfer")
    assert shell("replay").out == "0 decided again; 0 come out otherwise\n"
