"""Which channel is enough for an answer, by effect: a section of a file to its value (R-91)."""

from __future__ import annotations

from typing import Any

from preflight.model.channel import CHANNELS, AskBy
from preflight.rules.kinds import Faults, Section


def ask_by(section: object, faults: Faults) -> AskBy:
    """Build the channels of a set of rules; what cannot be undone never takes less than what can."""
    if not isinstance(section, Section):
        return AskBy()
    given: dict[str, Any] = dict(section.values)
    found = AskBy(**given)
    if CHANNELS.index(found.irreversible) >= CHANNELS.index(found.reversible):
        return found
    if "irreversible" in given:
        what = f"`{found.irreversible}` is less than `{found.reversible}`, which is asked for what can be undone"
        faults.append(section.at("irreversible").fault(what, "ask for at least the same"))
    return AskBy(found.reversible, found.reversible)
