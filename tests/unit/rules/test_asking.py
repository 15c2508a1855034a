"""Which channel is enough: by tool, by effect, and only tighter for somebody (R-91)."""

from __future__ import annotations

import pytest

from preflight.model.channel import AskBy, enough, kind_of
from preflight.rules import RuleSet
from tests.unit.rules.samples import faults, load, only_fault, transfer

TOOLS = (
    "servers: {s: {tools: {mild: {effect: reversible}, grave: {}, own: {ask_by: terminal}, look: {effect: read}}}}\n"
)


def channels(rules: RuleSet) -> dict[str, str]:
    return {name: rules.for_tool("s", name).channel for name in ("mild", "grave", "own", "look", "unlisted")}


def test_by_default_a_form_is_enough_for_what_can_be_undone() -> None:
    rules = load("version: 1\n" + TOOLS)
    asked = {"mild": "form", "grave": "program", "own": "terminal", "look": "form", "unlisted": "program"}
    assert channels(rules) == asked


def test_what_is_left_open_follows_the_effect_and_so_do_tools_that_nobody_listed() -> None:
    rules = load("version: 1\nask_by: {reversible: program, irreversible: page}\n" + TOOLS)
    asked = {"mild": "program", "grave": "page", "own": "terminal", "look": "program", "unlisted": "page"}
    assert channels(rules) == asked


def test_what_cannot_be_undone_never_takes_less_than_what_can() -> None:
    rules = load("version: 1\nask_by: {reversible: page}\n" + TOOLS)
    assert rules.unlisted.ask_by_effect == AskBy("page", "page")
    told = "2:42: `form` is less than `page`, which is asked for what can be undone; ask for at least the same"
    assert only_fault("version: 1\nask_by: {reversible: page, irreversible: form}\n") == told
    loose = load("version: 1\nask_by: {irreversible: form}\n" + TOOLS)  # the adopter's own choice
    assert channels(loose)["grave"] == "form"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("ask_by: mail", "6:17: `mail` is not known here; known: `form`, `page`, `program`, `terminal`"),
        ("ask_by: pages", "6:17: `pages` is not known here; did you mean `page`?"),
    ],
)
def test_a_mistake_is_named(body: str, message: str) -> None:
    assert only_fault(transfer(body)) == message


def test_it_is_said_once() -> None:
    assert "no key of the channels" in only_fault("version: 1\nask_by: {read: form}\n")
    assert faults("version: 1\nask_by: [form]\n")[0].startswith("2:9: a list, not the channels as a mapping")


OVER = "users: {anna: {servers: {s: {tools: {%s}}}}}\n"


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("own: {ask_by: page}", "`page` is less strict than `terminal`"),
        ("grave: {ask_by: form}", "`form` is less strict than `program`"),
        ("mild: {ask_by: form, effect: irreversible}", "`form` is less strict than `program`"),
        ("other: {ask_by: form}", "`form` is less strict than `program`"),
    ],
)
def test_for_somebody_it_may_only_become_stricter(override: str, message: str) -> None:
    assert f"`ask_by` would loosen the rules: {message}" in only_fault("version: 1\n" + TOOLS + OVER % override)


def test_a_stricter_channel_holds_for_whom_it_is_set() -> None:
    over = OVER % "mild: {ask_by: page}, grave: {effect: irreversible}, other: {value_asks: 1}"
    rules = load("version: 1\nask_by: {irreversible: page}\n" + TOOLS + over)
    assert [rules.for_tool("s", name, "anna").channel for name in ("mild", "grave", "other")] == ["page"] * 3
    assert rules.for_tool("s", "mild", "bob").channel == "form"


@pytest.mark.parametrize(
    ("channel", "kind"),
    [
        ("form (client 1, 3.2 s)", "form"), ("form", "form"), ("page", "page"), ("terminal", "terminal"),
        ("api", "program"), ("script", "program"), ("callback", "program"), ("terminal (web)", "program"),
        ("Page", "program"), ("formal", "program"), ("", "program"),
    ],
)  # fmt: skip
def test_a_channel_is_known_by_its_name_alone(channel: str, kind: str) -> None:
    assert kind_of(channel) == kind


def test_what_is_more_is_enough_too() -> None:
    names = ("form (x 1, 2.0 s)", "api", "page", "terminal")
    assert [[enough(name, least) for name in names] for least in ("form", "program", "page", "terminal")] == [
        [True] * 4,
        [False, True, True, True],
        [False, False, True, True],
        [False, False, False, True],
    ]
