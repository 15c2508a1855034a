"""The kinds of value a rules file is made of: each reads a node, and each says its JSON Schema.

Reading collects faults and goes on, so that one run names everything that is wrong. What could not be read
is `WRONG`; a result with faults is never used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Protocol

import msgspec

from preflight.model.json_value import freeze
from preflight.model.rules import Place
from preflight.rules.faults import Fault, nearest, shown
from preflight.rules.node import NAMES, Node, plain

Faults = list[Fault]
Schema = dict[str, object]


class Wrong:
    """What stands for a value that could not be read."""


WRONG: Final = Wrong()


class Kind(Protocol):
    """Reads a node into a value, and says as JSON Schema what it reads."""

    def read(self, node: Node, faults: Faults) -> object:
        """Return the value, or WRONG after adding to `faults`."""
        ...

    def schema(self) -> Schema:
        """Return the JSON Schema of what `read` accepts."""
        ...


def _mismatch(node: Node, wanted: str, faults: Faults) -> Wrong:
    found = f"`{shown(str(plain(node)))}` is {NAMES[node.kind]}" if node.kind == "text" else f"{NAMES[node.kind]}"
    faults.append(node.fault(f"{found}, not {wanted}", f"write {wanted}"))
    return WRONG


class Text(msgspec.Struct, frozen=True):
    """Text with a visible character, of a pattern where there is one; `wanted` says in words what fits."""

    wanted: str = "text"
    pattern: str | None = None
    empty: bool = False

    def read(self, node: Node, faults: Faults) -> str | Wrong:
        """Return the text."""
        if node.kind != "text":
            return _mismatch(node, self.wanted, faults)
        text = str(node.value)
        if self.pattern is not None and not re.fullmatch(self.pattern, text):
            faults.append(node.fault(f"`{shown(text)}` is not {self.wanted}"))
            return WRONG
        if not self.empty and not text.strip():
            faults.append(node.fault("an empty text", f"write {self.wanted}"))
            return WRONG
        return text

    def schema(self) -> Schema:
        """Return the schema of a string."""
        schema: Schema = {"type": "string"}
        if self.pattern is not None:
            return schema | {"pattern": f"^(?:{self.pattern})$"}
        return schema if self.empty else schema | {"pattern": r"\S"}


class Flag(msgspec.Struct, frozen=True):
    """`true` or `false`."""

    def read(self, node: Node, faults: Faults) -> bool | Wrong:
        """Return the flag."""
        return node.value is True if node.kind == "flag" else _mismatch(node, "`true` or `false`", faults)

    def schema(self) -> Schema:
        """Return the schema of a boolean."""
        return {"type": "boolean"}


class Number(msgspec.Struct, frozen=True):
    """A number, whole or not, in a range."""

    least: int | None = None
    most: int | None = None
    whole: bool = False

    def read(self, node: Node, faults: Faults) -> int | float | Wrong:
        """Return the number."""
        value = node.value
        if node.kind != "number" or not isinstance(value, int | float):
            return _mismatch(node, self._wanted, faults)
        outside = (self.least is not None and value < self.least) or (self.most is not None and value > self.most)
        if outside or (self.whole and type(value) is not int):
            faults.append(node.fault(f"`{value}` is not {self._wanted}"))
            return WRONG
        return value

    def schema(self) -> Schema:
        """Return the schema of a number."""
        schema: Schema = {"type": "integer" if self.whole else "number"}
        schema |= {} if self.least is None else {"minimum": self.least}
        return schema | ({} if self.most is None else {"maximum": self.most})

    @property
    def _wanted(self) -> str:
        name = "a whole number" if self.whole else "a number"
        name += "" if self.least is None else f" of at least {self.least}"
        return name + ("" if self.most is None else f" and at most {self.most}")


_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_DURATION = r"[0-9]{1,6}(?:\.[0-9]{1,3})?[smhdw]"


class Duration(msgspec.Struct, frozen=True):
    """A length of time with its unit: `30s`, `15m`, `24h`, `7d`, `2w`. Read as seconds, above zero."""

    def read(self, node: Node, faults: Faults) -> float | Wrong:
        """Return the seconds."""
        text = Text("a length of time with its unit, like `30s`, `15m`, `24h` or `7d`", _DURATION).read(node, faults)
        if isinstance(text, Wrong):
            return WRONG
        seconds = float(text[:-1]) * _UNITS[text[-1]]
        if seconds <= 0:
            faults.append(node.fault("a length of time of zero", "write a longer one, or leave the key out"))
            return WRONG
        return seconds

    def schema(self) -> Schema:
        """Return the schema of a duration."""
        return {"type": "string", "pattern": f"^{_DURATION}$", "examples": ["30s", "15m", "24h", "7d"]}


class Choice(msgspec.Struct, frozen=True):
    """One of a few words."""

    words: tuple[str, ...]

    def read(self, node: Node, faults: Faults) -> str | Wrong:
        """Return the word."""
        if node.kind != "text":
            return _mismatch(node, "one of " + ", ".join(f"`{word}`" for word in self.words), faults)
        word = str(node.value)
        if word not in self.words:
            faults.append(node.fault(f"`{shown(word)}` is not known here", nearest(word, self.words)))
            return WRONG
        return word

    def schema(self) -> Schema:
        """Return the schema of an enumeration."""
        return {"enum": list(self.words)}


class Constant(msgspec.Struct, frozen=True):
    """Exactly one number or flag."""

    value: int | bool

    def read(self, node: Node, faults: Faults) -> int | bool | Wrong:
        """Return the value."""
        if type(node.value) is type(self.value) and node.value == self.value:
            return self.value
        return _mismatch(node, f"`{self.value}`".lower(), faults)

    def schema(self) -> Schema:
        """Return the schema of a constant."""
        return {"const": self.value}


class Anything(msgspec.Struct, frozen=True):
    """Any JSON value, frozen."""

    def read(self, node: Node, faults: Faults) -> object:  # noqa: ARG002  every kind reads alike
        """Return the value as JSON values are held."""
        return freeze(plain(node), "value")  # within the limits of JSON values: the readers see to that

    def schema(self) -> Schema:
        """Return the schema that everything fits."""
        return {}


class ListOf(msgspec.Struct, frozen=True):
    """A list; with `distinct`, of different things. Read as a tuple."""

    item: Kind
    distinct: bool = True
    least: int = 0

    def read(self, node: Node, faults: Faults) -> tuple[object, ...] | Wrong:
        """Return the items that could be read."""
        if node.kind != "list":
            return _mismatch(node, "a list", faults)
        if len(node.items) < self.least:
            faults.append(node.fault("an empty list", "write an item, or leave the key out"))
        items: list[object] = []
        for item in node.items:
            value = self.item.read(item, faults)
            if self.distinct and value in items:
                faults.append(item.fault(f"`{shown(str(plain(item)))}` stands twice in the list", "keep one"))
            elif value is not WRONG:
                items.append(value)
        return tuple(items)

    def schema(self) -> Schema:
        """Return the schema of an array."""
        schema: Schema = {"type": "array", "items": self.item.schema()}
        schema |= {"minItems": self.least} if self.least else {}
        return schema | ({"uniqueItems": True} if self.distinct else {})


class MapOf(msgspec.Struct, frozen=True):
    """A mapping from names to values of one kind. Read as a dict; names may be whatever JSON allows (R-16)."""

    item: Kind
    name: str = "a name"
    empty_name: bool = False

    def read(self, node: Node, faults: Faults) -> dict[str, object] | Wrong:
        """Return the entries that could be read."""
        if node.kind != "map":
            return _mismatch(node, f"a mapping from {self.name} to what holds for it", faults)
        values = {}
        for name, entry in node.entries.items():
            if not name.isprintable() or not (name or self.empty_name):
                faults.append(entry.key.fault(f"`{shown(name)}` is not {self.name}"))
            value = self.item.read(entry.value, faults)
            if value is not WRONG:
                values[name] = value
        return values

    def schema(self) -> Schema:
        """Return the schema of an object with free names."""
        return {"type": "object", "additionalProperties": self.item.schema()}


class Key(msgspec.Struct, frozen=True):
    """One key of a section: what it holds and, for people, what it is for."""

    kind: Kind
    about: str
    required: bool = False


class Section(msgspec.Struct, frozen=True):
    """What a section of a file says: its values by key, and the nodes they were read from."""

    node: Node
    values: Mapping[str, object]

    @property
    def place(self) -> Place:
        """Where the section begins."""
        return self.node.place

    def get(self, key: str, default: object = None) -> object:
        """Return the value of a key, or the default."""
        return self.values.get(key, default)

    def at(self, key: str) -> Node:
        """Return the node of a key's value; the section's own when the key is missing."""
        entry = self.node.entries.get(key)
        return self.node if entry is None else entry.value


class Record(msgspec.Struct, frozen=True):
    """A section: fixed keys, of which `one_of` names those that exclude one another and one must be there."""

    name: str
    keys: Mapping[str, Key]
    one_of: tuple[str, ...] = ()

    def read(self, node: Node, faults: Faults) -> Section | Wrong:
        """Return the section with what could be read of it."""
        if node.kind != "map":
            return _mismatch(node, f"{self.name} as a mapping", faults)
        values: dict[str, object] = {}
        for name, entry in node.entries.items():
            key = self.keys.get(name)
            if key is None:
                hint = nearest(name, self.keys)
                faults.append(entry.key.fault(f"`{shown(name)}` is no key of {self.name}", hint))
            elif (value := key.kind.read(entry.value, faults)) is not WRONG:
                values[name] = value
        self._missing(node, faults)
        return Section(node, values)

    def _missing(self, node: Node, faults: Faults) -> None:
        given = node.entries.keys()
        faults += [
            node.fault(f"{self.name} has no `{name}`", f"add it: {key.about}")
            for name, key in self.keys.items()
            if key.required and name not in given
        ]
        chosen = [name for name in self.one_of if name in given]
        if self.one_of and len(chosen) != 1:
            wanted = ", ".join(f"`{name}`" for name in self.one_of)
            found = "none of them" if not chosen else " and ".join(f"`{name}`" for name in chosen)
            faults.append(node.fault(f"{self.name} has {found}", f"write exactly one of {wanted}"))

    def schema(self) -> Schema:
        """Return the schema of an object with fixed keys."""
        schema: Schema = {
            "title": self.name,
            "type": "object",
            "properties": {name: key.kind.schema() | {"description": key.about} for name, key in self.keys.items()},
            "additionalProperties": False,
        }
        if required := [name for name, key in self.keys.items() if key.required]:
            schema["required"] = required
        if self.one_of:
            schema["oneOf"] = [{"required": [name]} for name in self.one_of]
        return schema
