"""The tool gate from what a user confirmed: "for me, 'send' means this tool" (R-25, R-102, R-103)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import msgspec

from preflight.hooks.shipped.act import clauses_of
from preflight.hooks.shipped.wishes import mismatch
from preflight.model.checklist import Fixed, Match
from preflight.model.rules import EFFECTS, ToolRules
from preflight.model.tool import Tool

_WORD = re.compile(r"\w+")
_NOTHING_SPEAKS = Match(approved=False, reason="no confirmed mapping speaks for this act")


class Meaning(msgspec.Struct, frozen=True):
    """What a phrase means: a tool of a server. The phrase's first word begins the act.

    `shared` marks what rules declare: several tools may be called the same there. What a user confirmed leads
    to one tool.
    """

    phrase: str
    server: str
    tool: str
    shared: bool = False


RulesOf = Callable[[str, str], ToolRules]
"""Returns the rules of a tool by server and name."""


def words_of(phrase: str) -> tuple[str, ...]:
    """Return the words of a phrase, case folded."""
    return tuple(_WORD.findall(phrase.casefold()))


def confirm(c2: str, tool: Tool, fixed: Fixed, meanings: Iterable[Meaning], rules_of: RulesOf) -> Match:
    """Approve exactly when some clause of the act, by its most specific mapping, leads to this tool.

    A phrase speaks for a clause that begins with its first word and has the others in order. A name from the
    settings needs a mapping of exactly that name (R-103). A phrase that rules declare for several tools leads
    to each of them that does no more harm than another. What a tool cannot do, no mapping makes it do.
    """
    known = tuple(meanings)
    if fixed.c2_source == "pre_set_data":
        exact = [meaning for meaning in known if words_of(meaning.phrase) == words_of(c2)]
        return _verdict(words_of(c2), exact, tool, rules_of)
    refused = _NOTHING_SPEAKS
    for clause in map(words_of, clauses_of(c2)):
        speaking = [meaning for meaning in known if _speaks(words_of(meaning.phrase), clause)]
        match = _verdict(clause, speaking, tool, rules_of)
        if match.approved:
            return match
        refused = match if speaking else refused
    return refused


def _verdict(clause: tuple[str, ...], speaking: list[Meaning], tool: Tool, rules_of: RulesOf) -> Match:
    if not speaking:
        return _NOTHING_SPEAKS
    most = max(len(words_of(meaning.phrase)) for meaning in speaking)
    best = [meaning for meaning in speaking if len(words_of(meaning.phrase)) == most]
    confirmed = [meaning for meaning in best if not meaning.shared]  # what the user confirmed comes first
    tools = {(meaning.server, meaning.tool) for meaning in confirmed or best}
    if (tool.server, tool.name) not in tools:
        return Match(approved=False, reason="a confirmed mapping leads to another tool")
    if confirmed and len(tools) > 1:
        return Match(approved=False, reason="confirmed mappings disagree")
    harm = {name: EFFECTS.index(rules_of(*name).effect) for name in tools}
    if harm[tool.server, tool.name] > min(harm.values()):
        return Match(approved=False, reason="a tool that does less harm is called the same")
    reason = mismatch(clause, rules_of(tool.server, tool.name))
    return Match(approved=reason is None, reason=reason or "a confirmed mapping")


def _speaks(phrase: tuple[str, ...], clause: tuple[str, ...]) -> bool:
    if not phrase or not clause or phrase[0] != clause[0]:
        return False
    rest = iter(clause)
    return all(word in rest for word in phrase)
