"""The tools of real servers compile, or are refused with a place (skips where the lists are absent)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from preflight.core.schema import Plan, compile_schema, walk
from tests.unit.core.schema.scripted import Script, drive

LISTS = Path(__file__).resolve().parents[5] / "shared" / "mcp_tools"

pytestmark = pytest.mark.skipif(not LISTS.is_dir(), reason="needs ../shared/mcp_tools, the tool lists of real servers")


def tools() -> Iterator[dict[str, Any]]:
    for path in sorted(LISTS.glob("*.json")):
        held = json.loads(path.read_text(encoding="utf-8"))
        yield from held if isinstance(held, list) else held["tools"]


def test_every_tool_is_compiled_or_refused_with_a_place() -> None:
    compiled = 0
    for tool in tools():
        plan = compile_schema(tool["inputSchema"])
        if isinstance(plan, Plan):
            compiled += 1
        else:
            assert plan.at.startswith("/"), tool["name"]
            assert plan.what, tool["name"]
    assert compiled > 400


def test_every_tool_is_walked_without_claims_and_with_empty_ones() -> None:
    for tool in tools():
        plan = compile_schema(tool["inputSchema"])
        assert isinstance(plan, Plan)
        names = {name: {} for name in plan.declared}
        for claims in (UNSET, names, {name: [{}] for name in names}):
            result = drive(walk(plan, Script(claims)), lambda _: UNSET)
            assert result.walked.unsupported is None, tool["name"]
            assert result.walked.arguments == {}
            assert len({slot.path for slot in result.slots}) == len(result.slots)
            required = set(tool["inputSchema"].get("required", ()))
            asked = {str(slot.path[0]) for slot in result.slots if slot.required}
            assert asked >= required or result.walked.branches
