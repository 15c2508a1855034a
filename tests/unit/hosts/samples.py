"""Events as hosts send them, in the shapes that their schemas and pages describe; the words are made up."""

from __future__ import annotations

import json
from typing import Any

TEXT = "send 500,000 won from 1102534471 to 3520198845"
ARGUMENTS = {"from_account": "1102534471", "to_account": "3520198845", "amount": 500_000}

_CLAUDE: dict[str, Any] = {
    "session_id": "6f0a8a1e-0001", "prompt_id": "p-1", "transcript_path": "/home/minji/.claude/t.jsonl",
    "cwd": "/home/minji/books", "permission_mode": "default",
}  # fmt: skip
_CODEX: dict[str, Any] = {
    "session_id": "0199-0002", "turn_id": "turn-1", "transcript_path": None, "cwd": "/home/minji/books",
    "model": "gpt", "permission_mode": "default",
}  # fmt: skip
_GEMINI: dict[str, Any] = {
    "session_id": "g-0003", "transcript_path": "/home/minji/.gemini/t.json", "cwd": "/home/minji/books",
    "timestamp": "2026-11-30T09:00:00Z",
}  # fmt: skip
_CURSOR: dict[str, Any] = {
    "conversation_id": "c-0004", "generation_id": "gen-1", "workspace_roots": ["/home/minji/books"],
    "cursor_version": "2.0.77", "user_email": "minji@example.com",
}  # fmt: skip
_VSCODE: dict[str, Any] = {
    "sessionId": "v-0005", "timestamp": "2026-11-30T09:00:00Z", "cwd": "/home/minji/books", "transcript_path": "/t",
}  # fmt: skip

PROMPTS: dict[str, dict[str, Any]] = {
    "claude-code": {**_CLAUDE, "hook_event_name": "UserPromptSubmit", "prompt": TEXT, "source": "user"},
    "codex": {**_CODEX, "hook_event_name": "UserPromptSubmit", "prompt": TEXT},
    "gemini": {**_GEMINI, "hook_event_name": "BeforeAgent", "prompt": TEXT},
    "cursor": {**_CURSOR, "hook_event_name": "beforeSubmitPrompt", "prompt": TEXT, "attachments": []},
    "vscode": {**_VSCODE, "hookEventName": "UserPromptSubmit", "prompt": TEXT},
}
CALLS: dict[str, dict[str, Any]] = {
    "claude-code": {
        **_CLAUDE, "hook_event_name": "PreToolUse", "tool_name": "mcp__bank__transfer", "tool_input": ARGUMENTS,
        "tool_use_id": "toolu_01", "mcp_server": {"name": "bank", "source": "project"},
    },
    "codex": {
        **_CODEX, "hook_event_name": "PreToolUse", "tool_name": "mcp__bank__transfer", "tool_input": ARGUMENTS,
        "tool_use_id": "call_01",
    },
    "gemini": {
        **_GEMINI, "hook_event_name": "BeforeTool", "tool_name": "mcp_bank_transfer", "tool_input": ARGUMENTS,
        "mcp_context": {"server_name": "bank", "tool_name": "transfer"},
    },
    "cursor": {
        **_CURSOR, "hook_event_name": "beforeMCPExecution", "tool_name": "transfer",
        "tool_input": json.dumps(ARGUMENTS), "command": "python server.py",
    },
    "vscode": {
        **_VSCODE, "hookEventName": "PreToolUse", "tool_name": "mcp_bank_transfer", "tool_input": ARGUMENTS,
        "tool_use_id": "tool-123",
    },
}  # fmt: skip
PROMPT_EVENT = {host: event.get("hook_event_name") or event["hookEventName"] for host, event in PROMPTS.items()}
CALL_EVENT = {host: event.get("hook_event_name") or event["hookEventName"] for host, event in CALLS.items()}


def body(event: dict[str, Any], **changes: Any) -> bytes:
    """Return an event as a host writes it; a change of `...` leaves the key out."""
    changed = {**event, **changes}
    return json.dumps({key: value for key, value in changed.items() if value is not ...}).encode()
