"""When a deferred run fires: as it is settled at the instruction, and as it comes back at the trigger."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from preflight.model.checklist import WhenCase
from preflight.model.evidence import Evidence


class Trigger(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A trigger the shell has verified against the stored `deferred` record (R-24).

    Requests carry triggers as plain JSON; only the shell makes this type of them, so that having it is
    the proof. `occurrence` identifies the firing (R-83). `said_at` is the clock by which the user's words
    were read when the run was deferred: "next Friday" means the same day when it fires (R-80).
    """

    decision_id: str
    occurrence: str
    when_case: WhenCase
    said_at: str = ""


class When(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """When a run is to fire, settled at the instruction (R-81).

    `trigger` is the trigger as JSON, `said` the same in words that leave nothing to be worked out, `first` its
    first instant (ISO 8601, UTC) where one is known. `evidence` is the place in the user's words.
    """

    case: WhenCase
    trigger: Mapping[str, object]
    said: str
    source: Literal["user_answer", "instruction"]
    first: str | None = None
    evidence: Evidence | None = None
