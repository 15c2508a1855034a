"""Findings over a folder of saved tool lists, as a Markdown page: `python -m preflight.lint.table FOLDER`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from preflight.errors import InvalidInput
from preflight.lint.catalogue import RULES
from preflight.lint.finding import LEVELS, Finding
from preflight.lint.listing import Listing, read_listing
from preflight.lint.run import lint_listings

_EXAMPLES = 3  # quoted for each rule


def page(listings: Sequence[Listing]) -> str:
    """Return the page: what each list came to, how often each rule found something, and examples."""
    findings = {listing.server: lint_listings([listing]) for listing in listings}
    every = [finding for found in findings.values() for finding in found]
    tools = sum(len(listing.tools) for listing in listings)
    lines = [
        "# Findings in real tool lists",
        "",
        f"What `preflight lint` says about the tools of {len(listings)} public MCP servers ({tools} tools), each",
        "list as the server answered `tools/list`. The page is written by `python -m preflight.lint.table FOLDER`;",
        "`docs/lint.md` explains the rules. A finding is a place for the tool's owner to look at, not a verdict.",
        "",
        "## By server",
        "",
        "| server | tools | errors | warnings | notes | rules that found something |",
        "|---|--:|--:|--:|--:|---|",
        *(_server_row(listing, findings[listing.server]) for listing in listings),
        f"| **together** | {tools} | {_levels(every)} | |",
        "",
        "## By rule",
        "",
        "| rule | | findings | tools | servers |",
        "|---|---|--:|--:|--:|",
        *(_rule_row(rule, [f for f in every if f.rule == rule]) for rule in RULES),
        "",
        *_side_by_side(listings, set(every)),
        "## Examples",
        "",
        *(line for rule in RULES for line in _examples(rule, [f for f in every if f.rule == rule])),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _side_by_side(listings: Sequence[Listing], alone: set[Finding]) -> list[str]:
    """What is found only where the lists stand beside one another, as in a client with all these servers."""
    beside = Counter(finding.rule for finding in lint_listings(listings) if finding not in alone)
    if not beside:
        return []
    told = ", ".join(f"{rule} {RULES[rule].name} {number}" for rule, number in sorted(beside.items()))
    return ["## Side by side", "", f"With all lists given together, also: {told}.", ""]


def _server_row(listing: Listing, found: Sequence[Finding]) -> str:
    rules = Counter(finding.rule for finding in found)
    listed = ", ".join(f"{rule} {number}" for rule, number in sorted(rules.items()))
    return f"| {_cell(listing.server)} | {len(listing.tools)} | {_levels(found)} | {listed} |"


def _levels(found: Sequence[Finding]) -> str:
    return " | ".join(str(sum(finding.level == level for finding in found)) for level in LEVELS)


def _rule_row(rule: str, found: Sequence[Finding]) -> str:
    tools = len({(finding.server, finding.tool) for finding in found if finding.tool})
    servers = len({finding.server for finding in found})
    return f"| {rule} {RULES[rule].name} | {RULES[rule].title} | {len(found)} | {tools} | {servers} |"


def _examples(rule: str, found: Sequence[Finding]) -> list[str]:
    """A few findings of a rule, of different servers where there are some, each message once."""
    if not found:
        return []
    distinct: dict[str, Finding] = {}
    for finding in _spread(found):
        distinct.setdefault(finding.message, finding)
    chosen = list(distinct.values())[:_EXAMPLES]
    lines = [f"- `{f.server}{'/' + f.tool if f.tool else ''}`, {f.level}: {_told(f)}" for f in chosen]
    return [f"**{rule} {RULES[rule].name}**", "", *lines, ""]


def _spread(found: Sequence[Finding]) -> list[Finding]:
    """One finding of each server in turn."""
    turns: Counter[str] = Counter()
    placed: list[tuple[int, int, Finding]] = []
    for number, finding in enumerate(found):
        placed.append((turns[finding.server], number, finding))
        turns[finding.server] += 1
    return [finding for *_, finding in sorted(placed, key=lambda each: each[:2])]


def _told(finding: Finding) -> str:
    """The message without the words it quotes: they are the provider's, and the pointer leads to them."""
    message, quoted, _ = finding.message.partition(': "')
    return _cell(message) + (f" (at `{finding.pointer}`)" if quoted else "")


def _cell(text: str) -> str:
    """Foreign text as Markdown shows it, and nothing more; what stands between backticks needs no escape."""
    pieces = text.split("`")
    for at in range(0, len(pieces), 2):
        pieces[at] = "".join(f"\\{char}" if char in "\\|<>*_[]#" else char for char in pieces[at])
    return "`".join(pieces)


def main(arguments: Sequence[str]) -> int:
    """Print the page for the `*.json` of a folder; 2 when the call makes no sense."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        print("usage: python -m preflight.lint.table FOLDER", file=sys.stderr)  # noqa: T201  a script
        return 2
    try:
        listings = [read_listing(path) for path in sorted(Path(arguments[0]).glob("*.json"))]
    except InvalidInput as fault:
        print(fault, file=sys.stderr)  # noqa: T201
        return 2
    sys.stdout.write(page(listings))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
