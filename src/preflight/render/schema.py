"""What an answer must look like, from a slot's JSON Schema: never a default, an example or a candidate (R-9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from preflight.render.visible import value_text, visible

_TYPES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list (JSON)",
    "object": "an object (JSON)",
    "null": "nothing",
}
_BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} entries",
    "maxItems": "at most {} entries",
    "pattern": "matching {}",
}
_FORMATS = {"date": "YYYY-MM-DD", "date-time": "date and time with offset, ISO 8601", "time": "hh:mm:ss with offset"}


def types_of(schema: object) -> frozenset[str]:
    """Return the JSON types that a schema names, alternatives included; empty where it names none."""
    if not isinstance(schema, Mapping):
        return frozenset()
    declared = schema.get("type")
    if isinstance(declared, str):
        return frozenset({declared})
    if isinstance(declared, list | tuple):
        return frozenset(kind for kind in declared if isinstance(kind, str))
    found: frozenset[str] = frozenset()
    for key in ("anyOf", "oneOf", "allOf"):
        branches = schema.get(key)
        if isinstance(branches, list | tuple):
            found = found.union(*map(types_of, branches))
    return found


def wanted(schema: object, *, nullable: bool = False) -> str:
    """Return in words what a schema takes."""
    given: Mapping[str, Any] = schema if isinstance(schema, Mapping) else {}
    members = given.get("enum")
    if isinstance(members, list | tuple):
        what = "one of " + ", ".join(_member(member) for member in members)
    else:
        kinds = sorted(types_of(given) - {"null"}, key=list(_TYPES).index) if types_of(given) <= _TYPES.keys() else []
        what = " or ".join(_TYPES[kind] for kind in kinds) or "a JSON value"
    details = [text.format(_bound(given[key])) for key, text in _BOUNDS.items() if key in given]
    if isinstance(kind := given.get("format"), str):
        details.append(_FORMATS.get(kind, visible(kind)))
    if nullable:
        details.append("or none")
    return ", ".join([what, *details])


def _member(member: object) -> str:
    return visible(member) if isinstance(member, str) and member else value_text(member)


def _bound(bound: object) -> str:
    return f"`{visible(bound)}`" if isinstance(bound, str) else value_text(bound)
