"""The general walk: descends into objects and arrays, yields one slot at a time."""

from __future__ import annotations

from collections.abc import Generator
from typing import cast

from msgspec import UNSET

from preflight.core.schema.found import Found, of_slot
from preflight.core.schema.keywords import Raw
from preflight.core.schema.members import Members
from preflight.core.schema.node import Array, Node
from preflight.core.schema.plan import Plan
from preflight.core.schema.refusal import Refusal, refuse
from preflight.core.schema.shape import ARRAYS, OBJECTS, Path, Shape, Walked
from preflight.core.schema.view import View
from preflight.model.pointer import name_of
from preflight.model.slot import FieldState, Slot

Walk = Generator[Slot, FieldState, Found]


def walk_deep(plan: Plan, shape: Shape) -> Generator[Slot, FieldState, Walked]:
    """Walk any plan; ends with `unsupported` where the payload would exceed the limits."""
    view = plan.root.view or plan.nodes.views.of_object(plan.root.raws)
    try:
        found = yield from _Walker(plan, shape).members(view, plan.root, (), shape.claim(()), hinted=True)
    except Refusal as refusal:
        return Walked(unsupported=refusal.unsupported)
    return Walked(
        fields=tuple(found.fields),
        extra_fields=tuple(found.extra),
        arguments=cast("dict[str, object]", found.value),
        dropped=tuple(found.dropped),
        allowed=tuple(found.allowed),
        branches=tuple(found.branches),
    )


class _Walker:
    """One walk: the plan, the caller's view of the payload, and how much was visited."""

    def __init__(self, plan: Plan, shape: Shape) -> None:
        self.plan = plan
        self.shape = shape
        self.visited = 0
        self.effort = 0
        self.unhinted: list[Node] = []

    def place(self, raws: tuple[Raw, ...], path: Path, claim: object, *, required: bool) -> Walk:
        """Look up everything at `path`: one slot, or all slots below it."""
        node = self.plan.nodes.of(raws)
        self._count(node, path)
        if node.leaf:
            return (yield from self._slot(node, path, claim, required=required))
        hint = self.shape.offered(path)
        hint = claim if hint is UNSET else hint
        if isinstance(hint, ARRAYS) and hint and node.array is not None:
            return (yield from self._elements(node.array, path, claim, len(hint)))
        if node.view is not None and (isinstance(hint, OBJECTS) or (required and node.asks_members(hint))):
            return (yield from self._object(node, node.view, path, claim, hint, required=required))
        return (yield from self._slot(node, path, claim, required=required))

    def _slot(self, node: Node, path: Path, claim: object, *, required: bool) -> Walk:
        slot = self.plan.slot(node, path, claim, required=required)
        return of_slot(slot, (yield slot))

    def _object(self, node: Node, view: View, path: Path, claim: object, hint: object, *, required: bool) -> Walk:
        found = yield from self.members(view, node, path, claim, hinted=isinstance(hint, OBJECTS))
        if found.value != {} or any(not state.settled for state in found.extra):
            return found
        if not required and hint != {}:
            found.value = found.loose = UNSET  # every claim in it was left out, so is the object
            return found
        # Nothing in it is known. That it is empty is a value like any other, and needs evidence.
        whole = yield from self._slot(node, path, claim, required=required)
        whole.extra += found.extra
        whole.dropped += found.dropped
        return whole

    def members(self, view: View, node: Node, path: Path, claim: object, *, hinted: bool) -> Walk:
        """Look up the members of one object until nothing new is required."""
        if not hinted:
            if node in self.unhinted:
                refuse(node.at, "requires itself without end")
            self.unhinted.append(node)
        members = Members(self.plan, self.shape, view, path, claim)
        while fresh := members.fresh():
            self.effort += members.take_effort()
            if self.effort > self.plan.limits.slots * self.plan.limits.json_depth:
                refuse(node.at, "alternatives and conditions that take too much work")
            for name, raws, required in fresh:
                inner = members.claims.get(name, UNSET)
                members.found[name] = yield from self.place(raws, (*path, name), inner, required=required)
        if not hinted:
            self.unhinted.pop()
        return members.result()

    def _elements(self, array: Array, path: Path, claim: object, length: int) -> Walk:
        claims = claim if isinstance(claim, ARRAYS) else []
        result = Found(name_of(path), claim)
        values: list[object] = []
        loose: list[object] = []
        for index in range(length):
            inner = claims[index] if index < len(claims) else UNSET
            found = yield from self.place(array.element(index), (*path, index), inner, required=True)
            result.absorb(found)
            values.append(None if found.value is UNSET else found.value)
            loose.append(found.loose)
        result.value = UNSET if result.blocked else values
        result.loose = UNSET if any(item is UNSET for item in loose) else loose
        return result

    def _count(self, node: Node, path: Path) -> None:
        self.visited += 1
        if self.visited > self.plan.limits.slots:
            refuse(node.at, f"more than {self.plan.limits.slots} slots in one call")
        if len(path) > self.plan.limits.json_depth:
            refuse(node.at, f"a value nested deeper than {self.plan.limits.json_depth}")


__all__ = ["walk_deep"]
