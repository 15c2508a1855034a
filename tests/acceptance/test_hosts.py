"""`preflight host` and `hook` as people and hosts run them, and what a host's hooks bring to the gate."""

from __future__ import annotations

import json
import os
import re
import shlex
import statistics
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest

from preflight import Asking, Executable, ToolRules, create_preflight
from preflight.hosts.layout import HOSTS, entries
from preflight.hosts.words import StoredWords, join_of
from tests.acceptance.requests import TRANSFER
from tests.acceptance.terminal import BANK, ROOT, SECONDS, Shell

TEXT = "send 500,000 won from 1102534471 to 3520198845"
CALL: dict[str, Any] = {"from_account": "1102534471", "to_account": "3520198845", "amount": 500_000}
SESSION = {"session_id": "s-1", "prompt_id": "p-1", "cwd": "/home/minji"}
PROMPT = {**SESSION, "hook_event_name": "UserPromptSubmit", "prompt": TEXT, "source": "user"}
ANNOUNCED = {
    **SESSION, "hook_event_name": "PreToolUse", "tool_name": "mcp__bank__transfer", "tool_input": CALL,
    "tool_use_id": "toolu_1",
}  # fmt: skip


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A shell in a project's folder, of a user with a home of their own."""
    home = tmp_path / "home"
    (tmp_path / "project").mkdir()
    home.mkdir()
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PREFLIGHT_WORDS", str(tmp_path / "words.db"))
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    return Shell(tmp_path)


def settings(tmp_path: Path) -> Path:
    return tmp_path / "home" / ".claude" / "settings.json"


def started(command: list[str], event: object) -> subprocess.CompletedProcess[bytes]:
    """Run a hook's command as a host does: a process of its own, an event on standard input."""
    return subprocess.run(command, input=json.dumps(event).encode(), capture_output=True, check=False, timeout=SECONDS)


def installed_commands(tmp_path: Path) -> dict[str, list[str]]:
    hooks = json.loads(settings(tmp_path).read_text(encoding="utf-8"))["hooks"]
    return {event: shlex.split(groups[0]["hooks"][0]["command"]) for event, groups in hooks.items()}


def test_a_dry_run_shows_and_writes_nothing(shell: Shell, tmp_path: Path) -> None:
    ran = shell("host", "install", "claude-code", "--dry-run")
    assert ran.code == 0
    assert '+    "UserPromptSubmit": [' in ran.out
    assert not settings(tmp_path).exists()


def test_without_a_person_and_without_yes_nothing_is_written(shell: Shell, tmp_path: Path) -> None:
    ran = shell("host", "install", "claude-code")
    assert ran.code == 2
    assert "--yes" in ran.err
    assert not settings(tmp_path).exists()


@pytest.mark.parametrize(("types", "written"), [("y\n", True), ("n\n", False), ("\n", False)])
def test_a_person_is_shown_the_change_and_asked(shell: Shell, tmp_path: Path, types: str, written: bool) -> None:
    ran = shell.at_a_terminal("host", "install", "claude-code", types=types)
    assert (ran.code == 0) == written
    assert '+    "PreToolUse": [' in ran.out
    assert settings(tmp_path).exists() == written


def test_the_whole_way_of_an_installation(shell: Shell, tmp_path: Path) -> None:
    assert shell("host", "install", "claude-code", "--yes").code == 0
    again = shell("host", "install", "claude-code", "--yes")
    assert (again.code, "nothing to do" in again.out) == (0, True)
    rows = shell("host", "list", "--json").json["hosts"]
    assert [row["where"] for row in rows if row["hooks"] == "installed"] == ["user"]
    assert "claude-code  user     installed" in shell("host", "list").out
    assert shell("host", "uninstall", "claude-code", "--yes").code == 0
    assert not settings(tmp_path).exists()
    assert "nothing to do" in shell("host", "uninstall", "claude-code", "--yes").out


def test_a_project_s_file_names_the_program(shell: Shell, tmp_path: Path) -> None:
    assert shell("host", "install", "cursor", "--project", "--yes").code == 0
    text = (tmp_path / "project" / ".cursor" / "hooks.json").read_text(encoding="utf-8")
    assert "preflight hook beforeSubmitPrompt --host cursor" in text
    assert str(Path(sys.executable)) not in text


def test_an_unknown_host_and_a_broken_file_are_told(shell: Shell, tmp_path: Path) -> None:
    ran = shell("host", "install", "emacs", "--yes")
    assert (ran.code, "claude-code, codex, gemini, cursor, vscode" in ran.err) == (2, True)
    settings(tmp_path).parent.mkdir()
    settings(tmp_path).write_text('{"hooks": [', encoding="utf-8")
    ran = shell("host", "install", "claude-code", "--yes")
    assert ran.code == 2
    assert "line 1, column 12" in ran.err
    assert settings(tmp_path).read_text(encoding="utf-8") == '{"hooks": ['


@pytest.mark.parametrize("name", sorted(HOSTS))
def test_what_is_installed_is_what_a_host_can_run(name: str, shell: Shell) -> None:
    for entry in entries(HOSTS[name]):
        handler = entry.value["hooks"][0] if "hooks" in entry.value else entry.value
        ran = started(shlex.split(handler["command"]), "no event")
        assert ran.returncode in (1, 2)
        assert ran.stderr.startswith(b"preflight: ")
        assert ran.stdout == b""


def test_words_typed_in_a_host_ground_a_call_and_others_do_not(shell: Shell, tmp_path: Path) -> None:
    shell("host", "install", "claude-code", "--yes")
    commands = installed_commands(tmp_path)
    assert started(commands["UserPromptSubmit"], PROMPT).returncode == 0
    assert started(commands["PreToolUse"], ANNOUNCED).returncode == 0
    rules = {("bank", "transfer"): ToolRules(effect="irreversible", intents=("send",))}
    with closing(create_preflight(storage=":memory:", rules=rules)) as gate:

        def check(text: str, **event: object) -> object:
            started(commands["UserPromptSubmit"], {**PROMPT, "prompt": text, **event})
            join = join_of({"claudecode/toolUseId": event["use"]}, {}, "transfer", CALL, "/")
            started(commands["PreToolUse"], {**ANNOUNCED, **event, "tool_use_id": event["use"]})
            said = [{"text": s.text, "trust": s.trust, "request": s.request} for s in StoredWords().segments(join)]
            return gate.check({**TRANSFER, "instruction": said, "claims": CALL})

        assert isinstance(check(TEXT, session_id="s-2", use="toolu_2"), Executable)
        assert isinstance(check(TEXT, session_id="s-3", use="toolu_3", source="loop_wakeup"), Asking)
        assert isinstance(check("what is new?", session_id="s-4", use="toolu_4"), Asking)


def test_doctor_tells_whether_words_arrive(shell: Shell, tmp_path: Path) -> None:
    shell.learn("send won", "bank/transfer")  # so that there is a database
    assert "have no words to stand on" in shell("doctor").out
    shell("host", "install", "claude-code", "--yes")
    command = installed_commands(tmp_path)["UserPromptSubmit"]
    started(command, {key: value for key, value in PROMPT.items() if key != "source"})
    assert "is looked up at the next call" in shell("doctor", "--json").json["user's words"]
    started(installed_commands(tmp_path)["PreToolUse"], ANNOUNCED)  # its transcript is nowhere
    found = shell("doctor", "--json").json
    assert "without saying who spoke" in found["user's words"]
    assert found["hooks"] == f"claude-code: installed ({settings(tmp_path)})"
    started(command, {**PROMPT, "prompt": "and now?"})
    assert shell("doctor", "--json").json["user's words"].startswith("arrive: the last ")
    started(command, {**PROMPT, "prompt": "wake", "source": "loop_wakeup"})
    assert "not a person's" in shell("doctor", "--json").json["user's words"]


def test_the_command_does_what_the_installed_entry_does(shell: Shell) -> None:
    prompt = [sys.executable, "-m", "preflight", "hook", "UserPromptSubmit", "--host", "claude-code"]
    assert started(prompt, PROMPT).returncode == 0
    assert "arrive: the last" in shell("host", "list").out
    call = [sys.executable, "-m", "preflight", "hook", "--host", "claude-code"]
    ran = started(call, {"hook_event_name": "PreToolUse"})
    assert ran.returncode == 2
    assert b"`tool_name`" in ran.stderr


def test_a_hook_is_there_in_a_moment_and_loads_nothing_of_the_gate(shell: Shell, tmp_path: Path) -> None:
    shell("host", "install", "claude-code", "--yes")
    command = installed_commands(tmp_path)["PreToolUse"]
    loaded = started([command[0], "-X", "importtime", *command[1:]], ANNOUNCED)
    names = {line.rsplit(b"|", 1)[1].strip().decode() for line in loaded.stderr.splitlines() if b"|" in line}
    assert "preflight.hosts.receive" in names
    assert {name for name in names if name.startswith("preflight.") and not name.startswith("preflight.hosts")} == set()
    assert not {"typer", "msgspec", "apsw", "yaml", "mcp", "pydantic"} & names
    times = []
    for _ in range(5):
        began = time.perf_counter()
        assert started(command, ANNOUNCED).returncode == 0
        times.append(time.perf_counter() - began)
    bare = []
    for _ in range(5):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-I", "-S", "-c", ""], check=True)
        bare.append(time.perf_counter() - began)
    # the best of five, less what Python itself takes to start: a busy machine is no bug
    assert min(times) - min(bare) < 0.15, (statistics.median(times), statistics.median(bare))


def test_a_hook_started_in_a_strange_place_is_not_led_astray(shell: Shell, tmp_path: Path) -> None:
    shell("host", "install", "claude-code", "--yes")
    for name in ("json.py", "sqlite3.py", "preflight.py"):
        (tmp_path / "project" / name).write_text("raise SystemExit(0)\n", encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "project"), "PYTHONSTARTUP": "json.py"}
    command = installed_commands(tmp_path)["PreToolUse"]
    ran = subprocess.run(command, input=b"{}", capture_output=True, check=False, env=env, timeout=SECONDS)
    assert ran.returncode == 2


@pytest.mark.parametrize("page", ["claude-code", "codex", "cursor"])
def test_the_page_of_a_host_shows_what_its_commands_print(page: str, shell: Shell, tmp_path: Path) -> None:
    text = (ROOT / "docs" / "howto" / f"{page}.md").read_text(encoding="utf-8")
    block = re.search(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert block is not None
    assert block[1] == "console"
    printed, commands = "", 0
    for shown in block[2].splitlines():
        if shown.startswith("$ preflight "):
            ran = shell(*shlex.split(shown)[2:])
            assert (ran.code, ran.err) == (0, "")
            printed, commands = ran.out.replace(str(tmp_path / "home"), "~"), commands + 1
        else:
            assert any(line.startswith(shown) for line in printed.splitlines()), (shown, printed)
    assert commands == 2


def test_typed_words_reach_the_proxy_by_the_call_s_tool_use_id(shell: Shell, tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    from mcp import Client, StdioServerParameters

    shell("host", "install", "claude-code", "--yes")
    commands = installed_commands(tmp_path)
    rules = tmp_path / "rules.yaml"
    rules.write_text(
        "version: 1\nservers: {bank: {tools: {transfer: {effect: irreversible, intents: [send]}}}}\n", encoding="utf-8"
    )
    bank = [sys.executable, str(BANK), "--db", str(tmp_path / "bank.db")]
    proxy = ["-m", "preflight", "proxy", "--rules", str(rules), "--name", "bank", "--user", "minji", "--", *bank]
    kept = {name: os.environ[name] for name in ("HOME", "PATH", "PYTHONPATH", "PREFLIGHT_WORDS") if name in os.environ}
    env = {**kept, "PREFLIGHT_DB": str(shell.db)}

    async def call(use: str) -> Any:
        async with Client(StdioServerParameters(command=sys.executable, args=proxy, env=env)) as client:
            with anyio.fail_after(SECONDS):
                return await client.call_tool("transfer", CALL, meta={"claudecode/toolUseId": use})

    for use, source in (("toolu_1", "user"), ("toolu_2", "loop_wakeup")):
        session = {"session_id": f"s-{use}"}
        assert started(commands["UserPromptSubmit"], {**PROMPT, **session, "source": source}).returncode == 0
        assert started(commands["PreToolUse"], {**ANNOUNCED, **session, "tool_use_id": use}).returncode == 0
    sent, held = anyio.run(call, "toolu_1"), anyio.run(call, "toolu_2")
    assert not sent.is_error
    assert sent.structured_content["amount"] == 500_000
    assert held.is_error
    assert held.structured_content is None
