"""Step 5, conditions: what must hold when the call starts, checked by others and judged here (R-60 to R-63)."""

from __future__ import annotations

from collections.abc import Generator, Mapping

import msgspec

from preflight.core.needs import Need
from preflight.core.schema import Walked
from preflight.model.condition import ConditionState
from preflight.model.json_value import confirmation_id, is_object
from preflight.model.request import Request
from preflight.model.rules import ConditionRule, LimitRule, ToolRules
from preflight.model.slot import FieldState, Route

Rule = ConditionRule | LimitRule
States = tuple[ConditionState, ...]


def with_provider(request: Request) -> Generator[Need, object, Request | None]:
    """Add what the server itself declares for its tool, where the rules trust it for that; None: unreadable (R-63)."""
    declared = yield Need("provider_checklist", (request,))
    return msgspec.structs.replace(request, rules=declared) if type(declared) is ToolRules else None


def check(request: Request, walked: Walked) -> Generator[Need, object, States]:
    """Check every condition that is declared for this call; all of them, so that all are reported together."""
    states = list(_confirmations(request, walked))
    rules: list[Rule] = [*request.rules.conditions, *request.rules.limits]
    open_slots = {state.name for state in (*walked.fields, *walked.extra_fields) if not state.settled}
    for rule in rules:
        if isinstance(rule, ConditionRule) and rule.check == "confirmation":
            states.append(_confirmed(rule, request))
        else:
            names = yield Need("condition_needs", (rule, request), rule.id)
            readings: object = {}
            if names:
                readings = yield Need("measure_named", (names, request, walked.arguments), rule.id)
            outcome = yield Need("check_condition", (rule, request, walked.arguments, readings), rule.id)
            states.append(_state(rule, outcome, open_slots, request.utterance.now))
    return tuple(states)


def _confirmations(request: Request, walked: Walked) -> Generator[ConditionState, None, None]:
    """The slots whose value the rules want approved as shown (R-9, R-57)."""
    if not request.rules.fields:
        return
    for state in (*walked.fields, *walked.extra_fields):
        if state.status == "known" and request.rules.field(state.name).confirm:
            yield _approval(state, request)


def _approval(state: FieldState, request: Request) -> ConditionState:
    key = confirmation_id(state.name, state.value)
    approved = request.checklist_answers.get(key) is True
    return ConditionState(
        key, "organisation", "met" if approved else "unknown", request.utterance.now, state.name,
        route=None if approved else "ask_user", slot=state.name, place=request.rules.field(state.name).place,
    )  # fmt: skip


def _confirmed(rule: ConditionRule, request: Request) -> ConditionState:
    confirmed = request.checklist_answers.get(rule.id) is True
    return ConditionState(
        rule.id, rule.declared_by, "met" if confirmed else "unknown", request.utterance.now, rule.description,
        note=None if confirmed else rule.message or None, route=None if confirmed else "ask_user", place=rule.place,
    )  # fmt: skip


def _state(rule: Rule, outcome: object, open_slots: set[str], now: str) -> ConditionState:
    """Read what the check returned; only the exact word `met` lets a condition hold (R-5)."""
    said: Mapping[str, object] = outcome if is_object(outcome) else {"broken": True}
    word = said.get("state")
    status = word if type(word) is str and word in ("met", "unmet") else "unknown"
    listed = said.get("missing")
    missing = tuple(str(name) for name in listed) if isinstance(listed, list | tuple) else ()
    note = said.get("note")
    measured = said.get("measured")
    message = rule.message or None
    return ConditionState(
        id=rule.id,
        declared_by=rule.declared_by,
        status=status,  # type: ignore[arg-type]  # one of the three words
        checked_at=now,
        description=rule.description if isinstance(rule, ConditionRule) else "",
        note=(message if status == "unmet" else None) or (note if isinstance(note, str) else None),
        missing=missing,
        route=None if status != "unknown" else _route(said, missing, open_slots),
        measured=measured if is_object(measured) else {},
        max_age_seconds=rule.max_age_seconds if isinstance(rule, ConditionRule) else 0.0,
        place=rule.place,
    )


def _route(said: Mapping[str, object], missing: tuple[str, ...], open_slots: set[str]) -> Route:
    """Where an unknown condition goes: to whoever can supply what is missing (R-45, R-60)."""
    if not missing or said.get("broken") is True:
        return "definition_repair"
    if any(name.removeprefix("args.") in open_slots for name in missing if name.startswith("args.")):
        return "ask_user"  # the slot is asked for in the same question
    return "system_lookup" if any(not name.startswith("args.") for name in missing) else "definition_repair"


def unreadable(request: Request) -> ConditionState:
    """What stands in the record when a trusted server's declarations cannot be read."""
    return ConditionState(
        "provider_checklist", "provider", "unknown", request.utterance.now,
        note="what the provider declares cannot be read", route="definition_repair",
    )  # fmt: skip
