"""The other commands: audit, explain, learn, doctor, conformance, help."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from contextlib import closing
from pathlib import Path

import pytest

from preflight.storage import open_storage
from preflight.testing import sample_answer, sample_decision, sample_no_answer, sample_question
from tests.acceptance.requests import complete, transfer
from tests.acceptance.terminal import ROOT, Shell

COMMANDS = [
    "check", "execute", "in-doubt", "settle", "pending", "answer", "explain", "learn", "forget", "learned", "ground",
    "conformance", "demo", "console", "pair", "doctor", "audit",
]  # fmt: skip


def two_decisions(shell: Shell) -> tuple[str, str]:
    """Record a question and an `execute`, and return their ids."""
    shell.learn("send won", "bank/transfer")
    asked = shell("check", "--json", shell.request("a.json", transfer())).json
    ready = shell("check", "--json", shell.request("b.json", {**complete(), "user_id": "minji"})).json
    return asked["record"]["record_id"], ready["record"]["record_id"]


FILTERS = {
    "all": ([], 2),
    "by decision": (["--decision", "execute"], 1),
    "by tool": (["--tool", "transfer"], 2),
    "by another tool": (["--tool", "wire"], 0),
    "by field": (["--field", "to_account"], 2),
    "by field and source": (["--field", "to_account", "--source", "instruction"], 1),
    "by user": (["--user", "minji"], 2),
    "by another user": (["--user", "bo"], 0),
    "by key": (["--key", "minji:transfer"], 2),
    "since an hour": (["--since", "1h"], 2),
    "since a day to come": (["--since", "2999-01-01"], 0),
    "at most one": (["--limit", "1"], 1),
}


@pytest.mark.parametrize(("options", "number"), FILTERS.values(), ids=FILTERS)
def test_an_audit_finds_what_fits(shell: Shell, options: list[str], number: int) -> None:
    two_decisions(shell)
    lines = shell("audit", "--json", *options).out.splitlines()
    assert len(lines) == number
    assert all("_diag" not in line for line in lines)
    table = shell("audit", *options).out.splitlines()
    assert len(table) == (number + 1 if number else 1)


def test_an_audit_with_a_time_that_is_none_says_so(shell: Shell) -> None:
    two_decisions(shell)
    ran = shell("audit", "--since", "yesterday")
    assert ran.code == 2
    assert "`since`: `yesterday` is not a time" in ran.err


def test_a_database_that_is_not_there_is_named_and_not_made(shell: Shell) -> None:
    servers = shell.request("servers.json", {"mcpServers": {}})
    commands = f"""audit | audit verify | pending | explain x | in-doubt | recover | execute x --server true | replay x
        | deferred list | event x --by u --channel script | resume x --by u --channel script | learned --user u | gaps
        | answer x a=1 --channel script --person u | console | worker --once --connections {servers}"""
    for command in commands.split("|"):
        for form in (f"{shell.folder}/{{}}/none.db", f"sqlite:///{shell.folder}/{{}}/none.db"):
            ran = shell(*command.split(), PREFLIGHT_DB=form.format("deep"))
            assert ran.code == 2, (command, ran)
            assert "there is no file" in ran.err, (command, ran)
    assert [path.name for path in shell.folder.iterdir()] == ["servers.json"]


def test_a_database_that_is_not_there_is_served_from_nowhere_by_default(shell: Shell) -> None:
    # where no database is named, what only looks shows that there is nothing yet; what serves one would never see it
    state = {"PREFLIGHT_DB": "", "XDG_STATE_HOME": str(shell.folder / "state")}
    assert "no question is open" in shell("pending", **state).out
    for command in (["console"], ["worker", "--once", "--connections", shell.request("s.json", {"mcpServers": {}})]):
        ran = shell(*command, **state)
        assert (ran.code, ran.out) == (2, "")
        assert f"there is no file `{shell.folder}/state/preflight/records.db`" in ran.err
    assert "none: there is no such file; the first call makes it" in shell("doctor", **state).out
    assert "none: there is no such file" in shell("doctor", PREFLIGHT_DB=f"sqlite:///{shell.folder}/none.db").out
    assert not (shell.folder / "state").exists()
    assert not (shell.folder / "none.db").exists()


def test_pairing_with_a_database_that_is_not_there_makes_none(shell: Shell) -> None:
    ran = shell.at_a_terminal("pair")
    assert (ran.code, ran.out) == (2, "")
    assert "there is no file" in ran.err
    assert not any(shell.folder.iterdir())


def test_explain_tells_why_something_was_asked(shell: Shell) -> None:
    asked, _ = two_decisions(shell)
    ran = shell("explain", asked)
    assert ran.code == 0
    assert ran.out.startswith("It did not run: something was asked first.\n")
    assert 'said       "send 500,000 won to my landlord"\n                 ^^^^^^^ amount\n' in ran.out
    assert "settings the user approved (profile)" in ran.out
    assert '"500,000" read as number' in ran.out
    assert "the user's word for `to_account`: no source has it" in ran.out
    assert "9988776655" not in ran.out


def test_explain_tells_why_something_may_run(shell: Shell) -> None:
    _, ready = two_decisions(shell)
    told = shell("explain", ready).out
    assert told.startswith("It may run, and has not been started.\n")
    assert "without a source for any one of from_account, to_account, amount it would have asked or held" in told


def test_explain_takes_the_id_of_a_question(shell: Shell) -> None:
    asked, _ = two_decisions(shell)
    [question] = shell("pending", "--json").json
    assert shell("explain", question["question_id"]).out == shell("explain", asked).out
    shape = shell("explain", "--json", asked).json
    assert [step["record_id"] for step in shape["steps"]] == [asked]


def test_explain_of_nothing_says_where_to_look(shell: Shell) -> None:
    two_decisions(shell)
    ran = shell("explain", "no-such-id")
    assert ran.code == 2
    assert "no record or question has the id `no-such-id`; `preflight audit` lists them" in ran.err


def test_explain_shows_no_diagnostics_and_no_candidate(shell: Shell) -> None:
    record = shell("check", "--json", shell.request("a.json", transfer())).json["record"]
    told = shell("explain", record["record_id"]).out
    assert "tool gate  shut" in told
    assert "bank/transfer" not in told
    assert "no confirmed mapping" not in told
    assert "a meaning the user confirms with `preflight learn`" in told


def test_a_meaning_is_learned_listed_and_revoked(shell: Shell) -> None:
    shell.learn("send won", "bank/transfer")
    assert '"send won"  bank/transfer' in shell("learned", "--user", "minji").out
    assert shell("learned", "--user", "bo", "--json").json == []
    assert shell("forget", "send won", "--user", "minji").code == 0
    assert "no phrase of minji is confirmed" in shell("learned", "--user", "minji").out
    assert shell("check", shell.request("a.json", complete())).code == 10
    again = shell("forget", "send won", "--user", "minji")
    assert again.code == 2
    assert "means nothing by" in again.err


def test_only_a_person_confirms_a_meaning(shell: Shell) -> None:
    ran = shell("learn", "send won", "bank/transfer", "--user", "minji")
    assert ran.code == 2
    assert "a person at a terminal" in ran.err
    at_terminal = shell.at_a_terminal("learn", "send won", "bank/transfer", "--user", "minji")
    assert at_terminal.code == 0, at_terminal.err
    assert shell("check", shell.request("a.json", complete())).code == 0


@pytest.mark.parametrize(("phrase", "tool"), [("", "bank/transfer"), ("…", "bank/transfer"), ("send", "transfer")])
def test_a_meaning_that_says_nothing_is_refused(shell: Shell, phrase: str, tool: str) -> None:
    ran = shell("learn", phrase, tool, "--user", "minji", "--channel", "script")
    assert ran.code == 2
    assert not shell.db.exists()


def test_a_meaning_of_a_tenant_holds_in_its_conversations_and_nowhere_else(shell: Shell) -> None:
    shell("learn", "send won", "bank/transfer", "--user", "minji", "--tenant", "a", "--channel", "script")
    codes = {
        (tenant, conversation): shell(
            "check", shell.request("r.json", {**complete(), "scope": {"tenant": tenant, "conversation": conversation}})
        ).code
        for tenant in ("a", "b")
        for conversation in ("", "c1")
    }
    assert codes == {("a", ""): 0, ("a", "c1"): 0, ("b", ""): 10, ("b", "c1"): 10}


def test_doctor_shows_what_is_in_place_and_what_waits(shell: Shell) -> None:
    two_decisions(shell)
    shape = shell("doctor", "--json").json
    assert shape["database"] == str(shell.db)
    assert (shape["open questions"], shape["expired undecided"], shape["in doubt"]) == (1, 0, 0)
    assert shape["hooks that verify nothing"] == "none"
    assert shape["sqlite"].startswith("3.")
    text = shell("doctor")
    assert text.code == 0
    assert "see: preflight pending" in text.out


def test_doctor_tells_which_clients_can_ask(shell: Shell) -> None:
    with closing(open_storage(str(shell.db))) as storage:
        for number in range(4):
            storage.append(sample_decision(f"d{number}", "ask_user", question_id=f"q{number}"))
            storage.ask(sample_question(f"q{number}"))
        storage.append(sample_decision("d4", "ask_user", question_id="gone"))
        storage.append(sample_decision("d5", "ask_user"))
        storage.no_answer(sample_no_answer("q0", client="mute 1", at_once=True))
        storage.no_answer(sample_no_answer("q0", client="able 2", at="2026-03-01T10:00:00Z"))
        storage.no_answer(sample_no_answer("q0", client="", channel="callback"))
        for number, channel in ((1, "form (able 2, 4.0 s)"), (2, "form (new (x) 1, 0.5 s)"), (3, "page")):
            storage.answer(sample_answer(f"q{number}", channel=channel, answered_at=f"2026-03-01T11:0{number}:00Z"))
    clients = shell("doctor", "--json").json["clients"]
    assert [(each["client"], each["answered"], each["in_vain"], each["by_itself"]) for each in clients] == [
        ("new (x) 1", 1, 0, 1), ("able 2", 1, 1, 0), ("mute 1", 0, 1, 1),
    ]  # fmt: skip
    text = [" ".join(line.split()) for line in shell("doctor").out.splitlines()]
    assert "able 2 yes 1 1" in text
    told = "not seen: it answered at once, by itself; use the answer page or a terminal"
    assert f"new (x) 1 {told} 1 0" in text  # what came at once was given by no person
    assert "mute 1 not seen: it answered at once, by itself; use the answer page or a terminal 0 1" in text


def test_doctor_tells_which_tools_no_words_open(shell: Shell, tmp_path: Path) -> None:
    tools = {
        "send": {"effect": "irreversible"}, "pay": {"effect": "reversible", "intents": ["pay"]},
        "drop": {"effect": "irreversible", "forbidden": True}, "look": {"effect": "read"},
        "book": {"effect": "reversible"},
    }  # fmt: skip
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps({"version": 1, "servers": {"bank": {"tools": tools}}}), encoding="utf-8")
    shell.learn("book", "bank/book")
    given = ("--rules", rules, "doctor", "--user", "minji")
    shape = shell(*given, "--json")
    assert (shape.code, shape.json["unopened"], shape.json["broken"]) == (0, ["bank/send"], [])
    text = shell(*given).out
    assert "no words open these tools" in text
    assert "preflight learn PHRASE bank/send --user minji" in text
    assert shell("--rules", rules, "doctor", "--user", "bo", "--json").json["unopened"] == ["bank/send", "bank/book"]
    assert shell("doctor", "--json").json["unopened"] == []


def test_doctor_says_when_the_records_cannot_be_used(shell: Shell) -> None:
    letter = shell.request("letter.txt", b"dear landlord, " * 1_000)
    ran = shell("doctor", "--db", letter)
    assert ran.code == 1
    assert "letter.txt" in ran.out
    assert ran.err == ""


def test_the_vectors_of_the_project_pass(shell: Shell) -> None:
    ran = shell("conformance", ROOT / "conformance" / "hand.jsonl")
    assert ran.code == 0, ran.out
    assert ran.out.splitlines()[-1] == "89 passed, 0 failed"


def test_a_vector_that_comes_out_otherwise_is_shown(shell: Shell) -> None:
    first, second, *_ = (ROOT / "conformance" / "hand.jsonl").read_text(encoding="utf-8").splitlines()
    wrong = json.loads(first)
    wrong["expect"]["decision"] = "sing"
    broken = {"id": "broken", "input": {}, "hooks": 7, "expect": {}}
    lines = "\n".join([json.dumps(wrong), second, json.dumps(broken)])
    ran = shell("conformance", shell.request("v.jsonl", lines.encode()))
    assert ran.code == 1
    assert ran.out.startswith(f'{wrong["id"]}\n  decision: expected "sing", came ')
    assert "broken\n  cannot be run: " in ran.out
    assert ran.out.splitlines()[-1] == "1 passed, 2 failed"


@pytest.mark.parametrize("content", [b"{", b'{"id": 1}', b"\xff\xfe"], ids=["no JSON", "no vector", "no text"])
def test_a_file_without_vectors_is_refused(shell: Shell, content: bytes) -> None:
    ran = shell("conformance", shell.request("v.jsonl", content))
    assert ran.code == 2
    assert "v.jsonl" in ran.err


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_help(shell: Shell, command: str) -> None:
    ran = shell(command, "--help")
    assert ran.code == 0
    assert ran.out.startswith(f"Usage: preflight {command}")


def test_the_list_of_commands_is_whole(shell: Shell) -> None:
    ran = shell("--help")
    listed = ran.out.split("Commands:\n")[1].split("\n\n")[0].splitlines()
    assert [line.split()[0] for line in listed if line.split()[0] in COMMANDS] == COMMANDS
    assert "..." not in "".join(listed)  # a line that is cut says less than nothing


def test_a_wrong_option_is_a_usage_error(shell: Shell) -> None:
    for arguments in (["check"], ["audit", "--decision", "maybe"], ["no-such-command"]):
        ran = shell(*arguments)
        assert ran.code == 2
        assert "Traceback" not in ran.err


def test_help_loads_no_mcp_and_no_validator_of_types() -> None:
    code = "import sys; from preflight.cli.app import run\ntry: run(['--help'])\nexcept SystemExit: print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in run.stdout.split()}
    assert "typer" in loaded
    assert loaded & {"mcp", "mcp_types", "pydantic", "rich"} == set()


def test_python_runs_the_package_as_the_command() -> None:
    run = subprocess.run([sys.executable, "-m", "preflight", "--version"], capture_output=True, text=True, check=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert run.stdout.strip() in (project["version"], "unknown: not installed")
