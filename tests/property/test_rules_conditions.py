"""Conditions are total, and hold only where plain Python says that they hold (R-47, R-60)."""

from __future__ import annotations

import operator
from decimal import Decimal

from hypothesis import example, given
from hypothesis import strategies as st

from preflight.model.json_value import is_number
from preflight.rules import Conditions, Inputs
from preflight.rules.cel import compile_code
from preflight.rules.expression import scan
from tests.unit.rules.samples import condition

SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne}
NUMBERS = (
    st.integers(-(2**65), 2**65) | st.integers(-9, 9) | st.floats() | st.sampled_from([2**53, 2.0**53, 2**53 + 1, 0.1])
)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
PIECES = st.sampled_from(
    """args.a args.b measured.m measured.m.a has(args.a) has(preset.p) now user.u ( ) [ ] && || == != <= < + - * /2 %3
    ! ? : , . 'x' 1 2.5 null true false size( .all(i, .exists(i, i .map(i, in .startsWith( .matches( timestamp( int(
    string( dyn( type( {'a': } [1] "\\"" ` \\ // @in optional cel.bind( 9223372036854775807 -""".split()
)
CONDITIONS = Conditions()


def exact(number: float) -> Decimal:
    return Decimal(repr(number)) if isinstance(number, float) else Decimal(number)


@given(left=VALUES, right=VALUES, sign=st.sampled_from(sorted(SIGNS)))
@example(left=2**53 + 1, right=2.0**53, sign="<=")
@example(left=True, right=1, sign="==")
@example(left=1, right="1", sign="!=")
@example(left=None, right=None, sign="==")
def test_a_comparison_is_met_only_where_python_agrees_exactly(left: object, right: object, sign: str) -> None:
    found = CONDITIONS.evaluate(condition(f"args.l {sign} args.r"), Inputs(args={"l": left, "r": right}))
    missing = tuple(f"args.{name}" for name, value in (("l", left), ("r", right)) if value is None)
    if missing:
        assert found.state == "unknown"
        return
    if found.state == "unknown":
        assert found.broken
        return
    if is_number(left) and is_number(right):
        left, right = exact(left), exact(right)  # type: ignore[arg-type]
    else:
        assert type(left) is type(right)
    if not isinstance(left, list | dict):
        assert found.state == ("met" if SIGNS[sign](left, right) else "unmet")


@given(number=NUMBERS, bound=st.integers(-(2**54), 2**54))
def test_the_usual_rule_over_a_number_never_errs_and_never_rounds(number: float, bound: int) -> None:
    found = CONDITIONS.evaluate(condition("args.n <= preset.b"), Inputs(args={"n": number}, preset={"b": bound}))
    if isinstance(number, int) and abs(number) < 2**63:
        assert found.state == ("met" if number <= bound else "unmet")
    elif found.state != "unknown":
        assert found.state == ("met" if exact(number) <= bound else "unmet")


@given(
    text=st.lists(PIECES, max_size=10).map(" ".join) | st.text(max_size=30),
    values=st.lists(VALUES, min_size=6, max_size=6),
)
def test_any_expression_has_an_outcome(text: str, values: list[object]) -> None:
    a, b, m, p, u, now = values
    inputs = Inputs(
        args={"a": a, "b": b}, measured={"m": m}, preset={"p": p}, user={"u": u},
        now=now if isinstance(now, str) else "2026-11-30T00:00:00+00:00",
    )  # fmt: skip
    found = CONDITIONS.evaluate(condition(text), inputs)
    assert found.state in ("met", "unmet", "unknown")
    assert (found.state == "unknown") == bool(found.missing or found.broken)


@given(text=st.lists(PIECES, max_size=10).map(" ".join))
def test_an_expression_keeps_its_length_whatever_it_reads(text: str) -> None:
    expression, _ = scan(text)
    if expression is not None:
        assert len(expression.code) == len(text)
        compile_code(expression, ("-",) * len(expression.reads))


@given(value=VALUES.filter(lambda value: value is not True))
def test_a_measure_is_met_by_nothing_but_true(value: object) -> None:
    from preflight.model.rules import ConditionRule

    rule = ConditionRule("c", "organisation", "measure", "m")
    assert CONDITIONS.evaluate(rule, Inputs(measured={"m": value})).state != "met"
