"""What a hook prints, in each host's own format.

A call that nothing speaks against gets no decision wherever the host allows that: an `allow` would pass over the
host's own permissions, and `ask` asks for consent to a shown call (R-9).
"""

from __future__ import annotations

import json

_DECIDING = "hookSpecificOutput"


def stored(host: str) -> str:
    """Return the answer to a prompt: the session goes on."""
    return '{"continue": true}' if host in ("cursor", "vscode") else "{}" if host == "gemini" else ""


def passed(host: str) -> str:
    """Return the answer to a call that nothing is known against: the host goes on as it would without the hook."""
    if host == "cursor":
        return '{"permission": "allow"}'  # with `failClosed`, Cursor blocks a call whose hook says nothing
    return "{}" if host == "gemini" else ""


def denied(host: str, reason: str) -> str:
    """Return the answer that stops a call, with the reason for the model."""
    if host == "gemini":
        return json.dumps({"decision": "deny", "reason": reason})
    if host == "cursor":
        return json.dumps({"permission": "deny", "user_message": reason, "agent_message": reason})
    decision = {"permissionDecision": "deny", "permissionDecisionReason": reason}
    return json.dumps({_DECIDING: {"hookEventName": "PreToolUse", **decision}})
