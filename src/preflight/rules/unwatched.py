"""What calls may do that nobody attends: a section of a file to its value."""

from __future__ import annotations

import msgspec

from preflight.model.rules import UNATTENDED, UNLISTED, ToolRules, UnattendedRules
from preflight.rules.kinds import Section

DEFAULT = UnattendedRules()


def by_effect(root: Section) -> UnattendedRules:
    """Build what a set of rules says for all tools that it lists."""
    section = root.get("unattended")
    given = section.values if isinstance(section, Section) else {}
    return UnattendedRules(
        reversible=given.get("reversible", DEFAULT.reversible),  # type: ignore[arg-type]
        irreversible=given.get("irreversible", DEFAULT.irreversible),  # type: ignore[arg-type]
    )


def unlisted(rules: UnattendedRules) -> ToolRules:
    """Return the rules of tools that nobody listed: what lets irreversible ones run says nothing of these (R-65)."""
    strict = max(rules.irreversible, DEFAULT.irreversible, key=UNATTENDED.index)
    made = msgspec.structs.replace(UNLISTED, unattended_by_effect=UnattendedRules(rules.reversible, strict))
    return UNLISTED if made == UNLISTED else made
