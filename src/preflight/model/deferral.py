"""A deferred run while it waits: one row that changes, and notes of every change that stay (R-83)."""

from __future__ import annotations

from typing import Literal

import msgspec

from preflight.model.request import Scope

DeferralState = Literal["waiting", "held", "done", "cancelled"]
NoteKind = Literal[
    "scheduled", "happened", "fired", "skipped", "held", "resumed", "moved", "hastened", "cancelled", "expired",
]  # fmt: skip


def occurrence_id(action_key: str, instant: str) -> str:
    """Return the id of one firing of a run: `action_key@instant` (R-83)."""
    return f"{action_key}@{instant}"


class Deferral(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One deferred run, or one occurrence of it that is held apart so that the next is not kept waiting (R-82).

    `decision_id` names its `deferred` record, which keeps what the user meant; `deferral_id` is the same but for
    an occurrence held apart. Times are ISO 8601, UTC. `due` is when a worker looks at it next, `slot` the instant
    the trigger itself gives, `occurrence` the id under which it fires: None until an event or condition comes.
    `event` is the name of the event it waits for, `happened` what the event said. `question_id` is the question
    that must be answered first. A `forced` run does not count as missed: a person asked for it. `version` counts
    the changes.
    """

    deferral_id: str
    decision_id: str
    scope: Scope
    user_id: str
    action_key: str
    state: DeferralState
    said: str
    due: str
    call_id: str | None = None
    slot: str | None = None
    occurrence: str | None = None
    event: str | None = None
    happened: dict[str, object] = {}
    reason: str | None = None
    question_id: str | None = None
    forced: bool = False
    version: int = 1


class DeferralNote(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One change of a deferred run, kept for good: what, when, why, by whom.

    `record_id` is the decision that came of a firing, `status` what became of its call. `late_seconds` is how long
    after its time it fired. `missed` counts occurrences that passed while nobody looked.
    """

    deferral_id: str
    at: str
    what: NoteKind
    reason: str | None = None
    by: str | None = None
    occurrence: str | None = None
    record_id: str | None = None
    status: str | None = None
    late_seconds: float | None = None
    missed: int = 0
