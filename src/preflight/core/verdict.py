"""The decision at the value gate: what is open, in which order it decides (R-29, R-30)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from preflight.core.schema import Walked
from preflight.model.checklist import ItemState, Phase
from preflight.model.decision import (
    BranchQuestion,
    ExecutionDecision,
    Gate,
    GateKind,
    UnknownField,
    UnmetCondition,
    UnverifiedItem,
)
from preflight.model.slot import FieldState


class Findings(msgspec.Struct, frozen=True, gc=False):
    """Everything the value gate decides from."""

    walked: Walked
    items: tuple[ItemState, ...] | None
    unmet: tuple[UnmetCondition, ...] = ()
    payload_errors: tuple[str, ...] = ()


def unknown_states(walked: Walked) -> list[FieldState]:
    """Return the slots that are not confirmed, required ones first."""
    states = (*walked.fields, *walked.extra_fields) if walked.extra_fields else walked.fields
    return [state for state in states if state.status == "unknown"]


def blocking(walked: Walked, phase: Phase | None) -> list[FieldState]:
    """Return what may not stay open: before the trigger, a pending slot may (R-29, R-82)."""
    unknown = unknown_states(walked)
    if phase == "at_instruction":
        return [state for state in unknown if not state.pending_at_trigger]
    return unknown


def judge(found: Findings, phase: Phase | None, asked: Mapping[str, int], limit: int) -> tuple[ExecutionDecision, Gate]:
    """Decide at the value gate, in the order of R-30."""
    unknown = tuple([UnknownField(s.name, s.note, s.route) for s in blocking(found.walked, phase)])
    unverified = tuple([UnverifiedItem(i.id, i.note, i.route) for i in found.items or () if i.status != "verified"])
    branches = tuple([BranchQuestion(b.at, b.kind, b.options) for b in found.walked.branches])
    decision, kind = _decide(found, unknown, unverified, branches)
    if decision == "ask_user" and any(asked.get(f.name, 0) >= limit for f in unknown if f.route == "ask_user"):
        decision, kind = "hold", "value_exhausted"
    return decision, Gate(
        kind=kind,
        unknown_fields=unknown,
        unverified_checklist=unverified,
        unmet=found.unmet,
        branches=branches,
        payload_errors=found.payload_errors if kind == "payload_invalid" else (),
    )


def _decide(
    found: Findings,
    unknown: tuple[UnknownField, ...],
    unverified: tuple[UnverifiedItem, ...],
    branches: tuple[BranchQuestion, ...],
) -> tuple[ExecutionDecision, GateKind]:
    if found.unmet:
        return "hold", "value_gate"
    routes = [field.route for field in unknown] + [item.route for item in unverified]
    if branches or "ask_user" in routes:
        return "ask_user", "value_gate"
    if routes:
        return "hold", "value_gate"
    if found.payload_errors:
        return "hold", "payload_invalid"
    return "execute", "value_gate"
