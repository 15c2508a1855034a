"""Rules about every text of a definition: orders to the model, and characters that nobody sees."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from preflight.lint.finding import Finding
from preflight.lint.hidden import code_points, unseen
from preflight.lint.injections import injections, steering
from preflight.lint.names import words
from preflight.lint.quoting import names, quote
from preflight.lint.subject import Subject

_NAME = re.compile(r"[A-Za-z][\w-]*")
_IGNORED = "rewrite it for the people who use the tool; here it counts for nothing (it is context, never a gate)"


def injection(subject: Subject) -> Iterator[Finding]:
    """PF040: a text that gives the model orders. Each kind once a tool."""
    known: set[str] = set()
    for pointer, text in subject.texts:
        for what, said in injections(text):
            if what not in known:
                known.add(what)
                yield subject.find("PF040", pointer, f"a text {what}: {quote(said)}", _IGNORED)


def steers(subject: Subject) -> Iterator[Finding]:
    """PF041: a text that steers the choice of tools in general. Once a tool."""
    for pointer, text in subject.texts:
        said = steering(text)
        if said:
            yield subject.find(
                "PF041", pointer, f"a text tells the model when to use which tool: {quote(said)}", _IGNORED
            )
            return


def hidden_characters(subject: Subject) -> Iterator[Finding]:
    """PF042: characters that nobody sees, in whatever text."""
    for pointer, text in subject.texts:
        found = unseen(text)
        if found:
            yield subject.find(
                "PF042",
                pointer,
                f"the text has characters that nobody sees: {code_points(found)}",
                "remove them: what people read must be what the model reads",
            )


def names_foreign_tools(subjects: Sequence[Subject]) -> Iterator[Finding]:
    """PF041: a description that names a tool of another server. Only names of several words count."""
    owners: dict[str, set[str]] = defaultdict(set)
    for subject in subjects:
        if len(words(subject.tool.name)) > 1:
            owners[subject.tool.name].add(subject.tool.server)
    for subject in subjects:
        said = dict.fromkeys(_NAME.findall(subject.tool.description))
        foreign = [each for each in said if each in owners and subject.tool.server not in owners[each]]
        if foreign:
            message = f"the description names tools of another server: {names(foreign)}"
            yield subject.find("PF041", "/description", message, "describe this tool alone")


CHECKS = (injection, steers, hidden_characters)
LIST_CHECKS = (names_foreign_tools,)

__all__ = ["CHECKS", "LIST_CHECKS"]
