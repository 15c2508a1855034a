"""Users and organisations: settings only their user approves, overrides that only tighten (R-7, R-14)."""

from __future__ import annotations

import pytest

from preflight.model.rules import UNLISTED
from preflight.rules import RuleSet, tighten
from preflight.rules.layout import FIELD, TOOL
from tests.unit.rules.samples import faults, load

BASE = """
version: 1
measures: {hours: {given: true, type: boolean}, other: {given: true}}
servers:
  bank:
    measures: {balance: {given: true}}
    tools:
      transfer:
        effect: reversible
        intents: [send, transfer]
        value_asks: 2
        decision_lifetime: 60s
        constants_are_known: true
        notices: [Careful.]
        conditions: [{id: enough, expression: measured.balance > args.amount}]
        limits: [{id: daily, kind: count, at_most: 9, window: 1d}]
        fields:
          to: {sources: [user_answer, instruction], carry: 2d, pending_at_trigger: true, unconfirmed: allow, role: time}
"""


def with_user(body: str, *, tool: bool = True) -> str:
    indent = "            " if tool else "    "
    head = "users:\n  anna:\n" + ("    servers:\n      bank:\n        tools:\n          transfer:\n" if tool else "")
    return BASE.lstrip("\n") + head + "".join(f"{indent}{line}\n" for line in body.splitlines())


def anna(body: str) -> RuleSet:
    return load(with_user(body))


def test_what_tightens_is_laid_upon_the_tools_rules() -> None:
    rules = anna("""effect: irreversible
forbidden: true
intents: [send]
value_asks: 1
decision_lifetime: 30s
constants_are_known: false
trust_labels: true
pin: "1111111111111111111111111111111111111111111111111111111111111111"
notices: [Careful., Mine.]
confirm: [amount]
conditions: [{id: mine, expression: measured.balance > 100 && measured.other == 1}]
limits: [{id: mine, kind: count, at_most: 3, window: 1d}]
measures: {extra: {given: true}}
fields:
  to: {sources: [instruction], carry: 1d, pending_at_trigger: false, unconfirmed: ask, secret: true, confirm: true}
  note: {sources: [instruction]}""")
    base, mine = rules.for_tool("bank", "transfer"), rules.for_tool("bank", "transfer", "anna")
    assert (base.effect, mine.effect) == ("reversible", "irreversible")
    assert (base.forbidden, mine.forbidden) == (False, True)
    assert (base.intents, mine.intents) == (("send", "transfer"), ("send",))
    assert (mine.value_asks, mine.decision_seconds, mine.constants_are_known) == (1, 30, False)
    assert (base.trust_labels, mine.trust_labels) == (False, True)
    assert (base.pin, mine.pin) == (None, "1" * 64)
    assert mine.notices == ("Careful.", "Mine.")
    assert [rule.id for rule in mine.conditions] == ["enough", "mine"]
    assert [rule.declared_by for rule in mine.conditions] == ["organisation", "user"]
    assert [rule.id for rule in mine.limits] == ["daily", "mine"]
    assert set(mine.measures) == {"balance", "extra", "other"}
    to = mine.field("to")
    assert (to.sources, to.carry_seconds, to.pending_at_trigger) == (("instruction",), 86_400, False)
    assert (to.unconfirmed, to.secret, to.confirm, to.role) == ("ask", True, True, "time")
    assert mine.field("amount").confirm is True
    assert mine.field("note").sources == ("instruction",)
    assert rules.for_tool("bank", "transfer", "bob") is base
    assert rules.for_tool("bank", "transfer", "anna", "acme") is base


def test_every_setting_of_a_tool_is_compared_refused_or_added() -> None:
    added = {"fields", "confirm", "conditions", "limits", "notices", "measures"}
    assert set(TOOL.keys) == {*tighten._TOOL, *tighten._FIXED, *added}
    assert set(FIELD.keys) == {*tighten._FIELD, *tighten._REFUSED}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("effect: read", "`effect` would loosen the rules: `read` is less strict than `reversible`"),
        ("intents: [send, pay]", "`intents` would loosen the rules: `pay` is not allowed so far"),
        ("value_asks: 3", "`value_asks` would loosen the rules: `3` is more than `2`"),
        ("decision_lifetime: 2m", "`decision_lifetime` would loosen the rules: `120.0` is more than `60.0`"),
        ("changes: [send]", "`changes` cannot be overridden"),
        ("settle: balance", "`settle` cannot be overridden"),
        (
            "fields: {to: {sources: [prior_state]}}",
            "`sources` would loosen the rules: `prior_state` is not allowed so far",
        ),
        ("fields: {to: {carry: 3d}}", "`carry` would loosen the rules: `259200.0` is more than `172800.0`"),
        ("fields: {other: {carry: 1d}}", "`carry` would loosen the rules: there is none so far"),
        (
            "fields: {other: {pending_at_trigger: true}}",
            "`pending_at_trigger` would loosen the rules: it may only become `false`",
        ),
        (
            "fields: {other: {unconfirmed: allow}}",
            "`unconfirmed` would loosen the rules: `allow` is less strict than `drop`",
        ),
        ("fields: {to: {role: content}}", "`role` of a field cannot be overridden"),
        ("fields: {to: {may_share: true}}", "`may_share` of a field cannot be overridden"),
        ("fields: {to: {derivations: [unit]}}", "`derivations` of a field cannot be overridden"),
        ("fields: {to: {measure: balance}}", "`measure` of a field cannot be overridden"),
        ("conditions: [{id: enough, confirmation: a}]", "the id `enough` is taken by a rule that this one would hide"),
        (
            "limits: [{id: daily, kind: count, at_most: 99, window: 1d}]",
            "the id `daily` is taken by a rule that this one would hide",
        ),
        ("measures: {balance: {http: 'http://mine'}}", "the measure `balance` would be measured otherwise"),
    ],
)
def test_what_would_loosen_is_refused(body: str, message: str) -> None:
    found = faults(with_user(body))
    assert len(found) == 1
    assert message in found[0]
    assert found[0].startswith("24:")


@pytest.mark.parametrize(
    ("base", "override", "message"),
    [
        (
            "trust_labels: true",
            "trust_labels: false",
            "`trust_labels` would loosen the rules: it may only become `true`",
        ),
        (
            "effect: read",
            "constants_are_known: true",
            "`constants_are_known` would loosen the rules: it may only become `false`",
        ),
        (
            "forbidden: true",
            "forbidden: false",
            "`forbidden` would loosen the rules: it may only become `true`",
        ),
        (f'pin: "{"1" * 64}"', f'pin: "{"2" * 64}"', "`pin` would loosen the rules: another pin is set"),
        (
            "confirm: [a]",
            "fields: {a: {confirm: false}}",
            "`confirm` would loosen the rules: it may only become `true`",
        ),
        (
            "fields: {a: {secret: true}}",
            "fields: {a: {secret: false}}",
            "`secret` would loosen the rules: it may only become `true`",
        ),
    ],
)
def test_flags_move_only_to_the_strict_side(base: str, override: str, message: str) -> None:
    text = (
        f"version: 1\nservers: {{s: {{tools: {{t: {{{base}}}}}}}}}\n"
        f"users: {{anna: {{servers: {{s: {{tools: {{t: {{{override}}}}}}}}}}}}}\n"
    )
    found = faults(text)
    assert len(found) == 1
    assert message in found[0]


def test_a_tool_nobody_listed_may_be_tightened_too() -> None:
    rules = load("""
        version: 1
        organisations: {acme: {servers: {x: {tools: {y: {intents: [do it], conditions: [{id: a, confirmation: b}]}}}}}}
        """)
    assert rules.for_tool("x", "y") is UNLISTED
    mine = rules.for_tool("x", "y", "anybody", "acme")
    assert (mine.effect, mine.intents, len(mine.conditions)) == ("irreversible", ("do it",), 1)


ACME = (
    BASE.lstrip("\n")
    + """organisations:
  acme:
    conditions: [{id: open, measure: hours}]
    servers: {bank: {tools: {transfer: {value_asks: 1, conditions: [{id: house, confirmation: a}]}}}}
    users:
      anna:
        checklist: [{id: key, description: The key is mine.}]
        settings: {home: {value: {iban: "1"}, approved_by: anna, approved_at: 2026-11-01T10:00:00+01:00}}
        conditions: [{id: mine, expression: measured.other == user.x && now.getHours() < 18}]
        servers: {bank: {tools: {transfer: {effect: irreversible}}}}
      ben: {}
"""
)


def test_a_user_stands_upon_the_organisation() -> None:
    rules = load(ACME)
    house, anna_, ben = (rules.for_tool("bank", "transfer", user, "acme") for user in ("", "anna", "ben"))
    assert (house.effect, house.value_asks) == ("reversible", 1)
    assert (anna_.effect, anna_.value_asks) == ("irreversible", 1)
    assert [rule.id for rule in anna_.conditions] == ["enough", "house"]
    assert ben == house
    assert rules.for_tool("bank", "transfer", "stranger", "acme") == house
    assert rules.for_tool("bank", "transfer", "anna").value_asks == 2


def test_what_holds_for_a_user() -> None:
    rules = load(ACME)
    anna_ = rules.for_user("anna", "acme")
    assert [dict(item) for item in anna_.checklist] == [{"id": "key", "description": "The key is mine."}]
    assert {name: dict(value) for name, value in anna_.settings.items()} == {  # type: ignore[call-overload]
        "home": {"value": {"iban": "1"}, "trust": "user", "origin": "approved by anna at 2026-11-01T10:00:00+01:00"}
    }
    assert [(rule.id, rule.declared_by) for rule in anna_.conditions] == [("open", "organisation"), ("mine", "user")]
    assert set(anna_.measures) == {"hours", "other"}
    assert [rule.id for rule in rules.for_user("stranger", "acme").conditions] == ["open"]
    assert rules.for_user("anna").conditions == ()
    assert rules.for_user("anna").settings == {}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "settings: {a: {value: 1, approved_by: boss, approved_at: 2026-11-01T10:00:00Z}}",
            "a setting of `anna` approved by `boss`; only the user can approve it",
        ),
        ("settings: {a: {value: 1}}", "a setting has no `approved_at`; add it: when it was approved"),
        (
            "settings: {a: {value: 1}}",
            "a setting has no `approved_by`; add it: the user who approved it: nobody else can",
        ),
        (
            "settings: {a: {value: 1, approved_by: anna, approved_at: 2026-11-01}}",
            "`2026-11-01` is not a time with its offset",
        ),
        ("settings: {a: 1}", "a number, not a setting as a mapping"),
        ("checklist: [{id: a, description: b}, {id: a, description: c}]", "the id `a` stands twice; rename one"),
        ("checklist: [{description: b}]", "an item of the checklist has no `id`"),
        (
            "conditions: [{id: a, expression: args.amount > 1}]",
            "the condition `a` holds for every tool and reads `args`; put it under `servers`, at its tool",
        ),
        ("conditions: [{id: a, expression: measured.balance > 1}]", "no measure or limit is called `balance`"),
        ("servers: {bank: {trust_labels: true}}", "`trust_labels` of a server cannot be overridden; set it at a tool"),
        ("servers: {bank: {measures: {x: {given: true}}}}", "`measures` of a server cannot be overridden"),
    ],
)
def test_what_a_user_cannot_have_is_named(body: str, message: str) -> None:
    assert any(message in fault for fault in faults(with_user(body, tool=False)))


def test_a_users_condition_cannot_hide_the_organisations() -> None:
    found = faults(ACME.replace("{id: mine,", "{id: open,"))
    assert [fault.partition(": ")[2] for fault in found] == [
        "the id `open` is taken by a condition of the organisation; rename it: both hold"
    ]
