"""One run, and the decisions it may end in."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import UNSET

from preflight.core.fixed import BrokenHook, intent_fingerprint, phase_of
from preflight.core.needs import Failed
from preflight.core.setup import Setup
from preflight.core.unattended import bounded
from preflight.core.verdict import Findings, judge
from preflight.core.wording import DONE_NOW, TIME_IS_A_VALUE, message_for, reason_of
from preflight.errors import describe
from preflight.model.checklist import Fixed, Match, Phase, WhenCase
from preflight.model.decision import SCHEMA_VERSION, Decision, Diagnostics, ExecutionDecision, Gate, GateKind
from preflight.model.request import Request
from preflight.model.slot import DroppedClaim, FieldState, Unsupported
from preflight.model.trigger import When


class Run:
    """What is known so far in one run; each method ends it in a decision that says just that."""

    __slots__ = ("action_key", "fixed", "notes", "notices", "phase", "request", "setup", "when", "when_open")

    def __init__(self, request: Request, setup: Setup) -> None:
        """Begin a run: nothing is settled."""
        self.request = request
        self.setup = setup
        self.fixed: Fixed | None = None
        self.phase: Phase | None = None
        self.action_key: str | None = None
        self.notes = ""
        self.notices: tuple[str, ...] = ()
        self.when: When | None = None
        self.when_open: FieldState | None = None

    def matched(self, match: Match) -> None:
        """Write the tool gate's answer into the fixed checklist, on both paths (R-25)."""
        fixed = self.fixed
        assert fixed is not None  # noqa: S101  the tool gate comes after the fixed checklist
        self.fixed = Fixed(
            fixed.c1_when_case, fixed.c2_user_action_name, fixed.c3_provider_action_name, fixed.c2_source, match
        )

    def timed(self, when: When | None, *, answered: bool) -> None:
        """Write when the run is to happen into the fixed checklist; None means now (R-24, R-81).

        The user's answer stands above what was read from their words (R-40), and so does the value of a slot.
        """
        fixed = self.fixed
        assert fixed is not None  # noqa: S101  the time comes after the fixed checklist
        case: WhenCase = "immediate" if when is None else when.case
        if when is None and (answered or fixed.c1_when_case != case):
            self.notices = (DONE_NOW if answered else TIME_IS_A_VALUE,)
        self.when = when
        self.fixed = msgspec.structs.replace(fixed, c1_when_case=case)
        self.phase = phase_of(self.request, case)

    # gates before any value is looked up

    def checklist_unidentified(self) -> Decision:
        """Hold: an item of the user checklist cannot be told apart (R-20)."""
        return self._stopped("hold", Gate(kind="checklist_unidentified"))

    def intent_undetermined(self) -> Decision:
        """Ask what should be done, or hold when that was asked often enough (R-22)."""
        asked, limit = self.request.intent_attempt, self.setup.limits.intent_attempts
        exhausted = asked >= limit
        kind: GateKind = "intent_undetermined_exhausted" if exhausted else "intent_undetermined"
        gate = Gate(
            kind=kind,
            user_message=message_for(kind) or UNSET,
            next_intent_attempt=None if exhausted else asked + 1,
            intent_fingerprint=intent_fingerprint(self.request.utterance),
        )
        return self._stopped("hold" if exhausted else "ask_user", gate)

    def tool_undetermined(self, match: Match, fault: str | None) -> Decision:
        """Ask for the act to be said again, or hold; the candidate goes to the logs only (R-25)."""
        asked, limit = self.request.tool_attempt, self.setup.limits.tool_attempts
        exhausted = asked >= limit
        kind: GateKind = "tool_undetermined_exhausted" if exhausted else "tool_undetermined"
        diag = Diagnostics(
            candidate_tool=self.request.tool.name,
            user_action=self.fixed.c2_user_action_name if self.fixed else None,
            reason=match.reason,
            fault=fault,
        )
        gate = Gate(
            kind=kind,
            user_message=message_for(kind) or UNSET,
            next_tool_attempt=None if exhausted else asked + 1,
            diag=diag,
        )
        return self._stopped("hold" if exhausted else "ask_user", gate)

    def hook_failed(self, kind: GateKind, broken: BrokenHook) -> Decision:
        """Hold: a hook failed that nothing may stand in for (R-23)."""
        diag = Diagnostics(hook=broken.hook, fault=broken.fault)
        return self._stopped("hold", Gate(kind=kind, route="definition_repair", diag=diag))

    def action_key_failed(self, returned: object) -> Decision:
        """Hold: runs of this action could not be told from others (R-23)."""
        fault = returned.fault if type(returned) is Failed else f"returned a `{type(returned).__name__}`"
        return self.hook_failed("action_key_failed", BrokenHook("build_action_key", fault))

    def schema_unsupported(self, why: Unsupported) -> Decision:
        """Hold: what the tool requires cannot be read (R-34)."""
        gate = Gate(
            kind="schema_unsupported",
            route="definition_repair",
            payload_errors=(f"`{why.at or '/'}`: {why.what}",),
        )
        return self._stopped("hold", gate)

    def tool_changed(self) -> Decision:
        """Hold: the tool is not the one that was accepted, until someone accepts the new one (R-68)."""
        return self._stopped("hold", Gate(kind="tool_changed", route="definition_repair"))

    def tool_forbidden(self) -> Decision:
        """Hold: the organisation refuses this tool, and nobody's answer changes that (R-7)."""
        return self._stopped("hold", Gate(kind="tool_forbidden"))

    def repeated(self, decision_id: str) -> Decision:
        """Hold: what is proposed was started before on the same instruction, as the named decision (R-79)."""
        return repeated(self._stopped("hold", Gate(kind="repeated")), decision_id)

    def read_passes(
        self, arguments: Mapping[str, object], left: tuple[DroppedClaim, ...], errors: tuple[str, ...]
    ) -> Decision:
        """Let a read pass with a short record: what it declares of the claims are the arguments (R-36, R-65)."""
        if errors:
            return self._stopped("hold", Gate(kind="payload_invalid", payload_errors=errors))
        decision = self._stopped("execute", Gate(kind="read_passes"))
        return msgspec.structs.replace(decision, call_arguments=arguments, dropped_claims=left)

    def internal_error(self, fault: BaseException) -> Decision:
        """Hold: an unforeseen fault; its text is for the logs (R-31)."""
        diag = Diagnostics(fault=describe(fault))
        return self._stopped("hold", Gate(kind="internal_error", route="definition_repair", diag=diag))

    # after the lookup

    def judged(self, found: Findings) -> Decision:
        """Decide at the value gate (R-30)."""
        decision, gate = self._judge(found)
        if self.request.unattended and self.phase == "at_trigger":
            found = bounded(found, self.request, clear=decision == "execute")
            decision, gate = self._judge(found)
        arguments = found.walked.arguments if decision == "execute" else None
        return self._looked_up(decision, gate, found, arguments)

    def _judge(self, found: Findings) -> tuple[ExecutionDecision, Gate]:
        request = self.request
        return judge(found, self.phase, request.asked, request.asked_items, request.rules.value_asks)

    def deferred(self, found: Findings, kept: object) -> Decision:
        """Wait for the trigger with what the user said (R-29); when that is, is said back absolutely (R-81)."""
        decision = self._looked_up("deferred", None, found, None, kept)
        if self.when is None:
            return decision
        said = self.when.said
        return msgspec.structs.replace(
            decision, trigger=self.when, notices=(said,), reason=f"{decision.reason}: {said}"
        )

    def worded(self, decision: Decision, reason: object) -> Decision:
        """Put the adopter's wording in place of ours when it is one."""
        return msgspec.structs.replace(decision, reason=reason) if type(reason) is str else decision

    def _looked_up(
        self,
        decision: ExecutionDecision,
        gate: Gate | None,
        found: Findings,
        arguments: Mapping[str, object] | None,
        deferred_input: object = None,
    ) -> Decision:
        walked, items = found.walked, found.items
        return Decision(
            schema_version=SCHEMA_VERSION,
            action_key=self.action_key,
            phase=self.phase,
            fixed=self.fixed,
            fields=walked.fields,
            advisory_notes=self.notes,
            user_checklist=items,
            unknown_count=len(found.unknown),
            unverified_checklist_count=None if items is None else len([i for i in items if i.status != "verified"]),
            gate=gate,
            execution_decision=decision,
            reason=reason_of(gate, decision, self._messages(gate)),
            extra_fields=walked.extra_fields if self.when_open is None else (*walked.extra_fields, self.when_open),
            dropped_claims=walked.dropped,
            allowed_claims=walked.allowed,
            conditions=found.conditions,
            notices=self.notices,
            unmet=gate.unmet if gate is not None else (),
            call_arguments=arguments,
            deferred_input=deferred_input,
        )

    def _messages(self, gate: Gate | None) -> dict[str, str]:
        """Return what the rules say where their conditions and limits do not hold, by id."""
        if gate is None or not gate.unmet:
            return {}
        rules = self.request.rules
        said = {rule.id: rule.message for rule in rules.conditions} | {rule.id: rule.message for rule in rules.limits}
        return {name: message for name, message in said.items() if message}

    def _stopped(self, decision: ExecutionDecision, gate: Gate) -> Decision:
        return Decision(
            schema_version=SCHEMA_VERSION,
            action_key=self.action_key,
            phase=self.phase,
            fixed=self.fixed,
            fields=None,  # no decision about values was made
            advisory_notes=self.notes,
            user_checklist=None,
            unknown_count=None,
            unverified_checklist_count=None,
            gate=gate,
            execution_decision=decision,
            reason=reason_of(gate, decision),
        )


def repeated(decision: Decision, before: str) -> Decision:
    """Hold what is settled, since the same instruction led to it before, as the decision `before` (R-79)."""
    gate = msgspec.structs.replace(decision.gate or Gate(kind="repeated"), kind="repeated", repeats=before)
    return msgspec.structs.replace(
        decision, gate=gate, execution_decision="hold", reason=reason_of(gate, "hold"), call_arguments=None
    )
