"""A question as the fields of a web page, and what was typed into them as answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec import UNSET

from preflight.core import strict_json
from preflight.errors import AnswerRefused, InvalidInput
from preflight.model.json_value import thaw
from preflight.model.question import RESTATEMENT, AskedSlot, Question
from preflight.render.phrases import why_unknown
from preflight.render.schema import described, types_of, wanted
from preflight.render.visible import value_text, visible


@dataclass
class Field:
    """One fieldset: an input of a kind, and boxes to tick. `name` is that of the input, not of the slot."""

    name: str
    title: str
    kind: str = ""
    lines: list[str] = field(default_factory=list)
    shown: str = ""
    choices: list[str] = field(default_factory=list)
    options: list[tuple[str, str]] = field(default_factory=list)
    ticks: list[tuple[str, str]] = field(default_factory=list)
    typed: str = ""


def fields_of(question: Question, typed: Mapping[str, str]) -> list[Field]:
    """Return the fields; `typed` is what stood in them before, where an answer did not fit.

    Inputs are named by number: names of slots may be anything (R-16). Nothing else is filled in (R-9).
    """
    if question.kind == "restatement":
        return [Field("said", "What should be done", "lines", typed=typed.get("said", ""))]
    found = [_field(number, slot, question, typed) for number, slot in enumerate(question.slots)]
    for number, item in enumerate(question.items):
        lines = [] if item.note is None else [visible(item.note)]
        shown = "" if item.shown is UNSET else value_text(item.shown)
        title = visible(item.description) or visible(item.id)
        found.append(Field(f"i{number}", title, lines=lines, shown=shown, ticks=[(f"i{number}", "I confirm this")]))
    return found


def answers_in(question: Question, typed: Mapping[str, str]) -> dict[str, object]:
    """Return what was typed and ticked, by what was asked; raises AnswerRefused for what cannot be read.

    An empty field and an unticked box say nothing (R-5).
    """
    if question.kind == "restatement":
        said = typed.get("said", "").strip()
        return {RESTATEMENT: said} if said else {}
    answers: dict[str, object] = {}
    for number, slot in enumerate(question.slots):
        text = typed.get(f"s{number}", "")
        if text:
            answers[slot.name] = _read(slot, text)
        elif typed.get(f"n{number}") == "true" and slot.nullable:
            answers[slot.name] = None
        if not text and typed.get(f"c{number}") == "true" and slot.confirm is not None:
            answers[slot.confirm] = True
    return answers | {item.id: True for number, item in enumerate(question.items) if typed.get(f"i{number}") == "true"}


def _field(number: int, slot: AskedSlot, question: Question, typed: Mapping[str, str]) -> Field:
    schema = slot.schema if isinstance(slot.schema, Mapping) else {}
    made = Field(f"s{number}", visible(slot.name), _kind(slot, private=question.private))
    made.lines.append(wanted(schema, nullable=slot.nullable))
    if slot.note is not None:
        made.lines.append(why_unknown(slot.note))
    if text := described(schema):
        made.lines.append(text)
    if slot.choices:  # flat, in the provider's order, none marked
        made.lines.append("the user's words fit each of these:")
        made.choices = [value_text(choice) for choice in slot.choices]
    if slot.confirm is not None:
        made.shown = value_text(slot.shown)
        made.lines.append("it would be what stands here; another text replaces it")
        made.ticks.append((f"c{number}", "I approve it as it stands here"))
    if slot.nullable:
        made.ticks.append((f"n{number}", "There is none"))
    made.options = [(_shown(member), visible(_shown(member))) for member in _members(schema)]
    if not question.private:
        made.typed = typed.get(made.name, "")
    return made


def _kind(slot: AskedSlot, *, private: bool) -> str:
    kinds = types_of(slot.schema) - {"null"}
    if _members(slot.schema):
        return "select"
    if private:
        return "password"
    return "lines" if not kinds or kinds & {"array", "object"} or slot.confirm is not None else "text"


def _members(schema: object) -> list[object]:
    """Return the closed set that a schema names; true and false are one too."""
    given = schema if isinstance(schema, Mapping) else {}
    members = given.get("enum")
    if isinstance(members, list | tuple):
        return list(members)
    return [True, False] if types_of(given) - {"null"} == {"boolean"} else []


def _shown(member: object) -> str:
    return member if isinstance(member, str) else value_text(member)


def _read(slot: AskedSlot, text: str) -> object:
    """Read a text as its slot wants it: text where text is allowed, else a JSON value (R-47: nothing is converted)."""
    members = _members(slot.schema)
    if members:
        found = [member for member in members if _shown(member) == text]
        if len(found) == 1:
            return found[0]
    elif "string" in types_of(slot.schema):
        return text
    try:
        return thaw(strict_json.parse(text))
    except InvalidInput:
        form = wanted(slot.schema, nullable=slot.nullable)
        message = f"the answer to `{slot.name}` does not fit: it takes {form}"
        raise AnswerRefused(message) from None
