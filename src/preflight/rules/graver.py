"""The rules of a tool that does more harm than they were written for: what was allowed for less ends (R-7)."""

from __future__ import annotations

from types import MappingProxyType

import msgspec

from preflight.model.channel import CHANNELS
from preflight.model.rules import EFFECTS, UNATTENDED, Effect, FieldRules, Misfire, ToolRules, Unconfirmed

UNCONFIRMED: tuple[Unconfirmed, ...] = ("allow", "drop", "ask")
_MISFIRES: tuple[Misfire, ...] = ("run_once", "hold", "skip")
"""Each from the laxest; a missed occurrence that is skipped never runs, one that is held may."""


def graver(base: ToolRules, effect: Effect) -> ToolRules:
    """Return `base` as it holds for a graver effect; for any other, as it is.

    What stands at the tool, or holds for its effect so far, holds on where the new effect asks for no more.
    """
    if EFFECTS.index(effect) <= EFFECTS.index(base.effect):
        return base
    bare = msgspec.structs.replace(
        base, effect=effect, unattended=None, ask_by=None, deferral=msgspec.structs.replace(base.deferral, misfire=None)
    )
    misfire = max(base.misfire, bare.misfire, key=_MISFIRES.index)
    return msgspec.structs.replace(
        bare,
        unattended=max(base.when_unattended, bare.when_unattended, key=UNATTENDED.index),
        ask_by=max(base.channel, bare.channel, key=CHANNELS.index),
        deferral=msgspec.structs.replace(base.deferral, misfire=misfire),
        fields=MappingProxyType({name: _stricter(rules, bare.unconfirmed) for name, rules in base.fields.items()}),
    )


def _stricter(rules: FieldRules, least: Unconfirmed) -> FieldRules:
    if rules.unconfirmed is None:  # it follows the effect, whatever that is
        return rules
    return msgspec.structs.replace(rules, unconfirmed=max(rules.unconfirmed, least, key=UNCONFIRMED.index))
