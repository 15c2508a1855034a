"""Of one instruction, an act is started once (R-79).

Theory of operation
-------------------
A request may name the instruction that it comes from. A model that calls a tool again on one instruction seldom repeats
itself exactly: a number gets a decimal point, an optional argument comes or goes, a name is cut short, another
alternative of the schema is taken. So what a run proposes is compared first, without what is never sent and before
anything is looked up: nobody is asked about what was done. Then what it sends is compared, and two runs are one act
unless the user told them apart, with things that stand apart in their words or that they answered. What is deferred
counts like what was started.

All of this is kept with the record, values in digests. The store looks at it again inside the claim, so that of two
runs at one moment, in whichever process, one starts.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final

import msgspec

from preflight.codec import encode
from preflight.core.outcome import repeated
from preflight.core.schema import Plan
from preflight.core.setup import Setup
from preflight.model.decision import Decision
from preflight.model.evidence import Evidence
from preflight.model.instruction import Segment
from preflight.model.json_value import exact
from preflight.model.pointer import starred
from preflight.model.record import Instructed, Sent
from preflight.model.request import Request
from preflight.model.trigger import Trigger, When
from preflight.ports import Storage

Keyed = Callable[[str], str]
"""Turns a digest into the one to store: keyed, where what it is of could be guessed at."""
WHEN: Final = "preflight:when"
"""The slot of when a deferred run is to happen."""
_BRACKETS: Final = re.compile(r"\s?\([^()]{1,80}\)")
_OPENED: Final = re.compile(r"\S+\s?\([^()]{0,80}\Z")
_CLOSED: Final = re.compile(r"[^()]{0,80}\)")
_LENGTH: Final = 32
"""Hex digits of a digest: 128 bits, so that nobody finds two acts with one digest."""


class Once:
    """Finds what the instruction of a run led to before."""

    def __init__(self, storage: Storage, keyed: Callable[[Request, str], str]) -> None:
        """Look starts up in `storage`; `keyed` says how a digest about a request is stored."""
        self._storage = storage
        self._keyed = keyed

    def proposed_before(self, request: Request, setup: Setup) -> str | None:
        """Return the decision as which exactly this proposal was started before, or None."""
        if not _is_instructed(request):
            return None
        proposed = (_proposed(request, setup, keyed) for keyed in self._ways(request))
        return self._before(request, proposed, Instructed.proposes_again)

    def judged(self, request: Request, setup: Setup, decision: Decision) -> tuple[Decision, Instructed | None]:
        """Hold a decision that does again what was done, also one that would ask first.

        Returns what is to be recorded with one that may start, now or later.
        """
        # where nothing was looked up yet, nothing can be compared
        if not _is_instructed(request) or decision.execution_decision == "hold" or decision.fields is None:
            return decision, None
        ways = [
            msgspec.structs.replace(_proposed(request, setup, keyed), sent=sent_by(request, decision, keyed))
            for keyed in self._ways(request)
        ]
        # what is still open may come to something else that the user tells
        still = {_starred(state.name) for state in decision.states if not state.settled}

        def same(now: Instructed, done: Instructed) -> bool:
            return now.repeats(done) and still.isdisjoint(done.sent)

        before = self._before(request, ways, same)
        if before is not None:
            return repeated(decision, before), None
        return decision, None if decision.execution_decision == "ask_user" else ways[0]

    def _ways(self, request: Request) -> Iterator[Keyed]:
        """Yield how digests are stored, and how they were before a slot of the tool was marked as secret."""
        keyed = partial(self._keyed, request)
        yield keyed
        if keyed("") != "":
            yield str

    def _before(
        self, request: Request, ways: Iterable[Instructed], same: Callable[[Instructed, Instructed], bool]
    ) -> str | None:
        for now in ways:
            for start in self._storage.started_on(request.scope.tenant, now.by):
                if start.instructed is not None and same(now, start.instructed):
                    return start.decision_id
        return None


def _is_instructed(request: Request) -> bool:
    """Whether a request names its instruction, and does more than read."""
    return request.instruction_id is not None and request.rules.effect != "read"


def _proposed(request: Request, setup: Setup, keyed: Keyed) -> Instructed:
    """Return which instruction a request is of and what it proposes."""
    claims, plan, tool, trigger = request.claims, setup.plan_for(request.tool), request.tool, request.trigger
    if isinstance(plan, Plan):  # others are never sent
        claims = {name: claim for name, claim in claims.items() if name in plan.declared}
    occurrence = trigger.occurrence if type(trigger) is Trigger else None  # each one of a recurrence is meant
    by = [request.user_id, tool.server, tool.name, request.instruction_id, occurrence]
    return Instructed(_digest(by, keyed), _digest(exact(claims), keyed))


def sent_by(request: Request, decision: Decision, keyed: Keyed) -> dict[str, Sent]:
    """Return what a decided call sends, by slot: the elements of an array are one, whatever their order."""
    found: dict[str, Sent] = {}
    for state in decision.states:
        if state.status == "known":  # to send none of it is to say less
            places = tuple(_places(request.segments or (), state.evidence, keyed))
            told = bool(places) or state.source == "user_answer"
            name, sent = _starred(state.name), Sent(tuple(_values(state.value, keyed)), told, places)
            found[name] = found.get(name, Sent()) | sent
    found |= {each.name: Sent(tuple(_values(each.value, keyed))) for each in decision.allowed_claims}
    if isinstance(decision.trigger, When):
        found[WHEN] = Sent((_digest(exact(decision.trigger.trigger), keyed),), told=True)
    return found


def _values(value: object, keyed: Keyed) -> Iterator[str]:
    """Yield a digest of a value, or of each element of a list."""
    for each in value if isinstance(value, tuple | list) else (value,):
        yield _digest(exact(each), keyed)


def _places(segments: Sequence[Segment], evidence: Evidence | None, keyed: Keyed) -> Iterator[tuple[str, int, int]]:
    if evidence is None:
        return
    for part in evidence.parts:
        yield from _places(segments, part, keyed)
    if not evidence.parts and evidence.segment_index < len(segments):
        text = segments[evidence.segment_index].text
        start, end = _mention(text, evidence.start, evidence.end)
        yield _digest(text, keyed), start, end


def _mention(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span with what stands in brackets behind it, or before which it stands in brackets: `Ann (352-01)`."""
    if inside := _OPENED.search(text, 0, start):
        if _CLOSED.match(text, end):
            start = inside.start()
    elif behind := _BRACKETS.match(text, end):
        end = behind.end()
    return start, end


def _starred(name: str) -> str:
    """Return a slot's name with `*` for the places in arrays; a property of the call itself keeps its name (R-16)."""
    first, slash, rest = name.partition("/")
    return f"{first}{slash}{starred(rest)}"


def _digest(parts: object, keyed: Keyed) -> str:
    return keyed(hashlib.sha256(encode(parts)).hexdigest())[:_LENGTH]
