"""A question as an elicitation form, and what was filled in as answers (specification, section 11).

Forms are flat: a nested slot stands under its JSON Pointer. Only what such a form can carry is put into one;
everything else is for the answer page. Nothing is filled in beforehand (R-9).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import UNSET

from preflight.mcp.eras import Object
from preflight.model.question import RESTATEMENT, AskedItem, AskedSlot, Question
from preflight.render.phrases import why_unknown
from preflight.render.schema import described, types_of, wanted
from preflight.render.visible import value_text, visible

_NONE: Final = " (there is none)"
_FORMATS: Final = frozenset({"email", "uri", "date", "date-time"})
_KEPT: Final = {
    "string": ("minLength", "maxLength"), "integer": ("minimum", "maximum"), "number": ("minimum", "maximum"),
    "boolean": (),
}  # fmt: skip


def form_of(question: Question) -> Object | None:
    """Return the schema of a form that asks all of a question, or None where no form can.

    A question about a tool with secret slots is never asked in one: what is typed there passes through the
    client, and the model may see it.
    """
    if question.private:
        return None
    if question.kind == "restatement":
        properties: Object = {RESTATEMENT: {"type": "string", "title": "What should be done", "minLength": 1}}
        return {"type": "object", "properties": properties, "required": [RESTATEMENT]}
    properties, required = {}, []
    for slot in question.slots:
        field = _field(slot)
        if field is None:
            return None
        properties[slot.name] = field
        if slot.confirm is not None:
            properties[slot.confirm] = _approval(f"approve `{visible(slot.name)}` as shown", value_text(slot.shown))
        if slot.nullable:
            properties[slot.name + _NONE] = {"type": "boolean", "title": f"{visible(slot.name)}: there is none"}
        if slot.confirm is None and not slot.nullable:
            required.append(slot.name)
    for item in question.items:
        properties[item.id] = _item(item)
    if not properties:
        return None  # a form without a field is accepted by clients on their own
    return {"type": "object", "properties": properties, "required": required}


def answers_of(question: Question, content: object) -> dict[str, object]:
    """Return what a filled-in form says, by what was asked; what was left empty or unticked says nothing (R-5)."""
    given: Mapping[str, Any] = content if isinstance(content, Mapping) else {}
    nullable = {slot.name + _NONE: slot.name for slot in question.slots if slot.nullable}
    ticks = {slot.confirm for slot in question.slots if slot.confirm} | {item.id for item in question.items}
    answers: dict[str, object] = {}
    for name, value in given.items():
        if name in nullable:
            if value is True:
                answers.setdefault(nullable[name], None)
        elif name in ticks:
            if value is not False:
                answers[name] = value
        elif value != "":
            answers[name] = value
    return answers


def _field(slot: AskedSlot) -> Object | None:
    schema = slot.schema if isinstance(slot.schema, Mapping) else {}
    field = _closed(schema) or _typed(schema)
    if field is None:
        return None
    parts = [wanted(schema, nullable=slot.nullable)]
    if slot.note is not None:
        parts.append(why_unknown(slot.note))
    if text := described(schema):
        parts.append(text)
    if slot.choices:  # flat, in the provider's order, none marked
        parts.append("the user's words fit each of these: " + ", ".join(map(value_text, slot.choices)))
    if slot.confirm is not None:  # approved as it is shown, whole, or replaced
        parts.append("another text replaces it")
    return {**field, "title": visible(slot.name), "description": "; ".join(parts)}


def _closed(schema: Mapping[str, Any]) -> Object | None:
    """Offer the members that a schema names, in its order, none marked."""
    members = schema.get("enum")
    if isinstance(members, list | tuple) and members and all(isinstance(each, str) for each in members):
        return {"type": "string", "enum": list(members)}
    return None


def _typed(schema: Mapping[str, Any]) -> Object | None:
    kinds = types_of(schema) - {"null"}
    kind = next(iter(kinds)) if len(kinds) == 1 else ""
    if kind == "array":
        return _several(schema)
    if kind not in _KEPT or "enum" in schema or "const" in schema:
        return None
    kept = {key: schema[key] for key in _KEPT[kind] if key in schema}
    if kind == "string" and schema.get("format") in _FORMATS:
        kept["format"] = schema["format"]
    return {"type": kind, **kept}


def _several(schema: Mapping[str, Any]) -> Object | None:
    items = schema.get("items")
    members = items.get("enum") if isinstance(items, Mapping) else None
    if not isinstance(members, list | tuple) or not all(isinstance(each, str) for each in members):
        return None
    kept = {key: schema[key] for key in ("minItems", "maxItems") if key in schema}
    return {"type": "array", "items": {"type": "string", "enum": list(members)}, **kept}


def _item(item: AskedItem) -> Object:
    shown = "" if item.shown is UNSET else value_text(item.shown)
    return _approval(visible(item.description) or "please confirm", shown)


def _approval(title: str, shown: str) -> Object:
    return {"type": "boolean", "title": title, **({"description": f"it would be: {shown}"} if shown else {})}
