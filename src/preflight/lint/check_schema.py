"""Rules about what an input schema declares, as a whole."""

from __future__ import annotations

from collections.abc import Iterator

from preflight.lint.finding import Finding
from preflight.lint.places import Value
from preflight.lint.quoting import name, names
from preflight.lint.subject import Subject
from preflight.model.json_value import is_object
from preflight.model.slot import Unsupported

_TYPED = tuple("type enum const anyOf oneOf allOf $ref properties items prefixItems format pattern".split())
_MEMBERS = ("patternProperties", "propertyNames", "dependentSchemas")


def unsupported(subject: Subject) -> Iterator[Finding]:
    """PF010: no slots can be made of the schema (R-34)."""
    compiled = subject.compiled
    if isinstance(compiled, Unsupported):
        yield subject.find(
            "PF010",
            "/inputSchema" + compiled.at,
            f"the input schema cannot be turned into slots: {compiled.what}",
            "declare the arguments in plain JSON Schema 2020-12 with local references; until then every call holds",
        )


def nothing_required(subject: Subject) -> Iterator[Finding]:
    """PF011: an acting tool that a call without arguments satisfies."""
    schema = subject.tool.input_schema
    if not subject.acts or not is_object(schema) or isinstance(subject.compiled, Unsupported):
        return
    root = [value for value in subject.values if value.depth == 0]
    alternatives = any(keyword in schema for keyword in ("oneOf", "anyOf", "allOf", "if", "$ref"))
    if any(value.required for value in root) or alternatives:
        return
    if not root:
        yield subject.find(
            "PF011",
            "/inputSchema",
            "acts, and takes no argument: nothing in a call says on what",
            "say in the description what it acts on, and add an argument that names it where there is a choice",
            "note",
        )
        return
    yield subject.find(
        "PF011",
        "/inputSchema/required",
        f"acts, and requires no argument of those it takes: {names([value.name for value in root])}",
        "list under `required` what a call cannot do without, or the alternatives under `oneOf`",
    )


def free_form(subject: Subject) -> Iterator[Finding]:
    """PF012: objects of an acting tool whose members nobody declared. The inner ones in one note."""
    free = [value for value in subject.values if _is_free_form(value)] if subject.acts else []
    do = "declare its `properties`, or the type of its members under `additionalProperties`"
    for value in free:
        if value.depth == 0:
            message = f"{name(value.name)} is an object without declared members: nothing in it can be confirmed"
            yield subject.find("PF012", value.pointer, message, do)
    inner = [value for value in free if value.depth > 0]
    if inner:
        listed = names(list(dict.fromkeys(value.name for value in inner)))
        message = f"{listed}: inner objects without declared members cannot be confirmed one by one"
        yield subject.find("PF012", inner[0].pointer, message, do, "note")


def _is_free_form(value: Value) -> bool:
    """An object that takes any member: none declared here, none by an alternative."""
    if "object" not in value.types or any(is_object(p.get("properties")) and p["properties"] for p in value.parts):
        return False
    declared = any(is_object(part.get("additionalProperties")) for part in value.parts)
    closed = any(part.get("additionalProperties") is False for part in value.parts)
    return not declared and not closed and not value.has(*_MEMBERS, "enum", "const")


def untyped(subject: Subject) -> Iterator[Finding]:
    """PF013: a value of an acting tool that may be anything, or a list of anything."""
    if not subject.acts:
        return
    for value in subject.values:
        if not value.has(*_TYPED):
            what, do = "has no type", "declare its `type`"
        elif value.types == {"array"} and not value.has("items", "prefixItems", "enum", "const"):
            what, do = "is a list of anything", "declare the type of its elements under `items`"
        else:
            continue
        yield subject.find("PF013", value.pointer, f"{name(value.name)} {what}", do)


CHECKS = (unsupported, nothing_required, free_form, untyped)

__all__ = ["CHECKS", "free_form", "nothing_required", "unsupported", "untyped"]
