"""One event of a host's hook, read from JSON: a prompt of the session, or a call that is about to be made."""

from __future__ import annotations

import json
from typing import NamedTuple

from preflight.hosts.store import Announced, Said, Session, digest_of

PROMPT, CALL = "prompt", "call"
EVENTS = {
    "claude-code": {"UserPromptSubmit": PROMPT, "PreToolUse": CALL},
    "codex": {"UserPromptSubmit": PROMPT, "PreToolUse": CALL},
    "gemini": {"BeforeAgent": PROMPT, "BeforeTool": CALL},
    "cursor": {"beforeSubmitPrompt": PROMPT, "beforeMCPExecution": CALL, "preToolUse": CALL},
    "vscode": {"UserPromptSubmit": PROMPT, "PreToolUse": CALL},
}
"""The events that are read, by host."""
LABELLING = frozenset({"claude-code", "gemini"})
"""Hosts whose prompt may be somebody else's, or hold what somebody else wrote: without a label it counts as nobody's.

Claude Code says under `source` who a prompt is from, or leaves it to its transcript; Gemini CLI puts files and commands
into it, and only its transcript says what was typed (`preflight.hosts.transcript`)."""
TYPED = frozenset({"user", "sdk"})
"""The labels of what a person said, in the host's window or through a program of theirs."""
LONGEST_ID = 500


def unlabelled(host: str) -> str:
    """Return the origin of a prompt of which a host that labels did not say who it is from."""
    return f"{host}:unlabelled"


_SESSION = ("session_id", "sessionId", "conversation_id")
_PROMPT_ID = ("prompt_id", "turn_id", "generation_id")
_TOOL_USE = ("tool_use_id", "toolUseId", "tool_call_id")
_NAME = ("hook_event_name", "hookEventName")


class Unreadable(Exception):
    """What came is no event of this host. `kind` is what it would have been; a call where nobody can tell."""

    def __init__(self, what: str, kind: str) -> None:
        """Say what is wrong with it."""
        self.kind = kind
        super().__init__(what)


class Given(NamedTuple):
    """What the hook's command line says about the event to come."""

    host: str
    event: str | None = None
    trust_unlabelled: bool = False

    @property
    def kind(self) -> str:
        """What the event is by its name on the command line; without one it may be a call (R-10)."""
        return EVENTS[self.host].get(self.event or "", CALL)


def read(given: Given, body: bytes) -> Said | Announced:
    """Return the event in a hook's input; raises Unreadable."""
    try:
        event = json.loads(body.decode(), parse_constant=_no_number)
    except (ValueError, RecursionError) as fault:
        raise Unreadable(f"the input is no JSON text: {fault}", given.kind) from None
    if not isinstance(event, dict):
        raise Unreadable("the input is no JSON object", given.kind)
    kind = _kind(given, event)
    try:
        return _said(given, event) if kind == PROMPT else _announced(given, event)
    except _Missing as fault:
        raise Unreadable(str(fault), kind) from None


class _Missing(Exception):
    pass


def _kind(given: Given, event: dict[str, object]) -> str:
    named = next((event[key] for key in _NAME if key in event), None)
    if given.event is not None and named not in (None, given.event):
        raise Unreadable(f"the input is of event `{named}`, the hook is for `{given.event}`", given.kind)
    name = given.event if named is None else named
    known = EVENTS[given.host]
    if not isinstance(name, str) or name not in known:
        raise Unreadable(f"`{name}` is no event that is read from {given.host}: {', '.join(known)}", given.kind)
    return known[name]


def _said(given: Given, event: dict[str, object]) -> Said:
    text = event.get("prompt")
    if not isinstance(text, str):
        raise _Missing("`prompt` is missing or no text")
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise _Missing("`prompt` has a lone surrogate")
    trust, origin = _trust(given, event)
    return Said(_session(given, event), text, trust, origin, _id(event, _PROMPT_ID), _folder(event))


def _trust(given: Given, event: dict[str, object]) -> tuple[str, str]:
    """Return the label of a prompt and where it came from (R-13): only what a person said counts as the user's."""
    if event.get("agent_id") not in (None, ""):
        return "untrusted", f"{given.host}:agent"  # one agent's words to another
    source = event.get("source")
    if source is None:
        counts = given.trust_unlabelled or given.host not in LABELLING
        return ("user", given.host) if counts else ("untrusted", unlabelled(given.host))
    known = isinstance(source, str) and source in TYPED
    return ("user", given.host) if known else ("untrusted", f"{given.host}:{str(source)[:50]!a}")


def _announced(given: Given, event: dict[str, object]) -> Announced:
    tool = event.get("tool_name")
    if not isinstance(tool, str) or not tool or len(tool) > LONGEST_ID:
        raise _Missing("`tool_name` is missing or no name")
    arguments = event.get("tool_input")
    if isinstance(arguments, str):  # Cursor sends the arguments as JSON in a string
        try:
            arguments = json.loads(arguments, parse_constant=_no_number)
        except (ValueError, RecursionError):
            raise _Missing("`tool_input` is a text that is no JSON") from None
    digest = digest_of({} if arguments is None else arguments)
    ids = _id(event, _TOOL_USE), _id(event, _PROMPT_ID)
    return Announced(_session(given, event), tool, digest, *ids, _folder(event), _transcript(event))


def _session(given: Given, event: dict[str, object]) -> Session:
    name = _id(event, _SESSION)
    if not name:
        raise _Missing(f"none of {', '.join(f'`{key}`' for key in _SESSION)} names the session")
    return Session(given.host, name)


def _id(event: dict[str, object], names: tuple[str, ...]) -> str:
    value = next((event[name] for name in names if event.get(name) is not None), "")
    if not isinstance(value, str) or len(value) > LONGEST_ID or not value.isprintable():
        raise _Missing(f"`{names[0]}` is no id")
    return value


def _folder(event: dict[str, object]) -> str:
    roots = event.get("workspace_roots")
    folder = event.get("cwd") or (roots[0] if isinstance(roots, list) and roots else "")
    return folder if isinstance(folder, str) and folder.isprintable() else ""


def _transcript(event: dict[str, object]) -> str:
    path = event.get("transcript_path")
    return path if isinstance(path, str) else ""


def _no_number(name: str) -> object:
    message = f"`{name}` is no JSON number"
    raise ValueError(message)
