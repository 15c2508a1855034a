"""Findings as text for a terminal and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import msgspec

from preflight.lint.catalogue import RULES
from preflight.lint.finding import LEVELS, Finding, Level, counts
from preflight.lint.quoting import cut

_TOOLS = 6  # named in one block


def text(findings: tuple[Finding, ...], least: Level = "note") -> str:
    """Return the findings as lines, by server; the same finding on several tools is told once.

    Findings slighter than `least` are only counted. The last line holds the counts.
    """
    shown = [f for f in findings if LEVELS.index(f.level) <= LEVELS.index(least)]
    blocks = [_server(server, list(group)) for server, group in groupby(shown, key=lambda f: f.server)]
    hidden = len(findings) - len(shown)
    last = summary(findings) + (f"; {hidden} of them not shown" if hidden else "")
    return "\n".join([*blocks, last]) + "\n"


def summary(findings: tuple[Finding, ...]) -> str:
    """Return how many findings there are, in words."""
    found = counts(findings)
    return ", ".join(f"{number} {level}{'' if number == 1 else 's'}" for level, number in found.items())


def _server(server: str, findings: Sequence[Finding]) -> str:
    alike: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        alike.setdefault((finding.level, finding.rule, finding.message, finding.do), []).append(finding)
    blocks = [_block(group) for group in alike.values()]
    return "\n".join([f"{cut(server) or '(no server named)'}", *blocks, ""])


def _block(group: Sequence[Finding]) -> str:
    first = group[0]
    tools = list(dict.fromkeys(cut(finding.tool, 80) for finding in group if finding.tool))
    where = ", ".join(tools[:_TOOLS]) + (f" and {len(tools) - _TOOLS} more" if len(tools) > _TOOLS else "")
    place = f" {cut(first.pointer)}" if len(group) == 1 and first.pointer else ""
    head = f"  {first.level} {first.rule} {RULES[first.rule].name}: {where or 'the list'}{place}"
    return "\n".join([head, f"    {first.message}", f"    do: {first.do}"])


def as_json(findings: tuple[Finding, ...]) -> str:
    """Return the findings as one JSON object: `{"findings": [...], "counts": {level: number}}`."""
    body = msgspec.json.encode({"findings": findings, "counts": dict(counts(findings))})
    return msgspec.json.format(body, indent=2).decode() + "\n"


__all__ = ["as_json", "summary", "text"]
