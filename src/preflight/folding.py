"""Runs that nobody attends and that ask the same share one question, so that a person is asked once (R-96).

Theory of operation
-------------------
An answer says something that was missing, or approves something that was shown. What was missing is the same for two
runs when the user said the same, the model proposed the same, and the same is settled and open: then one answer serves
both, and each run goes its whole path again with it. An approval serves several runs only where what they do can be
undone. Of what cannot, each run is approved for itself; only the same call, made again, finds its own question.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Final

from preflight.clock import iso, seconds_of
from preflight.codec import encode
from preflight.core.when import FORMS
from preflight.model.decision import Decision
from preflight.model.json_value import is_object
from preflight.model.question import AskedSlot, Question
from preflight.model.request import Request
from preflight.model.rules import ToolRules
from preflight.model.trigger import Trigger
from preflight.ports import Folding, Scheduling, Storage
from preflight.scheduling import call_of

LEAST_SECONDS: Final = 86_400.0
"""How long a question must still be open for a run to be attached to it: who looks once a day sees it."""


def asked_once(storage: Storage, question: Question, folds: Sequence[str], now: float) -> Question:
    """Store a question, or attach its run to an open one that is the same; return the one that stands."""
    if not folds or not isinstance(storage, Folding):
        storage.ask(question)
        return question
    left = seconds_of(question.expires_at) - now
    return storage.ask_once(question, folds, iso(now + min(LEAST_SECONDS, left / 2)))


def folds_of(request: Request, decision: Decision, question: Question) -> tuple[str, ...]:
    """Return the digests by which a question is found to be the same as another; none where it is shared with nobody.

    The first is that of the same call, made again; the second, where there is one, of other runs.
    """
    fired = type(request.trigger) is Trigger
    if not fired and not request.unattended:
        return ()  # whoever attends a run is asked about it there
    tool = request.tool
    items = [(item.id, item.description, item.note) for item in question.items]  # the id has the value that is shown
    asked = [question.scope, question.user_id, tool.server, tool.name, question.kind, question.slots, items]
    call = [] if question.call_id is None else [_digest(["call", question.call_id, asked])]
    if not _may_share(request, question, fired=fired):
        return tuple(call)
    beside, said = list(_beside(request, decision)), list(_said(request, question))
    return (*call, _digest(["runs", question.call_id is None, asked, beside, said]))


def _may_share(request: Request, question: Question, *, fired: bool) -> bool:
    """Whether one answer may serve several runs (decision 0125)."""
    if question.kind == "restatement":
        return False  # said again, each run may come to something else
    reversible = request.rules.effect == "reversible"
    approves = bool(question.items) or any(slot.confirm is not None for slot in question.slots)
    if approves and not reversible:
        return False  # what cannot be undone is approved in its own run
    # of calls, only the user can say that each is wanted; a run that fires was wanted when it was deferred
    return fired or reversible or question.call_id is None


def _beside(request: Request, decision: Decision) -> Iterator[object]:
    """Yield what is settled beside what is asked: another value there makes it another question."""
    yield [request.tool.fingerprint, decision.action_key, decision.gate.kind if decision.gate else None]
    yield [(state.name, state.status, state.value) for state in decision.states if state.settled]
    yield [(condition.id, condition.status) for condition in decision.conditions]
    yield [(item.id, item.status) for item in decision.user_checklist or ()]


def _said(request: Request, question: Question) -> Iterator[object]:
    """Yield what gives the open slots their meaning: what the user said, what the model proposed, what was set."""
    yield [(s.text, s.trust) for s in request.segments or ()]
    yield request.claims
    yield [request.pre_set_data, request.fixed_pre_set, request.user_answers]
    if any(_is_a_time(slot, request.rules) for slot in question.slots):
        # "Friday" of another week, or elsewhere, is another day
        yield [request.said_at, request.utterance.zone, request.utterance.locale]
        yield [segment.said_at or None for segment in request.segments or ()]


def _is_a_time(slot: AskedSlot, rules: ToolRules) -> bool:
    schema = slot.schema
    if is_object(schema) and schema.get("description") == FORMS:  # when it is to run: the one slot that no tool wrote
        return True
    form = schema.get("format") if is_object(schema) else None
    return rules.field(slot.name).role == "time" or form in ("date", "time", "date-time", "duration")


def _digest(parts: object) -> str:
    return hashlib.sha256(encode(parts)).hexdigest()


def runs_for(storage: Storage, question: Question) -> int:
    """Return how many runs wait for the answer to a question; those that were cancelled do not."""
    attached = storage.attached(question.question_id) if isinstance(storage, Folding) else []
    if not attached:
        return 1
    rows = storage.deferrals(question.scope, ("cancelled",)) if isinstance(storage, Scheduling) else []
    gone = {call_of(row) for row in rows}
    return len([run for run in attached if run.call_id not in gone])
