"""Rules about what a provider declares by labels and checklist (R-63)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from preflight.lint.finding import Finding
from preflight.lint.quoting import cut, name
from preflight.lint.subject import Subject
from preflight.model.json_value import is_object
from preflight.model.pointer import join
from preflight.model.rules import ToolRules
from preflight.rules import ProviderChecklist, provider_conditions
from preflight.rules.provider import META_KEY

_TRUSTING = ToolRules(trust_labels=True)
_LIKELY = re.compile(r"required|verify|notice", re.IGNORECASE)


def declared(subject: Subject) -> ProviderChecklist:
    """Return what the provider would add to a call, were its labels trusted."""
    return provider_conditions(subject.tool, _TRUSTING)


def label_unreadable(subject: Subject) -> Iterator[Finding]:
    """PF033: a label or checklist that holds every call of whoever trusts the server's labels."""
    meta = subject.tool.meta
    listed = is_object(meta) and META_KEY in meta
    if not listed and not _LIKELY.search(subject.tool.description):
        return
    for unreadable in declared(subject).unreadable:
        in_meta = unreadable.id == META_KEY
        yield subject.find(
            "PF033",
            join("/_meta", META_KEY) if in_meta else "/description",
            f"{name(unreadable.id)} holds every call where labels are trusted: {cut(unreadable.why)}",
            f"declare how it is checked, in `_meta` under `{META_KEY}`, or write the label as `[Verify] text`",
        )


CHECKS = (label_unreadable,)

__all__ = ["CHECKS", "declared", "label_unreadable"]
