"""The example rules load, fit their tools, and come with requests that are requests."""

from __future__ import annotations

from pathlib import Path

import pytest

from preflight.model.request import Request
from preflight.rules import load_cases, load_rules

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "rules"
SETS = ["bank", "filesystem", "git", "mail_calendar"]


@pytest.mark.parametrize("name", SETS)
def test_the_rules_fit_the_tools_of_their_requests(name: str) -> None:
    rules = load_rules(EXAMPLES / name)
    cases = load_cases(EXAMPLES / name)
    assert rules.tools
    assert cases
    for case in cases:
        tool = Request.parse(case.request).tool
        assert (tool.server, tool.name) in rules.tools
        assert rules.checked_against(tool) == ()


@pytest.mark.parametrize("name", SETS)
def test_what_a_request_expects_to_be_unmet_is_a_rule(name: str) -> None:
    rules = load_rules(EXAMPLES / name)
    for case in load_cases(EXAMPLES / name):
        tool = Request.parse(case.request).tool
        known = rules.for_tool(tool.server, tool.name)
        assert {*(case.expect.unmet or ())} <= {rule.id for rule in (*known.conditions, *known.limits)}


def test_every_acting_tool_of_the_examples_names_what_users_call_it() -> None:
    for name in SETS:
        for (_, tool), rules in load_rules(EXAMPLES / name).tools.items():
            assert rules.effect == "read" or rules.intents or tool == "email_command"
