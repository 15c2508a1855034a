"""Compiled schemas are remembered without a trace of what else the process has seen (R-11)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from preflight import Executable, Tool, create_preflight, plans
from preflight.hooks.shipped import Meaning, ShippedHooks
from preflight.limits import DEFAULT, Limits
from preflight.locators import LocatingHooks
from preflight.plans import plan_of
from tests.unit.gates import TOOL, gate, request

PROPERTIES = {"amount": {"type": "number"}, "to": {"type": "string"}}


def written(*names: str) -> dict[str, Any]:
    """The same tool, its optional properties written in this order."""
    return {**TOOL, "inputSchema": {"type": "object", "properties": {name: PROPERTIES[name] for name in names}}}


def test_a_tool_is_compiled_once() -> None:
    first, second = (Tool.from_mcp(written("amount", "to")) for _ in range(2))
    assert plan_of(first, DEFAULT) is plan_of(second, DEFAULT)


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
        plan_of(tool, DEFAULT)
    assert len(plans._plans) == 2
    assert plan_of(tools[0], DEFAULT) is not first


BOOK = Meaning("book", "shop", "book")


@pytest.mark.parametrize(
    "hooks_for", [lambda: ShippedHooks(meanings=[BOOK]), lambda: LocatingHooks(lambda *_: {}, meanings=[BOOK])]
)
def test_the_shipped_hooks_read_a_schema_under_the_limits_of_their_gate(hooks_for: Callable[[], ShippedHooks]) -> None:
    long = {"type": "string", "description": "x" * DEFAULT.schema_bytes}
    tool = {
        "server": "shop",
        "name": "book",
        "inputSchema": {"type": "object", "properties": {"code": long}, "required": ["code"]},
    }
    given = {"user_id": "u1", "instruction": [{"text": "book AB-1234", "trust": "user"}], "tool": tool,
             "claims": {"code": "AB-1234"}}  # fmt: skip
    limits = Limits(schema_bytes=2 * DEFAULT.schema_bytes)
    plans._plans.clear()
    checked = create_preflight(storage=":memory:", hooks=hooks_for(), limits=limits).check(given)
    assert isinstance(checked, Executable), checked.record.reason
    assert [key[2] for key in plans._plans] == [limits]  # compiled once, by gate and hooks together
