"""Findings for the owners of tools: what a definition leaves to chance, hides, or says against itself.

The linter looks at definitions only. Nothing it finds changes a decision (R-6, R-65); it tells people where
a server's declarations will make calls ask, hold, or reach further than they should.
"""

from __future__ import annotations

from preflight.lint.catalogue import RULES
from preflight.lint.finding import LEVELS, Finding, Level, Rule, counts, exit_code
from preflight.lint.listing import Listing, ask_listing, listing_of, read_listing
from preflight.lint.render import as_json, summary, text
from preflight.lint.run import lint_list, lint_listings, lint_tool
from preflight.lint.sarif import sarif
from preflight.lint.start import gated_names, starting_rules

__all__ = [
    "LEVELS",
    "RULES",
    "Finding",
    "Level",
    "Listing",
    "Rule",
    "as_json",
    "ask_listing",
    "counts",
    "exit_code",
    "gated_names",
    "lint_list",
    "lint_listings",
    "lint_tool",
    "listing_of",
    "read_listing",
    "sarif",
    "starting_rules",
    "summary",
    "text",
]
