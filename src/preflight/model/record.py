"""The record: a decision, or a step of its execution, as it is stored for good."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from preflight.model.decision import Decision
from preflight.model.instruction import ReadBy, Segment
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


class Sent(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What a call sends in one slot, or in one place of the elements of an array: digests of the values.

    `places` are where they stand in the user's words: a digest of the segment, and half-open offsets in code points.
    `told` says that the user said or answered them.
    """

    values: tuple[str, ...] = ()
    told: bool = False
    places: tuple[tuple[str, int, int], ...] = ()

    def __or__(self, other: Sent) -> Sent:
        """Return what both send."""
        values, places = {*self.values, *other.values}, {*self.places, *other.places}
        return Sent(tuple(sorted(values)), self.told or other.told, tuple(sorted(places)))

    def is_apart(self, other: Sent) -> bool:
        """Whether the user told this and the other as two different things."""
        if not (self.told and other.told) or not set(self.values).isdisjoint(other.values):
            return False
        return not any(_overlap(one, two) for one in self.places for two in other.places)


def _overlap(one: tuple[str, int, int], two: tuple[str, int, int]) -> bool:
    return one[0] == two[0] and one[1] < two[2] and two[1] < one[2]


class Instructed(msgspec.Struct, frozen=True, gc=False):
    """Which instruction a run is of, and what it does of it (R-79).

    `by` is a digest of the instruction with the user, the tool and the occurrence, `proposed` one of the proposal;
    `sent` is what the call sends, by slot.
    """

    by: str
    proposed: str
    sent: dict[str, Sent] = {}

    def proposes_again(self, before: Instructed) -> bool:
        """Whether this proposes just what `before` did, of the same instruction."""
        return self.by == before.by and self.proposed == before.proposed

    def repeats(self, before: Instructed) -> bool:
        """Whether this does again what `before` does, of the same instruction.

        It does unless the user told the two apart: by a slot that both send, with two different things that they said
        or answered, or since nothing of what they told is in both. What only the model, a setting or a measurement
        says tells no acts apart, nor does an argument more or less.
        """
        return self.proposes_again(before) or (self.by == before.by and not self._is_apart(before))

    def _is_apart(self, before: Instructed) -> bool:
        shared = self.sent.keys() & before.sent.keys()
        if any(self.sent[slot].is_apart(before.sent[slot]) for slot in shared):
            return True
        return self._told().is_apart(before._told())

    def _told(self) -> Sent:
        return reduce(or_, (sent for sent in self.sent.values() if sent.told), Sent())


class Record(Decision, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One row of the log (R-70). Steps of an execution repeat their decision's content under a new id.

    `record_id` orders by time; `decision_id` is the `record_id` of the decision, the same on every step.
    `timestamp` is ISO 8601 with offset. `not_before` and `not_after` bound the start of an `execute`
    decision (R-73). `instruction` is there only where the adopter chose to store it (R-71);
    `request` also where the run waits for a trigger, which makes it again (R-80). `trigger` is what a run waits for, or
    what fired it. `unattended` says that nobody attended the run. `instructed` stands on what may run, where the
    request named its instruction. `read_by` says by which clock, zone and locale the words were read (R-59); records of
    before it have none. `sealed` holds what was secret, encrypted, by the JSON Pointer of its place; a mask
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
    read_by: ReadBy | None = None
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
