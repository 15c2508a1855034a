"""One pass over every reachable subschema: references, keywords that are not walked, cycles, cost."""

from __future__ import annotations

from typing import NoReturn

from preflight.core.schema.document import Document
from preflight.core.schema.keywords import Raw, Where, subschemas
from preflight.core.schema.refusal import refuse
from preflight.limits import Limits
from preflight.model.pointer import join

_NOT_WALKED = {
    "$dynamicRef": "`$dynamicRef` is not supported; use `$ref`",
    "$recursiveRef": "`$recursiveRef` is not supported; use `$ref`",
}

# ignoring what its author meant to hold would be silent, so a later dialect's keyword is refused.
_SINCE_2019 = (
    "dependentRequired",
    "dependentSchemas",
    "maxContains",
    "minContains",
    "unevaluatedItems",
    "unevaluatedProperties",
)
_LATER: dict[str, tuple[str, ...]] = {
    "Draft6Validator": ("if", "then", "else", *_SINCE_2019, "prefixItems"),
    "Draft7Validator": (*_SINCE_2019, "prefixItems"),
    "Draft201909Validator": ("prefixItems",),
}

_TOO_MUCH = "too many subschemas apply to one value"
_REAL_DEPTH = 8
"""Levels of nesting that real tools' arguments have (465 measured): a schema must be checkable so far."""

Edges = list[tuple[Where, int]]


class Survey:
    """What the pass found.

    `patterns` counts the patterns, `names` holds the property names that occur anywhere, `references` tells
    whether there is any `$ref`, and `safe_depth` how deep a value may be nested to be checked.
    """

    __slots__ = ("_document", "_edges", "_identified", "names", "patterns", "references", "safe_depth")

    def __init__(self, document: Document) -> None:
        """Visit everything reachable from the root of `document` and register its pointer there."""
        self._document = document
        self._edges: dict[int, Edges] = {}
        self.references = False
        self._identified: str | None = None
        self.names: set[str] = set()
        self.patterns = 0
        self.safe_depth = document.limits.json_depth
        self._visit_all()
        if self.references:
            if self._identified is not None:
                refuse(self._identified, "a nested `$id` beside `$ref` may move references elsewhere")
            order = _in_place_order(self._edges, document)
            self.safe_depth = _safe_depth(order, self._edges, document)

    def _visit_all(self) -> None:
        limits = self._document.limits
        pending: list[tuple[Raw, str, int]] = [(self._document.root, "", 0)]
        while pending:
            raw, at, within = pending.pop()
            if within > limits.json_depth:
                _refuse_chain(at, limits)
            if not isinstance(raw, dict) or id(raw) in self._edges:
                continue
            self._document.pointers[id(raw)] = at
            edges = self._edges[id(raw)] = []
            self._check(raw, at)
            for where, inner, place in self._applied(raw, at):
                edges.append((where, id(inner)))
                pending.append((inner, place, within + 1 if where == "here" else 0))
            if len(self._edges) + len(pending) > limits.schema_nodes:
                refuse(at, f"more than {limits.schema_nodes} subschemas")

    def _applied(self, raw: dict[str, object], at: str) -> list[tuple[Where, Raw, str]]:
        found: list[tuple[Where, Raw, str]] = []
        reference = raw.get("$ref")
        if isinstance(reference, str):
            self.references = True
            found.append(("here", *self._document.resolve(reference, join(at, "$ref"))))
            if self._document.legacy:
                return found
        found.extend((sub.where, sub.raw, join(at, *sub.tokens)) for sub in subschemas(raw))
        return found

    def _check(self, raw: dict[str, object], at: str) -> None:
        if self._document.legacy and "$ref" in raw:
            return
        for keyword, what in _NOT_WALKED.items():
            if keyword in raw:
                refuse(join(at, keyword), what)
        for keyword in _LATER.get(self._document.validator.__name__, ()):
            if keyword in raw:
                refuse(join(at, keyword), f"`{keyword}` is no keyword of the declared dialect")
        if at and "$schema" in raw and raw["$schema"] != self._document.root.get("$schema"):
            refuse(join(at, "$schema"), "a second dialect inside one schema")
        if at and isinstance(raw.get("$id"), str) and not str(raw["$id"]).startswith("#"):
            self._identified = join(at, "$id")
        members = raw.get("properties")
        if isinstance(members, dict):
            if len(members) > self._document.limits.slots:
                refuse(join(at, "properties"), f"more than {self._document.limits.slots} properties")
            self.names.update(members)
        patterns = raw.get("patternProperties")
        self.patterns += len(patterns) if isinstance(patterns, dict) else 0
        self.patterns += "pattern" in raw


def _refuse_chain(at: str, limits: Limits) -> NoReturn:
    refuse(at, f"more than {limits.json_depth} schemas applied one inside another")


def _in_place_order(edges: dict[int, Edges], document: Document) -> list[int]:
    """Subschemas so that whatever applies to the same value comes first; a cycle makes no progress."""
    limits = document.limits
    order: list[int] = []
    heights: dict[int, int] = {}
    path: set[int] = set()

    def visit(node: int) -> None:
        path.add(node)
        if len(path) > limits.json_depth:
            _refuse_chain(document.pointers[node], limits)
        height = 0
        for where, inner in edges[node]:
            if where != "here" or inner not in edges:
                continue
            if inner in path:
                refuse(document.pointers[node], "a `$ref` cycle that makes no progress")
            if inner not in heights:
                visit(inner)
            height = max(height, heights[inner] + 1)
        if height > limits.json_depth:
            _refuse_chain(document.pointers[node], limits)
        path.discard(node)
        heights[node] = height
        order.append(node)

    for node in edges:
        if node not in heights:
            visit(node)
    return order


def _safe_depth(order: list[int], edges: dict[int, Edges], document: Document) -> int:
    """How deep a value may be nested so that checking it stays within `limits.schema_nodes`.

    The cost of a subschema is the number of subschemas that a validator visits along one path through a
    value. Without recursion it is one number, and a schema that exceeds the limit is refused. With recursion
    it grows with the value: level by level, until it exceeds the limit or the deepest value is reached.
    """
    limits = document.limits
    cost = _cost_without_recursion(order, edges, document)
    recursive = [node for node in order if node not in cost]
    cost.update(dict.fromkeys(recursive, 0))
    deepest = limits.json_depth if recursive else 0
    for depth in range(deepest):
        below = dict(cost)
        for node in recursive:  # whatever applies to the same value stands before it, so it is of this level
            cost[node] = _cost_of(edges[node], cost, below)
        exceeding = [node for node in recursive if cost[node] > limits.schema_nodes]
        if exceeding or len(recursive) * depth > 4 * limits.schema_nodes:
            if depth <= _REAL_DEPTH:
                refuse(document.pointers[exceeding[0] if exceeding else order[-1]], _TOO_MUCH)
            return depth - 1
    return limits.json_depth


def _cost_without_recursion(order: list[int], edges: dict[int, Edges], document: Document) -> dict[int, int]:
    """The cost of each subschema that leads to no cycle, found from the ends upwards."""
    users: dict[int, list[int]] = {}
    missing: dict[int, int] = {}
    for node in order:
        inner = [target for _, target in edges[node] if target in edges]
        missing[node] = len(inner)
        for target in inner:
            users.setdefault(target, []).append(node)
    cost: dict[int, int] = {}
    ready = [node for node in order if not missing[node]]
    while ready:
        node = ready.pop()
        cost[node] = _cost_of(edges[node], cost, cost)
        if cost[node] > document.limits.schema_nodes:
            refuse(document.pointers[node], _TOO_MUCH)
        for user in users.get(node, ()):
            missing[user] -= 1
            if not missing[user]:
                ready.append(user)
    return cost


def _cost_of(edges: Edges, here: dict[int, int], below: dict[int, int]) -> int:
    total = 1
    top: dict[Where, int] = {}
    for where, inner in edges:
        if where == "here":
            total += here.get(inner, 1)
        elif where in ("pattern", "each", "name"):
            top[where] = top.get(where, 0) + below.get(inner, 1)
        else:
            top[where] = max(top.get(where, 0), below.get(inner, 1))
    member = max(top.get("member", 0) + top.get("pattern", 0), top.get("rest", 0))
    element = top.get("element", 0) + top.get("each", 0)
    return total + max(member, element) + top.get("name", 0)


__all__ = ["Survey"]
