"""Rules as data: what a tool needs, who may answer, and when it must not run (R-60 to R-68).

`load_rules` reads files into a `RuleSet`; `LiveRules` reads them again when they change; `Conditions`
evaluates; `provider_conditions` reads what a tool's provider declares. The format: docs/rules.md.
"""

from __future__ import annotations

from preflight.rules.cases import Case, Expect, load_cases
from preflight.rules.conditions import Conditions, Inputs, Outcome, needs
from preflight.rules.faults import Fault, RulesError
from preflight.rules.live import LiveRules
from preflight.rules.provider import ProviderChecklist, declare, provider_conditions
from preflight.rules.ruleset import RuleSet, load_rules

__all__ = [
    "Case",
    "Conditions",
    "Expect",
    "Fault",
    "Inputs",
    "LiveRules",
    "Outcome",
    "ProviderChecklist",
    "RuleSet",
    "RulesError",
    "declare",
    "load_cases",
    "load_rules",
    "needs",
    "provider_conditions",
]
