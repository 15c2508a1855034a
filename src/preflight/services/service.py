"""What rules need done: measurements, conditions and limits, on behalf of the core (R-60, R-66).

The methods are called through the guard like hooks, with the same time limits and checks of what they return.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from preflight.clock import iso
from preflight.errors import HookError, PreflightError
from preflight.hooks.protocol import Hook, inline
from preflight.model.condition import ConditionState
from preflight.model.evidence import NotGrounded
from preflight.model.instruction import approved
from preflight.model.json_value import freeze, is_object
from preflight.model.record import Record
from preflight.model.request import Request, Utterance
from preflight.model.rules import DECISION, ConditionRule, LimitRule, MeasureRule, ToolRules, TriggerRule
from preflight.model.slot import Slot
from preflight.model.tool import Tool
from preflight.ports import Admission, Clock, Storage
from preflight.rulebook import RuleSource, with_user
from preflight.rules import Conditions, Inputs, provider_conditions
from preflight.rules.conditions import measures_read
from preflight.rules.labels import Unreadable
from preflight.secrecy.documents import covered
from preflight.services import members, references
from preflight.services.measuring import Measurer
from preflight.services.tallies import admits, amount, started, used, window_start, within

Rule = ConditionRule | LimitRule
Outcome = dict[str, object]
_UNREACHABLE = (PreflightError, OSError, ValueError, KeyError)
"""What a measurement that cannot be had raises; anything else is a defect and fails the hook."""


class Services:
    """Measures, checks conditions, and adds up what was executed."""

    def __init__(self, storage: Storage, measurer: Measurer, rules: RuleSource, clock: Clock) -> None:
        """Add up over `storage`, measure with `measurer`; `rules` are the rules in force."""
        self._storage = storage
        self._measurer = measurer
        self._rules = rules
        self._clock = clock
        self._conditions = Conditions()

    def hooks(self) -> dict[str, Hook]:
        """Return the services by the names under which the core asks for them."""
        return {
            "measure_by_rule": self.measure_by_rule,
            "select_measured": self.select_measured,
            "condition_needs": self.condition_needs,
            "measure_named": self.measure_named,
            "check_condition": self.check_condition,
            "provider_checklist": self.provider_checklist,
        }

    def measure_by_rule(
        self, slot: Slot, request: Request, known: Mapping[str, object]
    ) -> dict[str, object] | NotGrounded | None:
        """Measure a slot as its rules say; `known` holds what is confirmed so far."""
        rules, reader = request.rules.field(slot.name), _Reader(request, self._measurer)
        try:
            if rules.reference is not None:
                return references.resolve(rules.reference, slot, request, reader, known)
            if rules.measure is not None:
                return reader.read(request.rules.measures[rules.measure], known)
            return members.find(rules.members, slot, request, reader, known)
        except _UNREACHABLE as fault:
            return NotGrounded(f"not measured: {fault}")  # it may succeed another time

    @inline
    def select_measured(
        self, slot: Slot, request: Request, known: Mapping[str, object]
    ) -> dict[str, object] | NotGrounded | None:
        """Select a slot's value from what the request measured already."""
        return self.measure_by_rule(slot, request, known)

    def provider_checklist(self, request: Request) -> ToolRules:
        """Return the rules of the call with what a trusted server declares for its tool added (R-63)."""
        rules, declared = request.rules, provider_conditions(request.tool, request.rules)
        unreadable = [_unreadable(i, each) for i, each in enumerate(declared.unreadable, 1)]
        return msgspec.structs.replace(
            rules,
            conditions=(*rules.conditions, *declared.conditions, *unreadable),
            measures={**declared.measures, **rules.measures},  # what the adopter declares comes first
            notices=(*rules.notices, *(n for n in declared.notices if n not in rules.notices)),
        )

    @inline
    def condition_needs(self, rule: Rule, request: Request) -> tuple[str, ...]:
        """Return the measures that must be read before a condition can be checked, those given left out."""
        if isinstance(rule, LimitRule):
            return ()
        counted = {limit.id for limit in request.rules.limits}
        return tuple(name for name in measures_read(rule) if name not in counted and _given(request, name) is None)

    def measure_named(
        self, names: tuple[str, ...], request: Request, arguments: Mapping[str, object]
    ) -> dict[str, object]:
        """Read measures by name: `{readings, faults}`, each by name; one that cannot be read is among the faults."""
        readings: dict[str, object] = {}
        faults: dict[str, str] = {}
        for name in names:
            try:
                readings[name] = self._measurer.read(request.rules.measures[name], arguments)
            except _UNREACHABLE as fault:
                faults[name] = str(fault)
        return {"readings": readings, "faults": faults}

    @inline
    def check_condition(
        self, rule: Rule, request: Request, arguments: Mapping[str, object], readings: Mapping[str, object]
    ) -> Outcome:
        """Check one condition from what was read for it: `{state, missing, note, broken, measured}`."""
        if isinstance(rule, LimitRule):
            return self._within(rule, request, arguments)
        if not rule.text:
            return {"state": "unknown", "note": rule.message, "broken": True}
        found = {name: self._reading(name, request, readings) for name in measures_read(rule)}
        measured = {name: reading for name, reading in found.items() if reading is not None}
        missing = tuple(f"measured.{name}" for name, reading in found.items() if reading is None)
        if rule.check == "measure":
            return _exactly_true(measured, missing, _faults(missing, readings))
        utterance = request.utterance
        inputs = Inputs(
            args=arguments,
            measured={name: reading["value"] for name, reading in measured.items()},
            preset=_approved(request),
            user={"id": utterance.user_id, "tenant": utterance.scope.tenant},
            record={"call_id": utterance.call_id or "", "tool": request.tool.name, "server": request.tool.server},
            now=utterance.now,
        )
        outcome = self._conditions.evaluate(rule, inputs)
        return {
            "state": outcome.state,
            "missing": (*outcome.missing, *(name for name in missing if name not in outcome.missing)),
            "note": outcome.note or _faults(missing, readings),
            "broken": outcome.broken,
            "measured": measured,
        }

    def _reading(self, name: str, request: Request, readings: Mapping[str, object]) -> Mapping[str, object] | None:
        """Return what was measured by this name: given, read now, or what was used of a limit; None: missing (R-60)."""
        if (given := _given(request, name)) is not None:
            return given
        read = readings.get("readings")
        if is_object(read) and is_object(reading := read.get(name)):
            return reading
        limit = next((rule for rule in request.rules.limits if rule.id == name), None)
        if limit is None:
            return None
        total = used(limit, started(limit, request, self._storage))
        value = int(total) if total == total.to_integral_value() else float(total)
        return {"valid": True, "value": value, "by": f"limit {name}"}

    def trigger_state(self, rule: TriggerRule, record: Record) -> Outcome:
        """Look whether a condition that a deferred run waits for holds now; it may read what the run settled."""
        request = self._as_request(record)
        assert request is not None and rule.condition is not None  # noqa: S101, PT018  a deferred record has its tool
        rules = msgspec.structs.replace(request.rules, measures={**request.rules.measures, **rule.measures})
        settled = record.states
        known = {state.name: freeze(state.value, state.name) for state in settled if state.status == "known"}
        request = msgspec.structs.replace(request, rules=rules)
        readings = self.measure_named(self.condition_needs(rule.condition, request), request, known)
        return self.check_condition(rule.condition, request, known, readings)

    def recheck(self, record: Record, condition: ConditionState) -> bool:
        """Check a condition of a stored decision again, with the arguments that would be sent (R-74).

        The record names the condition; its text is in the rules in force, whose digest was compared before. Raises
        HookError where it cannot be told.
        """
        request = self._as_request(record)
        arguments = freeze(record.call_arguments or {}, "arguments")
        if request is None or not is_object(arguments):
            return False
        rules: tuple[Rule, ...] = (*request.rules.conditions, *request.rules.limits)
        rule = next((rule for rule in rules if rule.id == condition.id), None)
        if rule is None:
            return False
        readings = self.measure_named(self.condition_needs(rule, request), request, arguments)
        found = self.check_condition(rule, request, arguments, readings)
        if found["state"] == "unknown":
            message = f"{found.get('note') or 'what it needs is not known'}"
            raise HookError(message)
        return found["state"] == "met"

    def took_effect(self, record: Record) -> tuple[bool, str] | None:
        """Measure whether a call in doubt took effect, and say what shows it; None when no rule tells how (R-75).

        `record` has its arguments as they were sent. Raises HookError when nothing can be measured, or what was
        measured is not exactly true or false (R-5).
        """
        if record.tool is None:
            return None
        rules = self._rules().for_tool(record.tool.server, record.tool.name)
        if rules.settle is None:
            return None
        arguments = freeze(record.call_arguments or {}, "arguments")
        known = {**(arguments if is_object(arguments) else {}), DECISION: record.decision_id}
        reading = self._measurer.read(rules.measures[rules.settle], known)
        if type(value := reading["value"]) is not bool:
            message = f"measure `{rules.settle}` is not true or false"
            raise HookError(message)
        return (
            value,
            f"measure `{rules.settle}` of {reading['by']} was {str(value).lower()} at {reading['observed_at']}",
        )

    def _as_request(self, record: Record) -> Request | None:
        if record.tool is None:
            return None
        ref = record.tool
        tool = Tool(
            server=ref.server, name=ref.name, description="", input_schema=None, annotations=None, meta=None,
            fingerprint=ref.fingerprint,
        )  # fmt: skip
        utterance = Utterance(
            user_id=record.user_id, scope=record.scope, segments=None, call_id=record.call_id,
            now=iso(self._clock.now()),
        )  # fmt: skip
        rules = self._rules()
        user = rules.for_user(record.user_id, record.scope.tenant)
        return Request(
            utterance=utterance,
            tool=tool,
            pre_set_data=user.settings,
            rules=with_user(rules.for_tool(ref.server, ref.name, record.user_id, record.scope.tenant), user),
        )

    def _within(self, rule: LimitRule, request: Request, arguments: Mapping[str, object]) -> Outcome:
        """Add what was started in the window to this call (R-66); starts that failed do not count."""
        if rule.field is not None and covered(request.rules)(
            rule.field
        ):  # it would open every record of the window
            return {"state": "unknown", "note": "a limit cannot add up a field that is secret", "broken": True}
        here = amount(rule, arguments)
        if here is None:
            return {"state": "unknown", "missing": (f"args.{rule.field}",), "broken": False}
        total = here + used(rule, started(rule, request, self._storage))
        note = f"{total} of at most {rule.at_most}"
        return {"state": "met" if within(rule, total) else "unmet", "note": note}

    def admission(self, record: Record, passed: list[str]) -> Admission | None:
        """Return how the limits of a call are judged inside its start, or None where it has none (R-66).

        A limit that the start would pass is named in `passed`: of two calls that fit only one at a time,
        exactly one starts.
        """
        request = self._as_request(record)
        limits = request.rules.limits if request is not None else ()
        if request is None or not limits:
            return None
        now = request.utterance.now

        def judge(starts: Iterator[Record]) -> bool:
            limit = admits(limits, record, now, starts)
            if limit is not None:
                passed.append(limit)
            return limit is None

        return Admission(since=min(window_start(rule, now) for rule in limits), judge=judge)


def _unreadable(number: int, label: Unreadable) -> ConditionRule:
    """A declaration that cannot be read is a condition nobody can meet, until somebody repairs it."""
    return ConditionRule(f"unreadable_{number}", "provider", "expression", "", message=label.why)


class _Reader:
    """Reads measures for one request: what the request measured already is not read again (R-15)."""

    def __init__(self, request: Request, measurer: Measurer) -> None:
        self._request = request
        self._measurer = measurer

    def read(self, rule: MeasureRule, known: Mapping[str, object]) -> dict[str, object]:
        given = _given(self._request, rule.name)
        return self._measurer.read(rule, known) if given is None else {"by": "", **given}


def _given(request: Request, name: str) -> Mapping[str, object] | None:
    """Return what the request itself measured by this name, if it counts (R-15)."""
    given = request.measured_data.get(name)
    return given if is_object(given) and given.get("valid") is True and "value" in given else None


def _faults(missing: tuple[str, ...], readings: Mapping[str, object]) -> str | None:
    """Say why measures that are missing could not be had, as far as that is known."""
    faults = readings.get("faults")
    named = [(name, name.removeprefix("measured.")) for name in missing]
    told = [f"{name}: {faults[short]}" for name, short in named if short in faults] if is_object(faults) else []
    return "; ".join(told) or None


def _exactly_true(measured: dict[str, Mapping[str, object]], missing: tuple[str, ...], faults: str | None) -> Outcome:
    """A measure that must be exactly true; exactly false is unmet, anything else is no answer (R-5)."""
    if missing:
        return {"state": "unknown", "missing": missing, "note": faults, "broken": False}
    value = next(iter(measured.values()))["value"]
    if type(value) is not bool:
        note = "the measure is not true or false"
        return {"state": "unknown", "note": note, "broken": True, "measured": measured}
    return {"state": "met" if value else "unmet", "measured": measured}


def _approved(request: Request) -> dict[str, object]:
    """Return the settings a user approved, by name (R-14)."""
    settings = request.pre_set_data.items()
    return {name: s.get("value") for name, s in settings if approved(s) and "value" in s}
