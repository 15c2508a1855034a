"""The decision path, from the request to the verdict (specification, section 4). Early exits win.

`deciding` is the path itself: a generator that hands out a `Need` for each hook and returns the
`Decision`. It is driven in two ways: by the shell, which calls the hooks, and by `decide`, the pure
function of (request, facts, setup) that tests and replays use (R-11).
"""

from __future__ import annotations

from collections.abc import Generator

import msgspec

from preflight.core import checklist, conditions, tool_gate, verdict, when
from preflight.core import fixed as fixed_checklist
from preflight.core.checklist import Item
from preflight.core.fixed import BrokenHook
from preflight.core.lookup import Lookup
from preflight.core.needs import Facts, Failed, Need
from preflight.core.outcome import Run
from preflight.core.schema import Plan, Walked, walk
from preflight.core.schema.shape import UNDECLARED
from preflight.core.setup import PLAIN, Setup
from preflight.core.shape import RequestShape
from preflight.core.verdict import Findings
from preflight.model.checklist import ItemState
from preflight.model.condition import ConditionState
from preflight.model.decision import Decision
from preflight.model.json_value import thaw
from preflight.model.request import Request
from preflight.model.slot import DroppedClaim, FieldState, Unsupported
from preflight.model.trigger import Trigger

Path = Generator[Need, object, Decision]


def decide(request: Request, facts: Facts, setup: Setup = PLAIN) -> Need | Decision:
    """Decide from what is known, or say which fact is needed next. Pure, total and deterministic (R-11)."""
    path = guarded(request, setup)
    try:
        need = next(path)
        while need.id in facts:
            need = path.send(facts[need.id])
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    return need


def guarded(request: Request, setup: Setup = PLAIN) -> Path:
    """Walk the decision path; anything unforeseen in it holds (R-31)."""
    run = Run(request, setup)
    try:
        return (yield from _deciding(run))
    except Exception as fault:  # noqa: BLE001  R-31: whatever it is, it ends in hold
        return run.internal_error(fault)


def _deciding(run: Run) -> Path:
    request = run.request
    items = checklist.identified(request.user_checklist)
    if items is None:
        return run.checklist_unidentified()
    if request.rules.forbidden:
        return run.tool_forbidden()
    if request.rules.pin not in (None, request.tool.fingerprint):
        return run.tool_changed()
    if request.rules.effect == "read":
        return _reading(run)  # only the adopter's rules say that a tool reads

    # a verified trigger was classified when its run was deferred
    fired = request.trigger if type(request.trigger) is Trigger else None
    case = fired.when_case if fired else (yield Need("classify_when_case", (request.utterance,)))
    said = yield Need("extract_user_action_name", (request.utterance,))
    settled = fixed_checklist.settle(request, case, said)
    if isinstance(settled, BrokenHook):
        return run.hook_failed("hook_failed", settled)
    run.fixed = settled
    if settled.c1_when_case is None or settled.c2_user_action_name is None:
        return run.intent_undetermined()
    run.phase = fixed_checklist.phase_of(request, settled.c1_when_case)

    key = yield Need("build_action_key", (request, settled))
    if type(key) is not str or not key:
        return run.action_key_failed(key)
    run.action_key = key

    asked = (settled.c2_user_action_name, request.tool, settled, request.utterance)
    match, fault = tool_gate.read((yield Need("confirm_tool_name_matches_intent", asked)))
    run.matched(match)
    if not match.approved:
        return run.tool_undetermined(match, fault)
    return (yield from _looking_up(run, items))


def _looking_up(run: Run, items: tuple[Item, ...]) -> Path:
    """The second half: from here on, and not before, what the provider supplies is read (R-26)."""
    request, setup = run.request, run.setup
    plan = setup.plan_for(request.tool)
    run.notes = request.tool.description
    if "get_advisory_notes" in setup.hooks:
        notes = yield Need("get_advisory_notes", (request.tool,))
        run.notes = notes if type(notes) is str else ""
    if isinstance(plan, Unsupported):
        return run.schema_unsupported(plan)

    lookup = Lookup(request)
    walking = walk(plan, RequestShape(request))
    try:
        slot = next(walking)
        while True:
            slot = walking.send((yield from lookup.look_up(slot)))
    except StopIteration as end:
        walked = end.value
    if walked.unsupported is not None:
        return run.schema_unsupported(walked.unsupported)

    unknown = verdict.unknown_states(walked)
    if type(request.trigger) is not Trigger and "extract_trigger" in setup.hooks:
        unknown += yield from _when(run, plan, walked)
    if run.phase == "at_instruction" and not verdict.blocking(unknown, run.phase) and not walked.branches:
        return (yield from _deferring(run, Findings(walked, unknown, None)))
    states: tuple[ItemState, ...] | None = None
    held: tuple[ConditionState, ...] = ()
    if run.phase == "at_trigger":  # conditions are not checked before
        states = yield from checklist.verify(items, request)
        held = yield from _conditions(run, walked)
    errors = () if unknown or walked.branches else plan.validate(walked.arguments)
    decision = run.judged(Findings(walked, unknown, states, held, errors))
    return decision if "format_reason" not in setup.hooks else (yield from _worded(run, decision))


def _when(run: Run, plan: Plan, walked: Walked) -> Generator[Need, object, list[FieldState]]:
    """Settle when the run is to happen; what is open of it is asked for with everything else (R-81, R-90)."""
    fixed, slot, finds_unused = run.fixed, when.slot_of(plan), "extract_unused_time" in run.setup.hooks
    assert fixed is not None  # noqa: S101  it is settled before any value
    fields = (*walked.fields, *walked.extra_fields)
    found = yield from when.settle(run.request, fixed, slot, fields, finds_unused=finds_unused)
    if type(found) is FieldState:
        run.when_open = found
        return [found]
    run.timed(found, answered=slot.name in run.request.user_answers)  # type: ignore[arg-type]  # the rest of the union
    return []


def _reading(run: Run) -> Decision:
    """A read is not gated on intent or values, but what is sent must fit the tool (R-28, R-65)."""
    plan = run.setup.plan_for(run.request.tool)
    if isinstance(plan, Unsupported):
        return run.schema_unsupported(plan)
    claims = run.request.claims
    declared = {name: thaw(claim) for name, claim in claims.items() if name in plan.declared}
    left = tuple(DroppedClaim(name, claim, UNDECLARED) for name, claim in claims.items() if name not in declared)
    return run.read_passes(declared, left, plan.validate(declared))


def _conditions(run: Run, walked: Walked) -> Generator[Need, object, tuple[ConditionState, ...]]:
    """Check what the rules declare, and what a trusted server declares beside them (R-60, R-63)."""
    request = run.request
    unread: tuple[ConditionState, ...] = ()
    if request.rules.trust_labels and "provider_checklist" in run.setup.hooks:
        declared = yield from conditions.with_provider(request)
        if declared is None:
            unread = (conditions.unreadable(request),)
        else:
            request = declared
    rules = request.rules
    run.notices += rules.notices
    if not (rules.conditions or rules.limits or rules.fields or unread):
        return ()
    return (*(yield from conditions.check(request, walked)), *unread)


def _deferring(run: Run, found: Findings) -> Path:
    """Everything the user can say now is settled: the run waits for its trigger (R-29, R-80)."""
    kept: object = None
    if "build_deferred_input" in run.setup.hooks:
        kept = yield Need("build_deferred_input", (run.request, run.fixed, found.walked.fields))
        if type(kept) is Failed:
            return run.hook_failed("hook_failed", BrokenHook("build_deferred_input", kept.fault))
    decision = run.deferred(found, kept)
    return decision if "format_reason" not in run.setup.hooks else (yield from _worded(run, decision))


def _worded(run: Run, decision: Decision) -> Path:
    """Let the adopter word the reason; a wording that fails leaves ours."""
    # a copy: what the hook does to the arguments it is shown changes no call
    shown = msgspec.structs.replace(decision, call_arguments=thaw(decision.call_arguments))
    return run.worded(decision, (yield Need("format_reason", (shown,))))
