"""Working hooks for every name, so that nobody has to write one to be protected (R-102)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import Self

import msgspec

from preflight import grounding
from preflight.clock import SystemClock
from preflight.core.checklist import Item
from preflight.core.lookup import NEEDS_CONFIRMATION
from preflight.core.schema import Plan
from preflight.core.slots import slots_of
from preflight.grounding import Context, Finding, Target
from preflight.grounding.locate import located_from
from preflight.hooks.protocol import inline
from preflight.hooks.shipped import act, mappings, trigger, unused_time, when
from preflight.hooks.shipped.mappings import Meaning
from preflight.hooks.shipped.measures import Measure
from preflight.limits import DEFAULT, Limits
from preflight.model.checklist import Fixed, Match, WhenCase
from preflight.model.evidence import Located, NotGrounded
from preflight.model.request import Request, Scope, Utterance
from preflight.model.rules import UNLISTED, ToolRules
from preflight.model.slot import FieldState, Slot
from preflight.model.tool import Tool
from preflight.plans import plan_of
from preflight.ports import Clock, Storage
from preflight.rulebook import RuleSource
from preflight.services.measuring import Measurer, ReadTool

Scorer = Callable[[str, Tool], bool]
"""Says whether a tool looks like the act (by embeddings, say). It may only narrow: nothing is approved by it."""

Check = Callable[[Request], bool]
"""Verifies a checklist item by measuring: only exactly True verifies."""


class ShippedHooks:
    """Every hook, ready to use: pass an instance as `hooks`.

    `storage` is the store that remembers what users confirmed; `meanings` are mappings that hold for
    everybody, `rules` the rules in force, whose `intents` are such mappings too. `measures` says by which read
    tool a field is measured, `read_tool` calls it. `checks` verifies checklist items by id. `scorer` may
    refuse what mappings approve. `clock` dates measurements. Of `storage`, `rules`, `read_tool` and `clock`,
    what is left out is taken from the gate that gets the hooks; its limits hold for them too.
    """

    def __init__(
        self,
        *,
        storage: Storage | None = None,
        meanings: Iterable[Meaning] = (),
        measures: Mapping[str, Measure] = MappingProxyType({}),
        read_tool: ReadTool | None = None,
        checks: Mapping[str, Check] = MappingProxyType({}),
        rules: RuleSource | None = None,
        scorer: Scorer | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Take what the hooks look things up in."""
        self._storage = storage
        self._meanings = tuple(meanings)
        self._rules = rules
        self._scorer = scorer
        self._measures = {name: measure.as_rule(name) for name, measure in measures.items()}
        self._measurer = Measurer(read_tool, clock or SystemClock())
        self._limits = DEFAULT
        self._own = (storage, rules, read_tool, clock)
        self._joined = False
        self._checks = dict(checks)
        self._grounded: tuple[Request | None, Mapping[str, Finding]] = (None, {})

    def joined(
        self, storage: Storage, rules: RuleSource, read_tool: ReadTool | None, clock: Clock, limits: Limits
    ) -> Self:
        """Return hooks that look things up where their gate does, wherever they were not told otherwise.

        The first gate gets these hooks themselves, another a copy: no gate reads the rules of another one.
        """
        hooks = copy.copy(self) if self._joined else self
        own_storage, own_rules, own_read_tool, own_clock = self._own
        vars(hooks).update(
            _joined=True,
            _storage=storage if own_storage is None else own_storage,
            _rules=rules if own_rules is None else own_rules,
            _limits=limits,
            _measurer=Measurer(own_read_tool or read_tool, own_clock or clock, limits),
        )
        return hooks

    @inline
    def classify_when_case(self, utterance: Utterance) -> WhenCase | None:
        """Read when it should happen from explicit wording; None when unsure."""
        return when.classify(utterance)

    @inline
    def extract_trigger(self, utterance: Utterance) -> Located | NotGrounded | None:
        """Find the one time, recurrence, event or condition that the words state (R-81)."""
        return trigger.trigger_of(utterance, {} if self._rules is None else self._rules().triggers)

    @inline
    def extract_unused_time(self, request: Request, fixed: Fixed, fields: tuple[FieldState, ...]) -> Located | None:
        """Find words that may say when to act and that no value takes up (R-81)."""
        plan = plan_of(request.tool, self._limits)
        slots = slots_of(request, plan, {f.name: f for f in fields}) if isinstance(plan, Plan) else {}

        def is_time(name: str) -> bool:
            return name in slots and grounding.holds_time(_target(slots[name], request))

        declared = {} if self._rules is None else self._rules().triggers
        return unused_time.unused_time(request, fixed.c1_when_case or "immediate", fields, is_time, declared)

    @inline
    def extract_user_action_name(self, utterance: Utterance) -> str | None:
        """Return the act in the user's own words."""
        return act.act_of(utterance)

    @inline
    def confirm_tool_name_matches_intent(self, c2: str, tool: Tool, fixed: Fixed, utterance: Utterance) -> Match:
        """Approve by mappings a user confirmed, or that hold for everybody."""
        learned: list[Meaning] = []
        if self._storage is not None:
            # what a user means holds in one conversation where it was confirmed there, else in the whole tenant
            scopes = dict.fromkeys((Scope(utterance.scope.tenant), utterance.scope))
            learned = [Meaning(*row) for scope in scopes for row in self._storage.learned(scope, utterance.user_id)]
        rules_of = partial(self._rules_of, user_id=utterance.user_id, tenant=utterance.scope.tenant)
        meanings = (*self._meanings, *self._declared(rules_of), *learned)
        match = mappings.confirm(c2, tool, fixed, meanings, rules_of)
        if match.approved and self._scorer is not None and self._scorer(c2, tool) is not True:
            return Match(approved=False, reason="the scorer does not see the act in the tool")
        return match

    @inline
    def extract_from_instruction(self, slot: Slot, request: Request) -> Located | NotGrounded | None:
        """Find the claim in the user's words, with every other claim of the call (R-52)."""
        if slot.claim is msgspec.UNSET:
            return None
        finding = self._findings(request).get(slot.name) or self._alone(slot, request)
        if finding.state == "known" and finding.evidence is not None:
            if misfit := self._selects(slot, request):
                return NotGrounded(misfit, finding.mentions)
            return located_from(finding.evidence, slot.claim)
        return NotGrounded(NEEDS_CONFIRMATION if finding.state == "confirm" else finding.reason, finding.mentions)

    def _selects(self, slot: Slot, request: Request) -> str | None:
        """Return why a claim is no value: what does not fit the schema may be words that select one (R-58)."""
        selecting = request.rules.field(slot.name).reference is not None
        return self.validate_field_schema(slot, slot.claim, request) if selecting else None

    def measure_from_environment(self, slot: Slot, request: Request) -> object:
        """Return what the request measured already, else call the declared read tool."""
        given = request.measured_data.get(slot.name)
        if given is not None:
            return given
        measure = self._measures.get(slot.name)
        return None if measure is None else self._measurer.read(measure, request.user_answers)

    @inline
    def build_action_key(self, request: Request, fixed: Fixed) -> str:
        """Let runs accumulate by user and tool."""
        return f"{request.user_id}:{fixed.c3_provider_action_name}"

    @inline
    def apply_field_policy(self, state: FieldState, slot: Slot, request: Request) -> FieldState:
        """Let the rules carry a prior value for a while, and let a slot wait for its trigger (R-29, R-42)."""
        rules = request.rules.field(slot.name)
        if state.source == "prior_state" and not _fresh(state, request.utterance.now, rules.carry_seconds):
            note = "the value of a prior run is not carried over"
            state = msgspec.structs.replace(state, status="unknown", note=note)
        if state.status == "unknown" and rules.pending_at_trigger:
            return msgspec.structs.replace(state, pending_at_trigger=True)
        return state

    @inline
    def validate_field_schema(self, slot: Slot, value: object, request: Request) -> str | None:
        """Check a value against its JSON Schema, formats included."""
        plan = plan_of(request.tool, self._limits)
        return plan.validate_slot(slot, value) if isinstance(plan, Plan) else "the schema cannot be read"

    def verify_user_checklist_item(self, item: Item, request: Request) -> dict[str, object] | None:
        """Verify by a declared check, else by the user's own confirmation in this run."""
        check = self._checks.get(item.id)
        if check is not None:
            verified = check(request) is True
            return {"status": "verified" if verified else "unverified", "source": "measured_data"}
        if request.checklist_answers.get(item.id) is True:
            return {"status": "verified", "source": "user_answer"}
        return None

    def _rules_of(self, server: str, tool: str, user_id: str, tenant: str) -> ToolRules:
        return UNLISTED if self._rules is None else self._rules().for_tool(server, tool, user_id, tenant)

    def _declared(self, rules_of: mappings.RulesOf) -> Iterable[Meaning]:
        """What the rules say users call each tool; of that, what is left for this user (R-7)."""
        tools = self._rules().tools.items() if self._rules is not None else ()
        for name, rules in tools:
            left = rules_of(*name).intents
            yield from (Meaning(phrase, *name, shared=True) for phrase in rules.intents if phrase in left)

    def _findings(self, request: Request) -> Mapping[str, Finding]:
        """Ground all claims of a request together, once."""
        last, findings = self._grounded
        if last is not request:
            targets = [_target(slot, request) for slot in self._claimed(request)]
            findings = grounding.ground_call(request.segments or (), targets, _context(request))
            self._grounded = (request, findings)
        return findings

    def _claimed(self, request: Request) -> list[Slot]:
        """The slots for which the model claims a value, as the gate's own plan has them."""
        plan = plan_of(request.tool, self._limits)
        slots = slots_of(request, plan).values() if isinstance(plan, Plan) else ()
        return [slot for slot in slots if slot.claim is not msgspec.UNSET]

    def _alone(self, slot: Slot, request: Request) -> Finding:
        return grounding.ground_call(request.segments or (), [_target(slot, request)], _context(request))[slot.name]


def _target(slot: Slot, request: Request) -> Target:
    rules = request.rules.field(slot.name)
    return Target(slot.name, slot.schema, slot.claim, rules.role, rules.hints)


def _context(request: Request) -> Context:
    return Context.of(request.utterance, request.said_at)


def _fresh(state: FieldState, now: str, carry_seconds: float | None) -> bool:
    """Whether a prior value is allowed to be carried and is young enough; `origin` is the time of its run."""
    if carry_seconds is None or state.origin is None or not now:
        return False
    age = datetime.fromisoformat(now) - datetime.fromisoformat(state.origin)
    return 0 <= age.total_seconds() <= carry_seconds


__all__ = ["Check", "Meaning", "Measure", "ReadTool", "ShippedHooks"]
