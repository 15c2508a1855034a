"""An override that raises a tool's effect: what depends on the effect is judged by the new one (R-7)."""

from __future__ import annotations

import pytest

from preflight.model.channel import Channel
from preflight.model.rules import Misfire, Unconfirmed
from tests.unit.rules.samples import load, only_fault, transfer

USER = "users: {anna: {servers: {bank: {tools: {transfer: {%s}}}}}}\n"
ACME = (
    "organisations: {acme: {servers: {bank: {tools: {transfer: {%s}}}}, "
    "users: {mo: {servers: {bank: {tools: {transfer: {%s}}}}}}}}\n"
)
GRAVE = "effect: irreversible"


@pytest.mark.parametrize(
    ("base", "over", "channel"),
    [
        ("{effect: reversible, ask_by: form}", GRAVE, "program"),
        ("{effect: reversible, ask_by: page}", GRAVE, "page"),
        ("{effect: reversible}", GRAVE, "program"),
        ("{effect: reversible}", "ask_by: form", "form"),  # it says what holds
        ("{effect: reversible, ask_by: form}", "effect: irreversible, ask_by: page", "page"),
        ("{effect: read, ask_by: form}", "effect: reversible", "form"),
        ("{effect: read, ask_by: form}", GRAVE, "program"),
        ("{effect: irreversible, ask_by: form}", GRAVE, "form"),  # the adopter's own line, about this very effect
    ],
)
def test_answers_come_by_what_the_graver_effect_asks_for(base: str, over: str, channel: Channel) -> None:
    rules = load(transfer(base) + USER % over)
    assert rules.for_tool("bank", "transfer", "anna").channel == channel


def test_a_graver_effect_asks_by_what_the_file_says_of_it() -> None:
    text = transfer("{effect: reversible, ask_by: form}").replace(
        "version: 1", "version: 1\nask_by: {irreversible: terminal}"
    )
    assert load(text + USER % GRAVE).for_tool("bank", "transfer", "anna").channel == "terminal"
    assert load(text + USER % GRAVE).for_tool("bank", "transfer", "bob").channel == "form"


def test_a_user_s_override_stands_on_the_organisation_s() -> None:
    text = transfer("{effect: reversible, ask_by: form}")
    rules = load(text + ACME % (GRAVE, "value_asks: 1"))
    assert [rules.for_tool("bank", "transfer", who, "acme").channel for who in ("mo", "eve", "")] == ["program"] * 3
    assert "`form` is less strict than `program`" in only_fault(text + ACME % (GRAVE, "ask_by: form"))


@pytest.mark.parametrize(
    "over", ["effect: irreversible, ask_by: form", "ask_by: form, effect: irreversible"], ids=["after", "before"]
)
def test_a_channel_for_the_lesser_effect_cannot_be_kept(over: str) -> None:
    fault = only_fault(transfer("{effect: reversible, ask_by: form}") + USER % over)
    assert "`ask_by` would loosen the rules: `form` is less strict than `program`" in fault


@pytest.mark.parametrize(
    ("base", "over", "unconfirmed"),
    [
        ("{effect: reversible, fields: {note: {unconfirmed: drop}}}", GRAVE, "ask"),
        ("{effect: reversible, fields: {note: {unconfirmed: allow}}}", GRAVE, "ask"),
        ("{effect: read, fields: {note: {unconfirmed: allow}}}", "effect: reversible", "drop"),
        ("{effect: reversible, fields: {note: {secret: true}}}", GRAVE, "ask"),
        ("{effect: reversible, fields: {note: {unconfirmed: allow}}}", "value_asks: 1", "allow"),
        ("{effect: irreversible, fields: {note: {unconfirmed: allow}}}", GRAVE, "allow"),
        # a property may have any name, none included
        ("{effect: reversible, fields: {'': {unconfirmed: allow}, note: {unconfirmed: drop}}}", GRAVE, "ask"),
    ],
)
def test_an_optional_claim_is_treated_as_the_graver_effect_says(base: str, over: str, unconfirmed: Unconfirmed) -> None:
    rules = load(transfer(base) + USER % over)
    assert rules.for_tool("bank", "transfer", "anna").optional("note") == unconfirmed


@pytest.mark.parametrize("field", ["", "fields: {note: {unconfirmed: drop}}"])
def test_an_optional_claim_is_not_left_out_of_a_graver_call(field: str) -> None:
    base = transfer(f"{{effect: reversible, {field}}}")
    fault = only_fault(base + USER % "effect: irreversible, fields: {note: {unconfirmed: drop}}")
    assert "`unconfirmed` would loosen the rules: `drop` is less strict than `ask`" in fault
    assert load(base + USER % "fields: {note: {unconfirmed: drop}}").for_tool("bank", "transfer", "anna")


@pytest.mark.parametrize(
    ("base", "misfire"),
    [
        ("{effect: reversible, deferral: {misfire: run_once, missed_after: 1m}}", "hold"),
        ("{effect: reversible, deferral: {misfire: skip, missed_after: 1m}}", "skip"),
        ("{effect: reversible, deferral: {misfire: hold, missed_after: 1m}}", "hold"),
        ("{effect: reversible, deferral: {missed_after: 1m}}", "hold"),
        ("{effect: irreversible, deferral: {misfire: run_once, missed_after: 1m}}", "run_once"),
    ],
)
def test_a_missed_occurrence_does_not_run_by_a_line_about_a_lesser_effect(base: str, misfire: Misfire) -> None:
    rules = load(transfer(base) + USER % GRAVE).for_tool("bank", "transfer", "anna")
    assert (rules.misfire, rules.deferral.missed_after_seconds) == (misfire, 60)


def test_an_effect_is_not_lowered() -> None:
    fault = only_fault(transfer("{effect: irreversible, ask_by: page}") + USER % "effect: reversible")
    assert "`effect` would loosen the rules: `reversible` is less strict than `irreversible`" in fault
