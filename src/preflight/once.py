"""Of one instruction, an act is started once (R-79).

Theory of operation
-------------------
A request may name the instruction that it comes from. A model that calls a tool again on one instruction seldom repeats
itself exactly: a number gets a decimal point, an optional argument comes or goes, a key is added that the tool does not
have. So two runs are compared twice. What is *proposed* is compared without what is never sent, before anything is
looked up, so that nobody is asked about what was done. What is *sent* is compared value by value, each by where it
stands in the user's words: another spelling of the same words is the same, and so is a call that only says less.

All of this is kept in digests, with the record. The store looks at them again inside the claim, so that of two runs at
one moment, in whichever process, one starts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

import msgspec

from preflight.codec import encode
from preflight.core.outcome import repeated
from preflight.core.schema import Plan
from preflight.core.setup import Setup
from preflight.model.decision import Decision
from preflight.model.evidence import Evidence
from preflight.model.json_value import exact
from preflight.model.record import Instructed
from preflight.model.request import Request
from preflight.model.slot import FieldState
from preflight.model.trigger import Trigger
from preflight.ports import Storage

Keyed = Callable[[str], str]
"""Turns a digest into the one to store: keyed, where what it is of could be guessed at."""
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
        instructed = self._proposed(request, setup)
        return None if instructed is None else self._before(request, instructed.by, instructed.repeats)

    def judged(self, request: Request, setup: Setup, decision: Decision) -> tuple[Decision, Instructed | None]:
        """Hold a decision that does again what was done, also one that would ask first.

        Returns what is to be recorded with one that may start.
        """
        may_start = decision.execution_decision in ("execute", "ask_user")
        proposed = self._proposed(request, setup) if may_start else None
        if proposed is None:
            return decision, None
        instructed = msgspec.structs.replace(proposed, sent=_sent(decision, partial(self._keyed, request)))
        # while something is open, it may still be more than what was done: it cannot be less
        same = instructed.includes if decision.unknown_count else instructed.repeats
        before = self._before(request, instructed.by, same)
        if before is not None:
            return repeated(decision, before), None
        return decision, instructed if decision.executable else None

    def _proposed(self, request: Request, setup: Setup) -> Instructed | None:
        """Return which instruction a request is of and what it proposes; None where it names none, or only reads."""
        if request.instruction_id is None or request.rules.effect == "read":
            return None
        claims, plan, tool, trigger = request.claims, setup.plan_for(request.tool), request.tool, request.trigger
        if isinstance(plan, Plan):  # others are never sent
            claims = {name: claim for name, claim in claims.items() if name in plan.declared}
        occurrence = trigger.occurrence if type(trigger) is Trigger else None  # each one of a recurrence is meant
        by = [request.user_id, tool.server, tool.name, request.instruction_id, occurrence]
        keyed = partial(self._keyed, request)
        return Instructed(_digest(by, keyed), _digest(["proposed", *by, exact(claims)], keyed))

    def _before(self, request: Request, by: str, same: Callable[[Instructed], bool]) -> str | None:
        starts = self._storage.started_on(request.scope.tenant, by)
        return next((start.decision_id for start in starts if start.instructed and same(start.instructed)), None)


def _sent(decision: Decision, keyed: Keyed) -> dict[str, str]:
    known = (state for state in decision.states if state.status == "known")  # to send none of it is to say less
    sent = {state.name: _digest([state.name, *_reading(state)], keyed) for state in known}
    return sent | {
        each.name: _digest([each.name, "value", exact(each.value)], keyed) for each in decision.allowed_claims
    }


def _reading(state: FieldState) -> Iterator[object]:
    if state.source == "instruction" and state.evidence is not None:
        yield from _words(state.evidence)
    else:
        yield from ("value", exact(state.value))


def _words(evidence: Evidence) -> Iterator[object]:
    """Yield the user's own words for a value, whatever its spelling; of what is computed from them, the result too."""
    if not evidence.parts:
        derived = None if evidence.grade == "stated" else [evidence.normaliser, evidence.canonical]
        yield [evidence.pointer, evidence.matched_text.casefold(), derived]
    for part in evidence.parts:
        yield from _words(part)


def _digest(parts: object, keyed: Keyed) -> str:
    return keyed(hashlib.sha256(encode(parts)).hexdigest())[:_LENGTH]
