"""The types of a tool's arguments, read off its JSON Schema, for checking expressions against it (R-60)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from preflight.model.json_value import is_object
from preflight.model.pointer import descend, tokens
from preflight.rules.inputs import ANY

CODES = {"string": "s", "integer": "i", "number": "d", "boolean": "b", "object": "m", "array": "l"}
_OPENING = frozenset(
    "allOf anyOf oneOf if then else dependentSchemas patternProperties $dynamicRef additionalProperties "
    "unevaluatedProperties propertyNames not".split()
)
_SCALARS = frozenset({"string", "integer", "number", "boolean"})
_HOPS = 16


class Undeclared(msgspec.Struct, frozen=True):
    """A schema says that there is no such property; `known` are those that there are."""

    name: str
    known: tuple[str, ...]


def type_at(schema: object, steps: Iterable[str]) -> str | Undeclared:
    """Return the type code of what stands at a path into an argument object, or why there is none."""
    here = schema
    for step in steps:
        found = _step(_resolved(here, schema), step)
        if isinstance(found, Undeclared):
            return found
        here = found
    return _code(_resolved(here, schema), schema)


def _step(here: object, step: str) -> object:
    """Go into a property or, by a number, into an item; what the schema leaves open has the schema None."""
    if not is_object(here):
        return None
    types = _types(here)
    if len(types) == 1 and types[0] in _SCALARS:
        return Undeclared(step, ())
    if types == ("array",):
        return here.get("items") if step.isdecimal() else Undeclared(step, ())
    properties = here.get("properties")
    if not is_object(properties):
        return None
    if step in properties:
        return properties[step]
    is_open = any(here.get(key, False) is not False for key in _OPENING)
    return None if is_open else Undeclared(step, tuple(properties))


def _resolved(here: object, root: object) -> object:
    """Follow local references, a few; a schema that has more beside its reference stays what it is."""
    for _ in range(_HOPS):
        reference = here.get("$ref") if is_object(here) else None
        if not isinstance(reference, str) or not reference.startswith("#"):
            return here
        here = descend(root, tuple(tokens(reference[1:])))
    return None


def _branches(here: Mapping[str, object]) -> tuple[object, ...]:
    """Return the alternatives of a schema that has nothing beside them to say about the type."""
    found = here.get("anyOf", here.get("oneOf"))
    return tuple(found) if isinstance(found, list | tuple) and "type" not in here else ()


def _code(here: object, root: object, depth: int = _HOPS) -> str:
    if not is_object(here):
        return ANY
    branches = [branch for branch in _branches(here) if not is_object(branch) or branch.get("type") != "null"]
    if len(branches) == 1:
        return _code(_resolved(branches[0], root), root, depth - 1) if depth else ANY
    types = _types(here)
    if len(types) != 1:
        return ANY
    code = CODES.get(types[0], ANY)
    if code == "l":
        items = _code(_resolved(here["items"], root), root, depth - 1) if depth and "items" in here else ""
        return code + items.replace(ANY, "")
    return code


def _types(schema: Mapping[str, object]) -> tuple[str, ...]:
    """Return the types a schema allows, null aside: a null input counts as missing."""
    declared = schema.get("type")
    if isinstance(declared, str):
        return (declared,)
    if isinstance(declared, list | tuple):
        return tuple(str(kind) for kind in declared if kind != "null")
    members = schema.get("enum", (schema["const"],) if "const" in schema else ())
    if isinstance(members, list | tuple) and members and all(isinstance(member, str) for member in members):
        return ("string",)
    return ()
