"""The linter: every rule over a tool, over a list of tools, over what a server listed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from preflight.lint import check_fields, check_hints, check_labels, check_names, check_prose, check_schema, check_texts
from preflight.lint.finding import LEVELS, Finding
from preflight.lint.listing import Listing
from preflight.lint.subject import Subject
from preflight.model.tool import Tool

ToolCheck = Callable[[Subject], Iterable[Finding]]
ListCheck = Callable[[Sequence[Subject]], Iterable[Finding]]

TOOL_CHECKS: tuple[ToolCheck, ...] = (
    *check_schema.CHECKS,
    *check_fields.CHECKS,
    *check_hints.CHECKS,
    *check_prose.CHECKS,
    *check_labels.CHECKS,
    *check_texts.CHECKS,
    *check_names.CHECKS,
)
LIST_CHECKS: tuple[ListCheck, ...] = (*check_names.LIST_CHECKS, *check_texts.LIST_CHECKS)


def lint_tool(tool: Tool, others: Sequence[Tool] = ()) -> tuple[Finding, ...]:
    """Return the findings about one tool; `others` are the tools it will stand beside, of whatever server."""
    subject = Subject(tool)
    beside = [Subject(other) for other in others if other is not tool]
    found = [f for f in _over_lists([subject, *beside]) if (f.server, f.tool) == (tool.server, tool.name)]
    return _ordered([*_over_tool(subject), *found])


def lint_list(tools: Sequence[Tool]) -> tuple[Finding, ...]:
    """Return the findings about tools that stand beside one another, of one server or of several."""
    return _lint([Subject(tool) for tool in tools])


def lint_listings(listings: Sequence[Listing]) -> tuple[Finding, ...]:
    """Return the findings about what servers listed, entries that are no tools included."""
    subjects = [Subject(tool, declared) for listing in listings for tool, declared in listing.pairs]
    refused = [finding for listing in listings for finding in listing.refused]
    return _ordered([*refused, *_lint(subjects)])


def _lint(subjects: Sequence[Subject]) -> tuple[Finding, ...]:
    found = [finding for subject in subjects for finding in _over_tool(subject)]
    return _ordered([*found, *_over_lists(subjects)])


def _over_tool(subject: Subject) -> Iterator[Finding]:
    for check in TOOL_CHECKS:
        yield from check(subject)


def _over_lists(subjects: Sequence[Subject]) -> Iterator[Finding]:
    for check in LIST_CHECKS:
        yield from check(subjects)


def _ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """By server, then from grave to slight; each once."""
    distinct = dict.fromkeys(findings)
    return tuple(
        sorted(distinct, key=lambda f: (f.server, LEVELS.index(f.level), f.rule, f.tool, f.pointer, f.message))
    )


__all__ = ["lint_list", "lint_listings", "lint_tool"]
