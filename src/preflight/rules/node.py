"""What a rules file says, as a tree in which everything knows its place."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from preflight.model.rules import Place
from preflight.rules.faults import Fault

Kind = Literal["map", "list", "text", "number", "flag", "null"]
NAMES: dict[Kind, str] = {
    "map": "a mapping", "list": "a list", "text": "text", "number": "a number", "flag": "true or false",
    "null": "null",
}  # fmt: skip


class Node(msgspec.Struct, frozen=True):
    """One value of a file. `value` is a dict of entries (map), a list of nodes (list), or the scalar itself.

    `plain` says that a scalar stands on one line as it is, so that offsets into it are offsets into the line.
    """

    kind: Kind
    value: object
    file: str
    line: int
    column: int
    plain: bool = False

    @property
    def place(self) -> Place:
        """The file and the line."""
        return Place(self.file, self.line)

    @property
    def entries(self) -> dict[str, Entry]:
        """The entries of a map."""
        return self.value  # type: ignore[return-value]

    @property
    def items(self) -> list[Node]:
        """The items of a list."""
        return self.value  # type: ignore[return-value]

    def fault(self, what: str, do: str = "") -> Fault:
        """Return a fault at this place."""
        return Fault(self.file, self.line, self.column, what, do)


class Entry(NamedTuple):
    """One key of a map, and its value."""

    key: Node
    value: Node


def plain(node: Node) -> object:
    """Return the value without its places: dicts, lists, texts, numbers, flags and None."""
    if node.kind == "map":
        return {name: plain(entry.value) for name, entry in node.entries.items()}
    if node.kind == "list":
        return [plain(item) for item in node.items]
    return node.value
