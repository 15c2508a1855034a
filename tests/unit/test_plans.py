"""Compiled schemas are remembered without a trace of what else the process has seen (R-11)."""

from __future__ import annotations

from typing import Any

import pytest

from preflight import Tool, plans
from preflight.limits import DEFAULT
from preflight.plans import plan_of
from tests.unit.gates import TOOL, gate, request

PROPERTIES = {"amount": {"type": "number"}, "to": {"type": "string"}}


def written(*names: str) -> dict[str, Any]:
    """The same tool, its optional properties written in this order."""
    return {**TOOL, "inputSchema": {"type": "object", "properties": {name: PROPERTIES[name] for name in names}}}


def test_a_tool_is_compiled_once() -> None:
    assert plan_of(Tool.from_mcp(written("amount", "to"))) is plan_of(Tool.from_mcp(written("amount", "to")))


@pytest.mark.parametrize("seen_first", [("amount", "to"), ("to", "amount")])
def test_what_was_seen_before_does_not_order_what_is_recorded_now(seen_first: tuple[str, str]) -> None:
    plans._plans.clear()
    gate().check(request(tool=written(*seen_first)))
    for order in (("amount", "to"), ("to", "amount")):
        record = gate().check(request(tool=written(*order))).record
        assert [state.name for state in record.extra_fields] == list(order)


def test_order_is_no_change_of_the_tool() -> None:
    #
    assert len({Tool.from_mcp(written(*order)).fingerprint for order in (("amount", "to"), ("to", "amount"))}) == 1


def test_the_plans_that_are_kept_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "_MOST", 2)
    monkeypatch.setattr(plans, "_plans", type(plans._plans)())
    tools = [Tool.from_mcp({**TOOL, "name": f"t{n}"}) for n in range(3)]
    first = plan_of(tools[0], DEFAULT)
    for tool in tools:
        plan_of(tool)
    assert len(plans._plans) == 2
    assert plan_of(tools[0]) is not first
