"""The trigger of a deferred run that fires."""

from __future__ import annotations

import msgspec

from preflight.model.checklist import WhenCase


class Trigger(msgspec.Struct, frozen=True, gc=False):
    """A trigger the shell has verified against the stored `deferred` record (R-24).

    Requests carry triggers as plain JSON; only the shell makes this type of them, so that having it is
    the proof. `occurrence` identifies the firing (R-83).
    """

    decision_id: str
    occurrence: str
    when_case: WhenCase
