"""Which form a value has for the walker: one slot, an object with members, or an array of them (R-33)."""

from __future__ import annotations

from typing import cast

import msgspec
from msgspec import UNSET

from preflight.core.schema.document import Document
from preflight.core.schema.effective import effective
from preflight.core.schema.keywords import Raw
from preflight.core.schema.view import ALL_KINDS, Kind, View, Views
from preflight.model.pointer import name_of
from preflight.model.slot import Slot


class Node:
    """A place in the payload, by all the schemas that apply to it.

    `view` is there when the value may be an object with declared members, `array` when it may be an
    array with such objects in it; otherwise the value is one slot.
    """

    __slots__ = ("_schema", "_views", "array", "at", "kinds", "raws", "view")

    def __init__(self, raws: tuple[Raw, ...], views: Views) -> None:
        """Classify `raws`; a scalar, an enum or a free-form object becomes a plain leaf."""
        self.raws = raws
        self.at = views.at(raws)
        self.kinds = views.admits(raws)
        self._views = views
        self._schema: dict[str, object] | None = None
        self.view: View | None = None
        self.array: Array | None = None

    @property
    def schema(self) -> dict[str, object]:
        """The effective mapping of `raws`, made when first needed; a `Refusal` when that takes too much work."""
        if self._schema is None:
            self._schema = effective(self._views, self.raws)
        return self._schema

    @property
    def leaf(self) -> bool:
        """True when there is nothing to descend into."""
        return self.view is None and self.array is None

    @property
    def object_only(self) -> bool:
        """True when nothing but an object (or null) fits, so that its members are asked for unhinted."""
        return self.view is not None and self.kinds <= {"object", "null"}

    def asks_members(self, hint: object) -> bool:
        """Whether the members are asked for though nothing gives them: nothing else fits, and no null is proposed."""
        return self.object_only and not (hint is None and "null" in self.kinds)

    def slot(self, path: tuple[str | int, ...], claim: object = UNSET, *, required: bool = True) -> Slot:
        """The slot for this place at `path`."""
        return Slot(name_of(path), path, self.schema, required, "null" in self.kinds, claim)


class Array(msgspec.Struct, frozen=True, eq=False):
    """The schemas of an array's elements, per schema that applies to the array: leading ones, then the rest.

    `fewest` is how many elements every such schema wants.
    """

    leading: tuple[tuple[Raw, ...], ...]
    rest: tuple[Raw, ...]
    fewest: int = 0

    def element(self, index: int) -> tuple[Raw, ...]:
        """What applies to the element at `index`."""
        return tuple(
            head[index] if index < len(head) else rest for head, rest in zip(self.leading, self.rest, strict=True)
        )

    @property
    def placed(self) -> int:
        """How many elements, counted from the first, have a place of their own: what stands there has its own part."""
        return max((len(head) for head in self.leading), default=0)


class Nodes:
    """Makes and keeps the nodes of one document."""

    __slots__ = ("_made", "_unions", "views")

    def __init__(self, document: Document) -> None:
        """Start with nothing made."""
        self.views = Views(document)
        self._made: dict[tuple[int, ...], Node] = {}
        self._unions: dict[tuple[tuple[int, ...], ...], tuple[Raw, ...]] = {}

    def of(self, raws: tuple[Raw, ...]) -> Node:
        """The node for everything in `raws` together."""
        key = tuple(map(id, raws))
        node = self._made.get(key)
        if node is None:
            direct = self.views.direct(raws)
            node = self._made[key] = self._made.get(tuple(map(id, direct))) or self._make(direct)
        return node

    def _make(self, raws: tuple[Raw, ...]) -> Node:
        node = self._made[tuple(map(id, raws))] = Node(raws, self.views)
        node.view = self._view(raws, node.kinds)
        node.array = self._array(raws, node.kinds, _NO_PATH)
        return node

    def _view(self, raws: tuple[Raw, ...], kinds: frozenset[Kind]) -> View | None:
        if "object" not in kinds or kinds == ALL_KINDS:
            return None
        view = self.views.of_object(raws)
        return view if view.declared or view.required else None

    def _array(self, raws: tuple[Raw, ...], kinds: frozenset[Kind], above: frozenset[tuple[int, ...]]) -> Array | None:
        """The array form, if an element may have members; `above` ends recursion through arrays of arrays."""
        key = tuple(map(id, raws))
        if "array" not in kinds or kinds == ALL_KINDS or key in above or len(above) > self.views.limits.json_depth:
            return None
        array = self._elements(raws)
        seen = above | {key}
        for index in range(array.placed + 1):
            inner = array.element(index)
            of_inner = self.views.admits(inner)
            if self._view(inner, of_inner) or self._array(inner, of_inner, seen):
                return array
        return None

    def _elements(self, raws: tuple[Raw, ...]) -> Array:
        parts = self.views.parts(raws)
        for part in parts:  # grows while it runs, as a merged alternative may hold alternatives
            for key in ("anyOf", "oneOf"):
                choices = [raw for raw in cast("list[Raw]", part.get(key, ())) if "array" in self.views.admits((raw,))]
                parts.extend(self.views.parts(choices) if len(choices) == 1 else ())
        forms = [form for part in parts if (form := _form(part))]
        fewest = max((int(cast("int", part.get("minItems", 0))) for part in parts), default=0)
        return Array(tuple(head for head, _ in forms), tuple(rest for _, rest in forms), fewest)

    def union(self, branches: tuple[tuple[Raw, ...], ...]) -> tuple[Raw, ...]:
        """What fits any of several branches' schemas of one property, as schemas that apply together."""
        by_key = {tuple(map(id, raws)): raws for raws in branches}
        if len(by_key) == 1:
            return next(iter(by_key.values()))
        key = tuple(by_key)
        if key not in self._unions:
            self._unions[key] = (self.views.keep(self._made_up(tuple(by_key.values()))),)
        return self._unions[key]

    def _made_up(self, branches: tuple[tuple[Raw, ...], ...]) -> dict[str, object]:
        shown = [effective(self.views, raws) for raws in branches]
        values = [_closed(each) for each in shown]
        if all(each is not None for each in values):
            merged: dict[str, object] = {
                key: shown[0][key]
                for key in ("title", "description")
                if all(each.get(key) == shown[0].get(key) for each in shown) and key in shown[0]
            }
            listed = {msgspec.json.encode(item): item for each in values for item in each or ()}
            return {**merged, "enum": list(listed.values())}
        choices = [raws[0] if len(raws) == 1 else self.views.keep({"allOf": list(raws)}) for raws in branches]
        return {"anyOf": choices}


_NO_PATH: frozenset[tuple[int, ...]] = frozenset()


def _closed(schema: dict[str, object]) -> list[object] | None:
    """The values a constant or an enum lists, if that is all it says."""
    if not schema.keys() <= {"const", "enum", "type", "title", "description", "default"}:
        return None
    if "const" in schema:
        return [schema["const"]]
    return cast("list[object] | None", schema.get("enum"))


def _form(part: dict[str, object]) -> tuple[tuple[Raw, ...], Raw] | None:
    """The leading elements' schemas and that of the rest, as one schema object gives them."""
    items = part.get("items", True)
    if isinstance(items, list):  # draft-07 and 2019-09
        return tuple(cast("list[Raw]", items)), cast("Raw", part.get("additionalItems", True))
    if "items" in part or "prefixItems" in part:
        return tuple(cast("list[Raw]", part.get("prefixItems", ()))), cast("Raw", items)
    return None


__all__ = ["Array", "Node", "Nodes"]
