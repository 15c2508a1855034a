"""Conditions: met, unmet, or unknown; never met by accident (R-60, R-62)."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from types import MappingProxyType

import pytest

from preflight.errors import ConstructionError
from preflight.model.rules import ConditionRule
from preflight.rules import Conditions, Inputs, Outcome, needs
from preflight.rules import cel as cel_module
from preflight.rules import conditions as conditions_module
from tests.unit.rules.samples import condition

NOW = "2026-11-30T12:00:00+00:00"


def outcome(expression: str, **inputs: object) -> Outcome:
    return Conditions().evaluate(condition(expression), Inputs(**inputs))  # type: ignore[arg-type]


def state(expression: str, **inputs: object) -> str:
    return outcome(expression, **inputs).state


def broken(expression: str, **inputs: object) -> str:
    found = outcome(expression, **inputs)
    assert (found.state, found.broken, found.missing) == ("unknown", True, ())
    assert found.note is not None
    return found.note


@pytest.mark.parametrize(
    ("amount", "expected"),
    [(5, "met"), (5.5, "met"), (1_000_000, "met"), (1_000_000.0, "met"), (1_000_000.01, "unmet"), (1_000_001, "unmet"),
     (-1, "met"), (0, "met")],
)  # fmt: skip
def test_a_number_is_compared_with_a_whole_literal_whether_it_has_a_fraction_or_not(
    amount: float, expected: str
) -> None:
    assert state("args.amount <= 1000000", args={"amount": amount}) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("args.i == 3.0", "met"), ("args.d == 3", "unmet"), ("args.i != args.d", "met"), ("args.i < args.d", "met"),
        ("args.i in [1.0, 3.0]", "met"), ("args.d in [1, 2]", "unmet"), ("args.i + args.d == 6.5", "met"),
        ("args.d - args.i == 0.5", "met"), ("args.i * 0.5 == 1.5", "met"), ("args.d / 2 == 1.75", "met"),
        ("args.i / 2.0 == 1.5", "met"), ("args.i / 2 == 1", "met"), ("args.i % 2 == 1", "met"),
        ("args.s + 'x' == 'ax'", "met"), ("args.l + ['c'] == ['a', 'c']", "met"), ("args.s in args.l", "met"),
        ("args.s in args.m", "met"), ("'z' in args.m", "unmet"), ("size(args.s) == 1 && args.b", "met"),
        ("args.l.exists(x, x.startsWith('a'))", "met"), ("args.s.matches('^[a-c]$')", "met"), ("!args.b", "unmet"),
        ("args.b ? args.i == 3 : args.i == 4", "met"), ("args['odd name'] == 1", "met"),
        ("args.m['a'] == 1", "met"), ("args.m.a == 1", "met"), ("args.rows[1].n == 2", "met"),
        ("args.rows.all(r, r.n > 0)", "met"), ("args.rows.filter(r, r.n > 1).size() == 1", "met"),
        ("duration('1h') < duration('90m') && args.b", "met"), ("args.none == [] || args.b", "met"),
        ("args.t == timestamp('2026-01-01T00:00:00Z') || timestamp(args.when) < now", "unknown"),
        ("timestamp(args.when) < now - duration('1h')", "met"), ("now.getFullYear() == 2026", "met"),
    ],
)  # fmt: skip
def test_cel_means_what_it_says(expression: str, expected: str) -> None:
    args = {
        "i": 3, "d": 3.5, "s": "a", "b": True, "l": ("a",), "m": MappingProxyType({"a": 1}), "odd name": 1,
        "rows": ({"n": 1}, {"n": 2}), "none": (), "when": "2026-11-30T10:00:00Z",
    }  # fmt: skip
    assert state(expression, args=args, now=NOW) == expected


def test_all_that_is_missing_is_named_together() -> None:
    found = outcome("measured.balance >= args.amount && args.r.iban == user.iban && preset.x == record.y")
    assert found == Outcome(
        "unknown", ("measured.balance", "args.amount", "args.r/iban", "user.iban", "preset.x", "record.y")
    )


def test_a_missing_input_is_unknown_even_where_the_rest_would_settle_it() -> None:
    assert outcome("measured.a == 1 || args.x == 1", args={"x": 1}) == Outcome("unknown", ("measured.a",))
    assert outcome("measured.a == 1 && args.x == 2", args={"x": 1}) == Outcome("unknown", ("measured.a",))


def test_null_counts_as_missing_unless_the_expression_speaks_of_null() -> None:
    assert outcome("args.x == 1", args={"x": None}) == Outcome("unknown", ("args.x",))
    assert outcome("!(args.x == 1)", args={"x": None}) == Outcome("unknown", ("args.x",))
    assert state("args.x == null", args={"x": None}) == "met"
    assert state("null != args.x", args={"x": None}) == "unmet"
    assert state("args.x == null || args.x > 3", args={"x": None}) == "met"
    assert state("args.x == null || args.x > 3", args={"x": 4}) == "met"
    assert state("args.x == null || args.x > 3", args={"x": 3}) == "unmet"
    assert outcome("args.x == null", args={}) == Outcome("unknown", ("args.x",))


def test_has_makes_an_input_optional() -> None:
    rule = "!has(args.cc) || args.cc.endsWith('@example.com')"
    assert state(rule) == "met"
    assert state(rule, args={"cc": None}) == "met"
    assert state(rule, args={"cc": "a@example.com"}) == "met"
    assert state(rule, args={"cc": "a@example.net"}) == "unmet"
    assert state("has(args.r.x) && args.r.x > 1", args={"r": {}}) == "unmet"
    assert state("has(user['daily limit'])", user={"daily limit": 1}) == "met"


def test_a_part_of_a_measurement_may_be_asked_for_the_measurement_itself_may_not_miss() -> None:
    rule = "!has(measured.account.frozen)"
    assert outcome(rule) == Outcome("unknown", ("measured.account",))
    assert state(rule, measured={"account": {}}) == "met"
    assert state(rule, measured={"account": {"frozen": True}}) == "unmet"


def test_a_measurement_of_another_shape_is_broken_and_not_missing() -> None:
    """What was measured is there; measuring again would not help."""
    for value in ({"other": 1}, "text", 5, ()):
        assert "`measured.account` has nothing at `/balance`" in broken(
            "measured.account.balance > 1", measured={"account": value}
        )


@pytest.mark.parametrize("wrong", [5, 5.5, True, ("frozen",), {"a": 1}])
@pytest.mark.parametrize(
    "expression", ["measured.s != 'frozen'", "!(measured.s == 'frozen')", "measured.s == 'frozen'"]
)
def test_a_measurement_of_another_type_is_broken_where_cel_alone_would_say_true(expression: str, wrong: object) -> None:
    assert "not CEL: found no matching overload" in broken(expression, measured={"s": wrong})


def test_a_flag_is_no_number() -> None:
    """R-47; the library itself takes True for 1."""
    assert "found no matching overload" in broken("args.n <= 10", args={"n": True})
    assert "found no matching overload" in broken("args.n == 1", args={"n": True})


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 2**70, 10**300])
def test_whole_numbers_beyond_64_bits_are_broken_and_never_become_fractions(number: int) -> None:
    assert broken("args.n > 0", args={"n": number}) == "a number beyond 64 bits"
    assert broken("args.l.all(n, n > 0)", args={"l": [number]}) == "a number beyond 64 bits"


def test_the_largest_numbers_of_64_bits_are_exact() -> None:
    assert state("args.n == 9223372036854775807", args={"n": 2**63 - 1}) == "met"
    assert state("args.n == -9223372036854775808", args={"n": -(2**63)}) == "met"
    assert state("args.n == 9007199254740992", args={"n": 2**53 + 1}) == "unmet"


@pytest.mark.parametrize(
    ("expression", "args"),
    [
        ("args.a <= args.b", {"a": 2**53 + 1, "b": 2.0**53}),
        ("args.a <= 1.5", {"a": 2**53 + 1}),
        ("args.a < 9007199254740993", {"a": 1.5}),
        ("args.l.exists(x, x == 1.5)", {"l": [2**53 + 1]}),
    ],
)
def test_a_comparison_that_would_round_is_broken(expression: str, args: dict[str, object]) -> None:
    assert "cannot be compared exactly" in broken(expression, args=args)


def test_a_sum_of_a_fraction_and_a_whole_number_that_no_double_holds_is_broken() -> None:
    assert state("args.i * args.i + 1.5 > 0", args={"i": 2**20}) == "met"
    assert broken("args.i * args.i + 1.5 > 0", args={"i": 2**30}) == "a number is beyond 64 bits"


@pytest.mark.parametrize("number", [1e101, -1e300])
def test_fractions_that_could_become_infinite_are_broken(number: float) -> None:
    assert broken("args.a * args.a > 1", args={"a": number}) == "a number that is too large"


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_what_is_no_number_is_broken(number: float) -> None:
    assert broken("args.a > 1", args={"a": number}) == "a number that is too large"


@pytest.mark.parametrize(
    ("expression", "note"),
    [
        ("args.n + 9223372036854775807 > 0", "a number is beyond 64 bits"),
        ("args.l[7] == 1", "it reads an item that is not there"),
        ("args.m[args.p] == 1", "it reads a key that is not there"),
        ("args.mixed[0] < 'x'", "its inputs are of types that do not go together"),
        ("args.s.matches(args.p)", "it has an invalid regular expression"),
        ("int(args.s) == 1", "a value cannot be converted"),
        ("args.n + 1", "it is not true or false"),
        ("args.m.a", "it is not true or false"),
        ("args.n", "it is not true or false"),
        ("args.n == ", "not CEL"),
        ("args > 1", "`args` stands alone"),
    ],
)
def test_what_fails_is_broken_and_the_note_quotes_no_value(expression: str, note: str) -> None:
    """An evaluation error comes back from the library as a text, which Python takes for true."""
    args = {"n": 4242, "l": [4242], "m": {"a": 4242, "secret": 1}, "mixed": [4242, "a"], "s": "secret", "p": "secret("}
    found = broken(expression, args=args)
    assert note in found
    assert "secret" not in found
    assert "4242" not in found


def test_a_loop_over_loops_ends_at_the_budget() -> None:
    rule = "args.l.all(a, args.l.all(b, args.l.all(c, args.l.all(d, true))))"
    assert broken(rule, args={"l": [{}] * 100}) == "it takes too many steps"


def test_a_regular_expression_that_explodes_elsewhere_is_linear() -> None:
    assert state("args.s.matches('^(a+)+$')", args={"s": "a" * 50_000 + "b"}) == "unmet"


@pytest.mark.parametrize(("now", "note"), [("", "`now` is no moment"), ("2026-11-30T12:00:00", "`now` has no offset")])
def test_now_is_a_moment(now: str, note: str) -> None:
    assert broken("now > timestamp('2026-01-01T00:00:00Z')", now=now) == note


@pytest.mark.parametrize("value", [b"x", {1, 2}, object()])
def test_what_is_no_json_is_broken(value: object) -> None:
    assert "is no JSON value" in broken("args.x == 'a'", args={"x": value})


def test_a_value_that_is_nested_too_deeply_is_broken() -> None:
    deep: list[object] = []
    for _ in range(5_000):
        deep = [deep]
    assert broken("args.x == []", args={"x": deep}) == "a value that is nested too deeply"
    assert broken("args.x == args.x", args={"x": {1: 2}})


def test_so_many_expressions_are_kept_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conditions_module, "_EXPRESSIONS", 3)
    conditions = Conditions()
    for number in range(10):
        assert conditions.evaluate(condition(f"args.x == {number}"), Inputs(args={"x": number})).state == "met"
        assert len(conditions._compiled) <= 3


def test_text_that_cannot_be_encoded_is_broken() -> None:
    assert broken("args.x == 'a'", args={"x": "\ud800"})


def test_keys_like_pythons_own_names_are_keys() -> None:
    assert outcome("args.__class__ == 'x'") == Outcome("unknown", ("args.__class__",))
    assert state("args.__class__ == 'x' && args.items == 'y'", args={"__class__": "x", "items": "y"}) == "met"


@pytest.mark.parametrize(("value", "expected"), [(True, "met"), (False, "unmet")])
def test_a_measure_is_met_by_exactly_true(value: object, expected: str) -> None:
    rule = ConditionRule("c", "organisation", "measure", "open")
    assert Conditions().evaluate(rule, Inputs(measured={"open": value})) == Outcome(expected)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [1, "true", (), {}, 0, 1.0])
def test_a_measure_that_is_something_else_is_broken(value: object) -> None:
    rule = ConditionRule("c", "organisation", "measure", "open")
    found = Conditions().evaluate(rule, Inputs(measured={"open": value}))
    assert (found.state, found.broken) == ("unknown", True)
    assert found.note == f"`open` is a `{type(value).__name__}`, not true or false"


def test_a_measure_that_is_missing_is_named() -> None:
    rule = ConditionRule("c", "organisation", "measure", "open")
    for measured in ({}, {"open": None}):
        assert Conditions().evaluate(rule, Inputs(measured=measured)) == Outcome("unknown", ("measured.open",))


def test_a_confirmation_is_the_users_to_give() -> None:
    rule = ConditionRule("sure", "organisation", "confirmation", "It is meant.")
    assert Conditions().evaluate(rule, Inputs()) == Outcome("unknown", ("confirmation.sure",))
    assert needs(rule) == ("confirmation.sure",)


def test_needs_name_each_input_once() -> None:
    rule = condition("args.a.b > 1 && args.a.b < 3 && measured.x.y == measured.x.z && args['p/q'] == 1 && now < now")
    assert needs(rule) == ("args.a/b", "measured.x", "args.p/q", "now")
    assert needs(condition("args > 1")) == ()
    assert needs(ConditionRule("c", "user", "measure", "open")) == ("measured.open",)


def test_types_may_change_from_call_to_call() -> None:
    conditions, rule = Conditions(), condition("args.x == args.y")
    for _ in range(2):
        assert conditions.evaluate(rule, Inputs(args={"x": 1, "y": 1})).state == "met"
        assert conditions.evaluate(rule, Inputs(args={"x": "a", "y": "a"})).state == "met"
        assert conditions.evaluate(rule, Inputs(args={"x": 1, "y": "a"})).broken is True


def test_programs_are_kept_for_so_many_combinations_of_types() -> None:
    conditions, rule = Conditions(), condition("args.a == args.b && args.c == args.d")
    values: list[object] = [1, 1.5, "a", True, [1]]
    for a in values:
        for c in values:
            for d in values:
                found = conditions.evaluate(rule, Inputs(args={"a": a, "b": a, "c": c, "d": d}))
                assert found.broken is (type(c) is not type(d) and {type(c), type(d)} != {int, float})


def test_many_threads_may_evaluate_at_once() -> None:
    conditions, rule = Conditions(), condition("args.x <= measured.limit && args.x in preset.known")
    cases = [(Inputs(args={"x": n}, measured={"limit": 50}, preset={"known": list(range(60))}), n) for n in range(100)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda case: (conditions.evaluate(rule, case[0]).state, case[1]), cases * 20))
    assert all(state == ("met" if n <= 50 else "unmet") for state, n in found)


def test_expressions_over_several_lines_and_comments() -> None:
    assert state("args.a == 1 && // the first\n  args['b c']\n == 2", args={"a": 1, "b c": 2}) == "met"
    assert state("has(\n args.a\n)", args={"a": 1}) == "met"


def test_names_of_variables_never_meet_those_of_an_expression() -> None:
    assert state("args.l.all(_p0, _p0 == 1) && args.x == 2", args={"l": [1], "x": 2}) == "met"


def test_a_missing_library_is_told_with_the_step_to_take(monkeypatch: pytest.MonkeyPatch) -> None:
    cel_module._library.cache_clear()
    monkeypatch.setitem(sys.modules, "cel_expr_python", None)
    try:
        with pytest.raises(ConstructionError, match="pip install cel-expr-python"):
            cel_module._library()
    finally:
        cel_module._library.cache_clear()
