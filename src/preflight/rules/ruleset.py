"""A set of rules, read whole or not at all (R-67)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import cast

import msgspec
from msgspec.structs import replace

from preflight.model.rules import UNLISTED, Place, ToolRules, TriggerRule, UserRules
from preflight.model.tool import Tool
from preflight.rules import build, unwatched, waiting
from preflight.rules.asking import ask_by
from preflight.rules.bounds import DEFAULT_BOUNDS, Bounds
from preflight.rules.check import Spots, check_tool
from preflight.rules.faults import Fault, RulesError
from preflight.rules.files import gather
from preflight.rules.kinds import Section
from preflight.rules.layout import ROOT
from preflight.rules.merge import PER_FILE, merged
from preflight.rules.node import Node, plain
from preflight.rules.people import People, ToolKey, people_of

NOBODY = UserRules()


class RuleSet(msgspec.Struct, frozen=True):
    """The rules of a set of files; immutable.

    `digest` is the SHA-256, in hex, of what the files say: neither their names nor their order, neither
    white space nor comments change it. `tools` has the rules that hold for everybody, by server and tool; those of
    a tool that nobody listed are `unlisted`.
    """

    digest: str
    tools: Mapping[tuple[str, str], ToolRules]
    people: People
    spots: Spots
    triggers: Mapping[str, TriggerRule] = MappingProxyType({})
    unlisted: ToolRules = UNLISTED

    def for_tool(self, server: str, tool: str, user_id: str = "", tenant: str = "") -> ToolRules:
        """Return the rules of a tool, as tight as they are for a user; a tool nobody listed is irreversible."""
        key = (server, tool)
        for who in ((tenant, user_id), (tenant, "")):
            tighter = self.people.tools.get(who)
            if tighter is not None and key in tighter:
                return tighter[key]
        return self.tools.get(key, self.unlisted)

    def for_user(self, user_id: str, tenant: str = "") -> UserRules:
        """Return what holds for a user; of one nobody listed, what holds for everybody of the tenant."""
        users = self.people.users
        return users.get((tenant, user_id)) or users.get((tenant, ""), NOBODY)

    def checked_against(self, tool: Tool) -> tuple[Fault, ...]:
        """Return what does not fit between these rules and a tool: names and types of its input schema.

        The rules that hold for everybody are looked at, and each that is tighter for somebody.
        """
        key = (tool.server, tool.name)
        each = [self.tools.get(key), *(tighter.get(key) for tighter in self.people.tools.values())]
        found = [check_tool(rules, tool.input_schema, self.spots) for rules in each if rules is not None]
        return tuple(sorted({fault for faults in found for fault in faults}))


class Loaded(msgspec.Struct):
    """An attempt to load: the rules or None, everything that is wrong, and the files that were looked at."""

    rules: RuleSet | None
    faults: list[Fault]
    files: list[Path]


def load_rules(*paths: str | Path, bounds: Bounds = DEFAULT_BOUNDS) -> RuleSet:
    """Load files, or the `*.yaml`, `*.yml` and `*.json` files in and below folders (`tests` folders aside).

    Raises RulesError listing every fault with file, line and column.
    """
    loaded = attempt(*paths, bounds=bounds)
    if loaded.rules is None:
        raise RulesError(loaded.faults)
    return loaded.rules


def attempt(*paths: str | Path, bounds: Bounds = DEFAULT_BOUNDS) -> Loaded:
    """Load like `load_rules`, and return what came of it; never raises for what the files say."""
    gathered = gather(paths, bounds)
    faults = gathered.faults
    if not gathered.trees:
        rules = None if faults else _rules_of(None, faults)
        return Loaded(rules, faults, gathered.files)
    rules = _rules_of(merged(gathered.trees, faults), faults)
    return Loaded(None if faults else rules, faults, gathered.files)


def _rules_of(tree: Node | None, faults: list[Fault]) -> RuleSet:
    if tree is None:
        return RuleSet(_digest({}), MappingProxyType({}), People({}, {}), {})
    root = ROOT.read(tree, faults)
    assert isinstance(root, Section)  # noqa: S101  only mappings get here
    shared = build.measures_of(root, faults)
    channels = ask_by(root.get("ask_by"), faults)
    scopes: dict[str, build.Measures] = {}
    tools: dict[ToolKey, ToolRules] = {}
    unattended = unwatched.by_effect(root)
    for server, section in cast("dict[str, Section]", root.get("servers", {})).items():
        scopes[server] = {**shared, **build.measures_of(section, faults)}
        trust = section.get("trust_labels") is True
        for name, row in cast("dict[str, Section]", section.get("tools", {})).items():
            tools[server, name] = build.tool(
                row, trust_labels=trust, measures=scopes[server], declared_by="organisation", faults=faults,
                unattended=unattended, ask_by=channels,
            )  # fmt: skip
    unlisted = unwatched.unlisted(unattended)
    if channels != unlisted.ask_by_effect:
        unlisted = replace(unlisted, ask_by_effect=channels)
    people = people_of(root, tools, shared, scopes, faults, unlisted)
    awaited = waiting.triggers(root, shared, faults)
    return RuleSet(_digest(plain(tree)), MappingProxyType(tools), people, _spots(root), awaited, unlisted)


def _spots(section: Section) -> dict[tuple[Place, str], Node]:
    """Return the nodes of all expressions below a section."""
    found: dict[tuple[Place, str], Node] = {}
    if "expression" in section.values:
        node = section.at("expression")
        found[node.place, str(section.get("id", ""))] = node
    for value in section.values.values():
        rows = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else ()
        for row in rows:
            if isinstance(row, Section):
                found |= _spots(row)
    return found


def _digest(tree: object) -> str:
    said = {key: value for key, value in cast("dict[str, object]", tree).items() if key not in PER_FILE}
    text = json.dumps(said, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
