"""The format: every key lands where the core reads it, and every mistake is named with place and remedy (R-67)."""

from __future__ import annotations

import json

import pytest

from preflight.model.rules import UNLISTED, ConditionRule, LimitRule
from preflight.rules import RulesError, load_rules
from tests.unit.rules.samples import faults, load, only_fault, transfer

FULL = transfer(
    """
    effect: reversible
    intents: [send, transfer]
    changes: [send]
    trust_labels: true
    pin: "0000000000000000000000000000000000000000000000000000000000000000"
    constants_are_known: true
    value_asks: 1
    decision_lifetime: 2m
    notices: [It cannot be undone.]
    confirm: [amount, other]
    fields:
      to:
        role: target
        sources: [instruction, user_answer]
        derivations: []
        unconfirmed: ask
        synonyms: {"1": [one, first]}
        labels: {"1": One}
        unit: won
        locale: ko
        may_share: true
        secret: true
        carry: 7d
        pending_at_trigger: true
        measure: rate
        reference: {measure: people, rows: /rows, match: /name, value: /iban, argument: name}
        members: [{measure: entry, rows: /all, value: /iban}, {measure: handed}]
      amount: {derivations: [percent]}
    measures:
      rate:
        mcp: {server: bank, tool: rate}
        arguments: {of: {slot: to}, kind: spot}
        pointer: /rate
        type: number
        max_age: 30s
        timeout: 1.5s
      people: {http: "https://example.com/people"}
      rows: {sql: {database: main, query: "select 1"}}
      entry: {python: "my.module:func"}
      handed: {given: true}
    conditions:
      - id: enough
        expression: measured.rate >= args.amount
        declared_by: user
        on_unmet: hold
        description: what for
        message: too much
        max_age: 30s
      - {id: open, measure: handed}
      - {id: sure, confirmation: It is meant.}
    limits:
      - {id: daily, kind: sum, field: amount, at_most: 10.5, window: 1d, per: tenant, declared_by: user, message: none}
      - {id: often, kind: rate, at_most: 3, window: 1h}
    """
)


def test_every_setting_of_a_tool_is_read() -> None:
    rules = load(FULL).for_tool("bank", "transfer")
    assert (rules.effect, rules.intents, rules.changes) == ("reversible", ("send", "transfer"), ("send",))
    assert rules.trust_labels is True
    assert rules.pin == "0" * 64
    assert rules.constants_are_known is True
    assert (rules.value_asks, rules.decision_seconds) == (1, 120)
    assert rules.notices == ("It cannot be undone.",)
    assert rules.place is not None
    assert rules.place.line == 6


def test_every_setting_of_a_field_is_read() -> None:
    rules = load(FULL).for_tool("bank", "transfer")
    to = rules.field("to")
    assert to.role == "target"
    assert to.sources == ("user_answer", "instruction")  # R-40: in the order of the search, however written
    assert to.derivations == ()
    assert to.unconfirmed == "ask"
    assert dict(to.hints) == {
        "x-synonyms": {"1": ("one", "first")}, "x-enum-labels": {"1": "One"}, "x-unit": "won", "x-locale": "ko",
        "x-may-share": True, "x-grounding": "stated",
    }  # fmt: skip
    assert to.secret is True
    assert to.carry_seconds == 7 * 86_400
    assert to.pending_at_trigger is True
    assert to.confirm is False
    assert to.measure == "rate"
    assert to.reference is not None
    assert (to.reference.measure, to.reference.rows, to.reference.match, to.reference.value, to.reference.argument) == (
        "people",
        "/rows",
        "/name",
        "/iban",
        "name",
    )
    assert [(row.measure, row.rows, row.value) for row in to.members] == [
        ("entry", "/all", "/iban"),
        ("handed", "", ""),
    ]
    amount, other = rules.field("amount"), rules.field("other")
    assert (amount.confirm, amount.derivations, dict(amount.hints)) == (True, ("percent",), {})
    assert other.confirm is True
    assert other.sources == rules.field("nobody").sources


def test_every_kind_of_measure_is_read() -> None:
    measures = load(FULL).for_tool("bank", "transfer").measures
    rate = measures["rate"]
    assert (rate.via, rate.server, rate.tool, rate.pointer, rate.value_type) == (
        "mcp",
        "bank",
        "rate",
        "/rate",
        "number",
    )
    assert (rate.max_age_seconds, rate.timeout_seconds) == (30, 1.5)
    assert dict(rate.arguments) == {"of": {"slot": "to"}, "kind": "spot"}
    assert (measures["people"].via, measures["people"].url) == ("http", "https://example.com/people")
    assert measures["people"].timeout_seconds == 10
    assert (measures["rows"].database, measures["rows"].query) == ("main", "select 1")
    assert (measures["entry"].via, measures["entry"].entry) == ("python", "my.module:func")
    assert measures["handed"].via == "given"


def test_conditions_and_limits_are_read() -> None:
    rules = load(FULL).for_tool("bank", "transfer")
    enough, is_open, sure = rules.conditions
    assert enough == ConditionRule(
        "enough", "user", "expression", "measured.rate >= args.amount", "what for", "too much", 30.0, enough.place
    )
    assert (is_open.check, is_open.text, is_open.declared_by) == ("measure", "handed", "organisation")
    assert (sure.check, sure.text) == ("confirmation", "It is meant.")
    daily, often = rules.limits
    assert daily == LimitRule("daily", "sum", 10.5, 86_400, "amount", "tenant", "user", "none", daily.place)
    assert (often.kind, often.at_most, often.window_seconds, often.per) == ("count", 3, 3600, "user")


def test_a_tool_nobody_listed_has_the_strictest_rules() -> None:
    rules = load(FULL)
    assert rules.for_tool("bank", "other") is UNLISTED
    assert rules.for_tool("shop", "transfer") is UNLISTED


def test_two_servers_may_have_a_tool_of_the_same_name() -> None:
    rules = load("""
        version: 1
        servers:
          a: {tools: {send: {effect: read}}}
          b: {trust_labels: true, tools: {send: {effect: reversible}, other: {trust_labels: false}}}
        """)
    assert rules.for_tool("a", "send").effect == "read"
    assert rules.for_tool("b", "send").effect == "reversible"
    assert (rules.for_tool("b", "send").trust_labels, rules.for_tool("b", "other").trust_labels) == (True, False)


def test_a_tool_without_a_server_and_odd_names_are_names() -> None:
    rules = load(
        '{"version": 1, "servers": {"": {"tools": {"constructor": {"fields": {"": {}, "a/b": {}, "items": {}}}}}}}',
        "r.json",
    )
    assert set(rules.for_tool("", "constructor").fields) == {"", "a/b", "items"}


def test_a_tool_keeps_the_measures_it_uses_and_its_own() -> None:
    rules = load("""
        version: 1
        measures: {far: {given: true}, unused: {given: true}}
        servers:
          bank:
            measures: {near: {given: true}, set: {given: true}, also_unused: {given: true}}
            tools:
              transfer:
                measures: {own: {given: true}}
                fields: {to: {measure: near}, from: {members: [{measure: set}]}}
                conditions: [{id: a, expression: measured.far == 1}]
        """)
    assert set(rules.for_tool("bank", "transfer").measures) == {"far", "near", "own", "set"}


def test_json_says_the_same_as_yaml_and_has_the_same_digest() -> None:
    yaml = load("version: 1\nservers: {s: {tools: {t: {effect: read, value_asks: 2}}}}\n")
    same = load(
        json.dumps({"servers": {"s": {"tools": {"t": {"value_asks": 2.0, "effect": "read"}}}}, "version": 1}), "r.json"
    )
    assert yaml.digest == same.digest
    assert yaml.for_tool("s", "t").effect == same.for_tool("s", "t").effect == "read"


def test_the_digest_changes_with_what_is_said() -> None:
    one = load("version: 1\nservers: {s: {tools: {t: {effect: read}}}}\n")
    assert load("# a comment\nversion:   1\nservers:\n  s: {tools: {t: {'effect': \"read\"}}}\n").digest == one.digest
    assert load("version: 1\nservers: {s: {tools: {t: {effect: reversible}}}}\n").digest != one.digest
    assert load("version: 1\nservers: {s: {tools: {u: {effect: read}}}}\n").digest != one.digest


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("efect: read", "6:9: `efect` is no key of a tool; did you mean `effect`?"),
        ("effect: irreversable", "6:17: `irreversable` is not known here; did you mean `irreversible`?"),
        (
            "effect: 5",
            (
                "6:17: a number, not one of `read`, `reversible`, `irreversible`; "
                "write one of `read`, `reversible`, `irreversible`"
            ),
        ),
        ("effect: zzz", "6:17: `zzz` is not known here; known: `irreversible`, `read`, `reversible`"),
        ("intents: send", "6:18: `send` is text, not a list; write a list"),
        ("intents: [send, send]", "6:25: `send` stands twice in the list; keep one"),
        ("intents: ['']", "6:19: an empty text; write a name"),
        ("trust_labels: 1", "6:23: a number, not `true` or `false`; write `true` or `false`"),
        ("value_asks: 0", "6:21: `0` is not a whole number of at least 1 and at most 10"),
        ("value_asks: 1.5", "6:21: `1.5` is not a whole number of at least 1 and at most 10"),
        ("value_asks: 11", "6:21: `11` is not a whole number of at least 1 and at most 10"),
        (
            "value_asks: many",
            (
                "6:21: `many` is text, not a whole number of at least 1 and at most 10; "
                "write a whole number of at least 1 and at most 10"
            ),
        ),
        (
            "decision_lifetime: 60",
            (
                "6:28: a number, not a length of time with its unit, like `30s`, `15m`, `24h` or "
                "`7d`; write a length of time with its unit, like `30s`, `15m`, `24h` or `7d`"
            ),
        ),
        ("decision_lifetime: 0s", "6:28: a length of time of zero; write a longer one, or leave the key out"),
        ("pin: abc", "6:14: `abc` is not a fingerprint of 64 hex digits"),
        (
            "fields: [a]",
            (
                "6:17: a list, not a mapping from a field's name to what holds for it; "
                "write a mapping from a field's name to what holds for it"
            ),
        ),
        ("fields: {a: {sources: []}}", "6:31: an empty list; write an item, or leave the key out"),
        (
            "fields: {a: {role: xyzw}}",
            ("6:28: `xyzw` is not known here; known: `content`, `object`, `option`, `quantity`, `target`, `time`"),
        ),
        ("fields: {a: b}", "6:21: `b` is text, not a field as a mapping; write a field as a mapping"),
        ('fields: {"a\\u200b": {}}', "6:18: `a�` is not a field's name"),
        (
            "fields: {a: {measure: ballance}}\nmeasures: {balance: {given: true}}",
            "6:31: no measure is called `ballance`; did you mean `balance`?",
        ),
        (
            "fields: {a: {members: [{measure: b}]}}",
            "6:42: no measure is called `b`; declare it under `measures`",
        ),
        ("fields: {a: {measure: b}}", "6:31: no measure is called `b`; declare it under `measures`"),
        (
            "fields: {a: {reference: {measure: b, match: /m, value: /v}}}",
            "6:43: no measure is called `b`; declare it under `measures`",
        ),
        (
            "fields: {a: {reference: {measure: b, match: m, value: /v}}}\nmeasures: {b: {given: true}}",
            "6:53: `m` is not a JSON Pointer, empty or beginning with `/`",
        ),
        (
            "measures: {b: {}}",
            ("6:23: a measure has none of them; write exactly one of `mcp`, `http`, `sql`, `python`, `given`"),
        ),
        (
            "measures: {b: {given: true, http: 'http://x'}}",
            "6:23: a measure has `http` and `given`; write exactly one of `mcp`, `http`, `sql`, `python`, `given`",
        ),
        ("measures: {b: {given: false}}", "6:31: true or false, not `true`; write `true`"),
        ("measures: {b: {given: true, pointer: /a}}", "6:46: `pointer` of a measure that is given; leave it out"),
        ("measures: {b: {mcp: {server: s}}}", "6:29: an MCP read has no `tool`; add it: its read tool"),
        ("measures: {b: {http: 'ftp://x'}}", "6:30: `ftp://x` is not an http or https address"),
        ("measures: {b: {python: os.system}}", "6:32: `os.system` is not `module:function`"),
        (
            "conditions: [{id: a}]",
            ("6:22: a condition has none of them; write exactly one of `expression`, `measure`, `confirmation`"),
        ),
        (
            "conditions: [{id: a, confirmation: b}, {id: a, confirmation: c}]",
            "6:21: the id `a` stands twice; rename one",
        ),
        (
            "conditions: [{id: 'a b', confirmation: b}]",
            "6:27: `a b` is not an id of letters, digits, `_`, `-`, `:` and `.`",
        ),
        ("conditions: [{id: a, confirmation: b, on_unmet: ask}]", "6:57: `ask` is not known here; known: `hold`"),
        ("conditions: [{id: a, measure: b}]", "6:39: no measure is called `b`; declare it under `measures`"),
        (
            "limits: [{id: a, kind: sum, at_most: 1, window: 1d}]",
            "6:18: a limit of kind `sum` has no `field`; name the field that is added up",
        ),
        (
            "limits: [{id: a, kind: count, field: x, at_most: 1, window: 1d}]",
            "6:46: a limit of kind `count` has a `field`; leave it out",
        ),
        ("limits: [{id: a, kind: count, at_most: -1, window: 1d}]", "6:48: `-1` is not a number of at least 0"),
        (
            "limits: [{id: a, kind: count, window: 1d}]",
            ("6:18: a limit has no `at_most`; add it: the most that may be executed in the window, this call included"),
        ),
    ],
)
def test_a_mistake_is_named_with_its_place_and_its_remedy(body: str, message: str) -> None:
    assert only_fault(transfer(body)) == message


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("args.amount >", "not CEL: Syntax error: mismatched input `<EOF>`"),
        ("size(args.to)", "an expression that is a `int`"),
        ("'x' == 1", "not CEL: found no matching overload for `_==_` applied to `(string, int)`"),
        ("measured.nothing == 1", "no measure or limit is called `nothing`"),
        ("nowhere.x == 1", "not CEL: undeclared reference to `nowhere.x`"),
        ("1 == 1", "an expression that always holds"),
        ("args.a == 1 || true", "an expression that always holds"),
        ("args.a == 1 && 1 > 2", "an expression that never holds"),
        ("args == 1", "`args` stands alone"),
        ("has(measured.rate)", "`has` of a measurement"),
        ('args.to.matches("(")', "a regular expression that RE2 does not take"),
        ('args.to.matches("((a{100}){100}){100}")', "a regular expression that RE2 does not take"),
        ('matches(args.to, "(?=a)")', "a regular expression that RE2 does not take"),
        ("args.a / args.b > 1", "a division by what may be zero"),
        ("double(args.a) > 1", "`double(...)`, which makes `nan` and `inf` of texts"),
        ("(" * 99 + "args.a" + ")" * 99, "not CEL: nested too deeply"),
        ("args.a == '" + "x" * 2000 + "'", "an expression of more than 2000 characters"),
    ],
)
def test_an_expression_that_cannot_work_is_a_load_error(expression: str, message: str) -> None:
    """R-60: one that does not type-check never gets into force."""
    body = f"conditions: [{{id: a, expression: {json.dumps(expression)}}}]\nmeasures: {{rate: {{given: true}}}}"
    found = faults(transfer(body))
    assert any(message in fault for fault in found), found


def test_a_fault_inside_an_expression_has_the_column_of_the_file() -> None:
    text = transfer("""
        measures: {balance: {given: true}}
        conditions:
          - id: a
            expression: args.x > 1 && measured.balanc > 1
          - id: b
            expression: |
              args.x > 1 &&
              measured.balanc > 1
        """)
    assert faults(text) == [
        "9:48: no measure or limit is called `balanc`; did you mean `balance`?",
        "11:25: no measure or limit is called `balanc` (expression 2:10); did you mean `balance`?",
    ]


def test_a_limit_may_be_read_as_a_measurement() -> None:
    """R-66."""
    text = transfer("""
        limits: [{id: daily, kind: count, at_most: 3, window: 1d}]
        conditions: [{id: a, expression: measured.daily < 2}]
        """)
    assert load(text).for_tool("bank", "transfer").conditions[0].text == "measured.daily < 2"


def test_every_mistake_of_a_file_is_told_at_once() -> None:
    found = faults("version: 2\nservers: {s: {tools: {t: {efect: 1, notices: [1]}}}}\nuser: {}\n")
    assert found == [
        "1:10: a number, not `1`; write `1`",
        "2:27: `efect` is no key of a tool; did you mean `effect`?",
        "2:47: a number, not a sentence; write a sentence",
        "3:1: `user` is no key of a rules file; did you mean `users`?",
    ]


def test_the_error_names_file_line_and_column_for_editors() -> None:
    with pytest.raises(RulesError, match=r"^/no/such/file\.yaml:1:1: there is no such file$"):
        load_rules("/no/such/file.yaml")


def test_no_files_are_no_rules() -> None:
    assert dict(load_rules().tools) == {}


def test_the_environment_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIMIT", "read")
    rules = load(transfer("intents: ['${LIMIT}', $LIMIT]"))
    assert rules.for_tool("bank", "transfer").intents == ("${LIMIT}", "$LIMIT")
