"""One pass over every reachable subschema: references, keywords that are not walked, cycles, cost."""

from __future__ import annotations

from preflight.core.schema.document import Document
from preflight.core.schema.keywords import Raw, Where, subschemas
from preflight.core.schema.pointers import join
from preflight.core.schema.refusal import refuse

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

Edges = list[tuple[Where, int]]


class Survey:
    """What the pass found: how many patterns there are, and which property names occur anywhere."""

    __slots__ = ("_document", "_edges", "_identified", "names", "patterns", "references")

    def __init__(self, document: Document) -> None:
        """Visit everything reachable from the root of `document` and register its pointer there."""
        self._document = document
        self._edges: dict[int, Edges] = {}
        self.references = False
        self._identified: str | None = None
        self.names: set[str] = set()
        self.patterns = 0
        self._visit_all()
        if self.references:
            if self._identified is not None:
                refuse(self._identified, "a nested `$id` beside `$ref` may move references elsewhere")
            order = _in_place_order(self._edges, document)
            _check_cost(order, self._edges, document)

    def _visit_all(self) -> None:
        pending: list[tuple[Raw, str]] = [(self._document.root, "")]
        while pending:
            raw, at = pending.pop()
            if not isinstance(raw, dict) or id(raw) in self._edges:
                continue
            self._document.pointers[id(raw)] = at
            edges = self._edges[id(raw)] = []
            self._check(raw, at)
            for where, inner, place in self._applied(raw, at):
                edges.append((where, id(inner)))
                pending.append((inner, place))
            if len(self._edges) + len(pending) > self._document.limits.schema_nodes:
                refuse(at, f"more than {self._document.limits.schema_nodes} subschemas")

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
            self.names.update(members)
        patterns = raw.get("patternProperties")
        self.patterns += len(patterns) if isinstance(patterns, dict) else 0
        self.patterns += "pattern" in raw


def _in_place_order(edges: dict[int, Edges], document: Document) -> list[int]:
    """Subschemas so that whatever applies to the same value comes first; a cycle makes no progress."""
    order: list[int] = []
    state: dict[int, bool] = {}  # False while on the path, True when done

    def visit(node: int, depth: int) -> None:
        at = document.pointers[node]
        if depth > document.limits.json_depth:
            refuse(at, f"more than {document.limits.json_depth} schemas applied one inside another")
        state[node] = False
        for where, inner in edges[node]:
            if where != "here" or inner not in edges or state.get(inner):
                continue
            if inner in state:
                refuse(at, "a `$ref` cycle that makes no progress")
            visit(inner, depth + 1)
        state[node] = True
        order.append(node)

    for node in edges:
        if node not in state:
            visit(node, 0)
    return order


def _check_cost(order: list[int], edges: dict[int, Edges], document: Document) -> None:
    """Refuse schemas that make a validator visit too much for one value.

    The cost of a subschema is the number of subschemas that one path through a value makes the validator
    visit. It is grown level by level, as deep as a value may be, so recursion that doubles is seen too.
    """
    limit = document.limits.schema_nodes
    order = [node for node in order if edges[node]]  # the others cost 1 and stay so
    cost: dict[int, int] = dict.fromkeys(order, 0)
    for _ in range(document.limits.json_depth):
        fresh: dict[int, int] = {}
        for node in order:
            fresh[node] = _cost_of(edges[node], fresh, cost)
            if fresh[node] > limit:
                refuse(document.pointers[node], f"more than {limit} subschemas apply to one value")
        if fresh == cost:
            return
        cost = fresh


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
