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
        ("Large", "l", {"anyOf": [{"const": "l", "title": "Large"}, {"const": "x", "title": "large"}]}, "unknown"),
        ("bob", "eve", {"anyOf": [{"const": "eve", "title": "bob"}, {"const": "bob"}]}, "unknown"),
        ("mode aa", "aa", {"enum": ["aa", "Aa"]}, "known"),
        ("grill or steam", "steam", cases.MODE, "unknown"),
        ("dry air", "air_dry", {"enum": ["air_dry"]}, "unknown"),
        ("air dry", "air_dry", {"enum": ["air_dry"]}, "known"),
    ],
)
def test_members_labels_and_synonyms(text: str, claim: Any, schema: dict[str, Any], outcome: str) -> None:
    assert state(text, claim, schema) == outcome


@pytest.mark.parametrize(
    ("text", "claim", "schema", "names"),
    [
        ("urgent", "high", {"enum": ["low", "high"]}, {"high": "urgent"}),
        ("urgent", "high", {"enum": ["low", "high"]}, {"high": ["Urgent"]}),
        ("yes please", True, {"type": "boolean"}, {"true": ["yes please"]}),
        ("send to my landlord", "9988776655", {"type": "string"}, {"9988776655": ["landlord"]}),
        ("send 500", 5000, {"type": "integer"}, {"5000": ["500"]}),
        ("send today", "2031-01-01", {"type": "string", "format": "date"}, {"2031-01-01": ["today"]}),
    ],
)
@pytest.mark.parametrize("hint", ["x-synonyms", "x-enum-labels"])
def test_only_the_rules_say_what_else_a_value_is_called(
    text: str, claim: Any, schema: dict[str, Any], names: dict[str, Any], hint: str
) -> None:
    # R-6: from the server, it would say who is meant
    assert state(text, claim, {**schema, hint: names}) == "unknown"
    assert state(text, claim, schema, hints={hint: names}) == "known"


PROVINCE = {"type": "integer", "description": "Province. 1 for Bangkok and 2 for Phuket"}


@pytest.mark.parametrize(
    ("text", "claim", "name", "schema", "outcome"),
    [
        ("an ironing service", 2, "service_id", {"description": "1 for cleaning, 2 for ironing service"}, "known"),
        ("Bangkok please", 1, "province_id", PROVINCE, "known"),
        ("Phuket please", 1, "province_id", PROVINCE, "unknown"),
        ("Bangkok please", 1, "amount", PROVINCE, "unknown"),
        ("pay for lunch", 500, "id", {"description": "500 for lunch"}, "unknown"),  # one is no set of codes
        (
            "pay my landlord",
            "9988776655",
            "id",
            {"description": "9988776655 for landlord, 1 for x, 2 for y"},
            "unknown",
        ),
    ],
)
def test_short_codes_may_be_told_in_prose(
    text: str, claim: Any, name: str, schema: dict[str, Any], outcome: str
) -> None:
    assert state(text, claim, schema, name) == outcome


def test_no_title_of_the_server_says_what_the_rules_call_a_target() -> None:
    schema = {"oneOf": [{"const": "9988776655", "title": "landlord"}, {"const": "1122334455", "title": "shop"}]}
    assert state("pay the landlord", "9988776655", schema) == "known"
    target = Target("to", schema, "9988776655", "target")
    assert ground_call([Segment("pay the landlord", "user")], [target])["to"].state == "unknown"


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
    assert compile_field("mode", {"x-unit": "celsius"}, None, {"x-locale": "de"}).locale == "de"


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
