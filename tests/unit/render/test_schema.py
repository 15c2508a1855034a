from __future__ import annotations

from typing import Any

import pytest

from preflight.render.schema import types_of, wanted, without_suggestions

FORMS: dict[str, tuple[Any, str]] = {
    "text": ({"type": "string"}, "text"),
    "text with bounds": (
        {"type": "string", "minLength": 1, "maxLength": 9},
        "text, at least 1 characters, at most 9 characters",
    ),
    "a pattern": ({"type": "string", "pattern": "^\\d+$"}, "text, matching `^\\d+$`"),
    "a date": ({"type": "string", "format": "date"}, "text, YYYY-MM-DD"),
    "another format": ({"type": "string", "format": "ema\x1bil"}, "text, ema\\u{001b}il"),
    "a number": ({"type": "integer", "minimum": 1}, "a whole number, at least 1"),
    "members": ({"enum": ["a", "", 1, None]}, 'one of a, "", 1, null'),
    "two types": ({"type": ["integer", "string", "null"]}, "text or a whole number"),
    "alternatives": ({"anyOf": [{"type": "boolean"}, {"type": "number"}]}, "a number or true or false"),
    "nothing said": ({}, "a JSON value"),
    "an unknown type": ({"type": "money"}, "a JSON value"),
    "no schema": (True, "a JSON value"),
}


@pytest.mark.parametrize(("schema", "words"), FORMS.values(), ids=FORMS)
def test_a_schema_in_words(schema: Any, words: str) -> None:
    assert wanted(schema) == words


def test_none_is_offered_where_it_is_taken() -> None:
    assert wanted({"type": "string"}, nullable=True) == "text, or that there is none"


def test_no_default_example_or_constant_is_named() -> None:
    assert "777" not in wanted({"type": "string", "default": "777", "examples": ["777"], "const": "777"})


def test_types_are_found_through_alternatives() -> None:
    assert types_of({"oneOf": [{"type": "string"}, {"anyOf": [{"type": "null"}]}]}) == {"string", "null"}


def test_suggestions_go_and_names_stay() -> None:
    schema = {
        "default": 1,
        "properties": {"default": {"type": "string", "default": "x"}, "examples": {"examples": [1]}},
        "items": [{"default": 2, "enum": [{"default": 3}]}],
    }
    assert without_suggestions(schema) == {
        "properties": {"default": {"type": "string"}, "examples": {}},
        "items": [{"enum": [{"default": 3}]}],
    }
