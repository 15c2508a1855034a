"""The record: a decision, or a step of its execution, as it is stored for good."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from preflight.model.decision import Decision
from preflight.model.instruction import Segment
from preflight.model.request import Scope
from preflight.model.sealed import Sealed

RecordState = Literal[
    "execute", "ask_user", "hold", "deferred", "executing", "executed", "failed", "in_doubt", "settled"
]
UNKEYED = "preflight:unkeyed"
"""The reserved key under which runs without an action key are recorded (R-71)."""


class ToolRef(msgspec.Struct, frozen=True, gc=False):
    """Which tool was judged: server, name and fingerprint."""

    server: str
    name: str
    fingerprint: str


class Outcome(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """How an execution ended, or what is known of it (R-76).

    `result_digest` is the hex SHA-256 of the provider's result; `settled_as`, `by` and `evidence` stand
    on a settlement only.
    """

    result_digest: str | None = None
    error: str | None = None
    settled_as: Literal["executed", "failed"] | None = None
    by: str | None = None
    evidence: str | None = None


class Instructed(msgspec.Struct, frozen=True, gc=False):
    """Which instruction a run is of, and what it does of it, in digests (R-79).

    `by` is that of the instruction with the user, the tool and the occurrence, `proposed` that of the proposal, and
    `sent` has one for each value that the call sends, by slot.
    """

    by: str
    proposed: str
    sent: dict[str, str] = {}

    def repeats(self, before: Instructed) -> bool:
        """Whether this does again what `before` does, of the same instruction.

        The same is proposed, or all that one call sends is sent by the other, which only says more.
        """
        same = self.by == before.by and self.proposed == before.proposed
        return same or self.includes(before) or before.includes(self)

    def includes(self, before: Instructed) -> bool:
        """Whether all that `before` sends, of the same instruction, is sent by this too."""
        return self.by == before.by and bool(before.sent) and before.sent.items() <= self.sent.items()


class Record(Decision, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One row of the log (R-70). Steps of an execution repeat their decision's content under a new id.

    `record_id` orders by time; `decision_id` is the `record_id` of the decision, the same on every step.
    `timestamp` is ISO 8601 with offset. `not_before` and `not_after` bound the start of an `execute`
    decision (R-73). `instruction` is there only where the adopter chose to store it (R-71);
    `request` also where the run waits for a trigger, which makes it again (R-80). `trigger` is what a run waits for, or
    what fired it. `unattended` says that nobody attended the run. `instructed` stands on what may run, where the
    request named its instruction. `sealed` holds what was secret, encrypted, by the JSON Pointer of its place; a mask
    stands there (R-78).
    """

    record_id: str
    decision_id: str
    scope: Scope
    user_id: str
    tool: ToolRef | None
    timestamp: str
    request_digest: str
    rules_digest: str | None
    execution_decision: RecordState  # type: ignore[assignment]  # a record is in more states than a decision
    call_id: str | None = None
    previous_digest: str | None = None
    not_before: str | None = None
    not_after: str | None = None
    outcome: Outcome | None = None
    question_id: str | None = None
    unattended: bool = False
    instructed: Instructed | None = None
    instruction: tuple[Segment, ...] | UnsetType = UNSET
    request: object = UNSET
    sealed: dict[str, Sealed] = msgspec.field(default_factory=dict)

    def is_same_call(self, other: Record) -> bool:
        """Whether another record of the same scope and `call_id` is of the same call: user, tool and trigger are."""
        tools = [(tool.server, tool.name) if tool else None for tool in (self.tool, other.tool)]
        return tools[0] == tools[1] and self.user_id == other.user_id and self.trigger == other.trigger

    def repeats(self, before: Record) -> bool:
        """Whether another decision does again what `before`, which was started, does of the same instruction."""
        if self.instructed is None or before.instructed is None or self.decision_id == before.decision_id:
            return False
        return self.instructed.repeats(before.instructed)

    @property
    def key(self) -> str:
        """The action key under which the record accumulates, or the reserved one."""
        return UNKEYED if self.action_key is None else self.action_key
