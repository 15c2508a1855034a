"""Strict JSON: what other readers repair in silence is refused, with its place (bad inputs 24 to 31)."""

from __future__ import annotations

from typing import Any

import pytest

from preflight.core.strict_json import parse
from preflight.errors import InvalidInput
from preflight.limits import Limits
from preflight.model.json_value import thaw


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"b": [1, 2.5, "x", true, null], "a": {}}', {"b": [1, 2.5, "x", True, None], "a": {}}),
        (b'"\xea\xb0\x80"', "가"),
        ("-0", 0),
        ("-0.0", 0),
        ("1.0", 1),
        ("1e2", 100),
        ("1E+2", 100),
        ("0.1", 0.1),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ('"\\ud83d\\ude00"', "😀"),
        ('"[[[["', "[[[["),
        ('"\\"[\\\\"', '"[\\'),
    ],
)
def test_plain_json_is_read_exactly(text: Any, value: Any) -> None:
    read = thaw(parse(text))
    assert read == value
    assert type(read) is type(value)


REFUSED: dict[str, tuple[Any, str]] = {
    "a key twice": ('{"a": 1, "b": 2, "a": 3}', "the key `a` stands twice"),
    "a key twice in escapes": ('{"a": 1, "\\u0061": 3}', "the key `a` stands twice"),
    "no number": ("NaN", "`NaN` is not JSON"),
    "infinity": ('{"a": [-Infinity]}', "`-Infinity` is not JSON"),
    "a number beyond all": ("1e400", "more than 400 digits"),
    "a number that takes seconds": ("1e100000", "more than 400 digits"),
    "401 digits": ("9" * 401, "more than 400 digits"),
    "401 digits after the point": ("0." + "1" * 401, "more than 400 digits"),
    "a number that would be rounded": ("0.1000000000000000000001", "cannot be carried exactly"),
    "a number that would become 0": ("1e-399", "cannot be carried exactly"),
    "half of a pair": ('"\\ud800"', "a lone surrogate"),
    "half of a pair in a key": ('{"\\udc00": 1}', "a lone surrogate"),
    "a byte order mark": ("\ufeff{}", "byte order mark"),
    "a byte order mark in bytes": (b"\xef\xbb\xbf{}", "byte order mark"),
    "UTF-16": ("{}".encode("utf-16-le") + b"\xff", "not UTF-8 at byte 4"),
    "invalid UTF-8": (b'{"a": "\xff"}', "not UTF-8 at byte 7"),
    "something after it": ("{} {}", "extra data"),
    "nothing": ("", "not JSON"),
    "half": ('{"a": ', "not JSON"),
    "a control character": ('"a\nb"', "not JSON"),
    "single quotes": ("{'a': 1}", "line 1 column 2"),
    "depth": ("[" * 65 + "]" * 65, "nested deeper than 64"),
    "depth of objects": ('{"a":' * 65 + "1" + "}" * 65, "nested deeper than 64"),
    "depth without end": ("[" * 100_000, "nested deeper than 64"),
}


@pytest.mark.parametrize(("text", "why"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_no_plain_json_is_refused_with_its_place(text: Any, why: str) -> None:
    with pytest.raises(InvalidInput, match=r"request\.json") as fault:
        parse(text, "request.json")
    assert why in str(fault.value)


def test_brackets_inside_strings_are_no_depth() -> None:
    assert parse('["' + "[" * 200 + '", "\\\\", "]"]') == ("[" * 200, "\\", "]")


def test_what_is_too_large_is_not_even_read() -> None:
    with pytest.raises(InvalidInput, match="larger than 10 bytes"):
        parse('{"a": NaN, "b": 1}', limits=Limits(request_bytes=10))


def test_64_levels_are_read() -> None:
    assert parse("[" * 64 + "]" * 64) is not None
