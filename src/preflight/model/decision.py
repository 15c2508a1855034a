"""The decision: what the core returns, before anything is stored."""

from __future__ import annotations

from typing import Literal, get_args

import msgspec
from msgspec import UNSET, UnsetType

from preflight.model.checklist import Fixed, ItemState, Phase
from preflight.model.condition import ConditionState
from preflight.model.slot import DroppedClaim, FieldState, Route

SCHEMA_VERSION = "2.0"

ExecutionDecision = Literal["execute", "ask_user", "hold", "deferred"]
DECISIONS: tuple[ExecutionDecision, ...] = get_args(ExecutionDecision)
"""The four verdicts; the other states of a record are steps of an execution."""
GateKind = Literal[
    "checklist_unidentified",
    "intent_undetermined",
    "intent_undetermined_exhausted",
    "tool_undetermined",
    "tool_undetermined_exhausted",
    "hook_failed",
    "action_key_failed",
    "schema_unsupported",
    "value_gate",
    "read_passes",
    "value_exhausted",
    "payload_invalid",
    "tool_changed",
    "tool_forbidden",
    "repeated",
    "request_invalid",
    "internal_error",
]


class UnknownField(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A slot that is not confirmed, as the value gate lists it."""

    name: str
    note: str | None
    route: Route | None = None


class UnverifiedItem(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A checklist item that was not verified in this run."""

    id: str
    note: str | None
    route: Route | None = None


class BranchQuestion(msgspec.Struct, frozen=True, gc=False):
    """Alternatives of which one must be told apart by what is known (R-35)."""

    at: str
    kind: Literal["branch_unresolved", "branch_conflict"]
    branch_options: tuple[tuple[str, ...], ...]


class UnknownCondition(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A condition whose outcome is not known: what is missing, and where that work goes."""

    id: str
    note: str | None
    route: Route | None = None
    missing: tuple[str, ...] = ()
    slot: str | None = None


class UnmetCondition(msgspec.Struct, frozen=True, gc=False):
    """A condition that was checked and does not hold (R-62)."""

    id: str
    declared_by: Literal["provider", "user", "organisation"]
    note: str | None


class Diagnostics(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """For logs only: never shown to a person or a model (R-25, R-31)."""

    candidate_tool: str | None = None
    user_action: str | None = None
    reason: str | None = None
    fault: str | None = None
    hook: str | None = None


class Gate(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Why the decision is what it is (R-70: authoritative, `reason` renders it).

    `unknown_fields` and `unverified_checklist` stand exactly where values were looked up; elsewhere
    they are absent, because no decision about values was made. `repeats` is the decision as which an instruction led to
    the act before (R-79).
    """

    kind: GateKind
    user_message: str | UnsetType = UNSET
    unknown_fields: tuple[UnknownField, ...] | UnsetType = UNSET
    unverified_checklist: tuple[UnverifiedItem, ...] | UnsetType = UNSET
    unmet: tuple[UnmetCondition, ...] = ()
    unknown_conditions: tuple[UnknownCondition, ...] = ()
    branches: tuple[BranchQuestion, ...] = ()
    payload_errors: tuple[str, ...] = ()
    route: Route | None = None
    next_intent_attempt: int | UnsetType | None = UNSET
    next_tool_attempt: int | UnsetType | None = UNSET
    intent_fingerprint: str | UnsetType = UNSET
    repeats: str | None = None
    diag: Diagnostics | UnsetType = msgspec.field(default=UNSET, name="_diag")


class Decision(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The verdict of one run. Branch on `execution_decision`, never on a count (R-32).

    `fields` and the counts are None where no decision about values was made; an empty tuple means the
    lookup ran and found no slots (R-25). `call_arguments` is set only when the call may run. `notices` are shown
    before the call (R-63). `trigger` is a `When` where the run waits for one (R-81).
    """

    schema_version: str
    action_key: str | None
    phase: Phase | None
    fixed: Fixed | None
    fields: tuple[FieldState, ...] | None
    advisory_notes: str
    user_checklist: tuple[ItemState, ...] | None
    unknown_count: int | None
    unverified_checklist_count: int | None
    gate: Gate | None
    execution_decision: ExecutionDecision
    reason: str
    extra_fields: tuple[FieldState, ...] = ()
    dropped_claims: tuple[DroppedClaim, ...] = ()
    allowed_claims: tuple[DroppedClaim, ...] = ()
    conditions: tuple[ConditionState, ...] = ()
    notices: tuple[str, ...] = ()
    unmet: tuple[UnmetCondition, ...] = ()
    call_arguments: object = None
    deferred_input: object = None
    trigger: object = None

    @property
    def states(self) -> tuple[FieldState, ...]:
        """The state of every slot, the required ones first."""
        return (self.fields or ()) + self.extra_fields

    @property
    def executable(self) -> bool:
        """True for `execute` and nothing else."""
        return self.execution_decision == "execute"

    def __bool__(self) -> bool:
        """Refuse to be tested for truth: `if decision:` would pass whatever was decided (R-32)."""
        message = "a decision has no truth value; test `decision.executable`"
        raise TypeError(message)
