"""What an answer must look like, from a slot's JSON Schema: never a default, an example or a candidate (R-9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from preflight.core.when import FORMS
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
_SUGGESTIONS = frozenset({"default", "example", "examples"})
_BY_NAME = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
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


def without_suggestions(schema: object) -> object:
    """Return a schema without its defaults and examples: they would suggest an answer (R-9, R-37)."""
    if isinstance(schema, list):
        return [without_suggestions(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if key not in _SUGGESTIONS}
    return {key: _named(value) if key in _BY_NAME else _inside(key, value) for key, value in kept.items()}


def _named(schemas: object) -> object:
    """Go on inside schemas that stand under names of their own: a property may be called `default`."""
    if not isinstance(schemas, dict):
        return schemas
    return {name: without_suggestions(schema) for name, schema in schemas.items()}


def _inside(key: str, value: object) -> object:
    return value if key in ("enum", "const") else without_suggestions(value)


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
        details.append("or that there is none")
    return ", ".join([what, *details])


def described(schema: object) -> str:
    """Return a schema's own description, and whose it is: the tool's, but for the time to run (R-81)."""
    text = schema.get("description") if isinstance(schema, Mapping) else None
    if not isinstance(text, str) or not text:
        return ""
    return FORMS if text == FORMS else f"the tool's own description: {visible(text)}"


def _member(member: object) -> str:
    return visible(member) if isinstance(member, str) and member else value_text(member)


def _bound(bound: object) -> str:
    return f"`{visible(bound)}`" if isinstance(bound, str) else value_text(bound)
