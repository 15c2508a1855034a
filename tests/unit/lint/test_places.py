from __future__ import annotations

from preflight.lint.places import texts, values
from preflight.model.json_value import freeze


def pointers(schema: object) -> list[str]:
    return [value.pointer.removeprefix("/inputSchema") for value in values(schema)]


def test_what_is_no_object_has_no_values() -> None:
    assert values(None) == values("text") == values(()) == ()


def test_values_at_every_depth() -> None:
    item = {"type": "object", "properties": {"sku": {"type": "string"}}, "required": ["sku"]}
    schema = {
        "type": "object",
        "properties": {"order": {"type": "object", "properties": {"items": {"type": "array", "items": item}}}},
    }
    found = values(schema)
    assert [(value.name, value.depth, value.required) for value in found] == [
        ("order", 0, False),
        ("items", 1, False),
        ("sku", 2, True),
    ]
    assert found[2].pointer == "/inputSchema/properties/order/properties/items/items/properties/sku"


def test_names_are_data_and_escaped() -> None:
    assert pointers({"properties": {"a/b": {}, "c~d": {}, "": {}}}) == [
        "/properties/a~1b",
        "/properties/c~0d",
        "/properties/",
    ]


def test_references_and_alternatives_apply_to_the_value_itself() -> None:
    schema = {
        "properties": {"to": {"anyOf": [{"$ref": "#/$defs/iban"}, {"type": "null"}], "description": "Where to."}},
        "$defs": {
            "iban": {"type": "string", "pattern": "^[A-Z]", "enum": ["A", 3], "const": "B", "description": "An IBAN."}
        },
    }
    (found,) = values(schema)
    assert found.types == {"string"}
    assert found.options == ("A", "B")
    assert found.description == "Where to. An IBAN."
    assert found.has("pattern")
    assert not found.has("format")


def test_a_shared_definition_is_visited_once_and_a_cycle_ends() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
    schema = {"properties": {"a": {"$ref": "#/$defs/node"}, "b": {"$ref": "#/$defs/node"}}, "$defs": {"node": node}}
    assert pointers(schema) == ["/properties/a", "/properties/b", "/$defs/node/properties/next"]


def test_alternatives_of_the_root_have_values_too() -> None:
    branch = {"properties": {"iban": {"type": "string"}}, "required": ["iban"]}
    schema = {
        "oneOf": [branch, {"if": {"properties": {"bic": {}}}}, "no schema"],
        "additionalProperties": {"items": {}},
    }
    assert pointers(schema) == ["/oneOf/0/properties/iban", "/oneOf/1/if/properties/bic"]


def test_a_hostile_schema_costs_no_more_than_a_large_one() -> None:
    many = {"properties": {f"p{number}": {} for number in range(6_000)}}
    assert len(values(many)) == 5_000


def test_the_same_reference_twice_applies_once() -> None:
    schema = {
        "properties": {"to": {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}},
        "$defs": {"a": {"enum": ["x"]}},
    }
    assert values(schema)[0].options == ("x",)


def test_texts_have_their_places() -> None:
    declared = freeze({"description": "Pays.", "a/b": ["x", {"y": 1}]}, "declared")
    assert list(texts(declared)) == [
        ("/description", "description"),
        ("/description", "Pays."),
        ("/a~1b", "a/b"),
        ("/a~1b/0", "x"),
        ("/a~1b/1/y", "y"),
    ]
