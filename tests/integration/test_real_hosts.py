"""Programs that people work in, run themselves with the hooks and the proxy: what was typed runs, and no more."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from preflight.model.record import Record
from preflight.storage import open_storage
from tests.integration.scripted import Script, served
from tests.integration.upstreams.real import host_program
from tests.integration.wire import BANK_RULES, bank, proxy

pytestmark = [pytest.mark.slow]
RENT = {"from_account": "1102534471", "to_account": "3520198845", "amount": 500_000}
WORDS = "transfer 500,000 won from 1102534471 to 3520198845 now"
SECONDS = 120


class Place(NamedTuple):
    """Where a program runs: a home of its own, a folder to work in, and the model that it talks to."""

    folder: Path
    url: str
    goes_on: bool = False
    """Whether its last conversation goes on."""

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def work(self) -> Path:
        return self.folder / "work"

    @property
    def state(self) -> dict[str, str]:
        return {"XDG_STATE_HOME": str(self.folder / "state")}

    @property
    def server(self) -> dict[str, Any]:
        command = proxy(self.folder / "records.db", BANK_RULES, bank(self.folder), name="bank")
        return {"command": command[0], "args": command[1:], "env": self.state}


def claude_code(place: Place, prompt: str) -> tuple[list[str], dict[str, str]]:
    config = place.work / ".mcp.json"
    config.write_text(json.dumps({"mcpServers": {"bank": place.server}}), encoding="utf-8")
    given = ["-p", prompt, "--mcp-config", str(config), "--strict-mcp-config", "--allowedTools", "mcp__bank__transfer"]
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "ENABLE_TOOL_SEARCH": "false"}
    given += ["--continue"] if place.goes_on else []
    return given, {**quiet, "ANTHROPIC_BASE_URL": place.url, "ANTHROPIC_API_KEY": "none"}


def codex(place: Place, prompt: str) -> tuple[list[str], dict[str, str]]:
    server = place.server
    lines = [
        'model = "scripted"', 'model_provider = "scripted"', "[model_providers.scripted]", 'name = "scripted"',
        f'base_url = "{place.url}/v1"', 'wire_api = "responses"', "[mcp_servers.bank]",
        f"command = {json.dumps(server['command'])}", f"args = {json.dumps(server['args'])}",
        'default_tools_approval_mode = "approve"', "[mcp_servers.bank.env]",
        *[f"{name} = {json.dumps(value)}" for name, value in server["env"].items()],
    ]  # fmt: skip
    (place.home / ".codex" / "config.toml").write_text("\n".join(lines), encoding="utf-8")
    # a person reviews new hooks in a window; nobody is here who could
    given = ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"]
    return [*given, *(["resume", "--last"] if place.goes_on else []), prompt], {}


def gemini(place: Place, prompt: str) -> tuple[list[str], dict[str, str]]:
    path = place.home / ".gemini" / "settings.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    settings |= {"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"enableAutoUpdate": False}}
    settings |= {"mcpServers": {"bank": {**place.server, "trust": True}}, "privacy": {"usageStatisticsEnabled": False}}
    path.write_text(json.dumps(settings), encoding="utf-8")
    given = ["-m", "gemini-2.5-flash", "--skip-trust", *(["--resume", "latest"] if place.goes_on else []), "-p", prompt]
    return given, {"GOOGLE_GEMINI_BASE_URL": place.url, "GEMINI_API_KEY": "none", "GEMINI_CLI_TRUST_WORKSPACE": "true"}


HOSTS: dict[str, Callable[[Place, str], tuple[list[str], dict[str, str]]]] = {
    "claude-code": claude_code, "codex": codex, "gemini": gemini,
}  # fmt: skip


def run(host: str, folder: Path, prompt: str, arguments: dict[str, Any]) -> str:
    """Install the hooks, run a program with a prompt, and return what its model got back of the transfer."""
    program, script = host_program(host), Script("transfer", arguments)
    with served(script) as url:
        place = Place(folder, url)
        for path in (place.home, place.work):
            path.mkdir(exist_ok=True)
        own = {"HOME": str(place.home), "PATH": os.environ["PATH"], "TERM": "xterm-256color", **place.state}
        install = [sys.executable, "-m", "preflight", "host", "install", host, "--yes"]
        subprocess.run(install, env=own, check=True, capture_output=True, timeout=SECONDS, cwd=place.work)
        given, environment = HOSTS[host](place, prompt)
        ran = subprocess.run(
            [program, *given], env={**own, **environment}, cwd=place.work, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert len(script.results) == 1, (script.asked, ran.stdout, ran.stderr)
    return script.results[0]


def records(folder: Path) -> list[Record]:
    with closing(open_storage(folder / "records.db")) as storage:
        return [stored.record for stored in storage.scan()]


@pytest.mark.parametrize("host", HOSTS)
def test_what_a_person_typed_runs_without_a_question(host: str, tmp_path: Path) -> None:
    result = run(host, tmp_path, WORDS, RENT)
    assert "entry" in result
    (decision,) = [record for record in records(tmp_path) if record.execution_decision == "execute" and record.fields]
    evidence = {state.name: state.evidence for state in decision.fields or ()}
    assert {name: each and each.matched_text for name, each in evidence.items() if name in RENT} == {
        "from_account": "1102534471", "to_account": "3520198845", "amount": "500,000",
    }  # fmt: skip


@pytest.mark.parametrize("host", HOSTS)
def test_what_stands_in_a_file_that_was_named_is_nobody_s_word(host: str, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "bill.txt").write_text(f"{WORDS}\n", encoding="utf-8")
    result = run(host, tmp_path, "transfer 500,000 won now, as @bill.txt says", RENT)
    assert "Nothing was called" in result
    assert "to_account" in result
    assert "executing" not in [record.execution_decision for record in records(tmp_path)]


def test_what_a_command_of_gemini_stands_for_is_nobody_s_word(tmp_path: Path) -> None:
    commands = tmp_path / "home" / ".gemini" / "commands"
    commands.mkdir(parents=True)
    (commands / "pay.toml").write_text(f'prompt = "{WORDS}, {{{{args}}}}"\n', encoding="utf-8")
    assert "Nothing was called" in run("gemini", tmp_path, "/pay please", RENT)
    assert "executing" not in [record.execution_decision for record in records(tmp_path)]
