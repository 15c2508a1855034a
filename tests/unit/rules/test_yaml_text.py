"""YAML as rules may use it: JSON's values, no surprises of YAML 1.1, no bombs."""

from __future__ import annotations

import pytest

from preflight.rules.bounds import Bounds
from preflight.rules.faults import Refused
from preflight.rules.node import Node, plain
from preflight.rules.yaml_text import read_yaml


def tree(text: str, bounds: Bounds | None = None) -> Node:
    return read_yaml(text, "r.yaml", bounds or Bounds())


def refused(text: str, bounds: Bounds | None = None) -> str:
    with pytest.raises(Refused) as caught:
        tree(text, bounds)
    return str(caught.value).removeprefix("r.yaml:")


def test_values_are_those_of_json() -> None:
    text = "a: 1\nb: -0.5\nc: 1e3\nd: true\ne: false\nf: null\ng: text of words\nh: [1, {i: ''}]\n"
    assert plain(tree(text)) == {
        "a": 1, "b": -0.5, "c": 1000, "d": True, "e": False, "f": None, "g": "text of words", "h": [1, {"i": ""}],
    }  # fmt: skip


@pytest.mark.parametrize(
    "word", ["2026-11-30", "12:30", "1:30:00", "0.1.2", "v1", "=", "a: b".replace(": ", ":"), "nope"]
)
def test_words_that_only_yaml_1_1_takes_for_something_are_text(word: str) -> None:
    assert plain(tree(f"- {word}\n")) == [word]


@pytest.mark.parametrize(
    "word",
    ["yes", "No", "on", "OFF", "y", "N", "True", "FALSE", "Null", "~", "0777", "0o17", "0x1F", "0b1", "1_000", "+5",
     ".5", "5.", ".inf", "-.INF", ".NaN", "01", "1e", "00"],
)  # fmt: skip
def test_words_that_readers_disagree_about_are_refused_or_text_and_never_a_guess(word: str) -> None:
    if word == "1e":
        assert plain(tree(f"- {word}\n")) == [word]
        return
    message = refused(f"- {word}\n")
    assert message.startswith("1:3: ")
    assert f"`{word}`" in message
    assert "in quotes" in message


def test_quoted_words_are_text_whatever_they_look_like() -> None:
    assert plain(tree("['yes', \"null\", '007', \"1\"]")) == ["yes", "null", "007", "1"]


def test_keys_are_names_whatever_they_look_like() -> None:
    assert plain(tree("on: 1\nnull: 2\n1: 3\ntrue: 4\n'': 5\n__class__: 6\n")) == {
        "on": 1, "null": 2, "1": 3, "true": 4, "": 5, "__class__": 6,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: &x 1\nb: 2\n", "1:4: an anchor; leave it out: rules have no aliases"),
        ("a: &x [1]\nb: *x\n", "1:4: an anchor; leave it out: rules have no aliases"),
        ("a: *x\n", "1:4: an alias; write the value out"),
        ("a: !!python/object:os.system x\n", "1:4: a tag; leave it out: a value is what it is written as"),
        ("!!map {a: 1}\n", "1:1: a tag; leave it out: a value is what it is written as"),
        ("a: 1\n<<: {b: 1}\n", "2:1: a merge; write the entries out"),
        ("a: 1\nb: 2\na: 3\n", "3:1: the key `a` stands twice; it first stands in line 1"),
        ("? [a]\n: 1\n", "1:3: a key that is no text; keys are names"),
        ("a: 1\n---\nb: 2\n", "2:1: a second document begins; keep one in a file"),
        ("", "1:1: the file is empty; begin it with `version: 1`"),
        ("# only a comment\n", "2:1: the file is empty; begin it with `version: 1`"),
        ("a:\n", "1:3: nothing stands here; write a value, or `null`"),
        ("a: [1\nb: 2\n", "2:2: not YAML: expected ',' or ']', but got ':'"),
        ("a: 1\n\tb: 2\n", "2:1: not YAML: found character '\\t' that cannot start any token"),
        ('a: "\\ud800"\n', "1:4: a lone surrogate in a text; write valid Unicode"),
        ('a: "\\UFFFFFFFF"\n', "1:1: not YAML: a number or an escape is out of range"),
        ("a: b\nc: \x01\n", "2:4: a character that YAML does not allow"),
        ("a: 0.12345678901234567890123\n", "1:4: a number that cannot be carried exactly; write it in quotes"),
        ("a: 1e999\n", "1:4: a number of more than 400 digits; write it in quotes"),
        (f"a: {'9' * 401}\n", "1:4: a number of too many digits; write it in quotes"),
        ("a: @b\n", "1:4: not YAML: found character '@' that cannot start any token"),
    ],
)
def test_what_is_refused_is_named_with_its_place(text: str, message: str) -> None:
    assert refused(text) == message


def test_a_version_of_thousands_of_digits_is_no_crash() -> None:
    assert "not YAML" in refused(f"%YAML 1.{'1' * 5000}\n---\na: 1\n")


def test_a_bomb_of_brackets_ends_at_the_depth_that_is_allowed() -> None:
    assert refused("[" * 10_000) == "1:33: nested deeper than 32; flatten it"


def test_a_file_of_many_values_ends_at_the_count_that_is_allowed() -> None:
    assert refused("[" + "1," * 20 + "1]", Bounds(nodes=10)) == "1:20: more than 10 values; split the file"


def test_a_long_text_is_refused() -> None:
    assert refused("a: " + "x" * 9, Bounds(text_length=8)) == "1:4: a text of more than 8 characters"


def test_nodes_know_their_places() -> None:
    root = tree("a:\n  - b: c\n    d: 'e'\n")
    inner = root.entries["a"].value.items[0].entries
    assert (inner["b"].value.line, inner["b"].value.column, inner["b"].value.plain) == (2, 8, True)
    assert (inner["d"].key.line, inner["d"].value.column, inner["d"].value.plain) == (3, 8, False)


def test_a_scalar_over_two_lines_is_not_plain() -> None:
    assert tree("a: b\n  c\n").entries["a"].value.plain is False
