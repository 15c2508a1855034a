"""What a person typed, as JSON values: each slot's schema says how its text is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from preflight.core import strict_json
from preflight.errors import AnswerRefused, InvalidInput, storable
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
    """Ask for each open slot in turn; an empty line leaves it open, and what does not fit is asked again.

    Where something else than a value can be said, that is chosen first, by a number: no word of a prompt is read as
    a value, and any text can be typed as one (R-5, R-46, R-57).
    """
    ask = ask or _prompt
    said: dict[str, object] = {}
    if question.kind == "restatement":
        text = ask("   what should be done: ").strip()
        return {RESTATEMENT: text} if text else {}
    for slot in question.slots:
        said |= _prompted(slot, ask)
    for item in question.items:
        while text := ask(f"   {visible(item.id)} (`true` confirms): ").strip():
            try:
                said[item.id] = _confirmed(item.id, text)
                break
            except AnswerRefused as fault:
                _tell(str(fault))
    return said


def _prompted(slot: AskedSlot, ask: Callable[[str], str]) -> dict[str, object]:
    """Return what is said of one slot: its value, that there is none, or that its shown text is approved."""
    chosen = _chosen(slot, ask)
    if chosen == _APPROVE and slot.confirm is not None:
        return {slot.confirm: True}
    if chosen == _ABSENT:
        return {slot.name: None}
    name = visible(slot.name)
    while chosen == _VALUE and (text := ask(f"   {name}: ").strip()):
        try:
            return {slot.name: fitting(slot, _typed(slot, text))}
        except AnswerRefused as fault:
            _tell(str(fault))
    return {}


_APPROVE: Final = "approve it as it is shown"
_VALUE: Final = "type a value"
_ABSENT: Final = "there is none"


def _chosen(slot: AskedSlot, ask: Callable[[str], str]) -> str | None:
    """Return which of the ways to answer is taken, where there are several; None leaves the slot open."""
    ways = [_VALUE]
    if slot.confirm is not None:
        ways.insert(0, _APPROVE)
    if slot.nullable:
        ways.append(_ABSENT)
    if len(ways) == 1:
        return _VALUE
    numbers = {str(number): way for number, way in enumerate(ways, 1)}
    offered = ", ".join(f"{number} {way}" for number, way in numbers.items())
    while text := ask(f"   {visible(slot.name)} ({offered}): ").strip():
        if text in numbers:
            return numbers[text]
        _tell(f"nothing was read from this; type one of the numbers {', '.join(numbers)}, or nothing to leave it open")
    return None


def _tell(text: str) -> None:
    print(f"   {visible(text)}")  # noqa: T201  said to the person who types


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
    if slot is None:
        return _confirmed(name, text)
    _check_meant(slot, text)
    return _typed(slot, text)


def _check_meant(slot: AskedSlot, text: str) -> None:
    """Refuse a word that may be meant as an answer of another kind, and would be sent as text (R-5, R-46, R-57)."""
    if "string" not in types_of(slot.schema) or text in _members(slot.schema):
        return
    name = storable(slot.name)
    if slot.nullable and text.lower() in _NOTHING:
        message = f'`{name}={text}` may be the text or that there is none; write `--none {name}`, or `{name}:="{text}"`'
        raise AnswerRefused(message)
    if slot.confirm is not None and text.lower() in _YES:
        message = f'`{name}={text}` may be the text or an approval; write `{slot.confirm}=true`, or `{name}:="{text}"`'
        raise AnswerRefused(message)


_NOTHING: Final = frozenset({"none", "null", "nothing", "there is none"})
_YES: Final = frozenset({"true", "yes", "y", "ok"})


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
