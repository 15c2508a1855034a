"""YAML as rules may use it: mappings, lists and scalars; no anchors, aliases, tags or merges (R-67).

The tree is built of the parser's events, which come one by one: a bomb of aliases or brackets is refused
at its first step, before anything is built of it.
"""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from preflight.rules.bounds import Bounds
from preflight.rules.faults import Fault, Refused, shown
from preflight.rules.node import Entry, Node
from preflight.rules.scalars import SURROGATE, Ambiguous, resolve


def read_yaml(text: str, file: str, bounds: Bounds) -> Node:
    """Return the tree of one YAML document; raises Refused with the place of the first thing that is wrong."""
    reader = _Reader(text, file, bounds)
    try:
        return reader.document()
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        line, column = (mark.line, mark.column) if mark else (0, 0)
        what = fault.problem or fault.context or "it cannot be read"
        raise Refused(Fault(file, line + 1, column + 1, f"not YAML: {shown(what)}")) from None
    except yaml.reader.ReaderError as fault:
        before = text[: fault.position]
        line, column = before.count("\n"), fault.position - before.rfind("\n") - 1
        raise Refused(Fault(file, line + 1, column + 1, "a character that YAML does not allow")) from None
    except (ValueError, OverflowError):  # an escape beyond Unicode, a version of thousands of digits
        raise Refused(reader.fault_here("not YAML: a number or an escape is out of range")) from None


class _Reader:
    def __init__(self, text: str, file: str, bounds: Bounds) -> None:
        self._events: Iterator[yaml.Event] = yaml.parse(text, Loader=yaml.SafeLoader)
        self._file = file
        self._bounds = bounds
        self._left = bounds.nodes
        self._line = self._column = 0

    def document(self) -> Node:
        self._next()  # the stream begins
        begin = self._next()
        if isinstance(begin, yaml.StreamEndEvent):
            raise Refused(self.fault_here("the file is empty", "begin it with `version: 1`"))
        node = self._node(self._next(), self._bounds.depth)
        self._next()  # the document ends
        if not isinstance(self._next(), yaml.StreamEndEvent):
            raise Refused(self.fault_here("a second document begins", "keep one in a file"))
        return node

    def fault_here(self, what: str, do: str = "") -> Fault:
        return Fault(self._file, self._line + 1, self._column + 1, what, do)

    def _next(self) -> yaml.Event:
        event = next(self._events)
        mark = event.start_mark
        assert mark is not None  # noqa: S101  every event of a parser has one
        self._line, self._column = mark.line, mark.column
        return event

    def _node(self, event: yaml.Event, depth: int) -> Node:
        self._check(event, depth)
        line, column = self._line + 1, self._column + 1
        if isinstance(event, yaml.MappingStartEvent):
            return Node("map", self._entries(depth - 1), self._file, line, column)
        if isinstance(event, yaml.SequenceStartEvent):
            return Node("list", self._items(depth - 1), self._file, line, column)
        assert isinstance(event, yaml.ScalarEvent)  # noqa: S101  nothing else begins a node
        return self._scalar(event, line, column)

    def _check(self, event: yaml.Event, depth: int) -> None:
        if isinstance(event, yaml.AliasEvent):
            raise Refused(self.fault_here("an alias", "write the value out"))
        if getattr(event, "anchor", None) is not None:
            raise Refused(self.fault_here("an anchor", "leave it out: rules have no aliases"))
        if getattr(event, "tag", None) is not None:
            raise Refused(self.fault_here("a tag", "leave it out: a value is what it is written as"))
        self._left -= 1
        if self._left < 0:
            raise Refused(self.fault_here(f"more than {self._bounds.nodes} values", "split the file"))
        if depth == 0:
            raise Refused(self.fault_here(f"nested deeper than {self._bounds.depth}", "flatten it"))

    def _entries(self, depth: int) -> dict[str, Entry]:
        entries: dict[str, Entry] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            key = self._key(event, depth)
            name = str(key.value)
            if name in entries:
                first = entries[name].key.line
                raise Refused(key.fault(f"the key `{shown(name)}` stands twice", f"it first stands in line {first}"))
            entries[name] = Entry(key, self._node(self._next(), depth))
        return entries

    def _key(self, event: yaml.Event, depth: int) -> Node:
        """Read a key. Keys are names, so a plain one is text whatever it looks like: `on`, `1`, `null` (R-16)."""
        self._check(event, depth)
        if not isinstance(event, yaml.ScalarEvent):
            raise Refused(self.fault_here("a key that is no text", "keys are names"))
        if event.implicit[0] and event.value == "<<":
            raise Refused(self.fault_here("a merge", "write the entries out"))
        return Node("text", self._text(event.value), self._file, self._line + 1, self._column + 1)

    def _items(self, depth: int) -> list[Node]:
        items = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            items.append(self._node(event, depth))
        return items

    def _scalar(self, event: yaml.ScalarEvent, line: int, column: int) -> Node:
        text = self._text(event.value)
        if event.style is not None:  # quoted or a block: text, whatever it looks like
            return Node("text", text, self._file, line, column)
        try:
            kind, value = resolve(text)
        except Ambiguous as fault:
            what, _, do = str(fault).partition("; ")
            raise Refused(self.fault_here(what, do)) from None
        one_line = event.end_mark is not None and event.end_mark.line + 1 == line
        return Node(kind, value, self._file, line, column, one_line)

    def _text(self, text: str) -> str:
        if len(text) > self._bounds.text_length:
            raise Refused(self.fault_here(f"a text of more than {self._bounds.text_length} characters"))
        if SURROGATE.search(text):
            raise Refused(self.fault_here("a lone surrogate in a text", "write valid Unicode"))
        return text
