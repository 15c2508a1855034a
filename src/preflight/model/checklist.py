"""The fixed checklist and the user's own, as they are recorded."""

from __future__ import annotations

from typing import Literal, get_args

import msgspec
from msgspec import UNSET

from preflight.model.slot import Route

WhenCase = Literal["immediate", "scheduled", "conditional", "recurring"]
WHEN_CASES: tuple[WhenCase, ...] = get_args(WhenCase)
Phase = Literal["at_instruction", "at_trigger"]


class Match(msgspec.Struct, frozen=True, gc=False):
    """What the tool gate answered (R-25). `approved` is True only for the exact approving value."""

    approved: bool
    reason: str | None = None


class Fixed(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The fixed checklist: when, what the user called it, which tool (R-21). Unsettled slots stay null."""

    c1_when_case: WhenCase | None
    c2_user_action_name: str | None
    c3_provider_action_name: str
    c2_source: Literal["instruction", "pre_set_data"] | None
    c3_match: Match | msgspec.UnsetType = UNSET


class ItemState(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One item of the user's checklist after this run (R-61)."""

    id: str
    description: str
    status: Literal["verified", "unverified"]
    source: str | None = None
    route: Route | None = None
    note: str | None = None
