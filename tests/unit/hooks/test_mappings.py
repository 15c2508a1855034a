"""Which tool an act leads to, by what users confirmed and rules declare (R-6, R-25, R-103)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from preflight.hooks.shipped.act import clauses_of
from preflight.hooks.shipped.mappings import Meaning, confirm, words_of
from preflight.hooks.shipped.wishes import mismatch
from preflight.model.checklist import Fixed, Match
from preflight.model.rules import UNLISTED, ToolRules
from preflight.model.tool import Tool

SEND = Meaning("send money", "bank", "transfer")
ACTS = ToolRules(effect="reversible")


def tool(name: str = "transfer", server: str = "bank") -> Tool:
    return Tool.from_mcp({"server": server, "name": name, "inputSchema": {}})


def match(
    c2: str,
    *meanings: Meaning,
    name: str = "transfer",
    rules: Mapping[str, ToolRules] = {},
    source: Any = "instruction",
) -> Match:
    fixed = Fixed("immediate", c2, name, source)
    return confirm(c2, tool(name), fixed, meanings, lambda _, listed: rules.get(listed, UNLISTED))


def approved(*given: Any, **named: Any) -> bool:
    return match(*given, **named).approved


@pytest.mark.parametrize(
    ("c2", "leads"),
    [
        ("send money", True),
        ("Send some MONEY to bob", True),
        ("read the notice; send money to bob", True),  # one clause of several is enough
        ("read the notice and send money", True),
        ("money send", False),  # the first word begins the act
        ("resend money", False),
        ("send a note", False),
        ("don't send money", False),
        ("", False),
    ],
)
def test_a_clause_that_has_the_words_of_a_phrase_in_order_leads_to_its_tool(c2: str, leads: bool) -> None:
    assert approved(c2, SEND) is leads


def test_without_a_mapping_nothing_is_approved() -> None:
    # a tool may be called exactly as the act is
    assert match("transfer").reason == "no confirmed mapping speaks for this act"
    assert not approved("send money", Meaning("", "bank", "transfer"))


@pytest.mark.parametrize("other", [Meaning("send money", "bank", "wire"), Meaning("send money", "shop", "transfer")])
def test_a_mapping_leads_to_one_tool_of_one_server(other: Meaning) -> None:
    refused = match("send money", other)
    assert (refused.approved, refused.reason) == (False, "a confirmed mapping leads to another tool")


def test_the_most_specific_phrase_decides() -> None:
    abroad = Meaning("send money abroad", "bank", "wire")
    assert approved("send money to bob", SEND, abroad)
    assert not approved("send money abroad", SEND, abroad)
    assert approved("send money abroad", SEND, abroad, name="wire")


def test_confirmed_mappings_that_disagree_approve_nothing() -> None:
    other = Meaning("send money", "bank", "wire")
    for name in ("transfer", "wire"):
        assert match("send money", SEND, other, name=name).reason == "confirmed mappings disagree"


# what rules declare for several tools

SHARED = [Meaning("send", "bank", name, shared=True) for name in ("draft", "transfer", "remit")]
HARM = {"draft": ToolRules(effect="reversible"), "transfer": ToolRules(), "remit": ToolRules(effect="reversible")}


@pytest.mark.parametrize(("name", "leads"), [("draft", True), ("remit", True), ("transfer", False), ("other", False)])
def test_a_word_that_several_tools_share_leads_to_each_that_does_no_more_harm(name: str, leads: bool) -> None:
    assert approved("send it to bob", *SHARED, name=name, rules=HARM) is leads


def test_what_the_user_confirmed_comes_before_what_rules_share() -> None:
    mine = Meaning("send", "bank", "transfer")
    assert approved("send it", *SHARED, mine, rules=HARM)
    refused = match("send it", *SHARED, mine, name="draft", rules=HARM)
    assert refused.reason == "a confirmed mapping leads to another tool"


# a name from the settings


@pytest.mark.parametrize(("c2", "leads"), [("send money", True), ("SEND, money!", True), ("send money to bob", False)])
def test_a_name_from_the_settings_needs_a_mapping_of_exactly_that_name(c2: str, leads: bool) -> None:
    #
    assert approved(c2, SEND, source="pre_set_data") is leads


# what a tool cannot do, no mapping makes it do

CHANGES = {
    "transfer": ToolRules(changes=("send",)),
    "remove": ToolRules(effect="reversible", changes=("delete", "archive")),
    "show": ToolRules(effect="read"),
}


@pytest.mark.parametrize(
    ("phrase", "name", "leads"),
    [
        ("send money", "transfer", True),
        ("delete money", "transfer", False),
        ("show money", "transfer", False),
        ("show money", "show", True),
        ("delete file", "remove", True),
        ("archive file", "remove", True),
        ("create file", "remove", False),
        ("reticulate file", "remove", True),  # a verb nobody knows says nothing against a tool
    ],
)
def test_the_wish_meets_a_tool_that_can_do_it(phrase: str, name: str, leads: bool) -> None:
    assert approved(phrase, Meaning(phrase, "bank", name), name=name, rules=CHANGES) is leads


@pytest.mark.parametrize(
    ("act", "rules", "why"),
    [
        ("show it", UNLISTED, "a wish to read does not meet a tool that changes things"),
        ("what is it", ToolRules(effect="reversible", changes=("send",)), "a wish to read does not meet"),
        ("show it", ACTS, None),  # nothing is declared of what it changes
        ("send it", ToolRules(effect="reversible", changes=("delete",)), "the tool does not `send`"),
        ("pay it", ToolRules(changes=("transfer",)), None),  # words of one kind of change are one
        ("send it", UNLISTED, None),
        ("", UNLISTED, None),
    ],
)
def test_a_mismatch_is_said_in_words(act: str, rules: ToolRules, why: str | None) -> None:
    found = mismatch(words_of(act), rules)
    assert found == why if why is None else found is not None and found.startswith(why)


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("Read the notice and adjust my rent.", ["Read the notice", "adjust my rent"]),
        ("please pay, then tell Ann", ["pay", "tell Ann"]),
        ("go ahead, and pay", ["go ahead", "pay"]),
        ("1. pay the rent\n2. tell Ann", ["pay the rent", "tell Ann"]),
        ("1) pay the rent\n- tell Ann", ["pay the rent", "tell Ann"]),
        ("Pay the rent.Then tell Ann", ["Pay the rent", "tell Ann"]),
        ("pay 1.50 to bob", ["pay 1.50 to bob"]),
        ("pay it since it is due, and thanks", ["pay it"]),
        ("", []),
    ],
)
def test_a_request_is_cut_into_clauses_without_courtesies_and_reasons(text: str, clauses: list[str]) -> None:
    assert clauses_of(text) == clauses
