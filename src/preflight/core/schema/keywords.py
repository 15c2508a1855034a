"""Where a schema holds further schemas: which keyword, and what part of the instance they apply to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple, cast

Raw = dict[str, object] | bool
"""A subschema as written: an object, or `true` / `false`."""

DATA = frozenset({"const", "default", "enum", "example", "examples"})
"""Keywords whose values are data, not schemas."""

Where = Literal["here", "member", "pattern", "rest", "each", "element", "name"]


class Sub(NamedTuple):
    """A subschema: `where` it applies (to the same value, a named member, ...), and its tokens below its parent."""

    where: Where
    tokens: tuple[str | int, ...]
    raw: Raw


_SINGLE: dict[str, Where] = {
    "not": "here",
    "if": "here",
    "then": "here",
    "else": "here",
    "additionalProperties": "rest",
    "unevaluatedProperties": "rest",
    "items": "element",
    "additionalItems": "element",
    "unevaluatedItems": "element",
    "contains": "each",
    "propertyNames": "name",
}
_LISTS: dict[str, Where] = {
    "allOf": "here",
    "anyOf": "here",
    "oneOf": "here",
    "prefixItems": "element",
    "items": "element",
}
_MAPS: dict[str, Where] = {
    "properties": "member",
    "patternProperties": "pattern",
    "dependentSchemas": "here",
    "dependencies": "here",
}


def subschemas(raw: dict[str, object]) -> Iterator[Sub]:
    """Every schema that `raw` applies, `$ref` aside."""
    for key, value in raw.items():
        if isinstance(value, dict) and key in _MAPS:
            for name, inner in value.items():
                if isinstance(inner, dict | bool):  # `dependencies` may hold lists of names
                    yield Sub(_MAPS[key], (key, name), inner)
        elif isinstance(value, list) and key in _LISTS:
            for number, inner in enumerate(value):
                yield Sub(_LISTS[key], (key, number), cast("Raw", inner))
        elif isinstance(value, dict | bool) and key in _SINGLE:
            if key == "additionalItems" and not isinstance(raw.get("items"), list):
                continue  # means something beside a list only, which 2020-12 does not know
            yield Sub(_SINGLE[key], (key,), value)


__all__ = ["DATA", "Raw", "Sub", "Where", "subschemas"]
