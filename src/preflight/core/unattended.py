"""What a run may come to that nobody attends: its call runs, waits for a person, or does not run at all."""

from __future__ import annotations

import msgspec

from preflight.core.schema import Walked
from preflight.core.verdict import Findings
from preflight.model.condition import ConditionState
from preflight.model.decision import UnknownCondition
from preflight.model.json_value import confirmation_id, thaw
from preflight.model.request import Request
from preflight.model.rules import ToolRules

ATTENDED = "preflight:attended"
"""The id of the condition that a call does not meet which never runs unattended."""
CALL = "unattended"
"""The name under which a person confirms a whole call; its id ends in the digest of the call (R-57)."""
NOBODY = "nobody attends the run"
HIDDEN = "nobody attends the run, and a secret value of the call cannot be shown to be confirmed"


def bounded(found: Findings, request: Request, *, clear: bool) -> Findings:
    """Return what was found, and what stands against a call that nobody attends (R-95).

    `clear` says that the call would run: only then is it known what a person would confirm.
    """
    rules = request.rules
    policy = rules.when_unattended
    if policy == "run":
        return found
    if policy == "hold":  # nothing is asked about a call that does not run whatever is answered
        return _with(found, _unmet(request, NOBODY))
    if not clear:
        return found
    if any(_is_secret(name, rules) for name in _sent(found.walked)):
        return _with(found, _unmet(request, HIDDEN))  # what cannot be shown cannot be confirmed
    return _with(found, _confirmation(found, request))


def _confirmation(found: Findings, request: Request) -> ConditionState:
    """Have a person confirm exactly this call: another value is another call (R-5, R-57)."""
    tool = request.tool
    call = {"server": tool.server, "tool": tool.name, "arguments": thaw(found.walked.arguments)}
    key = confirmation_id(CALL, call)
    confirmed = request.checklist_answers.get(key) is True
    named = f"{tool.server}/{tool.name}" if tool.server else tool.name
    return ConditionState(
        key, "organisation", "met" if confirmed else "unknown", request.utterance.now,
        f"`{named}` is called with exactly these values, though nobody attends the run",
        route=None if confirmed else "ask_user", place=request.rules.place,
    )  # fmt: skip


def confirms_a_call(condition: ConditionState | UnknownCondition) -> bool:
    """Whether a condition is that a person confirms a whole call; one that approves a value names its slot."""
    return condition.slot is None and condition.id.startswith(f"confirm/{CALL}/")


def _unmet(request: Request, why: str) -> ConditionState:
    return ConditionState(ATTENDED, "organisation", "unmet", request.utterance.now, note=why, place=request.rules.place)


def _with(found: Findings, condition: ConditionState) -> Findings:
    return msgspec.structs.replace(found, conditions=(*found.conditions, condition))


def _sent(walked: Walked) -> list[str]:
    sent = [state.name for state in (*walked.fields, *walked.extra_fields) if state.settled]
    return [*sent, *(claim.name for claim in walked.allowed)]


def _is_secret(slot: str, rules: ToolRules) -> bool:
    marked = [name for name, field in rules.fields.items() if field.secret]
    return any(slot == name or slot.startswith(f"{name}/") for name in marked)
