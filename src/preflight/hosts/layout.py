"""The hosts: where each keeps its hooks, and what an entry looks like there.

Sources: the types that Claude Code's SDK ships, Codex's published hook schemas and pages, Gemini CLI's hooks
reference, Visual Studio Code's hooks reference, and pages of others about Cursor's `hooks.json`. None was run here.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from preflight.hosts.events import CALL, EVENTS, PROMPT

_OURS = re.compile(r"(?:^|[\s/\\\"'])preflight(?:\.exe)?[\"']?\s+hook\s|preflight[/\\]hosts[/\\]entry\.py")
_SECONDS = {PROMPT: 5, CALL: 10}
"""How long a host waits for the hook, which answers within a tenth of a second."""


class Host(NamedTuple):
    """One host: its files, and how its entries are written."""

    name: str
    title: str
    user_file: Callable[[], Path]
    project_file: str
    matcher: str | None
    """What limits call events to MCP tools; None where the host takes none."""
    comments: bool = False
    new: tuple[tuple[str, Any], ...] = ()
    """What a file that is made anew begins with."""
    own_file: bool = False
    """Whether the file holds nothing but these entries."""
    note: str = ""


class Entry(NamedTuple):
    """What stands under one event."""

    event: str
    value: dict[str, Any]


def _folder(variable: str, usual: str) -> Path:
    named = os.environ.get(variable)
    return Path(named) if named else Path.home() / usual


HOSTS = {
    host.name: host
    for host in (
        Host(
            "claude-code",
            "Claude Code",
            lambda: _folder("CLAUDE_CONFIG_DIR", ".claude") / "settings.json",
            ".claude/settings.json",
            "mcp__.*",
            note="a failing hook stops the call from Claude Code 2.1.295 on; before, the call goes ahead",
        ),
        Host(
            "codex",
            "Codex CLI",
            lambda: _folder("CODEX_HOME", ".codex") / "hooks.json",
            ".codex/hooks.json",
            "mcp__.*",
            note="Codex runs new hooks once you have reviewed them there (`/hooks`)",
        ),
        Host(
            "gemini",
            "Gemini CLI",
            lambda: Path.home() / ".gemini" / "settings.json",
            ".gemini/settings.json",
            "mcp_.*",
            comments=True,
        ),
        Host(
            "cursor",
            "Cursor",
            lambda: Path.home() / ".cursor" / "hooks.json",
            ".cursor/hooks.json",
            None,
            new=(("version", 1),),
        ),
        Host(
            "vscode",
            "Visual Studio Code",
            lambda: Path.home() / ".copilot" / "hooks" / "preflight.json",
            ".github/hooks/preflight.json",
            None,
            own_file=True,
        ),
    )
}


def is_ours(command: object) -> bool:
    """Whether a command of a hook starts this program's receiver."""
    return isinstance(command, str) and _OURS.search(command) is not None


def command_for(host: Host, event: str, *, shared: bool, trust_unlabelled: bool) -> str:
    """Return what the host is to run: by name in a file that others share, else by path, which starts faster."""
    rest = [event, "--host", host.name, *(["--trust-unlabelled"] if trust_unlabelled else [])]
    if shared:
        return " ".join(["preflight", "hook", *rest])
    words = [sys.executable, "-I", "-S", str(Path(__file__).with_name("entry.py")), *rest]
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def entries(host: Host, *, shared: bool = False, trust_unlabelled: bool = False) -> list[Entry]:
    """Return the entries of a host, one for each of its two events."""
    found = []
    for event, kind in EVENTS[host.name].items():
        if event == "preToolUse":  # Cursor's general event would only repeat the one for MCP calls
            continue
        command = command_for(host, event, shared=shared, trust_unlabelled=trust_unlabelled)
        found.append(Entry(event, _entry(host, kind, command)))
    return found


def _entry(host: Host, kind: str, command: str) -> dict[str, Any]:
    if host.name == "cursor":  # sources disagree about the unit of its `timeout`
        return {"command": command, **({"failClosed": True} if kind == CALL else {})}
    handler: dict[str, Any] = {"type": "command", "command": command, "timeout": _SECONDS[kind]}
    if host.name == "vscode":
        return handler
    if host.name == "gemini":
        handler = {"name": "preflight", **handler, "timeout": _SECONDS[kind] * 1000}
    if host.name == "claude-code" and kind == CALL:
        handler["onFailure"] = "block"
    matcher = {"matcher": host.matcher} if kind == CALL and host.matcher else {}
    return {**matcher, "hooks": [handler]}
