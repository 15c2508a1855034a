"""The decision at the value gate: what is open, in which order it decides (R-29, R-30)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from preflight.core.schema import Walked
from preflight.model.checklist import ItemState, Phase
from preflight.model.condition import ConditionState
from preflight.model.decision import (
    BranchQuestion,
    ExecutionDecision,
    Gate,
    GateKind,
    UnknownCondition,
    UnknownField,
    UnmetCondition,
    UnverifiedItem,
)
from preflight.model.slot import FieldState, Route


class Findings(msgspec.Struct, frozen=True, gc=False):
    """Everything the value gate decides from; `unknown` are the slots of `walked` that are not confirmed."""

    walked: Walked
    unknown: list[FieldState]
    items: tuple[ItemState, ...] | None
    conditions: tuple[ConditionState, ...] = ()
    payload_errors: tuple[str, ...] = ()


def unknown_states(walked: Walked) -> list[FieldState]:
    """Return the slots that are not confirmed, required ones first."""
    states = (*walked.fields, *walked.extra_fields) if walked.extra_fields else walked.fields
    return [state for state in states if state.status == "unknown"]


def blocking(unknown: list[FieldState], phase: Phase | None) -> list[FieldState]:
    """Return what may not stay open: before the trigger, a pending slot may (R-29, R-82)."""
    if phase == "at_instruction":
        return [state for state in unknown if not state.pending_at_trigger]
    return unknown


def judge(
    found: Findings, phase: Phase | None, asked: Mapping[str, int], asked_items: Mapping[str, int], limit: int
) -> tuple[ExecutionDecision, Gate]:
    """Decide at the value gate, in the order of R-30.

    `asked` counts how often each slot was asked for, `asked_items` each item and condition (R-94).
    """
    if _all_clear(found, phase):
        return "execute", ALL_CLEAR
    unknown = tuple([UnknownField(s.name, s.note, s.route) for s in blocking(found.unknown, phase)])
    unverified = tuple([UnverifiedItem(i.id, i.note, i.route) for i in found.items or () if i.status != "verified"])
    branches = tuple([BranchQuestion(b.at, b.kind, b.options) for b in found.walked.branches])
    unmet = unmet_conditions(found.conditions)
    conditions = tuple(
        [UnknownCondition(c.id, c.note, c.route, c.missing, c.slot) for c in found.conditions if c.status == "unknown"]
    )
    routes = [field.route for field in unknown]
    routes += [item.route for item in unverified]
    routes += [condition.route for condition in conditions]
    decision, kind = _decide(unmet, routes, branches, found.payload_errors)
    asks = [asked.get(f.name, 0) for f in unknown if f.route == "ask_user"]
    asks += [asked_items.get(i.id, 0) for i in unverified if i.route == "ask_user"]
    asks += [asked_items.get(c.id, 0) for c in conditions if c.route == "ask_user"]
    asks += [min([asked.get(n, 0) for option in b.branch_options for n in option], default=0) for b in branches]
    if decision == "ask_user" and any(count >= limit for count in asks):
        decision, kind = "hold", "value_exhausted"
    return decision, Gate(
        kind=kind,
        unknown_fields=unknown,
        unverified_checklist=unverified,
        unmet=unmet,
        unknown_conditions=conditions,
        branches=branches,
        payload_errors=found.payload_errors if kind == "payload_invalid" else (),
    )


ALL_CLEAR = Gate(kind="value_gate", unknown_fields=(), unverified_checklist=())
"""The gate of a call with nothing open."""


def _all_clear(found: Findings, phase: Phase | None) -> bool:
    """Whether nothing at all is open: the ordinary way of a call that runs."""
    if phase != "at_trigger" or found.conditions or found.payload_errors or found.walked.branches:
        return False
    return not found.unknown and all(item.status == "verified" for item in found.items or ())


def unmet_conditions(conditions: tuple[ConditionState, ...]) -> tuple[UnmetCondition, ...]:
    """Return the conditions that do not hold, with who declared them (R-62)."""
    return tuple([UnmetCondition(c.id, c.declared_by, c.note) for c in conditions if c.status == "unmet"])


def _decide(
    unmet: Sequence[object], routes: Sequence[Route | None], branches: Sequence[object], payload_errors: Sequence[str]
) -> tuple[ExecutionDecision, GateKind]:
    if unmet:
        return "hold", "value_gate"
    if branches or "ask_user" in routes:
        return "ask_user", "value_gate"
    if routes:
        return "hold", "value_gate"
    return ("hold", "payload_invalid") if payload_errors else ("execute", "value_gate")
