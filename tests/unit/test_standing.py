"""How tools stand under rules, and which rules are about nothing: read off the rules, without a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from preflight.model.tool import Tool
from preflight.rules import RuleSet, load_rules
from preflight.standing import fingerprint_of, standing_of, strays

FORM, SAFE = "the client's form", ("the answer page", "a terminal")
TOOL: dict[str, Any] = {"name": "pay", "inputSchema": {"type": "object", "properties": {"won": {"type": "integer"}}}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def rules(folder: Path, **shape: Any) -> RuleSet:
    path = folder / "rules.json"
    path.write_text(json.dumps({"version": 1, **shape}), encoding="utf-8")
    return load_rules(path)


def of_bank(folder: Path, **tools: Any) -> RuleSet:
    return rules(folder, servers={"bank": {"tools": tools}})


@pytest.mark.parametrize(
    ("ruled", "enough"),
    [
        ({"effect": "reversible"}, (FORM, *SAFE)),
        ({"effect": "irreversible"}, SAFE),
        ({"effect": "irreversible", "ask_by": "form"}, (FORM, *SAFE)),
        ({"effect": "reversible", "ask_by": "page"}, SAFE),
        ({"effect": "reversible", "ask_by": "terminal"}, SAFE[1:]),
        ({"effect": "read"}, ()),
    ],
)
def test_which_channel_is_enough_is_read_off_the_rules(
    folder: Path, ruled: dict[str, Any], enough: tuple[str, ...]
) -> None:
    assert standing_of(of_bank(folder, pay=ruled), "bank", TOOL).enough == enough


def test_a_tool_that_no_rule_names_stands_as_the_rules_say_of_all(folder: Path) -> None:
    of_all = rules(folder, ask_by={"irreversible": "terminal"}, servers={"bank": {"tools": {"other": {}}}})
    stands = standing_of(of_all, "bank", TOOL)
    assert (stands.why, stands.enough) == ("no rule names it, so it counts as irreversible", SAFE[1:])


@pytest.mark.parametrize(
    ("ruled", "gate", "why"),
    [
        ({"effect": "read", "forbidden": True, "pin": "0" * 64}, "held", "the rules forbid it"),
        ({"effect": "read", "pin": "0" * 64}, "held", "it is not the tool that was accepted"),
        ({"effect": "read", "pin": Tool.from_mcp(TOOL, server="bank").fingerprint}, "passes", "it reads"),
        ({"effect": "reversible"}, "gated", "reversible"),
        ({}, "gated", "irreversible"),
    ],
)
def test_what_stops_a_call_is_told_in_the_order_of_the_decision(
    folder: Path, ruled: dict[str, Any], gate: str, why: str
) -> None:
    found = standing_of(of_bank(folder, pay=ruled), "bank", TOOL)
    assert (found.gate, found.why, found.listed) == (gate, why, fingerprint_of("bank", TOOL))


def test_a_tool_that_no_rule_names_counts_as_irreversible(folder: Path) -> None:
    found = standing_of(of_bank(folder), "bank", TOOL)
    assert (found.gate, found.effect, found.enough) == ("gated", "irreversible", SAFE)
    assert "no rule names it" in found.why


def test_what_does_not_fit_its_schema_is_told_with_it(folder: Path) -> None:
    found = standing_of(of_bank(folder, pay={"fields": {"wan": {"role": "quantity"}}}), "bank", TOOL)
    assert "no field `wan`; did you mean `won`?" in found.faults[0]


def test_tools_of_a_server_that_was_not_seen_are_not_missed(folder: Path) -> None:
    found = of_bank(folder, pay={}, see={})
    assert strays(found, {"bank": None}, whole=True) == ()
    assert [str(each).partition(": ")[2] for each in strays(found, {"bank": ["pay"]}, whole=True)] == [
        "`bank` lists no tool `see`; known: `pay`"
    ]
    assert {each.do for each in strays(found, {"bank": []}, whole=True)} == {"it lists no tools"}


def test_what_deferred_runs_wait_for_is_read_from_servers_that_are_there(folder: Path) -> None:
    found = rules(
        folder,
        measures={"rate": {"mcp": {"server": "rates", "tool": "get"}, "type": "number"}, "now": {"given": True}},
        servers={"bank": {"tools": {"pay": {}}}},
        triggers={"low": {"phrases": ["the rate is low"], "expression": "measured.rate < 2.0"}},
    )
    (stray,) = strays(found, {"bank": ["pay"]}, whole=True)
    assert "the measure `rate` reads `get` of `rates`, which is no server here" in str(stray)
    assert strays(found, {"bank": ["pay"]}, whole=False) == ()
    assert strays(found, {"bank": ["pay"], "rates": ["get"]}, whole=True) == ()
    assert strays(found, {"bank": ["pay"], "rates": None}, whole=True) == ()
