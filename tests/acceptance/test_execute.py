"""`preflight execute`, `in-doubt`, `settle`: real calls to the bank's MCP server, started at most once."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from unittest import mock

import pytest

from tests.acceptance.requests import complete
from tests.acceptance.terminal import BANK, SECONDS, Shell


def ledger(shell: Shell) -> list[tuple[object, ...]]:
    db = sqlite3.connect(shell.folder / "bank.db")
    rows = db.execute("SELECT to_account, amount, decision FROM ledger").fetchall()
    db.close()
    return rows


def bank(shell: Shell) -> str:
    return f"'{sys.executable}' '{BANK}' --db '{shell.folder / 'bank.db'}'"


def decided(shell: Shell) -> str:
    shell.learn("send won", "bank/transfer")
    ran = shell("check", "--json", shell.request("r.json", complete()))
    assert ran.code == 0
    return str(ran.json["record"]["record_id"])


def test_a_decision_is_executed_once_from_its_record(shell: Shell) -> None:
    decision = decided(shell)
    ran = shell("execute", decision, "--server", bank(shell))
    assert ran.code == 0, ran.err
    assert ran.out.startswith("executed (ran)")
    assert '"amount": 500000' in ran.out
    again = shell("execute", decision, "--server", bank(shell), "--json")
    assert again.code == 11
    assert again.json["code"] == "already_started"
    assert ledger(shell) == [("3520198845", 500_000, decision)]


def test_what_was_not_decided_is_not_executed(shell: Shell) -> None:
    decided(shell)
    ran = shell("execute", "no-such-id", "--server", bank(shell))
    assert ran.code == 11
    assert "no record has the id `no-such-id`" in ran.out
    asked = shell("check", "--json", shell.request("r.json", {**complete(), "claims": {}})).json
    refused = shell("execute", asked["record"]["record_id"], "--server", bank(shell))
    assert refused.code == 11
    assert "is `ask_user`, not `execute`" in refused.out
    assert not (shell.folder / "bank.db").exists()


def test_a_tool_that_changed_since_is_refused(shell: Shell) -> None:
    given = complete()
    given["tool"] = {**given["tool"], "description": "Moves won. Harmless."}
    shell.learn("send won", "bank/transfer")
    decision = shell("check", "--json", shell.request("r.json", given)).json["record"]["record_id"]
    ran = shell("execute", decision, "--server", bank(shell))
    assert ran.code == 11
    assert "tool_changed" in ran.out
    assert ledger(shell) == []


def test_a_tool_that_is_gone_is_refused(shell: Shell) -> None:
    given = complete()
    given["tool"] = {**given["tool"], "name": "wire"}
    shell.learn("send won", "bank/wire")
    decision = shell("check", "--json", shell.request("r.json", given)).json["record"]["record_id"]
    ran = shell("execute", decision, "--server", bank(shell))
    assert ran.code == 11
    assert "the server lists no tool `wire`" in ran.out


def test_what_the_provider_refuses_has_failed(shell: Shell) -> None:
    given = complete()
    given["claims"] = {**given["claims"], "to_account": "9999999999"}
    given["instruction"] = [{"text": "send 500,000 won to 9999999999", "trust": "user"}]
    shell.learn("send won", "bank/transfer")
    decision = shell("check", "--json", shell.request("r.json", given)).json["record"]["record_id"]
    ran = shell("execute", decision, "--server", bank(shell))
    assert ran.code == 20
    assert "there is no account `9999999999` here" in ran.out


NO_SERVER = {
    "no such program": ("no-such-program-here", "no-such-program-here"),
    "no MCP server": (f"'{sys.executable}' -c pass", "does not answer as an MCP server"),
    "an open quote": ("'python", "is no command"),
    "nothing": ("", "an empty command"),
}


@pytest.mark.parametrize(("command", "said"), NO_SERVER.values(), ids=NO_SERVER)
def test_a_server_that_cannot_be_started_starts_nothing(shell: Shell, command: str, said: str) -> None:
    decision = decided(shell)
    ran = shell("execute", decision, "--server", command, "--timeout", "10")
    assert ran.code == 2
    assert said in ran.err
    assert shell("in-doubt").out == "nothing is in doubt\n"
    assert shell("execute", decision, "--server", bank(shell)).code == 0  # it was not used up


def test_without_the_extra_it_says_what_to_install(shell: Shell) -> None:
    decision = decided(shell)
    # None makes Python's import raise, as it does where nothing is installed
    with mock.patch.dict(sys.modules, {"mcp_types": None}):
        sys.modules.pop("preflight.mcp.stdio", None)
        ran = shell("execute", decision, "--server", bank(shell))
    assert ran.code == 2
    assert "install the extra: pip install 'execution-state-preflight[mcp]'" in ran.err
    assert shell("execute", decision, "--server", bank(shell)).code == 0


STUCK = """
import os, pathlib, sys, time
CLIENT = os.getppid()
BANK, CALLED = sys.argv[1], pathlib.Path(sys.argv[2])
sys.argv = ["server.py", "--db", sys.argv[3]]
import runpy
sys.path.insert(0, str(pathlib.Path(BANK).parent))
server = runpy.run_path(BANK)
moved = server["Bank"].transfer
def transfer(self, *args):
    done = moved(self, *args)
    CALLED.write_text("called")
    while os.getppid() == CLIENT:
        time.sleep(0.05)
    os._exit(1)
server["Bank"].transfer = transfer
server["main"]()
"""


def stuck(shell: Shell) -> tuple[str, Path]:
    """Return a bank that moves the money and then never answers, and the file that says that it did."""
    program, called = shell.folder / "stuck.py", shell.folder / "called"
    program.write_text(STUCK, encoding="utf-8")
    return f"'{sys.executable}' '{program}' '{BANK}' '{called}' '{shell.folder / 'bank.db'}'", called


def test_a_call_without_an_answer_is_in_doubt_until_a_person_settles_it(shell: Shell) -> None:
    decision = decided(shell)
    command, _ = stuck(shell)
    ran = shell("execute", decision, "--server", command, "--timeout", "2")
    assert ran.code == 21
    assert ran.out.startswith("in_doubt (in doubt)")
    assert decision in shell("in-doubt").out
    assert [record["decision_id"] for record in shell("in-doubt", "--json").json] == [decision]
    assert shell("execute", decision, "--server", bank(shell)).code == 11  # never called again
    by_nobody = shell("settle", decision, "executed", "--by", "minji", "--evidence", "ledger entry 1")
    assert by_nobody.code == 2
    assert "a person at a terminal" in by_nobody.err
    settled = shell.at_a_terminal("settle", decision, "executed", "--by", "minji", "--evidence", "ledger entry 1")
    assert settled.code == 0, settled.err
    assert shell("in-doubt").out == "nothing is in doubt\n"
    told = shell("explain", decision).out
    assert told.startswith("It was in doubt, and settled: it ran, says minji.")
    assert "ledger entry 1" in told
    assert len(ledger(shell)) == 1


def test_killed_in_the_middle_of_a_call_it_is_in_doubt_and_never_repeated(shell: Shell) -> None:
    decision = decided(shell)
    command, called = stuck(shell)
    env = os.environ | shell.env
    program = [sys.executable, "-m", "preflight", "execute", decision, "--server", command]
    process = subprocess.Popen(program, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + SECONDS
    while not called.exists():
        assert process.poll() is None
        assert time.monotonic() < until
        os.sched_yield()
    process.send_signal(signal.SIGKILL)
    process.wait(SECONDS)
    assert decision in shell("in-doubt").out
    refused = shell("execute", decision, "--server", bank(shell), "--json")
    assert (refused.code, refused.json["code"]) == (11, "already_started")
    assert "no outcome is recorded" in shell("explain", decision).out
    assert json.loads(shell("doctor", "--json").out)["in doubt"] == 1
    assert len(ledger(shell)) == 1
