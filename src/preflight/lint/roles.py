"""Roles proposed for a tool's arguments, each with its reason (R-57): for people to check."""

from __future__ import annotations

from typing import NamedTuple

from preflight.grounding.field import default_role
from preflight.lint.names import words
from preflight.lint.places import Value
from preflight.model.rules import Role


class Proposal(NamedTuple):
    """A role and why; no role where nothing tells."""

    role: Role | None
    reason: str


_TARGETS = frozenset(
    "account recipient recipients to cc bcc attendees guests members users user owner assignee assignees channel "
    "folder mailbox calendar repo repository branch namespace cluster context database table path paths file files "
    "filename directory destination source target url uri host server project organization organisation email phone "
    "address sheet workbook page label labels".split()
)
_TIMES = frozenset("date time datetime timestamp start end since until before after deadline due when".split())
_CONTENT = frozenset(
    "body text message content contents title subject description summary comment note notes caption prompt markdown "
    "html code".split()
)
_NUMBERS = frozenset(("integer", "number"))


def propose(value: Value) -> Proposal:
    """Return the role that fits a value best, by its declaration first and its name after."""
    said = words(value.name)
    last = said[-1] if said else ""
    options = tuple(value.options)
    shape = next((form for form in value.all_of("format") if isinstance(form, str)), None)
    kinds = tuple(sorted(value.types))
    sure = default_role(said, shape, options, kinds, value.description)
    if sure is not None:
        return Proposal(sure, _declared(value, sure, shape))
    if last in _TIMES:
        return Proposal("time", f"`{last}` names a time")
    if value.types and value.types <= _NUMBERS:
        return Proposal("quantity", "a number")
    if last in _TARGETS:
        return Proposal("target", f"`{last}` names whom or what the call acts on")
    if last in _CONTENT and value.types <= {"string"}:
        return Proposal("content", f"`{last}` names text that the model may write")
    return Proposal(None, "")


def _declared(value: Value, role: Role, shape: str | None) -> str:
    if role == "option":
        return "a closed set" if value.options else "true or false"
    if role == "object":
        return "an identifier"
    if role == "content":
        return "text that the model may write; the user approves it"
    return f"its format is `{shape}`" if shape else f"the name says so (`{words(value.name)[-1]}`)"


__all__ = ["Proposal", "propose"]
