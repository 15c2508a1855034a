"""Closed sets and booleans, and what a schema and the rules say about a field (R-57)."""

from __future__ import annotations

from typing import Any

import pytest

from preflight.grounding import Target, ground_call
from preflight.grounding.field import compile_field
from preflight.model.instruction import Segment
from tests.unit.grounding import cases


def state(text: str, claim: Any, schema: dict[str, Any], name: str = "value", **more: Any) -> str:
    return ground_call([Segment(text, "user")], [Target(name, schema, claim, **more)])[name].state


@pytest.mark.parametrize(
    ("text", "claim", "name", "outcome"),
    [
        ("notify: yes", True, "notify", "known"),
        ("notify=false", False, "notify", "known"),
        ("turn notify off", False, "notify", "known"),
        ("notify no one", False, "notify", "unknown"),
        ("notify me", True, "notify", "unknown"),
        ("do not notify me", False, "notify", "unknown"),
        ("set dry run to true", True, "dry_run", "known"),
        ("without trip protection", False, "trip_protection", "known"),
        ("with trip protection", True, "trip_protection", "known"),
        ("with trip protection", False, "trip_protection", "unknown"),
        ("trip protection is included", True, "trip_protection", "known"),
        ("trip protection", True, "trip_protection", "unknown"),
        ("anything", True, "is_on", "unknown"),
    ],
)
def test_booleans(text: str, claim: bool, name: str, outcome: str) -> None:
    assert state(text, claim, cases.NOTIFY, name) == outcome


@pytest.mark.parametrize(
    ("text", "claim", "schema", "outcome"),
    [
        (
            "an ironing service",
            2,
            {"type": "integer", "description": "1 for cleaning, 2 for ironing service"},
            "known",
        ),
        ("Bangkok please", 1, {"type": "integer", "description": "Province. 1 for Bangkok and 2 for Phuket"}, "known"),
        ("Phuket please", 1, {"type": "integer", "description": "Province. 1 for Bangkok and 2 for Phuket"}, "unknown"),
        (
            "a concert",
            "Music",
            {"enum": ["Music", "Theater"], "description": "'Music' for concerts, 'Theater' for plays"},
            "known",
        ),
        (
            "the small one",
            "s",
            {"oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]},
            "known",
        ),
        ("large", "l", {"anyOf": [{"const": "s"}, {"const": "l", "title": "Large"}]}, "known"),
        ("urgent", "high", {"enum": ["low", "high"], "x-synonyms": {"high": "urgent"}}, "known"),
        ("urgent", "high", {"enum": ["low", "high"], "x-enum-labels": {"high": ["Urgent"]}}, "known"),
        ("yes please", True, {"type": "boolean", "x-synonyms": {"true": ["yes please"]}}, "known"),
        ("mode aa", "aa", {"enum": ["aa", "Aa"]}, "known"),
        ("grill or steam", "steam", cases.MODE, "unknown"),
        ("dry air", "air_dry", {"enum": ["air_dry"]}, "unknown"),
        ("air dry", "air_dry", {"enum": ["air_dry"]}, "known"),
    ],
)
def test_members_labels_and_synonyms(text: str, claim: Any, schema: dict[str, Any], outcome: str) -> None:
    assert state(text, claim, schema) == outcome


def test_hints_of_the_rules_win_over_the_schema() -> None:
    schema = {"enum": ["low", "high"], "x-synonyms": {"high": ["urgent"]}}
    assert state("urgent", "high", schema, hints={"x-synonyms": {"high": ["at once"]}}) == "unknown"
    assert state("at once", "high", schema, hints={"x-synonyms": {"high": ["at once"]}}) == "known"


@pytest.mark.parametrize(
    ("name", "schema", "role"),
    [
        ("mode", {"enum": ["a"]}, "option"),
        ("on", {"type": "boolean"}, "option"),
        ("when", {"format": "date"}, "time"),
        ("link", {"format": "uri"}, "target"),
        ("to_account", {"type": "string"}, "target"),
        ("to", {"type": "string", "description": "E-mail of the recipient"}, "target"),
        ("to", {"type": "string", "description": "City"}, None),
        ("order_id", {"type": "string"}, "object"),
        ("body", {"type": "string"}, "content"),
        ("body", {"type": "object"}, None),
        ("city", {"type": ["string", "null"]}, None),
        ("city", {"x-role": "target"}, "target"),
        ("city", {"x-role": "nonsense"}, None),
    ],
)
def test_default_roles_are_careful(name: str, schema: dict[str, Any], role: str | None) -> None:
    assert compile_field(name, schema, None, {}).role == role


def test_a_role_that_is_given_wins() -> None:
    assert compile_field("body", {"type": "string"}, "target", {"x-role": "content"}).role == "target"
    assert compile_field("body", {"type": "string", "x-role": "target"}, None, {"x-role": "object"}).role == "object"


@pytest.mark.parametrize(
    ("schema", "fraction"),
    [
        ({"description": "as a fraction of 1"}, True),
        ({"description": "between 0 and 1"}, True),
        ({"maximum": 1}, True),
        ({"description": "in percent"}, False),
        ({"maximum": 100}, None),
    ],
)
def test_whether_a_field_wants_a_fraction(schema: dict[str, Any], fraction: bool | None) -> None:
    assert compile_field("rate", schema, None, {}).fraction is fraction


def test_a_field_is_compiled_once_and_by_content() -> None:
    first = compile_field("mode", {"enum": ["a", "b"]}, None, {})
    assert compile_field("mode", {"enum": ["a", "b"]}, None, {}) is first
    assert compile_field("mode", {"enum": ["a", True]}, None, {}).members == ("a", True)
    assert compile_field("mode", {"enum": ("a", ["b"])}, None, {}).members == ("a", ["b"])
    assert compile_field("mode", {"x-locale": "de", "x-unit": "celsius"}, None, {}).locale == "de"


def test_properties_of_objects_are_grounded_by_their_own_schema() -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}, "a/b~c": {"type": "integer"}}}
    segments = [Segment("Ana Lee, 42", "user")]
    evidence = ground_call(segments, [Target("who", schema, {"name": "Ana Lee", "a/b~c": 42})])["who"].evidence
    assert evidence is not None
    assert [(part.pointer, part.matched_text) for part in evidence.parts] == [("/name", "Ana Lee"), ("/a~1b~0c", "42")]


def test_a_value_that_is_too_deep_is_unknown() -> None:
    value: Any = "x"
    for _ in range(40):
        value = [value]
    assert state("x", value, {}) == "unknown"
