"""Several files make one set of rules: their trees are laid together, and nothing may be said twice."""

from __future__ import annotations

from preflight.rules.faults import Fault, shown
from preflight.rules.node import Entry, Node

_LISTS_OF_NAMES = frozenset({"servers", "tools", "measures", "triggers", "users", "organisations"})
_OPEN = frozenset({"servers", "organisations"})
"""What stands under a name in these may itself be spread over files; a tool, a measure, a user may not."""
PER_FILE = frozenset({"version", "include"})
"""What is said of a file, not of the rules."""


def merged(trees: list[Node], faults: list[Fault]) -> Node:
    """Return one tree for the files; keys that belong to a file alone are those of the first."""
    tree = trees[0]
    for other in trees[1:]:
        tree = _merged(tree, other, "", faults, opened=True)
    return tree


def _merged(one: Node, other: Node, key: str, faults: list[Fault], *, opened: bool) -> Node:
    """Lay two nodes together; `key` is the name of the list of names they are, or empty."""
    entries = dict(one.entries)
    for name, entry in other.entries.items():
        mine = entries.get(name)
        if mine is None:
            entries[name] = entry
        elif key == "" and name in PER_FILE:
            continue
        elif _may_join(mine, entry) and (name in _LISTS_OF_NAMES if key == "" else opened):
            inner = name if key == "" else ""
            joined = _merged(mine.value, entry.value, inner, faults, opened=inner in _OPEN)
            entries[name] = Entry(mine.key, joined)
        else:
            first = f"{mine.key.file}:{mine.key.line}"
            faults.append(entry.key.fault(f"`{shown(name)}` is declared twice", f"it is first declared at {first}"))
    return Node("map", entries, one.file, one.line, one.column)


def _may_join(mine: Entry, other: Entry) -> bool:
    return mine.value.kind == "map" and other.value.kind == "map"
