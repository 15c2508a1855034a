"""`preflight hook`: takes one event of a host on standard input and answers it.

Exit codes: 0 the event was taken, and the answer, if any, is on standard output; 1 the words of a prompt were not
kept, the session goes on and values are asked for; 2 the call is stopped, since the event or the store could not be
read. Nothing else, whatever comes in (R-10).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import closing
from typing import BinaryIO, TextIO

from preflight.hosts import answers
from preflight.hosts.events import CALL, EVENTS, PROMPT, Given, Unreadable, read, unlabelled
from preflight.hosts.store import Announced, Said, Store, StoreFault
from preflight.hosts.transcript import HOSTS, WAIT_SECONDS, typed

TAKEN, NOT_KEPT, STOPPED = 0, 1, 2
MOST_BYTES = 32_000_000
"""Of one event; a call may write a large file."""
_FRESH_SECONDS = 10.0
USAGE = f"say `preflight hook [EVENT] --host HOST`; hosts are {', '.join(EVENTS)}"


class _Usage(Exception):
    pass


def main(arguments: Sequence[str], given: BinaryIO | None = None, out: TextIO | None = None) -> int:
    """Take one event and return the exit code; never raises."""
    kind = ""
    try:
        told = options(arguments)
        kind = told.kind
        answer = _answer(told, _input(given))
        _print(out or sys.stdout, answer)
    except Unreadable as fault:
        return _failed(fault.kind, str(fault))
    except _Usage as fault:
        return _failed(kind, str(fault))
    except Exception as fault:  # noqa: BLE001  the last net: a traceback would let the call go ahead
        return _failed(kind, f"unforeseen: {type(fault).__name__}: {fault}")
    return TAKEN


def options(arguments: Sequence[str]) -> Given:
    """Read the command line: an event, `--host`, `--trust-unlabelled`."""
    host, event, trusting = "", None, False
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--host" and rest:
            host = rest.pop(0)
        elif word.startswith("--host="):
            host = word.removeprefix("--host=")
        elif word == "--trust-unlabelled":
            trusting = True
        elif word.startswith("-") or event is not None:
            raise _Usage(f"`{word}` is not understood; {USAGE}")
        else:
            event = word
    if host not in EVENTS:
        raise _Usage(f"`{host}` is no host; {USAGE}")
    if event is not None and event not in EVENTS[host]:
        raise _Usage(f"`{event}` is no event that is read from {host}: {', '.join(EVENTS[host])}")
    return Given(host, event, trusting)


def _input(given: BinaryIO | None) -> bytes:
    stream = given or getattr(sys.stdin, "buffer", None)
    if stream is None:
        return b""
    body: bytes = stream.read(MOST_BYTES + 1)
    return body


def _answer(told: Given, body: bytes) -> str:
    if len(body) > MOST_BYTES:
        raise Unreadable(f"the input has more than {MOST_BYTES} bytes", told.kind)
    event = read(told, body)
    try:
        return _taken(told.host, event)
    except (StoreFault, OSError) as fault:
        raise Unreadable(str(fault), PROMPT if isinstance(event, Said) else CALL) from fault


def _taken(host: str, event: Said | Announced) -> str:
    with closing(Store()) as store:
        if isinstance(event, Said):
            store.say(event)
            return answers.stored(host)
        if event.session.host in HOSTS and event.transcript:
            _look_up(store, event)
        reason = store.announce(event)
    return answers.passed(host) if reason is None else answers.denied(host, reason)


def _look_up(store: Store, call: Announced) -> None:
    """Count the session's prompts as the user's that came without a label, as its transcript has them (R-13)."""
    host = call.session.host
    prompts = [said for said in store.said_in(call.session) if said.origin == unlabelled(host)]
    if prompts:
        fresh = time.time() - prompts[-1].at < _FRESH_SECONDS
        store.tell_apart(typed(host, call.transcript, prompts, WAIT_SECONDS if fresh else 0.0))


def _print(out: TextIO, answer: str) -> None:
    if answer:
        out.write(answer + "\n")
        out.flush()


def _failed(kind: str, what: str) -> int:
    if kind == PROMPT:
        _complain(f"preflight: what was said is not kept, so its values will be asked for: {what}")
        return NOT_KEPT
    _complain(f"preflight: the call is stopped: {what}")
    return STOPPED


def _complain(text: str) -> None:
    try:
        sys.stderr.write(text[:2_000].encode("ascii", "backslashreplace").decode().replace("\n", " ") + "\n")
        sys.stderr.flush()
    except Exception:  # noqa: BLE001, S110  nobody listens; the exit code still says it
        pass
