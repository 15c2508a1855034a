"""JSON with places, as strict as the reader of requests."""

from __future__ import annotations

import json

import pytest

from preflight.rules.bounds import Bounds
from preflight.rules.faults import Refused
from preflight.rules.json_text import read_json
from preflight.rules.node import plain


def refused(text: str, bounds: Bounds | None = None) -> str:
    with pytest.raises(Refused) as caught:
        read_json(text, "r.json", bounds or Bounds())
    return str(caught.value).removeprefix("r.json:")


@pytest.mark.parametrize(
    "value",
    [{}, [], {"a": [1, -2.5, True, False, None, "é\n\U0001f600"], "b": {"c": []}}, "x", 0, None, [[], {}]],
)
def test_what_json_writes_is_read_back(value: object) -> None:
    assert plain(read_json(json.dumps(value, indent=1), "r.json", Bounds())) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1:1: not JSON: a value is missing here"),
        ('{"a": 1,\n "a": 2}', "2:2: the key `a` stands twice; it first stands in line 1"),
        ("{a: 1}", "1:2: not JSON: a key in quotes is missing here"),
        ('{"a" 1}', "1:6: not JSON: `:` is missing here"),
        ('{"a": 1 "b": 2}', "1:9: not JSON: `,` is missing here"),
        ('{"a": 1,}', "1:9: not JSON: a comma before `}`"),
        ("[1,]", "1:4: not JSON: a comma before `]`"),
        ("[1", "1:3: not JSON: `,` is missing here"),
        ("[NaN]", "1:2: not JSON: a value is missing here"),
        ("[01]", "1:3: not JSON: `,` is missing here"),
        ("1 2", "1:3: text after the value"),
        ('"a', "1:1: not JSON: unterminated string starting at"),
        ('"\\ud800"', "1:1: a lone surrogate in a text; write valid Unicode"),
        ("[0.12345678901234567890123]", "1:2: a number that cannot be carried exactly; write it in quotes"),
        ("[" * 10_000, "1:33: nested deeper than 32; flatten it"),
    ],
)
def test_what_is_refused_is_named_with_its_place(text: str, message: str) -> None:
    assert refused(text) == message


def test_sizes_are_bounded() -> None:
    assert refused("[1,1,1]", Bounds(nodes=2)) == "1:4: more than 2 values; split the file"
    assert refused('"xxxx"', Bounds(text_length=3)) == "1:1: a text of more than 3 characters"
