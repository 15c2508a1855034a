"""The tool gate from what a user confirmed: "for me, 'send' means this tool" (R-25, R-102, R-103)."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from preflight.hooks.shipped.act import clauses_of
from preflight.hooks.shipped.wishes import mismatch
from preflight.model.checklist import Fixed, Match
from preflight.model.rules import ToolRules
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


def confirm(c2: str, tool: Tool, fixed: Fixed, meanings: Iterable[Meaning], rules: ToolRules) -> Match:
    """Approve exactly when some clause of the act, by its most specific mapping, leads to this tool and no other.

    A phrase speaks for a clause that begins with its first word and has the others in order. A name from the
    settings needs a mapping of exactly that name (R-103). What the tool cannot do, no mapping makes it do.
    """
    known = tuple(meanings)
    if fixed.c2_source == "pre_set_data":
        exact = [meaning for meaning in known if words_of(meaning.phrase) == words_of(c2)]
        return _verdict(words_of(c2), exact, tool, rules)
    refused = Match(approved=False, reason="no confirmed mapping speaks for this act")
    for clause in map(words_of, clauses_of(c2)):
        speaking = [meaning for meaning in known if _speaks(words_of(meaning.phrase), clause)]
        match = _verdict(clause, speaking, tool, rules) if speaking else refused
        if match.approved:
            return match
        refused = match if speaking else refused
    return refused


def _verdict(clause: tuple[str, ...], speaking: list[Meaning], tool: Tool, rules: ToolRules) -> Match:
    most = max((len(words_of(meaning.phrase)) for meaning in speaking), default=0)
    best = {(m.server, m.tool) for m in speaking if len(words_of(m.phrase)) == most}
    if best != {(tool.server, tool.name)}:
        disagree = "confirmed mappings disagree" if len(best) > 1 else "a confirmed mapping leads to another tool"
        return Match(approved=False, reason=disagree if best else "no confirmed mapping of exactly this name")
    reason = mismatch(clause, rules)
    return Match(approved=reason is None, reason=reason or "a confirmed mapping")


def _speaks(phrase: tuple[str, ...], clause: tuple[str, ...]) -> bool:
    if not phrase or not clause or phrase[0] != clause[0]:
        return False
    rest = iter(clause)
    return all(word in rest for word in phrase)
