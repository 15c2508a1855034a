"""Rules about names: none, the same, and names that pass for one another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from preflight.lint.finding import Finding
from preflight.lint.hidden import deceives, looks, sounds
from preflight.lint.quoting import name, names
from preflight.lint.subject import Subject


def no_description(subject: Subject) -> Iterator[Finding]:
    """PF002: a tool that nobody described."""
    if not subject.tool.description.strip():
        yield subject.find("PF002", "/description", "there is no description", "say in a sentence what the tool does")


def deceiving_name(subject: Subject) -> Iterator[Finding]:
    """PF052: a name with letters that pass for others."""
    named = [("/name", subject.tool.name), *((value.pointer, value.name) for value in subject.values)]
    for pointer, text in named:
        why = deceives(text)
        if why:
            do = "spell it with the letters of one script, in their plain forms"
            yield subject.find("PF052", pointer, f"{name(text)} can pass for another name: {why}", do)


def confusable_arguments(subject: Subject) -> Iterator[Finding]:
    """PF051: two arguments of one object whose names look alike."""
    objects: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for value in subject.values:
        objects[value.pointer.rsplit("/", 1)[0]][sounds(value.name)].append(value.name)
    for parent, groups in objects.items():
        for group in groups.values():
            if len(group) > 1:
                yield subject.find(
                    "PF051",
                    parent,
                    f"{names(group)} can be taken for one another",
                    "rename one of them",
                    None if len({looks(each) for each in group}) == 1 else "warning",
                )


def same_name(subjects: Sequence[Subject]) -> Iterator[Finding]:
    """PF003 and PF004: one name for two tools, in one server or in two."""
    for tool, listed in _grouped(subjects, lambda s: s.tool.name).items():
        servers = [subject.tool.server for subject in listed]
        for subject in listed:
            if servers.count(subject.tool.server) > 1:
                do = "give each tool a name of its own"
                yield subject.find(
                    "PF003", "/name", f"{name(tool)} is listed {servers.count(subject.tool.server)} times", do
                )
            others = sorted(set(servers) - {subject.tool.server})
            if others:
                message = f"{name(tool)} is a tool of {names(others)} too"
                yield subject.find(
                    "PF004", "/name", message, "name the server wherever the tool is named, rules included"
                )


def confusable_tools(subjects: Sequence[Subject]) -> Iterator[Finding]:
    """PF050: two tools whose names look alike; a warning where case or separators tell them apart."""
    for listed in _grouped(subjects, lambda s: sounds(s.tool.name)).values():
        for subject in listed:
            alike = sorted({other.tool.name for other in listed} - {subject.tool.name})
            if alike:
                same = any(looks(other) == looks(subject.tool.name) for other in alike)
                message = f"{name(subject.tool.name)} can be taken for {names(alike)}"
                yield subject.find("PF050", "/name", message, "rename one of them", None if same else "warning")


def hints_missing(subjects: Sequence[Subject]) -> Iterator[Finding]:
    """PF022: the tools of a server that do not say whether they only read. One finding a server."""
    for server, listed in _grouped(subjects, lambda s: s.tool.server).items():
        silent = [subject.tool.name for subject in listed if subject.hint("readOnlyHint") is None]
        if silent:
            yield Finding(
                "PF022",
                "note",
                server,
                "",
                "",
                f"{len(silent)} of {len(listed)} tools do not say whether they only read: {names(silent)}",
                "declare `annotations.readOnlyHint` on each tool",
            )


def _grouped(subjects: Sequence[Subject], key: Callable[[Subject], str]) -> dict[str, list[Subject]]:
    groups: dict[str, list[Subject]] = defaultdict(list)
    for subject in subjects:
        groups[key(subject)].append(subject)
    return groups


CHECKS = (no_description, deceiving_name, confusable_arguments)
LIST_CHECKS = (same_name, confusable_tools, hints_missing)

__all__ = ["CHECKS", "LIST_CHECKS"]
