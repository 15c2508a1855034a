"""A starting file of rules, written from what a server declares (for `preflight init`).

Whatever was guessed is marked `guess:` and set to the stricter side: hints and names may raise what a tool is
held to and never lower it (R-65). Only where the hint and the name agree is a tool listed as a read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from preflight.errors import InvalidInput
from preflight.lint.check_fields import is_secret, widens
from preflight.lint.check_hints import acting_options
from preflight.lint.check_prose import conditions, harms
from preflight.lint.names import act_of_word, words
from preflight.lint.places import Value
from preflight.lint.quoting import cut, name
from preflight.lint.roles import propose
from preflight.lint.subject import Subject
from preflight.model.slot import Unsupported
from preflight.model.tool import Tool

_HEAD = """\
# A starting file of rules for {server}, written from what the server declares about its tools.
# What is marked `guess:` was read from names, hints and descriptions, and set to the stricter side. Check it,
# correct it, and take the mark away. A tool that stands in no rules is irreversible.
# No words open a tool before its `intents` list some, or its user has confirmed some with `preflight learn`: what a
# server calls its tools may permit nothing, so the proposals below stand in comments. Take in those your users say.
version: 1
servers:
  {key}:
    # trust_labels: true  # lets [Required], [Verify] and [Notice] of this server's descriptions add conditions
"""
_SENTENCE = 300  # code points of a description quoted in one line
_DEEPEST = 2  # below it fields follow the defaults until someone lists them
# One verb, one change: others are left to people, since a wrong guess would refuse what users rightly want.
_CHANGES = {
    **dict.fromkeys(("delete", "remove", "erase", "destroy", "purge", "wipe"), "delete"),
    **dict.fromkeys(("create", "add"), "create"),
    **dict.fromkeys(("send", "transfer", "pay", "reply", "forward"), "send"),
}


def starting_rules(server: str, tools: Sequence[Tool], *, pins: bool = False) -> str:
    """Return the text of a rules file, in YAML, for the tools of one server.

    With `pins` each tool's fingerprint is pinned, so that a changed definition holds (R-68); without, the pin
    stands in a comment. Raises InvalidInput when the server has no name that rules could be filed under.
    """
    if not server or not server.isprintable():
        raise InvalidInput("server", "missing, or a name with control characters", "name the server the tools are from")
    head = _HEAD.format(server=name(server), key=_text(server))
    distinct = {tool.name: Subject(tool) for tool in reversed(tools)}
    subjects = [distinct[tool] for tool in dict.fromkeys(tool.name for tool in tools)]
    if not subjects:
        return head + "    tools: {}\n"
    return head + "    tools:\n" + "\n".join("\n".join(_tool(subject, pins=pins)) for subject in subjects) + "\n"


def gated_names(tools: Sequence[Tool]) -> tuple[str, ...]:
    """Return the names of the tools that a starting file does not begin as reads: words have to open them (R-25)."""
    return tuple(dict.fromkeys(tool.name for tool in tools if guessed_effect(Subject(tool))[0] != "read"))


def _tool(subject: Subject, *, pins: bool) -> Iterator[str]:
    yield f"      {_text(subject.tool.name)}:"
    effect, reason = guessed_effect(subject)
    yield f"        effect: {effect}  # guess: {reason}"
    if effect != "read":
        yield from _changes(subject)
        yield from _fields(subject)
    yield from (f"        # {line}" for line in _to_do(subject, acting=effect != "read"))
    yield f"        {'' if pins else '# '}pin: {_text(subject.tool.fingerprint)}"


def guessed_effect(subject: Subject) -> tuple[str, str]:
    """Return the effect to begin with, and why: `read` where hint and name agree, else `irreversible`."""
    read_only, says = subject.hint("readOnlyHint"), subject.act
    contradicted = subject.hint("destructiveHint") is True or any(acting for _, acting in acting_options(subject))
    if read_only and says == "read" and not contradicted:
        return "read", "`readOnlyHint` is true, and the name reads"
    if read_only and contradicted:
        return "irreversible", "`readOnlyHint` is true, and an option or another hint contradicts it"
    if read_only:
        return "irreversible", "`readOnlyHint` is true, and the name does not say that it reads"
    if says == "read":
        said = "there is no `readOnlyHint`" if read_only is None else "`readOnlyHint` is false"
        return "irreversible", f"the name reads, and {said}"
    if subject.hint("destructiveHint") is False:
        return "irreversible", "the hints say that it destroys nothing; `reversible` only if a call can be undone"
    return "irreversible", "nothing says that a call can be undone"


def _changes(subject: Subject) -> Iterator[str]:
    said = words(subject.tool.name)
    first = next((at for at, word in enumerate(said) if act_of_word(word)), 0)
    verb = said[first] if said else ""
    phrase = cut(" ".join(said[first:]), 80)
    if verb in _CHANGES and not {"or", "and"} & set(said):
        yield f"        changes: [{_CHANGES[verb]}]  # guess: from the name; another wish is refused"
    if phrase:
        yield f"        # intents: [{_text(phrase)}]  # what users call it; each phrase leads here, so list only theirs"
    else:
        yield "        # intents: []  # what users call it: the name says no words"


def _fields(subject: Subject) -> Iterator[str]:
    lines = [line for value in subject.values for line in _field(value, _slot_name(value))]
    if any(not line.lstrip().startswith("#") for line in lines):
        yield "        fields:"
        yield from lines
    elif lines:
        yield "        # fields:"
        yield from lines


def _field(value: Value, slot: str | None) -> Iterator[str]:
    """The line of one field; nothing for what is filed under its members, or too deep."""
    if slot is None or (value.types == {"object"} and value.has("properties")):
        return
    if not slot.isprintable():
        yield f"          # the field {name(slot)} has characters that no rule can be filed under"
        return
    settings, reasons = _settings(value)
    if settings:
        yield f"          {_text(slot)}: {{{', '.join(settings)}}}  # guess: {'; '.join(reasons)}"
    else:
        yield f"          # {_text(slot)}: {{role: target}}  # nothing says what it is: choose its role"


def _settings(value: Value) -> tuple[list[str], list[str]]:
    role, reason = propose(value)
    settings, reasons = ([f"role: {role}"], [reason]) if role else ([], [])
    if value.types == {"boolean"} and widens(value):
        settings.append("confirm: true")
        reasons.append("true makes the call reach further")
    if is_secret(value):
        settings.append("secret: true")
        reasons.append("the name says that it is a secret")
    return settings, reasons


def _slot_name(value: Value) -> str | None:
    """The slot's name (R-33); None for what has none that holds in every call: list elements, alternatives."""
    tokens = value.pointer.split("/")[2:]
    if value.depth > _DEEPEST or tokens[0::2] != ["properties"] * len(tokens[0::2]):
        return None
    if value.depth == 0:
        return value.name
    return "/".join(tokens[1::2]) if value.required else None


def _to_do(subject: Subject, *, acting: bool) -> Iterator[str]:
    compiled = subject.compiled
    if isinstance(compiled, Unsupported):
        at = cut(compiled.at) or "/"
        yield f"to do: the input schema cannot be read at `{at}` ({cut(compiled.what)}): until it can, every call holds"
    for sentence in conditions(subject) if acting else ():
        yield "to do: a condition that nothing checks; declare it under `conditions`:"
        yield f'  "{cut(sentence, _SENTENCE)}"'
    for sentence in harms(subject) if acting else ():
        yield "to do: lasting harm; say it under `notices`:"
        yield f'  "{cut(sentence, _SENTENCE)}"'


def _text(text: str) -> str:
    """A text in double quotes, as YAML and JSON both read it. The text is printable."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


__all__ = ["gated_names", "guessed_effect", "starting_rules"]
