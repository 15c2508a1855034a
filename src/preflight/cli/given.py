"""What a person typed, as JSON values: each slot's schema says how its text is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from preflight.core import strict_json
from preflight.errors import AnswerRefused, InvalidInput
from preflight.model.json_value import thaw
from preflight.model.question import RESTATEMENT, AskedSlot, Question
from preflight.questions import fitting
from preflight.render.schema import types_of, wanted
from preflight.render.visible import visible


def given_values(question: Question, texts: Sequence[str], none: Sequence[str]) -> dict[str, object]:
    """Return the values of `FIELD=VALUE` and `FIELD:=JSON` texts by name; `none` lists what there is none of.

    Raises AnswerRefused for a text that names nothing asked, names it twice, or cannot be read as its type.
    """
    pairs = [_split(question, text) for text in texts] + [(name, None) for name in none]
    for name in none:
        _check_asked(question, name)
    said: dict[str, object] = {}
    for name, value in pairs:
        if name in said:
            message = f"`{name}` is answered twice; keep one"
            raise AnswerRefused(message)
        said[name] = value
    return said


def prompted_values(question: Question, ask: Callable[[str], str] | None = None) -> dict[str, object]:
    """Ask for each open slot in turn; an empty line leaves it open, and what does not fit is asked again."""
    ask = ask or _prompt
    said: dict[str, object] = {}
    if question.kind == "restatement":
        text = ask("   what should be done: ").strip()
        return {RESTATEMENT: text} if text else {}
    for slot in question.slots:
        while text := ask(f"   {visible(slot.name)}: ").strip():
            try:
                said[slot.name] = fitting(slot, _typed(slot, text))
                break
            except AnswerRefused as fault:
                print(f"   {visible(str(fault))}")  # noqa: T201  said to the person who types
    approvals = [slot.confirm for slot in question.slots if slot.confirm is not None and slot.name not in said]
    for name in (*approvals, *(item.id for item in question.items)):
        if text := ask(f"   {visible(name)} (`true` confirms): ").strip():
            said[name] = _confirmed(name, text)
    return said


def _prompt(text: str) -> str:
    """Read a line from the terminal; its end counts as an empty line."""
    try:
        return input(text)
    except EOFError:
        print()  # noqa: T201  the prompt's line ends here
        return ""


def _split(question: Question, text: str) -> tuple[str, object]:
    """Find the asked name that a text begins with: names may hold `=` themselves, so the longest wins."""
    for name in sorted(_asked(question), key=len, reverse=True):
        if text.startswith(f"{name}:="):
            return name, _json(name, text[len(name) + 2 :])
        if text.startswith(f"{name}="):
            return name, _read(question, name, text[len(name) + 1 :])
    named, separator, _ = text.partition("=")
    if not separator:
        message = f"`{text}` is no answer; write FIELD=VALUE"
        raise AnswerRefused(message)
    _check_asked(question, named.removesuffix(":"))
    raise AssertionError(named)  # an asked name was found above


def _check_asked(question: Question, name: str) -> None:
    if name not in _asked(question):
        asked = ", ".join(f"`{each}`" for each in _asked(question))
        message = f"`{name}` was not asked; asked are {asked}"
        raise AnswerRefused(message)


def _asked(question: Question) -> list[str]:
    if question.kind == "restatement":
        return [RESTATEMENT]
    approvals = (slot.confirm for slot in question.slots if slot.confirm is not None)
    return [*(slot.name for slot in question.slots), *approvals, *(item.id for item in question.items)]


def _read(question: Question, name: str, text: str) -> object:
    if question.kind == "restatement":
        return text
    slot = next((slot for slot in question.slots if slot.name == name), None)
    return _confirmed(name, text) if slot is None else _typed(slot, text)


def _confirmed(name: str, text: str) -> bool:
    if text != "true":  # only the exact approving value
        message = f"`{name}` is confirmed by exactly `true`; leave it out to leave it open"
        raise AnswerRefused(message)
    return True


def _typed(slot: AskedSlot, text: str) -> object:
    """Read a text as its slot wants it: text where text is allowed, else a JSON value (R-47: nothing is converted)."""
    types = types_of(slot.schema)
    if members := _members(slot.schema):
        found = [member for member in members if member == text or (not isinstance(member, str) and _is(member, text))]
        if len(found) == 1:
            return found[0]
        message = f"the answer to `{slot.name}` does not fit: it takes {wanted(slot.schema)}"
        raise AnswerRefused(message)
    if "string" in types:
        return text
    try:
        return _json(slot.name, text)
    except AnswerRefused:
        form = wanted(slot.schema, nullable=slot.nullable)
        message = f"the answer to `{slot.name}` does not fit: it takes {form}"
        raise AnswerRefused(message) from None


def _members(schema: object) -> Iterable[object]:
    members = schema.get("enum") if isinstance(schema, dict) else None
    return members if isinstance(members, list) else ()


def _is(member: object, text: str) -> bool:
    try:
        read = thaw(strict_json.parse(text))
    except InvalidInput:
        return False
    return type(read) is type(member) and read == member


def _json(name: str, text: str) -> object:
    try:
        return thaw(strict_json.parse(text, name))
    except InvalidInput as fault:
        message = f"the answer is not JSON: {fault}"
        raise AnswerRefused(message) from None
