"""Overrides of an organisation or a user: they may tighten what holds for a tool, never loosen it (R-7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import msgspec

from preflight.model.channel import CHANNELS
from preflight.model.rules import EFFECTS, UNATTENDED, FieldRules, ToolRules
from preflight.rules.graver import UNCONFIRMED, graver
from preflight.rules.kinds import Faults, Section

_FIXED = ("changes", "deferral", "settle")
"""Settings of a tool that are facts about it, neither loose nor tight."""
_REFUSED = {
    "synonyms", "labels", "unit", "locale", "may_share", "measure", "reference", "members", "derivations", "role",
}  # fmt: skip
"""Settings of a field that say how it is looked up: another answer there is another rule, not a tighter one."""


def tightened(base: ToolRules, over: ToolRules, section: Section, faults: Faults) -> ToolRules:
    """Return `base` with `over` laid upon it; a fault for each key of `section` that would loosen."""
    if "effect" in section.values:
        base = graver(base, over.effect)
    changes: dict[str, object] = {}
    for key, check in _TOOL.items():
        if key in section.values:
            before, after = getattr(base, _read(key)), getattr(over, _names(key))
            if problem := check(before, after):
                faults.append(section.at(key).fault(f"`{key}` would loosen the rules: {problem}", "only tighten here"))
            changes[_names(key)] = after
    faults += [
        section.at(key).fault(f"`{key}` cannot be overridden", "set it under `servers`")
        for key in _FIXED
        if key in section.values
    ]
    _refuse_reused(base, over, section, faults)
    return msgspec.structs.replace(
        base,
        **changes,
        fields=MappingProxyType(_fields(base, over, section, faults)),
        measures=MappingProxyType({**base.measures, **over.measures}),
        conditions=(*base.conditions, *over.conditions),
        limits=(*base.limits, *over.limits),
        notices=tuple(dict.fromkeys((*base.notices, *over.notices))),
        place=base.place or over.place,
    )


_HOLDS = {"unattended": "when_unattended", "ask_by": "channel"}
"""What holds where a key is not set, which its effect says."""


def _read(key: str) -> str:
    return _HOLDS.get(key) or _names(key)


def _names(key: str) -> str:
    return "decision_seconds" if key == "decision_lifetime" else key


def _refuse_reused(base: ToolRules, over: ToolRules, section: Section, faults: Faults) -> None:
    for key in ("conditions", "limits"):
        taken = {rule.id for rule in getattr(base, key)}
        for rule in getattr(over, key):
            if rule.id in taken:
                what = f"the id `{rule.id}` is taken by a rule that this one would hide"
                faults.append(section.at(key).fault(what, "rename it: both hold"))
    for name, measure in over.measures.items():
        if base.measures.get(name, measure) != measure:
            what = f"the measure `{name}` would be measured otherwise"
            faults.append(section.at("measures").fault(what, "give it another name"))


def _fields(base: ToolRules, over: ToolRules, section: Section, faults: Faults) -> Mapping[str, FieldRules]:
    fields = dict(base.fields)
    given: Mapping[str, Section] = section.get("fields", {})  # type: ignore[assignment]
    for name, rules in over.fields.items():
        before = base.field(name)
        row = given.get(name)
        changes: dict[str, object] = {"confirm": True} if rules.confirm else {}
        if row is not None:
            changes |= _tighter_field(base, name, rules, row, faults)
        fields[name] = msgspec.structs.replace(before, **changes)
    return fields


def _tighter_field(base: ToolRules, name: str, rules: FieldRules, row: Section, faults: Faults) -> dict[str, object]:
    before = base.field(name)
    changes: dict[str, object] = {}
    for key in row.values:
        node = row.at(key)
        if key in _REFUSED:
            faults.append(node.fault(f"`{key}` of a field cannot be overridden", "set it under `servers`"))
            continue
        attribute = "carry_seconds" if key == "carry" else key
        old = base.optional(name) if key == "unconfirmed" else getattr(before, attribute)
        new = getattr(rules, attribute)
        if problem := _FIELD[key](old, new):
            faults.append(node.fault(f"`{key}` would loosen the rules: {problem}", "only tighten here"))
        changes[attribute] = new
    return changes


Check = Callable[[object, object], str]


def _rising(order: tuple[str, ...]) -> Check:
    def check(before: object, after: object) -> str:
        worse = order.index(str(after)) < order.index(str(before))
        return f"`{after}` is less strict than `{before}`" if worse else ""

    return check


def _no_more(before: object, after: object) -> str:
    if before is None:
        return "there is none so far"
    return f"`{after}` is more than `{before}`" if after > before else ""  # type: ignore[operator]


def _only(value: bool) -> Check:  # noqa: FBT001  the value that tightens
    def check(before: object, after: object) -> str:
        return f"it may only become `{value}`".lower() if after is not value and before is value else ""

    return check


def _within(before: object, after: object) -> str:
    added = [word for word in after if word not in before]  # type: ignore[attr-defined, operator]
    return f"`{added[0]}` is not allowed so far" if added else ""


def _within_if_any(before: object, after: object) -> str:
    return _within(before, after) if before else ""


def _pinned(before: object, after: object) -> str:
    return "another pin is set" if before is not None and before != after else ""


_TOOL: dict[str, Check] = {
    "effect": _rising(EFFECTS),
    "forbidden": _only(value=True),
    "intents": _within_if_any,
    "trust_labels": _only(value=True),
    "pin": _pinned,
    "constants_are_known": _only(value=False),
    "value_asks": _no_more,
    "decision_lifetime": _no_more,
    "unattended": _rising(UNATTENDED),
    "ask_by": _rising(CHANNELS),
}
_FIELD: dict[str, Check] = {
    "sources": _within,
    "unconfirmed": _rising(UNCONFIRMED),
    "carry": _no_more,
    "pending_at_trigger": _only(value=False),
    "confirm": _only(value=True),
    "secret": _only(value=True),
}
