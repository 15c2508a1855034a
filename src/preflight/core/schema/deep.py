"""The general walk: descends into objects and arrays, yields one slot at a time."""

from __future__ import annotations

from collections.abc import Generator
from typing import cast

import msgspec
from msgspec import UNSET

from preflight.core.schema.found import Found, of_slot
from preflight.core.schema.keywords import Raw
from preflight.core.schema.members import Members
from preflight.core.schema.node import Array, Node
from preflight.core.schema.plan import Plan
from preflight.core.schema.refusal import Refusal, refuse
from preflight.core.schema.shape import ARRAYS, NO_SUCH_ELEMENT, OBJECTS, Path, Shape, Walked
from preflight.core.schema.view import View
from preflight.model.pointer import name_of
from preflight.model.slot import DroppedClaim, FieldState, Slot

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
        self.element: tuple[str, bool] | None = None
        self.denied: set[str] = set()

    def place(self, raws: tuple[Raw, ...], path: Path, claim: object, *, required: bool) -> Walk:
        """Look up everything at `path`: one slot, or all slots below it."""
        node = self.plan.nodes.of(raws)
        self._count(node, path)
        if node.leaf:
            return (yield from self._slot(node, path, claim, required=required))
        hint = self.shape.offered(path)
        hint = claim if hint is UNSET else hint
        if isinstance(hint, ARRAYS) and hint and node.array is not None:
            return (yield from self._elements(node.array, path, claim, len(hint), proposed=hint is claim))
        if node.view is not None and (isinstance(hint, OBJECTS) or (required and node.asks_members(hint))):
            return (yield from self._object(node, node.view, path, claim, hint, required=required))
        return (yield from self._slot(node, path, claim, required=required))

    def _slot(self, node: Node, path: Path, claim: object, *, required: bool) -> Walk:
        slot = self.plan.slot(node, path, claim, required=required)
        if self.element is not None:
            slot = msgspec.structs.replace(slot, element=self.element[0], placed=self.element[1])
        state = yield slot
        if self.element is not None and not state.settled and self.shape.offered(path) is None:
            self.denied.add(slot.name)
        return of_slot(slot, state)

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

    def _elements(self, array: Array, path: Path, claim: object, length: int, *, proposed: bool) -> Walk:
        claims = claim if isinstance(claim, ARRAYS) else []
        spare = proposed and length > array.fewest  # what the model alone proposed, the user may deny
        elements: list[Found] = []
        outer = self.element
        for index in range(length):
            inner = claims[index] if index < len(claims) else UNSET
            self.element = (name_of((*path, index)), index < array.placed) if spare else outer
            elements.append((yield from self.place(array.element(index), (*path, index), inner, required=True)))
        self.element = outer
        left = self._left(elements, array.placed) if spare else elements
        return _array(name_of(path), claim, elements, left if len(left) >= array.fewest else elements)

    def _left(self, elements: list[Found], placed: int) -> list[Found]:
        """The elements that are not denied; one with a place of its own stays where one is kept behind it."""
        left: list[Found] = []
        for index in reversed(range(len(elements))):
            if not self._is_denied(elements[index]) or (index < placed and left):
                left.insert(0, elements[index])
        return left

    def _is_denied(self, element: Found) -> bool:
        """Whether the user said that there is no such element: of what it needs there is none, and nothing is known."""
        states = (*element.fields, *element.extra)
        if any(state.status == "known" or state.lookup_failed for state in states):
            return False
        options = [option for branch in element.branches for option in branch.options]
        needed = any(state.name in self.denied for state in element.fields)
        return needed or (bool(options) and all(not self.denied.isdisjoint(option) for option in options))

    def _count(self, node: Node, path: Path) -> None:
        self.visited += 1
        if self.visited > self.plan.limits.slots:
            refuse(node.at, f"more than {self.plan.limits.slots} slots in one call")
        if len(path) > self.plan.limits.json_depth:
            refuse(node.at, f"a value nested deeper than {self.plan.limits.json_depth}")


def _array(name: str, claim: object, elements: list[Found], left: list[Found]) -> Found:
    """Put an array together of the elements that are `left`; the others are not sent."""
    result = Found(name, claim)
    kept = set(map(id, left))
    for found in elements:
        if id(found) in kept:
            result.absorb(found)
        else:  # it has a claim: only what the model proposed can be denied
            result.dropped.append(DroppedClaim(found.name, found.claim, NO_SUCH_ELEMENT))
    values = [None if found.value is UNSET else found.value for found in left]
    loose = [found.loose for found in left]
    result.value = UNSET if result.blocked else values
    result.loose = UNSET if any(item is UNSET for item in loose) else loose
    return result


__all__ = ["walk_deep"]
