"""Conditions and what came of checking them (R-60 to R-62)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from preflight.model.rules import NOTHING, DeclaredBy, Place
from preflight.model.slot import Route


class ConditionState(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One condition after this run.

    `missing` names what an unknown condition lacks; `route` is where that work goes. `slot` is the field
    whose shown value a confirmation approves; its id then ends in the value's digest, so that the approval
    dies when the value changes (R-57). `measured` holds what was read for it. The outcome counts until
    `max_age_seconds` after `checked_at`; None: as long as the decision (R-74).
    """

    id: str
    declared_by: DeclaredBy
    status: Literal["met", "unmet", "unknown"]
    checked_at: str
    description: str = ""
    note: str | None = None
    missing: tuple[str, ...] = ()
    route: Route | None = None
    slot: str | None = None
    measured: Mapping[str, object] = NOTHING
    max_age_seconds: float | None = None
    place: Place | None = None
