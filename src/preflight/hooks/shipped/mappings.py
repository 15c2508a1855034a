"""The tool gate from what a user confirmed: "for me, 'send' means this tool" (R-25, R-102, R-103)."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from preflight.model.checklist import Fixed, Match
from preflight.model.tool import Tool

_WORD = re.compile(r"\w+")


class Meaning(msgspec.Struct, frozen=True):
    """What a phrase means: a tool of a server. The phrase's first word begins the act."""

    phrase: str
    server: str
    tool: str


def words_of(phrase: str) -> tuple[str, ...]:
    """Return the words of a phrase, case folded."""
    return tuple(_WORD.findall(phrase.casefold()))


def confirm(c2: str, tool: Tool, fixed: Fixed, mappings: Iterable[Meaning]) -> Match:
    """Approve exactly when the most specific mapping of the act leads to this tool, and to no other.

    A phrase speaks for an act that begins with its first word and has the others in order. A name from
    the settings needs a mapping of exactly that name (R-103).
    """
    act = words_of(c2)
    exact = fixed.c2_source == "pre_set_data"
    speaking = [m for m in mappings if (words_of(m.phrase) == act if exact else _speaks(words_of(m.phrase), act))]
    if not speaking:
        return Match(approved=False, reason="no confirmed mapping speaks for this act")
    most = max(len(words_of(m.phrase)) for m in speaking)
    best = {(m.server, m.tool) for m in speaking if len(words_of(m.phrase)) == most}
    if best == {(tool.server, tool.name)}:
        return Match(approved=True, reason="a confirmed mapping")
    reason = "confirmed mappings disagree" if len(best) > 1 else "a confirmed mapping leads to another tool"
    return Match(approved=False, reason=reason)


def _speaks(phrase: tuple[str, ...], act: tuple[str, ...]) -> bool:
    if not phrase or not act or phrase[0] != act[0]:
        return False
    rest = iter(act)
    return all(word in rest for word in phrase)
