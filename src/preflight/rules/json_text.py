"""JSON with places: strict, as `core.strict_json` is, and every value knows where it stands."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from json import decoder

from preflight.rules.bounds import Bounds
from preflight.rules.faults import Fault, Refused, shown
from preflight.rules.node import Entry, Kind, Node
from preflight.rules.scalars import NUMBER, SURROGATE, Ambiguous, number

_SPACE = re.compile(r"[ \t\n\r]*")
_WORD = re.compile(r"true|false|null")
_WORDS: dict[str, tuple[Kind, object]] = {"true": ("flag", True), "false": ("flag", False), "null": ("null", None)}


def read_json(text: str, file: str, bounds: Bounds) -> Node:
    """Return the tree of one JSON text; raises Refused with the place of the first thing that is wrong."""
    reader = _Reader(text, file, bounds)
    node, end = reader.value(reader.skip(0), bounds.depth)
    if (end := reader.skip(end)) != len(text):
        raise reader.refuse(end, "text after the value")
    return node


class _Reader:
    def __init__(self, text: str, file: str, bounds: Bounds) -> None:
        self._text = text
        self._file = file
        self._bounds = bounds
        self._left = bounds.nodes
        self._lines = [0, *(found.end() for found in re.finditer("\n", text))]

    def refuse(self, at: int, what: str, do: str = "") -> Refused:
        line, column = self._place(at)
        return Refused(Fault(self._file, line, column, what, do))

    def skip(self, at: int) -> int:
        space = _SPACE.match(self._text, at)
        assert space is not None  # noqa: S101  the pattern also matches nothing
        return space.end()

    def value(self, at: int, depth: int) -> tuple[Node, int]:
        self._left -= 1
        if self._left < 0:
            raise self.refuse(at, f"more than {self._bounds.nodes} values", "split the file")
        if depth == 0:
            raise self.refuse(at, f"nested deeper than {self._bounds.depth}", "flatten it")
        char = self._text[at : at + 1]
        if char == "{":
            return self._map(at, depth - 1)
        if char == "[":
            return self._list(at, depth - 1)
        if char == '"':
            text, end = self._string(at)
            return self._node("text", text, at), end
        return self._scalar(at)

    def _place(self, at: int) -> tuple[int, int]:
        line = bisect_right(self._lines, at)
        return line, at - self._lines[line - 1] + 1

    def _node(self, kind: Kind, value: object, at: int) -> Node:
        return Node(kind, value, self._file, *self._place(at))

    def _scalar(self, at: int) -> tuple[Node, int]:
        if word := _WORD.match(self._text, at):
            return self._node(*_WORDS[word[0]], at), word.end()
        found = NUMBER.match(self._text, at)
        if found is None:
            raise self.refuse(at, "not JSON: a value is missing here")
        try:
            return self._node("number", number(found[0]), at), found.end()
        except Ambiguous as fault:
            raise self.refuse(at, str(fault)) from None

    def _string(self, at: int) -> tuple[str, int]:
        try:
            text, end = decoder.scanstring(self._text, at + 1, True)  # type: ignore[attr-defined]  # noqa: FBT003  the only form it has
        except json.JSONDecodeError as fault:
            raise self.refuse(min(fault.pos, len(self._text)), f"not JSON: {fault.msg.lower()}") from None
        if len(text) > self._bounds.text_length:
            raise self.refuse(at, f"a text of more than {self._bounds.text_length} characters")
        if SURROGATE.search(text):
            raise self.refuse(at, "a lone surrogate in a text", "write valid Unicode")
        return text, end

    def _map(self, at: int, depth: int) -> tuple[Node, int]:
        entries: dict[str, Entry] = {}
        here = self.skip(at + 1)
        while self._text[here : here + 1] != "}":
            if self._text[here : here + 1] != '"':
                raise self.refuse(here, "not JSON: a key in quotes is missing here")
            name, end = self._string(here)
            key = self._node("text", name, here)
            if name in entries:
                first = entries[name].key.line
                raise self.refuse(here, f"the key `{shown(name)}` stands twice", f"it first stands in line {first}")
            here = self.skip(self._past(":", self.skip(end)))
            value, end = self.value(here, depth)
            entries[name] = Entry(key, value)
            here = self._onward(end, "}")
        return self._node("map", entries, at), here + 1

    def _list(self, at: int, depth: int) -> tuple[Node, int]:
        items = []
        here = self.skip(at + 1)
        while self._text[here : here + 1] != "]":
            item, end = self.value(here, depth)
            items.append(item)
            here = self._onward(end, "]")
        return self._node("list", items, at), here + 1

    def _past(self, char: str, at: int) -> int:
        if self._text[at : at + 1] != char:
            raise self.refuse(at, f"not JSON: `{char}` is missing here")
        return at + 1

    def _onward(self, end: int, close: str) -> int:
        """Return the place of the next item, or of the closing bracket."""
        here = self.skip(end)
        if self._text[here : here + 1] == close:
            return here
        here = self.skip(self._past(",", here))
        if self._text[here : here + 1] == close:
            raise self.refuse(here, f"not JSON: a comma before `{close}`")
        return here
