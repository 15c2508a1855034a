"""Changing JSON text in place: what was there stays, to the byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preflight.hosts.jsonc import MOST_DEPTH, NotJson, insert, read, remove

KEPT = """{
    // how I like it
    "model": "opus",\t"tokens": 1.50e3,
    "permissions": {"deny": ["Bash(rm:*)"]}, /* keep */
    "hooks": {
        "Stop": [ ]
    } // the end
}
"""


def test_an_object_grows_at_its_end_and_shrinks_back() -> None:
    root = read(KEPT, comments=True)
    grown = insert(KEPT, root, {"a": [1]}, "new")
    assert "    } // the end" not in grown  # the comma stands before the comment
    assert '"tokens": 1.50e3' in grown
    assert "/* keep */" in grown
    assert read(grown, comments=True).value == {**root.value, "new": {"a": [1]}}
    again = read(grown, comments=True)
    assert remove(grown, again, len(again.members) - 1) == KEPT


def test_an_empty_array_and_an_inner_object_grow() -> None:
    root = read(KEPT, comments=True)
    hooks = root.member("hooks")
    assert hooks is not None
    stop = hooks.member("Stop")
    assert stop is not None
    assert '"Stop": [\n            7\n        ]' in insert(KEPT, stop, 7)
    assert '"Stop": [ ],\n        "Start": []\n    }' in insert(KEPT, hooks, [], "Start")


def test_what_is_on_one_line_stays_on_one_line() -> None:
    text = '{"a": 1, "b": [1]}'
    root = read(text)
    grown = insert(text, root, {"x": [2]}, "c")
    assert grown == '{"a": 1, "b": [1], "c": {"x": [2]}}'
    assert remove(grown, read(grown), 2) == text


def test_lines_end_as_they_did() -> None:
    text = '{\r\n\t"a": 1\r\n}\r\n'
    grown = insert(text, read(text), {"x": 1}, "b")
    assert grown == '{\r\n\t"a": 1,\r\n\t"b": {\r\n\t\t"x": 1\r\n\t}\r\n}\r\n'


@pytest.mark.parametrize(
    ("text", "place", "left"),
    [
        ("[1, 2, 3]", 0, "[ 2, 3]"),
        ("[1, 2, 3]", 1, "[1, 3]"),
        ("[1, 2, 3]", 2, "[1, 2]"),
        ("[ 1 ]", 0, "[]"),
        ('{"a": 1}', 0, "{}"),
        ("[\n  1, // one\n  2 // two\n]", 1, "[\n  1 // one // two\n]"),
        ("[\n  // none\n  1\n]", 0, "[\n  // none\n]"),
    ],
)
def test_a_member_goes_with_its_comma(text: str, place: int, left: str) -> None:
    assert remove(text, read(text, comments=True), place) == left


BROKEN = {
    "": "line 1, column 1: the end where a value is expected",
    "{": "the end where a key is expected",
    "[1,]": "`]` where a value is expected",
    '{"a": 1,}': "`}` where a key is expected",
    '{"a" 1}': "`1` where `:` is expected",
    "[1 2]": "`2` where `,` or `]` is expected",
    "{'a': 1}": 'line 1, column 2: `"\'"` is not expected',
    "[01]": "`01` where a value is expected",
    "[nul]": "`nul` where a value is expected",
    "1 2": "`2` where the end is expected",
    '{"a": 1, "a": 2}': "the key `a` stands twice",
    "[" * (MOST_DEPTH + 2): f"more than {MOST_DEPTH} levels",
    '["\\x"]': "where a value is expected",
    "[\n1,\n// x\n2]": "line 3, column 1: a comment, which this file may not have",
}


@pytest.mark.parametrize(("text", "says"), BROKEN.items())
def test_what_is_no_json_is_refused_with_its_place(text: str, says: str) -> None:
    with pytest.raises(NotJson) as fault:
        read(text)
    assert says.replace('"\'"', "'") in str(fault.value) or says in str(fault.value)


SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9)
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
)


@given(value=VALUES, indent=st.sampled_from([None, 0, 2, 4, "\t"]))
def test_reading_agrees_with_the_standard_library(value: Any, indent: int | str | None) -> None:
    text = json.dumps(value, indent=indent)
    assert read(text).value == value


@given(text=st.text(alphabet='{}[],:"\\/*\n truefalsnl01.-eE', max_size=30))
@settings(max_examples=300)
def test_nothing_is_read_that_the_standard_library_refuses(text: str) -> None:
    try:
        found = read(text).value
    except NotJson:
        return
    assert json.loads(text) == found


@given(
    value=st.dictionaries(st.text(max_size=6), VALUES, max_size=4),
    added=VALUES,
    indent=st.sampled_from([None, 1, 2, "\t"]),
)
def test_what_is_added_can_be_taken_out_again(value: dict[str, Any], added: Any, indent: int | str | None) -> None:
    text = json.dumps(value, indent=indent) + "\n"
    key = "key" + "y" * max((len(key) for key in value), default=0)
    grown = insert(text, read(text), added, key)
    assert json.loads(grown) == {**value, key: added}
    assert remove(grown, read(grown), len(value)) == text
