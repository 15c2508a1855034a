"""What a deferred run leaves behind: its record with the request as given, and a row that says when it is due."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from preflight.hooks.protocol import Hook, inline
from preflight.model.checklist import WhenCase
from preflight.model.decision import Decision
from preflight.model.deferral import Deferral, occurrence_id
from preflight.model.evidence import NotGrounded
from preflight.model.record import Record
from preflight.model.request import Request, Utterance
from preflight.model.trigger import When
from preflight.ports import Scheduling, Signer, Storage, Stored
from preflight.repeats import as_given
from preflight.rulebook import RuleSource

_FETCHED_ANEW = ("measured_data", "checklist_answers", "prior_execution_state", "trigger")
"""What a deferred run never keeps: it is measured, confirmed and looked up when it fires (R-80)."""

_OF_TRIGGERS = ("extract_trigger", "extract_unused_time")

Table = dict[str, Hook]


def schedulable(table: Table, served: Table, storage: Storage, rules: RuleSource) -> tuple[Table, Table]:
    """Return hooks and services with what reads triggers; without a store for it, the caller schedules (R-81)."""
    if "extract_trigger" not in table:
        return table, served
    if not isinstance(storage, Scheduling):
        return {name: hook for name, hook in table.items() if name not in _OF_TRIGGERS}, served
    return table, {**served, "read_trigger": _reader(rules)}


def _reader(rules: RuleSource) -> Hook:
    @inline
    def read_trigger(given: object, utterance: Utterance, case: WhenCase | None) -> dict[str, object] | NotGrounded:
        # what computes recurrences is loaded when a run is to wait, and not before
        from preflight.deferral.reading import TriggerReader  # noqa: PLC0415

        return TriggerReader(rules).read_trigger(given, utterance, case)

    return read_trigger


def kept_request(given: Request, request: Request, decision: Decision, *, always: bool) -> object:
    """Return the request to be stored with a record, with the clock by which it was read (R-59), or UNSET.

    A run that waits for its trigger is made again from it: kept are the words, the claims, the answers, and the clock
    by which they are read. Settings and checklist are those of the caller: what the rules add is fetched again.
    """
    if decision.trigger is None:
        return as_given(request) if always else msgspec.UNSET
    theirs = msgspec.structs.replace(request, user_checklist=given.user_checklist, pre_set_data=given.pre_set_data)
    return {name: value for name, value in as_given(theirs).items() if name not in _FETCHED_ANEW}


def clock_of(record: Record) -> str:
    """Return the clock by which the words of a deferred run are read."""
    now = record.request.get("now") if isinstance(record.request, Mapping) else None
    return now if type(now) is str else record.timestamp


def keep(storage: Storage, record: Record, signer: Signer) -> Stored:
    """Append a record; of a deferred run with a trigger, its row goes into the same transaction."""
    row = waiting(record) if record.execution_decision == "deferred" and record.trigger is not None else None
    if row is None or not isinstance(storage, Scheduling):
        return storage.append(record, signer=signer)
    return storage.defer(record, row, signer=signer)


def when_of(record: Record) -> When:
    """Return when a deferred run is to fire, as its record keeps it."""
    return msgspec.convert(record.trigger, When)


def call_of(row: Deferral) -> str:
    """Return the id of the call that an occurrence makes."""
    return f"{row.decision_id}:{row.occurrence}"


def waiting(record: Record) -> Deferral:
    """Return the row of a run that waits for its first occurrence."""
    when = when_of(record)
    trigger = when.trigger
    name, deadline = trigger.get("name"), trigger.get("deadline")
    polled = trigger.get("kind") == "condition"
    return Deferral(
        deferral_id=record.decision_id,
        decision_id=record.decision_id,
        scope=record.scope,
        user_id=record.user_id,
        action_key=record.key,
        call_id=record.call_id,
        state="waiting",
        said=when.said,
        due=record.timestamp if polled else when.first or str(deadline),
        slot=when.first,
        occurrence=None if when.first is None else occurrence_id(record.key, when.first),
        event=str(name) if trigger.get("kind") == "event" else None,
    )


def deferred_request(record: Record) -> dict[str, object]:
    """Return the request that a deferred record keeps, without the clock it was made at; its secrets must be open."""
    request = record.request
    assert isinstance(request, Mapping)  # noqa: S101  whatever waits for a trigger keeps its request
    return {name: value for name, value in request.items() if name != "now"}
