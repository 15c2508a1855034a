"""Rules about annotations: where they disagree with the name, with each other, or are no hints at all."""

from __future__ import annotations

from collections.abc import Iterator

from preflight.lint.finding import Finding, Level
from preflight.lint.names import act_of_word, words
from preflight.lint.places import Value
from preflight.lint.quoting import name, names
from preflight.lint.subject import Subject
from preflight.model.json_value import is_object

_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_CHOOSERS = frozenset("operation operations action method command subcommand verb op mode".split())


def read_only_but_acts(subject: Subject) -> Iterator[Finding]:
    """PF020: hints that read, a name or an option that acts."""
    if subject.hint("readOnlyHint") is not True:
        return
    if subject.act not in ("read", None):
        grave: Level = "warning" if subject.act == "change" else "error"
        yield subject.find(
            "PF020",
            "/annotations/readOnlyHint",
            f"`readOnlyHint` is true, and the name says that the tool acts ({name(subject.tool.name)})",
            "set `readOnlyHint` to false, or rename the tool",
            grave,
        )
    for value, acting in acting_options(subject):
        if acting:
            yield subject.find(
                "PF020",
                value.pointer,
                f"`readOnlyHint` is true, and {name(value.name)} can be {names(acting)}",
                "set `readOnlyHint` to false, or move what acts to a tool of its own",
                "warning",
            )


def harmless_but_destroys(subject: Subject) -> Iterator[Finding]:
    """PF021: hints that nothing is destroyed, a name that destroys."""
    if subject.hint("destructiveHint") is False and subject.act == "destroy":
        yield subject.find(
            "PF021",
            "/annotations/destructiveHint",
            f"`destructiveHint` is false, and the name says that the tool destroys ({name(subject.tool.name)})",
            "set `destructiveHint` to true, or rename the tool",
        )


def hint_malformed(subject: Subject) -> Iterator[Finding]:
    """PF023: hints of the wrong type, and the pair that contradicts itself."""
    hints = subject.tool.annotations
    if hints is not None and not is_object(hints):
        yield subject.find("PF023", "/annotations", "the annotations are no object", "list the hints in an object")
        return
    for hint in _HINTS:
        if is_object(hints) and hint in hints and not isinstance(hints[hint], bool):
            yield subject.find("PF023", f"/annotations/{hint}", f"`{hint}` is not true or false", "send a boolean")
    if subject.hint("readOnlyHint") and subject.hint("destructiveHint"):
        yield subject.find(
            "PF023",
            "/annotations/destructiveHint",
            "`readOnlyHint` and `destructiveHint` are both true",
            "set the one that does not hold to false",
        )


def mixed_effects(subject: Subject) -> Iterator[Finding]:
    """PF024: one tool that reads or acts, as an option says."""
    if subject.hint("readOnlyHint") is True:
        return
    for value, acting in acting_options(subject):
        reading = [option for option in value.options if _first_act(option) == "read"]
        if acting and reading:
            yield subject.find(
                "PF024",
                value.pointer,
                f"{name(value.name)} makes the tool read ({names(reading, 2)}) or act ({names(acting, 2)})",
                "offer what reads as a tool of its own: rules give one effect to a tool, so its reads are gated too",
            )


def read_name_but_acts(subject: Subject) -> Iterator[Finding]:
    """PF025: a name that reads, a hint that it does more."""
    if subject.act == "read" and subject.hint("readOnlyHint") is False:
        yield subject.find(
            "PF025",
            "/annotations/readOnlyHint",
            f"{name(subject.tool.name)} sounds like a read, and `readOnlyHint` is false",
            "name in the description what it changes, or set `readOnlyHint` to true",
        )


def acting_options(subject: Subject) -> Iterator[tuple[Value, list[str]]]:
    """Yield the options that say what a tool does, each with those of its members that act."""
    for value in subject.values:
        if value.depth == 0 and value.options and set(words(value.name)) & _CHOOSERS:
            yield value, [option for option in value.options if _first_act(option) not in ("read", None)]


def _first_act(option: str) -> str | None:
    said = words(option)
    return act_of_word(said[0]) if said else None


CHECKS = (read_only_but_acts, harmless_but_destroys, hint_malformed, mixed_effects, read_name_but_acts)

__all__ = ["CHECKS", "acting_options"]
