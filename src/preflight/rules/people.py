"""Organisations and users: what holds for their calls beyond the tools' own rules (R-7, R-14, R-61)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import cast

import msgspec

from preflight.model.rules import ConditionRule, DeclaredBy, ToolRules, UserRules
from preflight.rules.build import Measures, conditions, tool, used
from preflight.rules.conditions import needs
from preflight.rules.kinds import Faults, Section
from preflight.rules.tighten import tightened

ToolKey = tuple[str, str]
Tools = Mapping[ToolKey, ToolRules]
Who = tuple[str, str]
"""A tenant (empty: none) and a user's id (empty: anybody of the tenant)."""


class People(msgspec.Struct):
    """What holds for somebody: rules of users, and the rules of tools that are tighter for them."""

    users: dict[Who, UserRules]
    tools: dict[Who, dict[ToolKey, ToolRules]]


def people_of(
    root: Section, tools: Tools, shared: Measures, scopes: Mapping[str, Measures], faults: Faults, unlisted: ToolRules
) -> People:
    """Build everything that a set of rules says about organisations and users.

    The measures `shared` may be used everywhere, those of `scopes` at the tools of a server. `unlisted` holds for
    tools that are listed for somebody only.
    """
    people = People({}, {})
    builder = _Builder(tools, shared, scopes, faults, people, unlisted)
    for tenant, section in _rows(root, "organisations"):
        builder.organisation(tenant, section)
    for name, section in _rows(root, "users"):
        builder.user("", name, section, UserRules())
    return people


class _Builder:
    def __init__(
        self,
        tools: Tools,
        shared: Measures,
        scopes: Mapping[str, Measures],
        faults: Faults,
        people: People,
        unlisted: ToolRules,
    ) -> None:
        self._tools = tools
        self._unlisted = unlisted
        self._scopes = scopes
        self._measures = shared
        self._faults = faults
        self._people = people
        self._unlisted = unlisted

    def organisation(self, tenant: str, section: Section) -> None:
        who = (tenant, "")
        self._people.users[who] = shared = UserRules(
            conditions=(found := self._conditions(section, "organisation")),
            measures=MappingProxyType(used(found, self._measures)),
            place=section.place,
        )
        self._people.tools[who] = self._overrides(section, self._tools, "organisation")
        for name, user in _rows(section, "users"):
            self.user(tenant, name, user, shared)

    def user(self, tenant: str, name: str, section: Section, shared: UserRules) -> None:
        base = {**self._tools, **self._people.tools.get((tenant, ""), {})}
        own = self._conditions(section, "user")
        taken = {rule.id for rule in shared.conditions}
        for rule in own:
            if rule.id in taken:
                what = f"the id `{rule.id}` is taken by a condition of the organisation"
                self._faults.append(section.at("conditions").fault(what, "rename it: both hold"))
        self._people.users[tenant, name] = UserRules(
            checklist=_checklist(section, self._faults),
            settings=MappingProxyType(_settings(section, name, self._faults)),
            conditions=(*shared.conditions, *own),
            measures=MappingProxyType({**shared.measures, **used(own, self._measures)}),
            place=section.place,
        )
        inherited = self._people.tools.get((tenant, ""), {})
        self._people.tools[tenant, name] = {**inherited, **self._overrides(section, base, "user")}

    def _conditions(self, section: Section, declared_by: DeclaredBy) -> tuple[ConditionRule, ...]:
        found = conditions(section, self._measures, self._measures, declared_by, self._faults)
        for rule in found:
            if any(need.startswith("args.") for need in needs(rule)):
                what = f"the condition `{rule.id}` holds for every tool and reads `args`"
                self._faults.append(section.at("conditions").fault(what, "put it under `servers`, at its tool"))
        return found

    def _overrides(self, section: Section, base: Tools, declared_by: DeclaredBy) -> dict[ToolKey, ToolRules]:
        found = {}
        for server, row in _rows(section, "servers"):
            for key in ("measures", "trust_labels"):
                if key in row.values:
                    what = f"`{key}` of a server cannot be overridden"
                    self._faults.append(row.at(key).fault(what, "set it at a tool"))
            for name, given in _rows(row, "tools"):
                before = base.get((server, name), self._unlisted)
                scope = {**self._scopes.get(server, self._measures), **before.measures}
                trust = before.trust_labels
                over = tool(given, trust_labels=trust, measures=scope, declared_by=declared_by, faults=self._faults)
                found[server, name] = tightened(before, over, given, self._faults)
        return found


def _checklist(section: Section, faults: Faults) -> tuple[Mapping[str, object], ...]:
    rows = cast("tuple[Section, ...]", section.get("checklist", ()))
    seen: set[object] = set()
    for row in rows:
        if row.get("id") in seen:
            faults.append(row.at("id").fault(f"the id `{row.get('id')}` stands twice", "rename one"))
        seen.add(row.get("id"))
    return tuple(MappingProxyType(dict(row.values)) for row in rows)


def _settings(section: Section, name: str, faults: Faults) -> dict[str, object]:
    settings: dict[str, object] = {}
    for setting, row in _rows(section, "settings"):
        who, when = row.get("approved_by"), row.get("approved_at")
        if who is not None and who != name:  # nobody but the user makes a value known
            what = f"a setting of `{name}` approved by `{who}`"
            faults.append(row.at("approved_by").fault(what, "only the user can approve it"))
        origin = f"approved by {who} at {when}"
        settings[setting] = MappingProxyType({"value": row.get("value"), "trust": "user", "origin": origin})
    return settings


def _rows(section: Section, key: str) -> list[tuple[str, Section]]:
    return list(cast("dict[str, Section]", section.get(key, {})).items())
