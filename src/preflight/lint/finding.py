"""What the linter says about a tool definition, and how grave it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

Level = Literal["error", "warning", "note"]
LEVELS: tuple[Level, ...] = ("error", "warning", "note")
"""From grave to slight."""


class Rule(msgspec.Struct, frozen=True, gc=False):
    """One thing the linter looks for. `id` is stable over releases; `name` is readable; `why` says what it costs."""

    id: str
    name: str
    level: Level
    title: str
    why: str


class Finding(msgspec.Struct, frozen=True, gc=False):
    """One place in a tool definition that its owner should look at.

    `pointer` is a JSON Pointer into the definition as `tools/list` gives it (`/inputSchema/properties/to`);
    `tool` is empty when the finding is about the whole list. `message` says what is wrong, `do` what helps.
    """

    rule: str
    level: Level
    server: str
    tool: str
    pointer: str
    message: str
    do: str


def counts(findings: tuple[Finding, ...]) -> Mapping[Level, int]:
    """Return how many findings there are of each level."""
    return {level: sum(finding.level == level for finding in findings) for level in LEVELS}


def exit_code(findings: tuple[Finding, ...], fail_on: Level | Literal["never"] = "error") -> int:
    """Return the status for a continuous check: 1 when a finding is as grave as `fail_on` or graver, else 0."""
    if fail_on == "never":
        return 0
    grave = LEVELS[: LEVELS.index(fail_on) + 1]
    return int(any(finding.level in grave for finding in findings))


__all__ = ["LEVELS", "Finding", "Level", "Rule", "counts", "exit_code"]
