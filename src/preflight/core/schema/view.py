"""What applies to one value without condition: references followed, `allOf` merged, alternatives apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, cast

import msgspec

from preflight.core.schema.document import Document
from preflight.core.schema.keywords import Raw, subschemas
from preflight.core.schema.refusal import refuse

Kind = Literal["null", "boolean", "number", "string", "array", "object"]
ALL_KINDS: frozenset[Kind] = frozenset(("null", "boolean", "number", "string", "array", "object"))
_ALTERNATIVES: tuple[Literal["anyOf"], Literal["oneOf"]] = ("anyOf", "oneOf")
_WORDS: dict[str, Kind] = {**{kind: kind for kind in ALL_KINDS}, "integer": "number"}
_NOTHING: Raw = {"not": {}}


class View(msgspec.Struct, frozen=True, eq=False):
    """An object's schema as the walker sees it.

    `properties` maps each name to all schemas that apply to it. `groups` and `conditions` are what may
    add more. `declared` holds the names declared here or in anything that may be added.
    """

    at: str
    properties: dict[str, tuple[Raw, ...]]
    required: tuple[str, ...]
    groups: tuple[Group, ...]
    conditions: tuple[Condition, ...]
    declared: frozenset[str]
    least: int
    """The largest `minProperties` that applies."""


class Group(msgspec.Struct, frozen=True, eq=False):
    """Alternatives of an object (R-35).

    `own` are the names each branch has and not every branch; `differing` are names every branch has
    with schemas that differ; `shared` are required whatever is chosen; `trivial` means that the branches
    need the same names, so that nothing has to be chosen.
    """

    kind: Literal["oneOf", "anyOf"]
    branches: tuple[View, ...]
    own: tuple[frozenset[str], ...]
    differing: frozenset[str]
    shared: tuple[str, ...]
    trivial: bool


class Condition(msgspec.Struct, frozen=True, eq=False):
    """`if/then/else`, or what the presence of the property `trigger` adds."""

    test: Raw | None
    names: frozenset[str]
    trigger: str | None
    then: View | None
    otherwise: View | None


class Views:
    """Makes and keeps the views of one document; the work it may do is bounded by `limits.schema_nodes`."""

    __slots__ = ("_admits", "_document", "_kept", "_objects", "_work", "limits")

    def __init__(self, document: Document) -> None:
        """Start with nothing made."""
        self._document = document
        self.limits = document.limits
        self._objects: dict[tuple[int, ...], View] = {}
        self._admits: dict[tuple[int, ...], frozenset[Kind]] = {}
        self._kept: list[object] = []  # made-up schemas, kept so that their identities stay theirs
        self._work = 0

    def keep(self, raw: dict[str, object]) -> dict[str, object]:
        """Keep a made-up schema alive as long as this."""
        self._kept.append(raw)
        return raw

    def at(self, raws: tuple[Raw, ...]) -> str:
        """The pointer of the first of `raws` that has one."""
        return next((self._document.pointers[id(raw)] for raw in raws if id(raw) in self._document.pointers), "")

    def direct(self, raws: tuple[Raw, ...]) -> tuple[Raw, ...]:
        """`raws` without repetition, and with what is nothing but a `$ref` replaced by what it names."""
        found: dict[int, Raw] = {}
        for raw in raws:
            end = raw
            while isinstance(end, dict) and "$ref" in end and (len(end) == 1 or self._document.legacy):
                end = self._document.resolve(cast("str", end["$ref"]), "")[0]
            found[id(end)] = end
        return tuple(found.values())

    def spend(self, at: str, amount: int = 1) -> None:
        """Count work."""
        self._work += amount
        if self._work > 2 * self.limits.schema_nodes:  # once to compile, once to show slots
            refuse(at, "expanding the schema takes too much work")

    def parts(self, raws: Iterable[Raw]) -> list[dict[str, object]]:
        """Everything that applies to the same value, outermost first: `$ref` and `allOf` followed."""
        found: list[dict[str, object]] = []
        for raw in raws:
            self._add_part(raw, found)
        return found

    def _add_part(self, raw: Raw, found: list[dict[str, object]]) -> None:
        if isinstance(raw, bool):
            raw = {} if raw else cast("dict[str, object]", _NOTHING)
        self.spend("")
        reference = raw.get("$ref")
        if not (isinstance(reference, str) and self._document.legacy):
            found.append(raw)
        if isinstance(reference, str):
            self._add_part(self._document.resolve(reference, "")[0], found)
            if self._document.legacy:
                return
        for inner in cast("list[Raw]", raw.get("allOf", ())):
            self._add_part(inner, found)

    def admits(self, raws: tuple[Raw, ...]) -> frozenset[Kind]:
        """The kinds of JSON value that `raws` leave possible, as far as types, constants and alternatives tell."""
        key = tuple(map(id, raws))
        if key not in self._admits:
            self._admits[key] = self._kinds(self.parts(raws))
        return self._admits[key]

    def _kinds(self, parts: list[dict[str, object]]) -> frozenset[Kind]:
        kinds = ALL_KINDS
        for part in parts:
            for possible in self._own_kinds(part):
                kinds &= possible
        if kinds == ALL_KINDS and any("properties" in part for part in parts):
            return frozenset(("object",))  # named members without a type: an object is meant
        return kinds

    def _own_kinds(self, part: dict[str, object]) -> Iterator[frozenset[Kind]]:
        if "type" in part:
            declared = part["type"] if isinstance(part["type"], list) else [part["type"]]
            yield frozenset(_WORDS[word] for word in cast("list[str]", declared))
        if "const" in part:
            yield frozenset((kind_of(part["const"]),))
        if isinstance(part.get("enum"), list):
            yield frozenset(map(kind_of, cast("list[object]", part["enum"])))
        if part.get("not") == {}:
            yield frozenset()
        for key in ("anyOf", "oneOf"):
            if key in part:
                yield frozenset().union(*(self.admits((raw,)) for raw in cast("list[Raw]", part[key])))

    def of_object(self, raws: tuple[Raw, ...]) -> View:
        """`raws` as the schema of an object."""
        key = tuple(map(id, raws))
        if key not in self._objects:
            self._objects[key] = self._object(raws)
        return self._objects[key]

    def _object(self, raws: tuple[Raw, ...]) -> View:
        groups: list[Group] = []
        parts = self._settled_parts(raws, groups)
        properties: dict[str, tuple[Raw, ...]] = {}
        required: dict[str, None] = {}
        conditions: list[Condition] = []
        least = 0
        for part in parts:
            self.spend(self.at(raws), len(cast("dict[str, Raw]", part.get("properties", {}))))
            for name, raw in cast("dict[str, Raw]", part.get("properties", {})).items():
                properties[name] = (*properties.get(name, ()), raw)
            required.update(dict.fromkeys(cast("list[str]", part.get("required", ()))))
            conditions.extend(c for c in self._conditions(part) if c.then or c.otherwise)
            least = max(least, cast("int", part.get("minProperties", 0)))
        more = [branch for group in groups for branch in group.branches]
        more += [view for c in conditions for view in (c.then, c.otherwise) if view]
        declared = frozenset(properties).union(*(view.declared for view in more))
        return View(self.at(raws), properties, tuple(required), tuple(groups), tuple(conditions), declared, least)

    def _settled_parts(self, raws: tuple[Raw, ...], groups: list[Group]) -> list[dict[str, object]]:
        """The parts, with alternatives that only one object fits merged in; the others go into `groups`."""
        parts = self.parts(raws)
        for part in parts:  # grows while it runs: a merged alternative may hold alternatives
            for key in _ALTERNATIVES:
                choices = [raw for raw in cast("list[Raw]", part.get(key, ())) if "object" in self.admits((raw,))]
                if len(choices) == 1:
                    parts.extend(self.parts(choices))
                elif choices:
                    views = tuple(self.of_object((raw,)) for raw in choices)
                    if any(view.declared or view.required for view in views):
                        groups.append(_group(key, views))
        return parts

    def _conditions(self, part: dict[str, object]) -> Iterator[Condition]:
        if "if" in part and ("then" in part or "else" in part):
            test = cast("Raw", part["if"])
            yield Condition(
                test, self._names(test), None, self._addition(part.get("then")), self._addition(part.get("else"))
            )
        for key in ("dependentRequired", "dependentSchemas", "dependencies"):
            for trigger, added in cast("dict[str, object]", part.get(key, {})).items():
                raw = self.keep({"required": added}) if isinstance(added, list) else added
                yield Condition(None, frozenset((trigger,)), trigger, self._addition(raw), None)

    def _addition(self, raw: object) -> View | None:
        if not isinstance(raw, dict):
            return None
        view = self.of_object((raw,))
        return view if view.declared or view.required else None

    def _names(self, raw: Raw) -> frozenset[str]:
        """The properties of the same object that `raw` looks at."""
        names: set[str] = set()
        for part in self.parts((raw,)):
            names.update(cast("dict[str, object]", part.get("properties", {})))
            names.update(cast("list[str]", part.get("required", ())))
            for sub in subschemas(part):
                if sub.where == "here" and sub.tokens[0] != "allOf":
                    names |= self._names(sub.raw)
        return frozenset(names)


def _group(kind: Literal["oneOf", "anyOf"], branches: tuple[View, ...]) -> Group:
    names = [branch.declared.union(branch.required) for branch in branches]
    common = frozenset.intersection(*names)
    needed = [frozenset(branch.required) for branch in branches]
    return Group(
        kind=kind,
        branches=branches,
        own=tuple(each - common for each in names),
        differing=frozenset(name for name in common if _differs(name, branches)),
        shared=tuple(name for name in branches[0].required if all(name in each for each in needed)),
        trivial=len(set(names)) == 1 and len(set(needed)) == 1,
    )


def _differs(name: str, branches: tuple[View, ...]) -> bool:
    return len({msgspec.json.encode(branch.properties.get(name, ())) for branch in branches}) > 1


def kind_of(value: object) -> Kind:
    """The kind of one JSON value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


__all__ = ["ALL_KINDS", "Condition", "Group", "Kind", "View", "Views", "kind_of"]
