"""The slots of a request with their schemas: what a question and the grounding of a whole call need."""

from __future__ import annotations

from collections.abc import Mapping

from preflight.core.schema import Plan, walk
from preflight.core.shape import RequestShape
from preflight.model.decision import Decision
from preflight.model.request import Request
from preflight.model.slot import FieldState, Slot


def slots_of(request: Request, plan: Plan, states: Mapping[str, FieldState] = {}) -> dict[str, Slot]:
    """Walk the schema with the given states, everything else unknown, and return the slots it yields by name."""
    walking = walk(plan, RequestShape(request))
    found: dict[str, Slot] = {}
    try:
        slot = next(walking)
        while True:
            found[slot.name] = slot
            slot = walking.send(states.get(slot.name) or FieldState(slot.name, "unknown", None, None, ""))
    except StopIteration:
        return found


def open_slots(request: Request, decision: Decision, plan: Plan) -> dict[str, Slot]:
    """Return, by name, every slot that a decision did not settle, and those among which it could not choose (R-35)."""
    states = {state.name: state for state in decision.states}
    branches = decision.gate.branches if decision.gate else ()
    choices = {name for branch in branches for option in branch.branch_options for name in option}
    settled = {name for name, state in states.items() if state.settled and name not in choices}
    slots = slots_of(request, plan, states)
    return {name: slot for name, slot in slots.items() if name not in settled}
