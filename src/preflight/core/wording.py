"""The sentences a person is shown. None names a tool, a candidate or a default (R-9)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from preflight.core.unattended import ATTENDED, confirms_a_call
from preflight.model.decision import Gate, UnmetCondition

_SILENT: Mapping[str, str] = MappingProxyType({})
_ASK_INTENT = "Please say what should be done, and when: now, at a set time, or once something happens."
_ASK_TOOL = "Please say again, in other words, what should be done and to what."
DONE_NOW = "it is to be done now, as the user answered"
TIME_IS_A_VALUE = "it is to be done now: the time that the words name is a value of the call"
"""The notices of runs whose words sound like later."""

TO_CONFIRM = "nobody attends the run, and a person is to confirm the call first"
_REASONS = {
    "checklist_unidentified": "an item of the user checklist has no id of its own",
    "intent_undetermined": "it is not settled what should be done, or when",
    "intent_undetermined_exhausted": "it is still not settled what should be done, or when, after asking",
    "tool_undetermined": "it is not settled that this tool does what the user meant",
    "tool_undetermined_exhausted": "it is still not settled that this tool does what the user meant, after asking",
    "hook_failed": "a hook failed where nothing may stand in for it",
    "action_key_failed": "no action key could be made for this run",
    "schema_unsupported": "the tool's input schema cannot be turned into slots",
    "read_passes": "a read passes",
    "payload_invalid": "the assembled arguments do not fit the tool's input schema",
    "value_exhausted": "a value was asked for as often as the rules allow",
    "tool_changed": "the tool is not the one that was accepted",
    "tool_forbidden": "the rules forbid this tool",
    "repeated": "the same instruction led to this act before",
    "request_invalid": "the request is malformed",
    "internal_error": "an unforeseen fault stopped the run",
}


def message_for(kind: str) -> str | None:
    """Return what to say to the user at a gate that asks for words, or None."""
    if kind == "intent_undetermined":
        return _ASK_INTENT
    return _ASK_TOOL if kind == "tool_undetermined" else None


def reason_of(gate: Gate | None, execution_decision: str, messages: Mapping[str, str] = _SILENT) -> str:
    """Render a gate as one sentence; the gate stays authoritative (R-70).

    `messages` are what the rules say, by condition, where it does not hold.
    """
    if gate is None:
        return "everything the user can say now is settled; the rest waits for its trigger"
    if gate.kind != "value_gate":
        detail = "; ".join(gate.payload_errors)
        return _REASONS[gate.kind] + (f": {detail}" if detail else "")
    if execution_decision == "execute":
        return "every value has a source and every condition holds"
    return "; ".join(_open_points(gate, messages))


def _unmet(condition: UnmetCondition, messages: Mapping[str, str]) -> str:
    """Say what does not hold in the words of the rules; a check's own note may count what others did, and stays out."""
    if condition.id == ATTENDED:
        return str(condition.note)
    return messages.get(condition.id) or f"condition `{condition.id}` does not hold"


def _open_points(gate: Gate, messages: Mapping[str, str]) -> list[str]:
    points = [_unmet(c, messages) for c in gate.unmet]
    points += [f"`{f.name}` is unknown" for f in gate.unknown_fields or ()]
    points += [TO_CONFIRM if confirms_a_call(c) else f"condition `{c.id}` is unknown" for c in gate.unknown_conditions]
    points += [f"`{b.at or 'the call'}`: {b.kind.replace('_', ' ')}" for b in gate.branches]
    points += [f"checklist item `{i.id}` is not verified" for i in gate.unverified_checklist or ()]
    return points
