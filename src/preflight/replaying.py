"""Replays: stored decisions are made again, under the same rules or others, and what changes is shown (R-59).

A replay uses what the record kept: the request as it came, the clock, and what was measured then, with the answers
that were given before. What users mean by their words is taken as it is now. Nothing is asked, measured, recorded
or called.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import msgspec
from msgspec import UNSET, UnsetType

from preflight.api import create_preflight
from preflight.clock import seconds_of
from preflight.errors import PreflightError
from preflight.grounding import Context, support
from preflight.grounding.locate import located_from
from preflight.hooks.shipped import ShippedHooks
from preflight.model.decision import Decision
from preflight.model.evidence import Located
from preflight.model.instruction import USER, Segment
from preflight.model.json_value import freeze, thaw
from preflight.model.question import Answer, Question
from preflight.model.record import Record
from preflight.model.request import Scope
from preflight.model.sealed import MASK
from preflight.model.slot import FieldState
from preflight.ports import Storage
from preflight.rulebook import RulesGiven, rules_source


class Change(msgspec.Struct, frozen=True):
    """One thing that comes out otherwise: where, what it was, what it is now."""

    what: str
    before: str
    after: str


class Replay(msgspec.Struct, frozen=True):
    """What came of one replay.

    `whole` says that the request was stored and the decision was made again; without it only the evidence was
    read again. `changes` is empty when the same comes out.
    """

    record_id: str
    whole: bool
    changes: tuple[Change, ...]


def replay(record: Record, storage: Storage, rules: RulesGiven) -> Replay:
    """Make a stored decision again under `rules`; `storage` is only read, for what users confirmed."""
    given = record.request
    if given is UNSET or not isinstance(given, Mapping):
        return Replay(record.record_id, whole=False, changes=tuple(_evidence_changes(record)))
    moment = record.timestamp
    clock = _Then(seconds_of(moment))
    hooks = ShippedHooks(storage=storage, rules=rules_source(rules), clock=clock)
    then = cast("Storage", _AsOf(storage, record))
    gate = create_preflight(storage=then, hooks=hooks, rules=rules, clock=clock)
    request = {"now": moment, **given, "measured_data": {**measured_then(record), **_object(given, "measured_data")}}
    try:
        decision = gate.run_preflight(request)
    except PreflightError as fault:
        return Replay(record.record_id, whole=True, changes=(Change("request", "readable", str(fault)),))
    return Replay(record.record_id, whole=True, changes=tuple(differences(record, decision)))


class _Then:
    """The clock of the record."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def now(self) -> float:
        return self._seconds


class _AsOf:
    """A store as one decision saw it: without what was asked, answered and started afterwards."""

    def __init__(self, storage: Storage, record: Record) -> None:
        self._storage = storage
        self._record = record

    def __getattr__(self, name: str) -> object:
        return getattr(self._storage, name)

    def asked(self, scope: Scope, call_id: str) -> list[Question]:
        """Return what earlier decisions asked; the ids, which grow, tell apart what has the same time."""
        mine = (self._record.timestamp, self._record.decision_id)
        return [q for q in self._storage.asked(scope, call_id) if (q.created_at, q.decision_id) < mine]

    def answers_for_call(self, scope: Scope, call_id: str) -> list[Answer]:
        """Return the answers to these questions that had come by then."""
        earlier = {question.question_id for question in self.asked(scope, call_id)}
        given = self._storage.answers_for_call(scope, call_id)
        return [a for a in given if a.question_id in earlier and a.answered_at <= self._record.timestamp]

    def started_on(self, tenant: str, instruction: str) -> list[Record]:
        """Return the starts on an instruction that had come by then."""
        starts = self._storage.started_on(tenant, instruction)
        return [start for start in starts if start.record_id < self._record.record_id]


def _object(given: Mapping[str, object], key: str) -> dict[str, object]:
    value = given.get(key)
    return dict(value) if isinstance(value, Mapping) else {}


def measured_then(record: Record) -> dict[str, object]:
    """Return what was measured for a decision, as `measured_data`: for its slots and for its conditions."""
    states = record.states
    found: dict[str, object] = {
        s.name: {"valid": True, "value": s.value, "by": s.origin or ""} for s in states if s.source == "measured_data"
    }
    for condition in record.conditions:
        found |= condition.measured
    return found


def differences(record: Record, decision: Decision) -> list[Change]:
    """Return what a decision has otherwise than a record: the verdict, the gate, each slot and condition."""
    pairs = [
        ("decision", record.execution_decision, decision.execution_decision),
        ("gate", record.gate.kind if record.gate else "", decision.gate.kind if decision.gate else ""),
        ("arguments", _text(record.call_arguments), _text(decision.call_arguments)),
    ]
    before, after = _states(record), _states(decision)
    pairs += [(name, before.get(name, "absent"), after.get(name, "absent")) for name in {**before, **after}]
    return [Change(what, was, now) for what, was, now in pairs if was != now]


def _states(decision: Decision) -> dict[str, str]:
    """Return what is compared of each slot, checklist item and condition."""
    slots = decision.states
    states = {f"slot `{s.name}`": f"{s.status} from {s.source}" if s.settled else "unknown" for s in slots}
    states |= {f"item `{item.id}`": item.status for item in decision.user_checklist or ()}
    return states | {f"condition `{c.id}`": c.status for c in decision.conditions}


def _text(value: object) -> str:
    return "none" if value is None else msgspec.json.encode(thaw(freeze(value, "arguments")), order="sorted").decode()


def _evidence_changes(record: Record) -> list[Change]:
    """Read each stored piece of evidence again: does the matched text still say the value? (R-59).

    What is secret is not opened for it, and so not read again (R-78).
    """
    states = [state for state in record.states if state.value != MASK]
    return [
        Change(f"slot `{state.name}`", "supported", "not supported by the stored words")
        for state in states
        if state.source == "instruction" and state.evidence is not None and not _replays(state, record)
    ]


def _replays(state: FieldState, record: Record) -> bool:
    """Whether the evidence of one slot reads as its value again, from the words alone."""
    assert state.evidence is not None  # noqa: S101  checked by the caller
    segments = record.instruction
    if segments is not UNSET and segments:
        place = located_from(state.evidence, freeze(state.value, state.name))
        return support(segments, place, {}, _context(state, record), name=state.name) is not None
    words = state.evidence.matched_text  # the sentence was not stored: its cut-out must say it by itself
    place = Located(state.value, 0, 0, len(words))
    cut = Segment(words, USER, said_at=_said_at(state.evidence.segment_index, record))
    return bool(state.evidence.parts) or support([cut], place, {}, _context(state, record), name=state.name) is not None


def _context(state: FieldState, record: Record) -> Context:
    if (by := record.read_by) is not None:
        return Context(by.now, by.zone, by.locale)
    said_at = record.trigger.get("said_at") if isinstance(record.trigger, Mapping) else None
    return Context(now=said_at or state.resolved_at or None)


def _said_at(index: int, record: Record) -> str | UnsetType:
    clocks = record.read_by.said_at if record.read_by is not None else ()
    return clocks[index] or UNSET if index < len(clocks) else UNSET
