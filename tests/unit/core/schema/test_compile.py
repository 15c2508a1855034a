"""Which schemas are refused, where and why (R-34), and what compiles."""

from __future__ import annotations

import math
from types import MappingProxyType

import msgspec
import pytest

from preflight.core.schema import Plan, compile_schema
from preflight.core.schema.structure import fold
from preflight.limits import DEFAULT
from preflight.model.slot import Unsupported
from tests.unit.core.schema.scripted import STRING, obj, plan_for, refusal_of

SEVEN = "http://json-schema.org/draft-07/schema#"
SIX = "http://json-schema.org/draft-06/schema#"
NINETEEN = "https://json-schema.org/draft/2019-09/schema"


@pytest.mark.parametrize("schema", [None, True, False, [], "object", 3, b"{}", object()])
def test_what_is_no_object_is_no_schema(schema: object) -> None:
    assert refusal_of(schema).at == ""


@pytest.mark.parametrize(
    ("schema", "at"),
    [
        ({}, "/type"),
        ({"type": "string"}, "/type"),
        ({"type": ["object", "null"]}, "/type"),
        ({"type": "array", "items": obj({})}, "/type"),
        (obj({}, [1]), "/required"),  # type: ignore[list-item]
        (obj({}) | {"required": "a"}, "/required"),
        (obj({"a": STRING}, ["b"]), "/required"),
        (obj({"o": {"type": "object", "required": ["b"]}}), "/properties/o/required"),
        (obj({"a": {"type": "strin"}}), "/properties/a/type"),
        (obj({"a": 3}), "/properties/a"),
        (obj({"a": {"anyOf": [STRING, {"type": "x"}]}}), "/properties/a/anyOf/1/type"),
        (obj({"a": {"pattern": "("}}), "/properties/a/pattern"),
        (obj({"a": {"pattern": "(?=x)"}}), "/properties/a/pattern"),
        (obj({"a": {"pattern": r"(x)\1"}}), "/properties/a/pattern"),
        (obj({"a": {"$dynamicRef": "#a"}}), "/properties/a/$dynamicRef"),
        (obj({"a": {"$recursiveRef": "#"}}), "/properties/a/$recursiveRef"),
        (obj({"a": STRING}, [], minProperties=1), "/minProperties"),
        (obj({}, **{"$schema": "https://example.com/own"}), "/$schema"),
        (obj({}, **{"$schema": 7}), "/$schema"),
        (obj({}, **{"$schema": "http://json-schema.org/draft-04/schema#"}), "/$schema"),
        (obj({"a": {"$schema": SEVEN}}), "/properties/a/$schema"),
        (obj({"a": {"minContains": 1}}, **{"$schema": SEVEN}), "/properties/a/minContains"),
        (obj({}, **{"$schema": SIX, "if": True, "then": {"required": ["a"]}}), "/if"),
        (obj({"a": {"prefixItems": [STRING]}}, **{"$schema": NINETEEN}), "/properties/a/prefixItems"),
        (obj({"a": {"maximum": math.inf}}), "/properties/a/maximum"),
        (obj({"a": {"maximum": math.nan}}), "/properties/a/maximum"),
        (obj({"a": {"maximum": 10**400}}), "/properties/a/maximum"),
        (obj({"a": {"description": "\ud800"}}), "/properties/a/description"),
        (obj({"a": {"enum": [{1}]}}), "/properties/a/enum/0"),
        (obj({"a": {"enum": [{1: 2}]}}), "/properties/a/enum/0"),
        (obj({"o": obj({"a/b": {"type": "x"}})}), "/properties/o/properties/a~1b/type"),
    ],
)
def test_refusals_name_the_place(schema: object, at: str) -> None:
    refused = refusal_of(schema)
    assert refused.at == at
    assert refused.what


@pytest.mark.parametrize(
    "names",
    [("to", "TO"), ("to", "t\u200bo"), ("to", "t\u00ado"), ("to", "\uff54o"), ("to", "to\ufe0f"), ("fi", "\ufb01")],
)
def test_names_that_look_the_same_are_refused(names: tuple[str, str]) -> None:
    schema = obj(dict.fromkeys(names, STRING))
    assert refusal_of(schema).at == "/properties"
    assert refusal_of(obj({"o": schema})).at == "/properties/o/properties"
    split = obj({names[0]: STRING}, oneOf=[obj({names[1]: STRING}, [names[1]]), obj({"z": STRING}, ["z"])])
    assert refusal_of(split).at == "/properties"


def test_names_that_differ_are_kept_apart() -> None:
    assert fold("a") != fold("\u0430")  # Latin and Cyrillic: no compatibility form of each other
    assert isinstance(compile_schema(obj({"a": STRING, "b": STRING, "a_b": STRING})), Plan)


def test_a_root_name_must_not_read_like_a_nested_slot() -> None:
    nested = obj({"iban": STRING})
    assert refusal_of(obj({"to": nested, "to/iban": STRING})).at == "/properties"
    assert refusal_of(obj({"a~b": nested, "a~0b/iban": STRING})).at == "/properties"
    assert plan_for(obj({"a/b": STRING, "c": nested})).declared == {"a/b", "c"}


@pytest.mark.parametrize(
    "schema",
    [
        obj({}),
        {"type": "object"},
        {"properties": {"a": STRING}},
        {"type": ["object"], "properties": {}},
        obj({"a": STRING}, ["a", "a"]),
        obj({"a": STRING}, ["a"], minProperties=1, maxProperties=3),
        obj({"a": STRING}, [], **{"$schema": SEVEN.rstrip("#"), "$id": "https://example.com/tool"}),
        obj({"a": STRING}, [], **{"$schema": "http://json-schema.org/draft/2020-12/schema"}),
        obj({"a": {"type": "array", "items": [STRING], "additionalItems": False}}, **{"$schema": SEVEN}),
        obj({"a": STRING}, additionalProperties=False, unevaluatedProperties=False, patternProperties={"^x": STRING}),
        obj({"a": {"nullable": True, "type": "string", "x-unit": "m", "readOnly": True}}),
        obj({"a": True, "b": False}),
        obj({"a": {"type": "array", "additionalItems": {"type": "x"}}}),
        obj({"a": {"const": {"required": [1, 1], "type": "x", "$ref": "http://example.com"}}}),
        MappingProxyType({"type": "object", "required": ("a",), "properties": MappingProxyType({"a": STRING})}),
    ],
)
def test_what_compiles(schema: object) -> None:
    assert plan_for(schema).flat


def test_names_required_twice_are_required_once() -> None:
    assert [slot.name for slot in plan_for(obj({"a": STRING, "b": STRING}, ["b", "a", "b"])).required] == ["b", "a"]


def test_the_caller_cannot_change_a_plan_through_the_schema() -> None:
    schema = obj({"a": {"type": "string"}}, ["a"])
    plan = plan_for(schema)
    schema["properties"]["a"]["type"] = "integer"  # type: ignore[index]
    assert plan.validate({"a": "x"}) == ()
    assert plan.required[0].schema == {"type": "string"}


def nested(depth: int) -> dict[str, object]:
    schema: dict[str, object] = {"type": "string"}
    for _ in range(depth):
        schema = {"allOf": [schema]}
    return obj({"a": schema})


def test_size_depth_and_number_are_limited() -> None:
    small = msgspec.structs.replace(DEFAULT, schema_bytes=200, schema_nodes=5)
    assert refused(obj({"a": {"description": "x" * 300}}), small) == "larger than 200 bytes"
    assert refused(obj({"a": {"description": "é" * 99}}), small) == "larger than 200 bytes"
    assert refused(obj({"a": {"enum": list(range(300))}}), small) == "larger than 200 bytes"
    assert refused(obj(dict.fromkeys("abcdef", STRING)), small) == "more than 5 subschemas"
    assert refused(nested(10_000), DEFAULT) == "nested deeper than 64"
    assert isinstance(compile_schema(nested(25)), Plan)


def refused(schema: object, limits: object) -> str:
    result = compile_schema(schema, limits)  # type: ignore[arg-type]
    assert isinstance(result, Unsupported)
    return result.what


def test_each_alternative_may_require_only_what_applies_beside_it() -> None:
    one, other = obj({"a": STRING}, ["a"]), obj({"b": STRING}, ["a"])
    assert refusal_of({"type": "object", "oneOf": [one, other]}).at == "/oneOf/1/required"
    shared = obj({"a": STRING, "b": STRING}, anyOf=[{"required": ["a"]}, {"required": ["b"]}])
    assert isinstance(compile_schema(shared), Plan)
    spread = obj(
        {}, oneOf=[one, obj({"b": STRING}, ["c"])], allOf=[{"anyOf": [obj({"c": STRING}), obj({"d": STRING})]}]
    )
    assert isinstance(compile_schema(spread), Plan)


def test_a_condition_may_require_only_what_is_declared() -> None:
    base = obj({"a": STRING}, **{"if": {"required": ["a"]}, "then": {"required": ["b"]}})
    assert refusal_of(base).at == "/then/required"
    assert refusal_of(obj({"a": STRING}, dependentRequired={"a": ["b"]})).what.startswith("a required name")
    declared = obj({"a": STRING}, **{"if": {"required": ["a"]}, "then": obj({"b": STRING}, ["b"])})
    assert plan_for(declared).declared == {"a", "b"}


def test_too_many_properties_are_refused() -> None:
    many = obj({f"p{n}": STRING for n in range(2_001)})
    assert refusal_of(many).what == "more than 2000 properties"
    assert refusal_of(obj({"o": many})).at == "/properties/o/properties"


def mixed() -> dict[str, object]:
    """Schemas whose members mix at each level: more places than any real tool has."""
    turns = {"turn": [1, 2, 3, 4, 5, 0], "swap": [1, 0, 2, 3, 4, 5], "join": [0, 0, 2, 3, 4, 5]}
    defs = {
        f"x{n}": {
            "type": "object",
            "properties": {name: {"$ref": f"#/$defs/x{to[n]}", "title": name} for name, to in turns.items()},
        }
        for n in range(6)
    }
    return {"type": "object", "allOf": [{"$ref": f"#/$defs/x{n}"} for n in range(6)], "$defs": defs}


def test_too_many_places_are_refused() -> None:
    assert refused(mixed(), DEFAULT) == "expanding the schema takes too much work"
