"""A question as an elicitation form, and what was filled in as answers (specification, section 11).

Forms are flat: a nested slot stands under its JSON Pointer. Only what such a form can carry is put into one;
everything else is for the answer page. Nothing is filled in beforehand (R-9).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, count
from typing import Any, Final, Literal, NamedTuple

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
    for entry in _entries(question):
        field = _made(entry)
        if field is None:
            return None
        properties[entry.key] = field
        if entry.says == "value" and entry.slot.confirm is None and not entry.slot.nullable:
            required.append(entry.key)
    if not properties:
        return None  # a form without a field is accepted by clients on their own
    return {"type": "object", "properties": properties, "required": required}


def answers_of(question: Question, content: object) -> dict[str, object]:
    """Return what a filled-in form says, by what was asked; what was left empty or unticked says nothing (R-5)."""
    given: dict[str, object] = dict(content) if isinstance(content, Mapping) else {}
    answers: dict[str, object] = {}
    for entry in _entries(question):
        value = given.pop(entry.key, "")
        if entry.says == "none":
            if value is True:
                answers.setdefault(entry.name, None)
        elif value != "" and not (entry.says == "tick" and value is False):
            answers[entry.name] = value
    return answers | {name: value for name, value in given.items() if value != ""}  # refused: nothing asked for it


class _Entry(NamedTuple):
    """One field of a form: the key it stands under, and of what its value `says` something, and what."""

    key: str
    says: Literal["value", "none", "tick"]
    name: str
    slot: AskedSlot = AskedSlot("", {})
    item: AskedItem | None = None


def _entries(question: Question) -> list[_Entry]:
    """Return the fields of a question's form, in their order; always the same ones, so that answers are read by them.

    Names of slots and items may be any (R-16), also one that a field beside them would be called by: that one then
    takes another key.
    """
    if question.kind == "restatement":
        return [_Entry(RESTATEMENT, "value", RESTATEMENT)]
    taken = {slot.name for slot in question.slots} | {item.id for item in question.items}
    entries: list[_Entry] = []
    for slot in question.slots:
        entries.append(_Entry(slot.name, "value", slot.name, slot))
        if slot.confirm is not None:
            entries.append(_Entry(_free(slot.confirm, taken), "tick", slot.confirm, slot))
        if slot.nullable:
            entries.append(_Entry(_free(slot.name + _NONE, taken), "none", slot.name, slot))
    return entries + [_Entry(item.id, "tick", item.id, item=item) for item in question.items]


def _free(wanted: str, taken: set[str]) -> str:
    """Return a key that nothing else has, and take it."""
    key = next(key for key in chain([wanted], (f"{wanted} ({n})" for n in count(2))) if key not in taken)
    taken.add(key)
    return key


def _made(entry: _Entry) -> Object | None:
    if entry.item is not None:
        return _item(entry.item)
    if entry.says == "value":
        return _field(entry.slot)
    named = visible(entry.slot.name)
    if entry.says == "none":
        return _approval(f"{named}: there is none", "")
    return _approval(f"approve `{named}` as shown", value_text(entry.slot.shown))


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
