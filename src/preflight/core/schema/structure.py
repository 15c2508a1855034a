"""Checks of every place a payload can have: required names, `minProperties`, names that look alike (R-34)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from preflight.core.schema.keywords import Raw
from preflight.core.schema.node import Node, Nodes
from preflight.core.schema.refusal import refuse
from preflight.core.schema.view import View
from preflight.model.pointer import join, unescape

# Shown as nothing, yet not of the category "format": joiner, Hangul fillers, variation selectors.
_INVISIBLE = frozenset(
    map(chr, (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, *range(0x180B, 0x1810), *range(0xFE00, 0xFE10)))
) | frozenset(map(chr, range(0xE0100, 0xE01F0)))


def check_structure(nodes: Nodes, root: Node) -> None:
    """Visit each place reachable from `root` once; refuse what cannot be turned into slots.

    Each new place costs work, which `Views` bounds, so this ends for any schema.
    """
    seen: set[int] = set()
    pending = [root]
    while pending:
        node = pending.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if node.view is not None:
            _check_names(node.view.declared, node.at)
            _check_view(node.view, frozenset())
            pending.extend(nodes.of(raws) for raws in _members(node.view, {}))
        if node.array is not None:
            pending.extend(nodes.of(node.array.element(index)) for index in range(node.array.placed + 1))


def _members(view: View, outside: dict[str, tuple[Raw, ...]]) -> Iterable[tuple[Raw, ...]]:
    """All schemas of each member, in `view` and in everything that may be added to it."""
    known = dict(outside)
    for name, raws in view.properties.items():
        known[name] = (*outside.get(name, ()), *raws)
        yield known[name]
    for more in added(view):
        yield from _members(more, known)


def added(view: View) -> list[View]:
    """The views that alternatives and conditions may add to `view`."""
    views = [branch for group in view.groups for branch in group.branches]
    return views + [extra for c in view.conditions for extra in (c.then, c.otherwise) if extra is not None]


def _check_view(view: View, outside: frozenset[str]) -> None:
    known = outside | view.declared
    for name in view.required:
        if name not in known:
            refuse(join(view.at, "required"), "a required name that no `properties` declares")
    if view.least > len(view.required):
        refuse(join(view.at, "minProperties"), "`minProperties` asks for more than `required` names")
    for condition in view.conditions:
        for extra in (condition.then, condition.otherwise):
            if extra is not None:
                _check_view(extra, known)
    for group in view.groups:
        # what another alternative declares does not apply beside this one
        others = [more.declared for more in added(view) if more not in group.branches]
        beside = outside.union(view.properties, *others)
        for branch in group.branches:
            _check_view(branch, beside)


def _check_names(names: frozenset[str], at: str) -> None:
    """Two names that a reader cannot tell apart, or that name the same slot, make every answer ambiguous."""
    folded: set[str] = set()
    for name in sorted(names):
        key = fold(name)
        if key in folded:
            refuse(join(at, "properties"), "two property names that look the same")
        folded.add(key)
        head, slash, _ = name.partition("/")
        if not at and slash and unescape(head) in names:
            refuse(join(at, "properties"), "a property name that reads like the name of a nested slot")


def fold(name: str) -> str:
    """A name as a reader sees it: compatibility forms, case and invisible characters removed."""
    visible = "".join(char for char in name if unicodedata.category(char) != "Cf" and char not in _INVISIBLE)
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", visible).casefold())


__all__ = ["added", "check_structure", "fold"]
