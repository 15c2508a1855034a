"""Entries in the hosts' files: put in, left alone, replaced, taken out; nothing else of a file moves."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preflight.errors import InvalidInput
from preflight.hosts import files
from preflight.hosts.events import EVENTS
from preflight.hosts.files import Change, installed, installing, path_of, switched_off, uninstalling, write
from preflight.hosts.health import hooks_of, hosts_with_hooks
from preflight.hosts.layout import HOSTS, Host, command_for, entries, is_ours

NAMES = sorted(HOSTS)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(variable, raising=False)
    return home


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def host(name: str) -> Host:
    return HOSTS[name]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("project", [False, True])
def test_installing_twice_changes_once_and_uninstalling_leaves_nothing(
    name: str, project: bool, tmp_path: Path
) -> None:
    where = tmp_path / "project" if project else None
    first = installing(host(name), where)
    assert first.needed
    assert first.diff().startswith("--- ")
    write(first)
    assert not installing(host(name), where).needed
    assert hooks_of(host(name), where) == "installed"
    assert len(installed(host(name), where)) == 2
    last = uninstalling(host(name), where)
    write(last)
    assert not first.path.exists()
    assert hooks_of(host(name), where) == "no"
    assert not uninstalling(host(name), where).needed


def test_the_files_are_those_that_the_hosts_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {name: path_of(each, None).relative_to(home).as_posix() for name, each in HOSTS.items()}
    assert found == {
        "claude-code": ".claude/settings.json",
        "codex": ".codex/hooks.json",
        "gemini": ".gemini/settings.json",
        "cursor": ".cursor/hooks.json",
        "vscode": ".copilot/hooks/preflight.json",
    }
    monkeypatch.setenv("CODEX_HOME", str(home / "elsewhere"))
    assert path_of(host("codex"), None) == home / "elsewhere" / "hooks.json"
    assert path_of(host("vscode"), Path("/p")) == Path("/p/.github/hooks/preflight.json")


@pytest.mark.parametrize("name", NAMES)
def test_an_entry_starts_the_receiver_for_its_event(name: str) -> None:
    for entry in entries(host(name)):
        handler = entry.value["hooks"][0] if "hooks" in entry.value else entry.value
        words = shlex.split(handler["command"])
        assert words[0] == sys.executable
        assert Path(words[3]).is_file()
        assert words[4:] == [entry.event, "--host", name]
        assert is_ours(handler["command"])
    assert {entry.event for entry in entries(host(name))} == set(EVENTS[name]) - {"preToolUse"}


def test_calls_fail_closed_where_a_host_has_a_word_for_it() -> None:
    claude = next(entry.value for entry in entries(host("claude-code")) if entry.event == "PreToolUse")
    cursor = next(entry.value for entry in entries(host("cursor")) if entry.event == "beforeMCPExecution")
    assert claude["hooks"][0]["onFailure"] == "block"
    assert claude["matcher"] == "mcp__.*"
    assert cursor["failClosed"] is True


def test_a_shared_file_names_the_program_and_no_path() -> None:
    command = command_for(host("codex"), "PreToolUse", shared=True, trust_unlabelled=False)
    assert command == "preflight hook PreToolUse --host codex"
    assert "--trust-unlabelled" in command_for(host("codex"), "PreToolUse", shared=True, trust_unlabelled=True)


CLAUDE = """{
  "permissions": {"deny": ["Bash(curl:*)"]},
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [{"type": "command", "command": "./guard.sh"}]}
    ]
  },
  "cost": 1.10
}
"""


def test_what_else_stands_in_a_file_stays_to_the_byte(home: Path) -> None:
    path = put(home / ".claude/settings.json", CLAUDE)
    path.chmod(0o600)
    write(installing(host("claude-code")))
    text = path.read_text(encoding="utf-8")
    assert [line for line in CLAUDE.splitlines() if line.rstrip(",") not in text] == []
    assert '"cost": 1.10' in text
    assert path.stat().st_mode & 0o777 == 0o600
    value = json.loads(text)
    assert value["hooks"]["PreToolUse"][0]["hooks"][0]["command"] == "./guard.sh"
    assert len(value["hooks"]["PreToolUse"]) == 2
    write(uninstalling(host("claude-code")))
    assert path.read_text(encoding="utf-8") == CLAUDE


def test_comments_stay_where_the_host_allows_them(home: Path) -> None:
    text = '{\n  // mine\n  "theme": "dark" // nice\n}\n'
    path = put(home / ".gemini/settings.json", text)
    write(installing(host("gemini")))
    assert "// mine" in path.read_text(encoding="utf-8")
    assert hooks_of(host("gemini")) == "installed"
    write(uninstalling(host("gemini")))
    assert path.read_text(encoding="utf-8") == text


OLD = "/old/bin/python -I -S /old/lib/preflight/hosts/entry.py PreToolUse --host codex"


def test_entries_of_an_earlier_installation_are_replaced(home: Path) -> None:
    old: dict[str, Any] = {"matcher": "mcp__.*", "hooks": [{"type": "command", "command": OLD}]}
    path = put(home / ".codex/hooks.json", json.dumps({"hooks": {"PreToolUse": [old, old], "Stop": [old]}}))
    write(installing(host("codex")))
    text = path.read_text(encoding="utf-8")
    assert "/old/" not in text
    assert {event: len(items) for event, items in json.loads(text)["hooks"].items()} == {
        "PreToolUse": 1,
        "UserPromptSubmit": 1,
    }


def test_in_a_group_with_others_only_the_own_hook_goes(home: Path) -> None:
    group = {
        "matcher": "mcp__.*",
        "hooks": [{"type": "command", "command": "./a.sh"}, {"type": "command", "command": OLD}],
    }
    path = put(home / ".codex/hooks.json", json.dumps({"hooks": {"PreToolUse": [group]}}))
    write(uninstalling(host("codex")))
    assert json.loads(path.read_text(encoding="utf-8")) == {
        "hooks": {"PreToolUse": [{"matcher": "mcp__.*", "hooks": [{"type": "command", "command": "./a.sh"}]}]}
    }


@pytest.mark.parametrize(
    ("command", "ours"),
    [
        ("preflight hook PreToolUse --host codex", True),
        ("/usr/local/bin/preflight hook --host codex", True),
        ('"C:\\Program Files\\preflight.exe" hook PreToolUse', True),
        ("python -I -S '/a b/preflight/hosts/entry.py' PreToolUse --host cursor", True),
        ("my-preflight hook x", False),
        ("./preflight-hook.sh", False),
        ("preflight check request.json", False),
        ("echo preflight", False),
        (["preflight", "hook", "x"], False),
        (None, False),
    ],
)
def test_only_the_own_commands_are_known_as_such(command: object, ours: bool) -> None:
    assert is_ours(command) is ours


BROKEN = {
    "no JSON": ("{", "is no JSON that Codex CLI reads: line 1"),
    "a list": ("[]", "holds no JSON object"),
    "hooks are a list": ('{"hooks": []}', "`hooks` is no object"),
    "an event is an object": ('{"hooks": {"PreToolUse": {}}}', "`hooks.PreToolUse` is no list"),
    "a comment": ("{} // x", "a comment, which this file may not have"),
    "a key twice": ('{"hooks": {}, "hooks": {}}', "the key `hooks` stands twice"),
}


@pytest.mark.parametrize(("text", "says"), BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_refused_in_words_and_left_alone(text: str, says: str, home: Path) -> None:
    path = put(home / ".codex/hooks.json", text)
    for change in (installing, uninstalling):
        with pytest.raises(InvalidInput) as fault:
            change(host("codex"))
        assert says in str(fault.value)
        assert str(path) in str(fault.value)
    assert path.read_text(encoding="utf-8") == text
    assert hooks_of(host("codex")).startswith("unknown: ")
    assert [path.name] == [each.name for each in path.parent.iterdir()]


def test_a_file_that_is_no_text_or_too_large_or_a_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(home / ".codex/hooks.json", "")
    path.write_bytes(b"\xff\xfe{")
    with pytest.raises(InvalidInput, match="is no UTF-8 text at byte 0"):
        installing(host("codex"))
    monkeypatch.setattr(files, "_MOST_BYTES", 2)
    with pytest.raises(InvalidInput, match="has more than 2 bytes"):
        installing(host("codex"))
    path.unlink()
    path.mkdir()
    with pytest.raises(InvalidInput, match="cannot be read"):
        installing(host("codex"))


def test_an_empty_file_is_as_good_as_none(home: Path) -> None:
    path = put(home / ".cursor/hooks.json", " \n")
    assert not uninstalling(host("cursor")).needed
    assert installed(host("cursor")) == []
    write(installing(host("cursor")))
    assert json.loads(path.read_text(encoding="utf-8"))["version"] == 1


def test_an_edit_made_meanwhile_is_not_written_over(home: Path) -> None:
    change = installing(host("codex"))
    path = put(home / ".codex/hooks.json", '{"description": "mine"}')
    with pytest.raises(InvalidInput, match="changed meanwhile"):
        write(change)
    assert path.read_text(encoding="utf-8") == '{"description": "mine"}'


def test_a_link_stays_a_link(home: Path, tmp_path: Path) -> None:
    real = put(tmp_path / "dotfiles" / "hooks.json", "{}")
    (home / ".codex").mkdir()
    link = home / ".codex/hooks.json"
    link.symlink_to(real)
    write(installing(host("codex")))
    assert link.is_symlink()
    assert "preflight" in real.read_text(encoding="utf-8")
    write(uninstalling(host("codex")))
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == "{}"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="this account may write everywhere")
def test_a_folder_without_permission(home: Path) -> None:
    (home / ".codex").mkdir(mode=0o500)
    with pytest.raises(InvalidInput, match="cannot be written"):
        write(installing(host("codex")))


def test_a_place_that_cannot_be_written_to(home: Path) -> None:
    put(home / ".codex", "a file where a folder should be")
    with pytest.raises(InvalidInput, match="cannot be"):
        write(Change(home / ".codex" / "hooks.json", None, "{}"))


def test_codex_with_hooks_switched_off_is_told(home: Path) -> None:
    write(installing(host("codex")))
    config = put(home / ".codex/config.toml", "[features]\nhooks = false\n")
    assert switched_off(host("codex")) is not None
    assert hooks_of(host("codex")).startswith("installed, and not run")
    config.write_text("[features\n", encoding="utf-8")
    assert switched_off(host("codex")) is None
    assert switched_off(host("cursor")) is None


def test_a_half_installation_is_told(home: Path, tmp_path: Path) -> None:
    write(installing(host("codex")))
    path = home / ".codex/hooks.json"
    value = json.loads(path.read_text(encoding="utf-8"))
    del value["hooks"]["UserPromptSubmit"]
    path.write_text(json.dumps(value), encoding="utf-8")
    assert hooks_of(host("codex")) == "installed, but for UserPromptSubmit"
    assert hosts_with_hooks(tmp_path) == [f"codex: installed, but for UserPromptSubmit ({path})"]


HANDLERS = st.fixed_dictionaries(
    {"type": st.just("command"), "command": st.sampled_from(["./a.sh", "b", "preflight x"])}
)
GROUPS = st.fixed_dictionaries(
    {"hooks": st.lists(HANDLERS, min_size=1, max_size=2)}, optional={"matcher": st.just("Bash")}
)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "model": st.text(max_size=5),
        "hooks": st.dictionaries(
            st.sampled_from(["PreToolUse", "UserPromptSubmit", "Stop"]),
            st.lists(GROUPS, min_size=1, max_size=2),
            min_size=1,
            max_size=3,
        ),
    },
)


@given(value=SETTINGS, indent=st.sampled_from([None, 2, 4, "\t"]), end=st.sampled_from(["", "\n"]))
def test_uninstalling_undoes_installing_to_the_byte(
    value: dict[str, Any], indent: int | str | None, end: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    project = tmp_path_factory.mktemp("project")
    text = json.dumps(value, indent=indent) + end
    path = put(project / ".codex/hooks.json", text)
    write(installing(host("codex"), project))
    assert len(installed(host("codex"), project)) == 2
    write(uninstalling(host("codex"), project))
    assert path.exists() == bool(value)
    if value:
        assert path.read_text(encoding="utf-8") == text
