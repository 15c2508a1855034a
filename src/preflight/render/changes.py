"""What would have changed the outcome of a decision: read off its gate, item by item."""

from __future__ import annotations

from collections.abc import Sequence

from preflight.model.decision import Gate
from preflight.model.record import Record
from preflight.render.phrases import ROUTES, why_unknown
from preflight.render.styled import Line, line
from preflight.render.visible import visible

_BY_KIND = {
    "checklist_unidentified": "a checklist whose every item has an id of its own",
    "intent_undetermined": "words that say what should be done, and when",
    "intent_undetermined_exhausted": "a new request that says what should be done, and when",
    "tool_undetermined": "other words for the act, or a meaning the user confirms with `preflight learn`",
    "tool_undetermined_exhausted": "a new request, or a meaning the user confirms with `preflight learn`",
    "hook_failed": "a repaired hook: the logs say which failed, and how",
    "action_key_failed": "a repaired hook `build_action_key`",
    "schema_unsupported": "a tool whose input schema can be read",
    "value_exhausted": "a new request that has what was asked for in vain",
    "tool_changed": "the tool as it was accepted, or rules whose `pin` somebody renews after reading the change",
    "tool_forbidden": "rules that do not forbid the tool: nobody's answer opens it",
    "repeated": "words that say that it is to be done once more",
    "request_invalid": "a request without the fault that is named above",
    "internal_error": "a repaired program: the logs say what went wrong",
}


def would_have_changed(steps: Sequence[Record]) -> list[Line]:
    """Return one line for each thing that would have led elsewhere."""
    record = steps[0]
    if record.execution_decision == "execute":
        return [line(f"  - {text}") for text in (*_needed(record), *_start(steps))]
    if record.execution_decision == "deferred":
        return [line("  - its trigger: then the whole path is walked again, with what holds at that time")]
    assert record.gate is not None  # noqa: S101  only `deferred` has none
    return [line(f"  - {text}") for text in _open(record.gate)]


def _needed(record: Record) -> list[str]:
    names = [visible(field.name) for field in record.states if field.settled]
    items = [visible(item.id) for item in record.user_checklist or ()]
    texts = []
    if names:
        texts.append(f"without a source for any one of {', '.join(names)} it would have asked or held")
    if items:
        texts.append(f"with any one of {', '.join(items)} not verified it would have asked or held")
    texts.append("had the user's words not led to this tool, the tool gate would have stayed shut")
    return texts


def _start(steps: Sequence[Record]) -> list[str]:
    if len(steps) > 1:
        return ["it is started at most once: a second start is refused whatever happens"]
    until = steps[0].not_after
    return [f"a start after {until[:19]} UTC, of a changed tool or under changed rules is refused"] if until else []


def _open(gate: Gate) -> list[str]:
    texts = [f"condition `{visible(unmet.id)}` ({unmet.declared_by}) holding" for unmet in gate.unmet]
    texts += [f"{_cure(f.route)} `{visible(f.name)}`: {why_unknown(f.note)}" for f in gate.unknown_fields or ()]
    texts += [
        f"`{visible(item.id)}` verified: {ROUTES.get(item.route or '', 'open')}"
        for item in gate.unverified_checklist or ()
    ]
    texts += [
        f"condition `{visible(c.id)}` known: {ROUTES.get(c.route or '', 'open')}" for c in gate.unknown_conditions
    ]
    for branch in gate.branches:
        options = " or ".join("+".join(map(visible, option)) or "nothing" for option in branch.branch_options)
        texts.append(f"values that choose one of the tool's alternatives: {options}")
    if gate.kind != "request_invalid":  # there they are the fault of the request, which the reason names
        texts += [f"arguments that fit: {visible(error)}" for error in gate.payload_errors]
    if gate.kind in _BY_KIND:
        texts.append(_BY_KIND[gate.kind])
    return texts


def _cure(route: str | None) -> str:
    if route == "system_lookup":
        return "a measurement of"
    return "a repaired definition or hook for" if route == "definition_repair" else "the user's word for"
