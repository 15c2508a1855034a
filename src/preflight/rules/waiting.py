"""What deferred runs may wait for: sections of files to values (R-81)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import cast

from preflight.model.rules import ConditionRule, TriggerRule
from preflight.rules import build
from preflight.rules.kinds import Faults, Section


def triggers(root: Section, measures: build.Measures, faults: Faults) -> Mapping[str, TriggerRule]:
    """Build the triggers that a set of rules declares."""
    rows = cast("dict[str, Section]", root.get("triggers", {}))
    return MappingProxyType({name: _trigger(name, row, measures, faults) for name, row in rows.items()})


def _trigger(name: str, section: Section, measures: build.Measures, faults: Faults) -> TriggerRule:
    """Build one trigger; its condition may read what was measured, and the arguments that are known already."""
    condition = _condition(name, section, measures, faults)
    if condition is not None and "match" in section.values:
        faults.append(section.at("match").fault("`match` of a condition", "leave it out: it is for events"))
    given = section.values
    defaults = TriggerRule(name)
    return TriggerRule(
        name,
        phrases=given.get("phrases", ()),  # type: ignore[arg-type]
        event=given.get("event"),  # type: ignore[arg-type]
        match=MappingProxyType(given.get("match", {})),  # type: ignore[arg-type]
        condition=condition,
        measures=MappingProxyType({} if condition is None else build.used((condition,), measures)),
        deadline_seconds=given.get("deadline", defaults.deadline_seconds),  # type: ignore[arg-type]
        poll_seconds=given.get("poll", defaults.poll_seconds),  # type: ignore[arg-type]
        place=section.place,
    )


def _condition(name: str, section: Section, measures: build.Measures, faults: Faults) -> ConditionRule | None:
    if "expression" not in section.values:
        return None
    text, node = str(section.get("expression")), section.at("expression")
    faults += build.expression_faults(text, node, set(measures))
    return ConditionRule(name, "organisation", "expression", text, place=node.place)
