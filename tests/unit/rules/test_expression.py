"""What an expression reads, found in its text."""

from __future__ import annotations

import pytest

from preflight.rules.bounds import Bounds
from preflight.rules.expression import Complaint, Expression, scan


def scanned(text: str) -> Expression:
    expression, complaints = scan(text)
    assert complaints == []
    assert expression is not None
    return expression


def labels(text: str) -> list[str]:
    return [read.label for read in scanned(text).reads]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("args.amount <= 5", ["args.amount"]),
        ("args.a + args.a + args.b", ["args.a", "args.b"]),
        ("args.recipient.iban.startsWith('x')", ["args.recipient/iban"]),
        ("args['to account'] == args[\"b\"]", ["args.to account", "args.b"]),
        ("args['a/b'] == args.c['d/e~f']", ["args.a/b", "args.c/d~1e~0f"]),
        ("args.items[0].price > args.items[args.n].price", ["args.items", "args.n"]),
        ("args.items.all(i, i.args.x > measured.m)", ["args.items", "measured.m"]),
        ("size(args.x) > 1", ["args.x"]),
        ("args . x\n.\ny", ["args.x/y"]),
        ("args.x // args.y", ["args.x"]),
        ("'args.x' == args.y && r'args.z' == \"args.w\"", ["args.y"]),
        ("'''args.x ' args.y''' == args.z", ["args.z"]),
        ("'a\\'args.x' == args.y", ["args.y"]),
        ("r'\\' == args.y", ["args.y"]),
        ("myargs.x == args.y", ["args.y"]),
        ("{'args': args.x}.args == 1", ["args.x"]),
        ("preset.a == user.b && record.c == 1", ["preset.a", "user.b", "record.c"]),
        ("1 == 1", []),
        ("now > now", []),
    ],
)
def test_paths_are_found_where_cel_reads_them(text: str, expected: list[str]) -> None:
    assert labels(text) == expected


def test_offsets_stay_what_they_were() -> None:
    text = "has(args.cc) && args['to account'] == null || args.x == 1"
    expression = scanned(text)
    assert len(expression.code) == len(text)
    assert expression.code.index("&&") == text.index("&&")
    assert expression.code.index("== 1") == text.index("== 1")


@pytest.mark.parametrize(
    ("text", "required", "nullable"),
    [
        ("args.x == 1", True, False), ("has(args.x) && args.x == 1", False, False), ("args.x == null", True, True),
        ("(null != args.x)", True, True), ("has(args.x) && (args.x == null)", False, True),
        ("args.x in [null]", True, False), ("args.x == 'null'", True, False),
    ],
)  # fmt: skip
def test_what_may_miss_and_what_may_be_null(text: str, required: bool, nullable: bool) -> None:
    (read,) = scanned(text).reads
    assert (read.required, read.nullable) == (required, nullable)


@pytest.mark.parametrize(
    "text", ["!args.x == null", "args.y == args.x == null", "1 + args.x == null", "args.x == null == true"]
)
def test_a_comparison_with_null_stands_by_itself(text: str) -> None:
    _, complaints = scan(text)
    assert [complaint.what for complaint in complaints] == ["a comparison with null inside another"]


@pytest.mark.parametrize(
    ("text", "fraction", "big"),
    [
        ("args.x > 1", False, False), ("args.x > 1.0", True, False), ("args.x > .5", True, False),
        ("args.x > 1e3", True, False), ("args.x > 0x1E", False, False), ("args.x > 9007199254740992", False, False),
        ("args.x > 9007199254740993", False, True), ("args.x > 0xFFFFFFFFFFFFFFF", False, True),
        ("args.x > 5u", False, False), ("args.x == '1.5'", False, False),
    ],
)  # fmt: skip
def test_literals_tell_whether_a_comparison_could_round(text: str, fraction: bool, big: bool) -> None:
    expression = scanned(text)
    assert (expression.fraction, expression.big) == (fraction, big)


@pytest.mark.parametrize("text", ["args.x / 2 == 1", "args.x % 10 == 1", "args.x / 0.5 > 1", "args.x / 1e3 > 1"])
def test_a_division_by_a_number_is_fine(text: str) -> None:
    scanned(text)


@pytest.mark.parametrize("text", ["args.x / args.y == 1", "args.x / 0 == 1", "args.x / 0.0 > 1", "args.x % (1) == 1",
                                  "args.x / 0e5 > 1"])  # fmt: skip
def test_a_division_by_what_may_be_zero_is_refused(text: str) -> None:
    _, complaints = scan(text)
    assert [complaint.what for complaint in complaints] == ["a division by what may be zero"]


@pytest.mark.parametrize("text", ["args[measured.x] == 1", "args", "args.size() == 1", "args(1)", "[user].size() == 1",
                                  "args['a\\'b'] == 1", "args[r'a'] == 1"])  # fmt: skip
def test_a_root_is_never_read_whole(text: str) -> None:
    expression, complaints = scan(text)
    assert expression is None
    assert any("stands alone" in complaint.what for complaint in complaints)


def test_other_ways_to_write_a_name_are_refused() -> None:
    assert scan("1 + .args.x")[1] == [Complaint(4, "a name that begins with a dot", "leave the dot out")]
    assert scan("args.x.`y z` == 1")[1][0] == Complaint(7, "a name in backquotes", 'write `args["the name"]`')


def test_sizes_are_bounded() -> None:
    assert scan("args.x", Bounds(expression_length=5))[1][0].what == "an expression of more than 5 characters"
    assert (
        scan("args.x + args.y", Bounds(expression_reads=1))[1][0].what == "an expression that reads more than 1 inputs"
    )


def test_patterns_are_found_in_both_forms() -> None:
    expression = scanned("args.x.matches('a') && matches(args.y, \"b\") && args.z.matches(args.p)")
    assert [literal for _, literal in expression.patterns] == ["'a'", '"b"']
    assert scanned("args.x == 'matches'").patterns == ()
    assert scan("args.x.matches(")[0] is not None
