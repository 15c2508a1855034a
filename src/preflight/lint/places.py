"""The values a tool takes, and every text in its definition, each with the JSON Pointer where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

import msgspec

from preflight.core.schema.fragments import from_fragment
from preflight.model.json_value import is_object
from preflight.model.pointer import join

Schema = Mapping[str, object]
_INSIDE = ("anyOf", "oneOf", "allOf")
_NESTED = ("items", "additionalProperties", "not", "if", "then", "else", "contains")
_ANYTHING: Schema = MappingProxyType({})
_MOST = 5_000  # values of one tool that are looked at; the largest of 465 measured tools has 1,029


class Value(msgspec.Struct, frozen=True, gc=False):
    """One declared value: a property, at whatever depth.

    `parts` are the schemas that apply to it directly: its own, what its references name, its alternatives.
    `depth` is 0 at the root.
    """

    name: str
    pointer: str
    required: bool
    depth: int
    parts: tuple[Schema, ...]

    def has(self, *keywords: str) -> bool:
        """Whether one of the parts has one of these keywords."""
        return any(keyword in part for part in self.parts for keyword in keywords)

    def all_of(self, keyword: str) -> tuple[object, ...]:
        """Return what each part says under `keyword`."""
        return tuple(part[keyword] for part in self.parts if keyword in part)

    @property
    def types(self) -> frozenset[str]:
        """The types it may have, as declared, null aside."""
        found: set[str] = set()
        for declared in self.all_of("type"):
            found.update([declared] if isinstance(declared, str) else map(str, _list(declared)))
        return frozenset(found - {"null"})

    @property
    def options(self) -> tuple[str, ...]:
        """The texts of its closed set."""
        listed = [item for each in self.all_of("enum") for item in _list(each)]
        return tuple(item for item in (*listed, *self.all_of("const")) if isinstance(item, str))

    @property
    def description(self) -> str:
        """What is said about it."""
        return " ".join(text for text in self.all_of("description") if isinstance(text, str))


def values(input_schema: object) -> tuple[Value, ...]:
    """Return every property that an input schema declares, outermost first, each schema visited once."""
    return tuple(_Walk(input_schema).run()) if is_object(input_schema) else ()


class _Walk:
    """One pass over a schema; bounded, so that a hostile one costs no more than a large one."""

    def __init__(self, root: Schema) -> None:
        self.root = root
        self.seen: set[int] = set()

    def run(self) -> Iterator[Value]:
        pending: list[tuple[Schema, str, int]] = [(self.root, "/inputSchema", 0)]
        found = 0
        for schema, at, depth in pending:  # grows while it runs
            for part, place in self.parts(schema, at):
                if id(part) in self.seen:
                    continue
                self.seen.add(id(part))
                for value, inner in self.members(part, place, depth):
                    yield value
                    pending.append((inner, value.pointer, depth + 1))
                    found += 1
                    if found >= _MOST:
                        return
                pending += [(inner, where, depth) for inner, where in _nested(part, place)]

    def members(self, part: Schema, at: str, depth: int) -> Iterator[tuple[Value, Schema]]:
        properties = part.get("properties")
        required = _list(part.get("required"))
        for name, inner in properties.items() if is_object(properties) else ():
            schema = inner if is_object(inner) else _ANYTHING
            place = join(at, "properties", name)
            parts = tuple(each for each, _ in self.parts(schema, place))
            if inner is not False:
                yield Value(name, place, name in required, depth, parts), schema

    def parts(self, schema: Schema, at: str) -> list[tuple[Schema, str]]:
        """The schema, what its local references name, and its alternatives, in place."""
        found = [(schema, at)]
        known = {id(schema)}
        for part, place in found:  # grows while it runs
            for inner, where in (*self.referred(part), *_alternatives(part, place)):
                if id(inner) not in known:
                    known.add(id(inner))
                    found.append((inner, where))
        return found

    def referred(self, part: Schema) -> Iterator[tuple[Schema, str]]:
        reference = part.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return
        target: object = self.root
        tokens = from_fragment(reference)
        for token in tokens:
            target = target.get(token) if is_object(target) else None
        if is_object(target):
            yield target, join("/inputSchema", *tokens)


def _alternatives(part: Schema, at: str) -> Iterator[tuple[Schema, str]]:
    for keyword in _INSIDE:
        for number, inner in enumerate(_list(part.get(keyword))):
            if is_object(inner):
                yield inner, join(at, keyword, number)


def _nested(part: Schema, at: str) -> Iterator[tuple[Schema, str]]:
    for keyword in _NESTED:
        inner = part.get(keyword)
        if is_object(inner):
            yield inner, join(at, keyword)


def _list(value: object) -> tuple[object, ...]:
    return tuple(value) if isinstance(value, list | tuple) else ()


def texts(declared: object, at: str = "") -> Iterator[tuple[str, str]]:
    """Yield `(pointer, text)` of every string in a JSON value, the keys of objects included."""
    if isinstance(declared, str):
        yield at, declared
    elif isinstance(declared, Mapping):
        for key, item in declared.items():
            yield join(at, key), key
            yield from texts(item, join(at, key))
    elif isinstance(declared, list | tuple):
        for number, item in enumerate(declared):
            yield from texts(item, join(at, number))


__all__ = ["Schema", "Value", "texts", "values"]
