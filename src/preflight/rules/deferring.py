"""How deferred runs of a tool are treated when they fire: a section of a file to its value (R-82, R-83)."""

from __future__ import annotations

from preflight.model.rules import DeferralRules
from preflight.rules.kinds import Section


def deferral(section: object) -> DeferralRules:
    """Build how deferred runs of a tool are treated."""
    if not isinstance(section, Section):
        return DeferralRules()
    given = section.values
    defaults = DeferralRules()
    return DeferralRules(
        misfire=given.get("misfire"),  # type: ignore[arg-type]
        missed_after_seconds=given.get("missed_after", defaults.missed_after_seconds),  # type: ignore[arg-type]
        unresolved=given.get("unresolved", defaults.unresolved),  # type: ignore[arg-type]
    )
