"""The user's words, as a gate reads them: the `Words` of `preflight.ports` over what the hooks of hosts stored."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable, Iterator, Mapping

from preflight.clock import iso
from preflight.hosts.continuing import goes_on
from preflight.hosts.kept_open import KeptOpen
from preflight.hosts.store import (
    CALLS_SECONDS,
    WORDS_SECONDS,
    Announced,
    Said,
    Session,
    Store,
    StoreFault,
    digest_of,
    plain_name,
    same_tool,
)
from preflight.model.instruction import USER, Segment

_log = logging.getLogger("preflight.hosts")

TOOL = "preflight/tool"
"""The key of a join for the tool's name, as the client was shown it."""
ARGUMENTS = "preflight/arguments"
"""The key of a join for the call's arguments, as JSON text."""
FOLDER = "cwd"
"""The key of a join for the folder that the client works in."""
USES = ("claudecode/toolUseId", "callId", "tool_use_id", "toolUseId", "toolCallId")
"""The keys under which clients name a use of a tool: Claude Code, Codex, and names that others may take."""
SESSIONS = ("CLAUDE_CODE_SESSION_ID", "session_id", "sessionId", "threadId", "conversation_id")
PROMPTS = ("prompt_id", "turn_id", "generation_id")
ANNOUNCED_SECONDS = 600.0
"""How long after a host announced a call the same call may be joined to it; its user may be asked in between."""
FOLDER_SECONDS = 12 * 3600.0
"""How long a session counts as the one of its folder."""


def join_of(
    meta: Mapping[str, object], environment: Mapping[str, str], tool: str, arguments: object, folder: str
) -> dict[str, str]:
    """Return what a call says about where it comes from: ids in `_meta` and the environment, and the call itself."""
    known = (*USES, *SESSIONS, *PROMPTS)
    found = {name: environment[name] for name in known if environment.get(name)}
    found |= {name: value for name in known if isinstance(value := meta.get(name), str) and value}
    return {**found, TOOL: tool, ARGUMENTS: json.dumps(arguments), FOLDER: folder}


class StoredWords:
    """Finds the words of the session that a call belongs to, in the file that lies there at each call.

    What a call claims only chooses among stored words. Ids come first: a tool-use id, a session's id, a prompt's;
    where two of them lead to different sessions, to none. Without an id that is known, a call that exactly one
    session announced a moment ago is of that session. Without any id, a folder in which exactly one session spoke
    of late is of that session. Anything else has no words, and its values are asked for.
    """

    def __init__(self, path: str | None = None) -> None:
        """Read the file at `path`, or the user's own."""
        self._file = KeptOpen(path)

    def segments(self, join: Mapping[str, str]) -> tuple[Segment, ...]:
        """Return the prompts of the call's session, oldest first (R-13).

        Each is a request of its own, but for one that only says to go on: it belongs to the request before.
        """
        return self.heard(join)[1]

    def heard(self, join: Mapping[str, str]) -> tuple[str | None, tuple[Segment, ...]]:
        """Return the id of the call's session, and its prompts as segments."""
        try:
            with self._file.opened() as store:
                session = session_of(store, join)
                said = [] if session is None else store.said_in(session)
        except FileNotFoundError:
            return None, ()
        except (StoreFault, OSError) as fault:
            return _lost(fault)
        return None if session is None else session.id, tuple(_segments(said))

    def deny(
        self, join: Mapping[str, str], tool: str, arguments: object, reason: str, *, seconds: float = 3600.0
    ) -> bool:
        """Have the session's host stop this call before it is made, until its user speaks again.

        For calls that are held whatever the user answers; a call that waits for an answer must not be denied.
        `arguments` None: the tool with any arguments, where the host's name for it says of which server it is. False
        when no session announced the call, or the file cannot be used.
        """
        try:
            with self._file.opened() as store:
                call = _announced(store, join, tool)
                if call is None:
                    return False
                whole = arguments is None and call.tool != plain_name(tool)
                store.deny(call.session, call.tool, None if whole else call.digest, reason, seconds)
        except (StoreFault, OSError) as fault:
            _log.info("no call is denied early: %s", fault)
            return False
        return True


def _announced(store: Store, join: Mapping[str, str], tool: str) -> Announced | None:
    """Return how the host announced a call, in the session that it belongs to."""
    session, digest = session_of(store, join), _digest(join)
    calls = [call for name in USES if join.get(name) for call in store.announced(use=join[name])]
    calls = calls or ([] if digest is None else store.announced(digest=digest, since=ANNOUNCED_SECONDS))
    return next((call for call in calls if call.session == session and same_tool(call.tool, tool)), None)


def _segments(said: Iterable[Said]) -> Iterator[Segment]:
    asked: int | None = None  # the request that is gone on with: somebody else's words do not come in between
    for each in said:
        number = request_number(each)
        if each.trust == USER:
            number = asked = asked if asked is not None and goes_on(each.text) else number
        yield Segment(each.text, each.trust, each.origin or None, number, iso(each.at))


def request_number(said: Said) -> int:
    """Return the number of a prompt's request: it grows within a session, and no other session has it.

    The upper 30 bits name the session, so that files of several machines do not number alike; all fit in a double.
    """
    name = hashlib.blake2b(json.dumps(said.session.id).encode(), digest_size=4).digest()
    return (int.from_bytes(name) >> 2 << 22) + said.number


def session_of(store: Store, join: Mapping[str, str]) -> Session | None:
    """Return the session that a call belongs to, or None where the claims lead to none or to several."""
    named = _by_ids(store, join)
    if named:
        return named.pop() if len(named) == 1 else None
    announced = _by_call(store, join)
    if announced:
        return announced.pop() if len(announced) == 1 else None
    if any(join.get(name) for name in (*USES, *SESSIONS, *PROMPTS)) or not join.get(FOLDER):
        return None
    here = store.sessions(folder=join[FOLDER], since=FOLDER_SECONDS)
    return here[0] if len(here) == 1 else None


def _by_ids(store: Store, join: Mapping[str, str]) -> set[Session]:
    found: set[Session] = set()
    for name in USES:
        if use := join.get(name):
            found |= {call.session for call in store.announced(use=use, since=CALLS_SECONDS)}
    for names, column in ((SESSIONS, "session"), (PROMPTS, "prompt")):
        for name in names:
            if value := join.get(name):
                # one session may be told of by the hooks of two hosts: the one that is believed more comes first
                found |= set(store.sessions(since=WORDS_SECONDS, **{column: value})[:1])
    return found


def _by_call(store: Store, join: Mapping[str, str]) -> set[Session]:
    tool, digest = join.get(TOOL), _digest(join)
    if not tool or digest is None:
        return set()
    calls = store.announced(digest=digest, since=ANNOUNCED_SECONDS)
    return {call.session for call in calls if same_tool(call.tool, tool)}


def _digest(join: Mapping[str, str]) -> str | None:
    """Return the digest of a call's arguments, None where they are not known."""
    try:
        return digest_of(json.loads(join[ARGUMENTS]))
    except (KeyError, ValueError, RecursionError):
        return None


def _lost(fault: Exception) -> tuple[None, tuple[Segment, ...]]:
    _log.error("the user's words cannot be read, so that values will be asked for: %s", fault)
    return None, ()
