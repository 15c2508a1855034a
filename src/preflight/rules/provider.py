"""What a tool's provider declares: labels in its description and `_meta["preflight/checklist"]` (R-6, R-63).

A provider can require, never permit: everything here adds conditions and notices, and nothing takes one away.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, cast

import msgspec

from preflight.errors import InvalidInput
from preflight.model.json_value import freeze, is_object, thaw
from preflight.model.rules import ConditionRule, MeasureRule, Place, ToolRules
from preflight.model.tool import Tool
from preflight.rules.bounds import DEFAULT_BOUNDS, Bounds
from preflight.rules.build import expression_faults
from preflight.rules.expression import scan
from preflight.rules.faults import Fault
from preflight.rules.kinds import (
    Anything,
    Choice,
    Constant,
    Duration,
    Key,
    ListOf,
    MapOf,
    Record,
    Section,
    Text,
)
from preflight.rules.labels import ID, SORTS, Label, Sort, Unreadable, labels_of
from preflight.rules.layout import POINTER_FORM, TYPES
from preflight.rules.node import Entry, Node
from preflight.rules.node import Kind as NodeKind

META_KEY = "preflight/checklist"
VERSION = 1
_ROOTS = frozenset({"args", "measured"})

_POINTER = Text("a JSON Pointer", POINTER_FORM, empty=True)
READING = Record(
    "a measure",
    {
        "tool": Key(Text("a tool of this server"), "a tool of this server that only reads", required=True),
        "arguments": Key(MapOf(Anything()), "sent as they are; `{slot: NAME}` takes a confirmed value"),
        "pointer": Key(_POINTER, "JSON Pointer from the result to the value"),
        "type": Key(Choice(TYPES), "the value's type"),
        "max_age": Key(Duration(), "a measurement older than this counts no more"),
    },
)
ITEM = Record(
    "an item",
    {
        "id": Key(Text("an id", ID), "its name, once in the checklist", required=True),
        "label": Key(Choice(SORTS), "required: a system must show it; verify: the user confirms it; notice: shown",
                     required=True),
        "text": Key(Text("a sentence"), "what people read", required=True),
        "expression": Key(Text("an expression in CEL"), "over `args` and `measured`; true when it holds"),
        "measure": Key(Text("a measure's name"), "a measure whose value is exactly true when it holds"),
        "max_age": Key(Duration(), "checked again at the start of the call when older than this"),
    },
)  # fmt: skip
CHECKLIST = Record(
    "a checklist",
    {
        "version": Key(Constant(VERSION), "the version of this format: 1", required=True),
        "items": Key(ListOf(ITEM, distinct=False), "what must hold, be confirmed or be shown", required=True),
        "measures": Key(MapOf(READING, "a measure's name"), "what expressions read, by name"),
    },
)


class ProviderChecklist(msgspec.Struct, frozen=True):
    """What a provider adds to a call.

    `conditions` must hold: expressions and measures, and confirmations by the user. `measures` are what they
    read. `notices` are shown before the call. `unreadable` is what could not be read, or declares no way to
    be checked and the adopter's rules name none: unknown, route `definition_repair`.
    """

    conditions: tuple[ConditionRule, ...] = ()
    measures: Mapping[str, MeasureRule] = MappingProxyType({})
    notices: tuple[str, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()

    @property
    def confirmations(self) -> tuple[ConditionRule, ...]:
        """The conditions that the user confirms."""
        return tuple(rule for rule in self.conditions if rule.check == "confirmation")


NOTHING = ProviderChecklist()


def provider_conditions(tool: Tool, rules: ToolRules, bounds: Bounds = DEFAULT_BOUNDS) -> ProviderChecklist:
    """Return what a tool's provider declares, for a server whose labels the rules trust; else nothing.

    Call it after the tool gate: before, nothing of a provider is read (R-26). A `[Required]` without a check
    is settled by a condition of the rules that has its id and is declared by the provider.
    """
    if not rules.trust_labels:
        return NOTHING
    collected = _Collected(tool, rules)
    for label in _labels(tool.description, bounds):
        collected.add_label(label)
    meta = tool.meta
    if is_object(meta) and META_KEY in meta:
        collected.add_checklist(meta[META_KEY], bounds)
    return collected.checklist()


@lru_cache(maxsize=1024)
def _labels(description: str, bounds: Bounds) -> tuple[Label | Unreadable, ...]:
    return tuple(labels_of(description, bounds))


def declare(tool_meta: Mapping[str, object] | None, conditions: Mapping[str, object]) -> dict[str, object]:
    """Return the `_meta` of a tool with a checklist added, for a server to list.

    `conditions` is the checklist as its JSON Schema says. Raises InvalidInput saying what is wrong with it.
    """
    section, faults = _read(freeze(conditions, META_KEY), DEFAULT_BOUNDS)
    if section is None or faults:
        said = (fault.what + (f" ({fault.do})" if fault.do else "") for fault in faults)
        raise InvalidInput(META_KEY, "; ".join(said) or "no mapping")
    return {**(tool_meta or {}), META_KEY: thaw(conditions)}


class _Collected:
    """What was found so far."""

    def __init__(self, tool: Tool, rules: ToolRules) -> None:
        self._tool = tool
        self._settled = {rule.id for rule in rules.conditions if rule.declared_by == "provider"}
        self._taken = {rule.id for rule in rules.conditions} - self._settled
        self._conditions: dict[str, ConditionRule] = {}
        self._measures: dict[str, MeasureRule] = {}
        self._notices: list[str] = []
        self._unreadable: list[Unreadable] = []
        self._place = Place(f"{tool.server}/{tool.name}", 1)

    def checklist(self) -> ProviderChecklist:
        return ProviderChecklist(
            tuple(self._conditions.values()), MappingProxyType(self._measures),
            tuple(dict.fromkeys(self._notices)), tuple(self._unreadable),
        )  # fmt: skip

    def add_label(self, label: Label | Unreadable) -> None:
        if isinstance(label, Unreadable):
            self._unreadable.append(label)
        else:
            self._add(label.sort, label.id, label.text, None)

    def add_checklist(self, declared: object, bounds: Bounds) -> None:
        section, faults = _read(declared, bounds)
        if section is None or faults:
            why = "; ".join(fault.what for fault in faults) or "no mapping"
            self._unreadable.append(Unreadable(META_KEY, "", f"the declared checklist cannot be read: {why}"))
            return
        for name, row in cast("dict[str, Section]", section.get("measures", {})).items():
            self._measures[name] = _measure(name, row, self._tool.server, self._place)
        for item in cast("tuple[Section, ...]", section.get("items", ())):
            sort = cast("Sort", item.get("label"))
            self._add(sort, f"{sort}:{item.get('id')}", str(item.get("text")), item)

    def _add(self, sort: Sort, name: str, text: str, item: Section | None) -> None:
        if sort == "notice":
            self._notices.append(text)
        elif name in self._conditions or name in self._taken:
            self._unreadable.append(
                Unreadable(name, text, "its id stands twice, or the rules use it for something else")
            )
        elif name in self._settled:
            return  # the adopter's own rules say how it is checked
        elif sort == "verify":
            self._conditions[name] = self._rule(name, text, "confirmation", text, item)
        else:
            self._require(name, text, item)

    def _require(self, name: str, text: str, item: Section | None) -> None:
        """A requirement counts only with a system source that shows it: a user's word does not."""
        check = next((key for key in ("expression", "measure") if item is not None and key in item.values), None)
        if item is None or check is None:
            self._unreadable.append(Unreadable(name, text, "nothing is declared that checks it"))
        else:
            self._conditions[name] = self._rule(name, text, check, str(item.get(check)), item)

    def _rule(self, name: str, text: str, check: str, what: str, item: Section | None) -> ConditionRule:
        age = cast("float | None", item.get("max_age")) if item is not None else None
        kind: Any = check
        return ConditionRule(
            name, "provider", kind, what, description=text, message=text, max_age_seconds=age, place=self._place
        )


def _measure(name: str, row: Section, server: str, place: Place) -> MeasureRule:
    kind: Any = row.get("type")
    return MeasureRule(
        name, "mcp", server=server, tool=str(row.get("tool")), pointer=str(row.get("pointer", "")),
        arguments=MappingProxyType(cast("dict[str, object]", row.get("arguments", {}))),
        max_age_seconds=cast("float | None", row.get("max_age")), value_type=kind, place=place,
    )  # fmt: skip


def _read(declared: object, bounds: Bounds) -> tuple[Section | None, tuple[Fault, ...]]:
    return _checked(json.dumps(thaw(declared), sort_keys=True), bounds)


@lru_cache(maxsize=1024)
def _checked(text: str, bounds: Bounds) -> tuple[Section | None, tuple[Fault, ...]]:
    """Read a checklist and check it, once for each text: compiling its expressions is what takes time."""
    found, faults = _read_anew(json.loads(text), bounds)
    return found, tuple(faults)


def _read_anew(declared: object, bounds: Bounds) -> tuple[Section | None, list[Fault]]:
    faults: list[Fault] = []
    section = CHECKLIST.read(_node(declared), faults)
    if not isinstance(section, Section):
        return None, faults
    names = set(cast("dict[str, object]", section.get("measures", {})))
    items = cast("tuple[Section, ...]", section.get("items", ()))
    if len(items) > bounds.labels:
        faults.append(section.node.fault(f"more than {bounds.labels} items", "leave some out"))
    seen: set[object] = set()
    for item in items:
        faults += _item_faults(item, names, bounds)
        if item.get("id") in seen:
            faults.append(item.node.fault(f"the id `{item.get('id')}` stands twice", "rename one"))
        seen.add(item.get("id"))
    return section, faults


def _item_faults(item: Section, names: set[str], bounds: Bounds) -> Iterable[Fault]:
    checks = [key for key in ("expression", "measure") if key in item.values]
    if len(str(item.get("text", ""))) > bounds.label_length:
        yield item.node.fault(f"a text of more than {bounds.label_length} characters", "shorten it")
    if checks and item.get("label") != "required":
        yield item.node.fault(f"`{checks[0]}` of an item that is not required", "leave it out")
    if len(checks) > 1:
        yield item.node.fault("both `expression` and `measure`", "write one of them")
    if "measure" in item.values and item.get("measure") not in names:
        yield item.node.fault(f"no measure is called `{item.get('measure')}`", "declare it under `measures`")
    if "expression" in item.values:
        text = str(item.get("expression"))
        yield from expression_faults(text, item.at("expression"), names)
        expression, _ = scan(text)
        if expression is not None and any(read.root not in _ROOTS for read in expression.reads):
            yield item.node.fault("an expression over more than `args`, `measured` and `now`", "leave the rest out")


def _node(value: object) -> Node:
    """Return a JSON value as a tree without places, for reading it as files are read."""
    kind: NodeKind
    made: object = value
    if is_object(value):
        kind = "map"
        made = {name: Entry(Node("text", name, META_KEY, 1, 1), _node(item)) for name, item in value.items()}
    elif isinstance(value, list | tuple):
        kind, made = "list", [_node(item) for item in value]
    elif isinstance(value, bool):
        kind = "flag"
    elif isinstance(value, int | float):
        kind = "number"
    else:
        kind = "null" if value is None else "text"
    return Node(kind, made, META_KEY, 1, 1)
