"""Which slots a schema gives, their names, and the schema each of them carries (R-33, R-37)."""

from __future__ import annotations

from types import MappingProxyType

import pytest
from msgspec import UNSET

from preflight.core.schema import Plan, compile_schema, walk
from preflight.core.schema.shape import Path
from preflight.model.pointer import escape, name_of, steps, unescape
from preflight.model.slot import DroppedClaim, FieldState, Slot
from tests.unit.core.schema.scripted import NULL, STRING, Script, drive, obj, plan_for, run

ODD = [
    "__class__",
    "__proto__",
    "constructor",
    "toString",
    "__init__",
    "self",
    "items",
    "get",
    "",
    " ",
    "a/b",
    "a~b",
    "a.b",
]


@pytest.mark.parametrize("name", ODD)
def test_odd_names_are_plain_data_at_every_depth(name: str) -> None:
    leaf = obj({name: STRING}, [name])
    schema = obj({name: STRING, "in": leaf, "list": {"type": "array", "items": leaf}}, [name, "in", "list"])
    claims = {name: "1", "in": {name: "2"}, "list": [{name: "3"}]}
    key = name.replace("~", "~0").replace("/", "~1")
    told = {name: "1", f"in/{key}": "2", f"list/0/{key}": "3"}
    assert run(schema, told, claims).walked.arguments == claims
    nothing = run(schema, {}, claims)
    assert nothing.fields == dict.fromkeys(told, "unknown")
    assert nothing.walked.arguments == {}


@pytest.mark.parametrize("name", ODD)
def test_odd_names_below_odd_names(name: str) -> None:
    schema = obj({name: obj({name: STRING}, [name])}, [name])
    assert [slot.path for slot in run(schema).slots] == [(name, name)]
    assert run(schema, {name_of((name, name)): "x"}).walked.arguments == {name: {name: "x"}}


def test_names_are_plain_at_the_root_and_pointers_below() -> None:
    assert name_of(("a/b~c",)) == "a/b~c"
    assert name_of(("a/b", 0, "c~d")) == "a~1b/0/c~0d"
    assert unescape(escape("~1/~0")) == "~1/~0"


@pytest.mark.parametrize(
    ("schema", "nullable"),
    [
        (STRING, False),
        ({"type": ["string", "null"]}, True),
        ({"anyOf": [STRING, {"type": "null"}]}, True),
        ({"oneOf": [{"type": "integer"}, {"const": None}]}, True),
        ({"enum": ["a", None]}, True),
        ({"type": "string", "enum": ["a", None]}, False),
        ({"const": None}, True),
        ({"const": True}, False),
        ({"const": 1}, False),
        ({"const": ["x"]}, False),
        ({"const": {"a": 1}}, False),
        ({"type": "string", "nullable": True}, False),
        ({"allOf": [{"type": ["integer", "null"]}, {"type": "number"}]}, False),
        ({}, True),
        (True, True),
        (False, False),
    ],
)
def test_a_leaf_is_nullable_when_null_is_admitted(schema: object, nullable: bool) -> None:
    plan = plan_for(obj({"a": schema}, ["a"]))
    assert plan.flat
    assert plan.required[0].nullable is nullable
    assert run(obj({"a": schema}, ["a"]), {"a": NULL}).walked.arguments == ({"a": None} if nullable else {})


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": STRING},
        {"type": "array"},
        {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
        {"type": "array", "prefixItems": [STRING, {"type": "integer"}]},
        {"type": "object"},
        {"type": "object", "additionalProperties": obj({"a": STRING})},
        {"anyOf": [STRING, {"type": "array", "items": STRING}]},
        {"anyOf": [{"type": "object"}, {"type": "object", "additionalProperties": STRING}]},
        {"type": ["string", "number", "boolean"]},
        {"enum": [{"a": 1}, [2]]},
    ],
)
def test_leaves(schema: object) -> None:
    result = run(obj({"a": schema}, ["a"]))
    assert plan_for(obj({"a": schema}, ["a"])).flat
    assert [(slot.name, slot.path, slot.required) for slot in result.slots] == [("a", ("a",), True)]


def test_constants_defaults_and_examples_are_no_source() -> None:
    schema = obj(
        {"a": {"const": "x"}, "b": {"enum": ["y"]}, "c": {"default": "z"}, "d": {"examples": ["w"], "default": 1}},
        ["a", "b", "c", "d"],
    )
    result = run(schema)
    assert result.fields == dict.fromkeys("abcd", "unknown")
    assert result.walked.arguments == {}
    assert [slot.claim for slot in result.slots] == [UNSET] * 4


def test_slots_are_yielded_in_the_order_of_required_with_their_claims() -> None:
    schema = obj({"a": STRING, "b": STRING, "c": STRING}, ["c", "a"])
    result = run(schema, {"a": "1", "c": "3"}, {"a": "1", "b": "2"})
    assert [(slot.name, slot.claim, slot.required) for slot in result.slots] == [
        ("c", UNSET, True),
        ("a", "1", True),
        ("b", "2", False),
    ]
    assert [state.name for state in result.walked.fields] == ["c", "a"]
    assert result.walked.arguments == {"a": "1", "c": "3"}


@pytest.mark.parametrize(
    ("schema", "shown"),
    [
        (
            {"$ref": "#/$defs/money", "description": "how much"},
            {"type": "number", "minimum": 0, "title": "Money", "description": "how much", "x-unit": "EUR"},
        ),
        (
            {"allOf": [{"type": ["integer", "string"]}, {"type": "number", "maximum": 9}], "title": "n"},
            {"type": "integer", "maximum": 9, "title": "n"},
        ),
        ({"allOf": [{"type": "number"}, {"type": "integer"}]}, {"type": "integer"}),
        ({"allOf": [{"type": "string"}, {"type": "integer"}]}, {"type": []}),
        ({"enum": ["a", "b"], "allOf": [{"enum": ["b", "c"]}]}, {"enum": ["b"]}),
        ({"enum": [1, True], "allOf": [{"enum": [True]}]}, {"enum": [True]}),
        (
            {"pattern": "^a", "allOf": [{"pattern": "b$"}, {"pattern": "^a", "format": "email"}]},
            {"pattern": "^a", "allOf": [{"pattern": "b$"}], "format": "email"},
        ),
        (
            {"type": "array", "items": {"$ref": "#/$defs/money"}},
            {"type": "array", "items": {"type": "number", "minimum": 0, "title": "Money", "x-unit": "EUR"}},
        ),
        ({"anyOf": [{"$ref": "#/$defs/no"}, True]}, {"anyOf": [{"not": {"type": "string"}}, True]}),
        (
            {"type": "object", "patternProperties": {"^x": {"$ref": "#/$defs/no"}}, "additionalProperties": False},
            {"type": "object", "patternProperties": {"^x": {"not": {"type": "string"}}}, "additionalProperties": False},
        ),
        (
            {"$ref": "#/$defs/json"},
            {"anyOf": [STRING, {"type": "array", "items": {}}]},
        ),
        (True, {}),
        (False, {"not": {}}),
    ],
)
def test_a_slot_carries_its_effective_schema(schema: object, shown: dict[str, object]) -> None:
    defs = {
        "money": {"type": "number", "minimum": 0, "title": "Money", "description": "an amount", "x-unit": "EUR"},
        "no": {"not": {"type": "string"}},
        "json": {"anyOf": [STRING, {"type": "array", "items": {"$ref": "#/$defs/json"}}]},
    }
    if "description" not in shown and isinstance(schema, dict):
        defs["money"].pop("description")
    plan = plan_for(obj({"a": schema}, ["a"], **{"$defs": defs}))
    assert plan.required[0].schema == shown


def test_an_object_is_asked_for_by_its_leaves() -> None:
    schema = obj(
        {"to": obj({"iban": STRING, "name": STRING, "bank": obj({"bic": STRING}, ["bic"])}, ["iban", "bank"])}, ["to"]
    )
    result = run(schema)
    assert result.fields == {"to/iban": "unknown", "to/bank/bic": "unknown"}
    assert run(schema, {"to/iban": "x", "to/bank/bic": "y"}).walked.arguments == {
        "to": {"iban": "x", "bank": {"bic": "y"}}
    }
    assert run(schema, {"to/iban": "x"}).walked.arguments == {}


@pytest.mark.parametrize("claim", ["x", 3, [], [1], None, {}])
def test_a_claim_of_another_form_changes_nothing_for_a_required_object(claim: object) -> None:
    schema = obj({"to": obj({"iban": STRING}, ["iban"])}, ["to"])
    result = run(schema, {}, {"to": claim})
    assert [(slot.name, slot.claim) for slot in result.slots] == [("to/iban", UNSET)]


def test_a_nullable_object_can_be_null_only_as_a_whole() -> None:
    schema = obj({"to": {"anyOf": [obj({"iban": STRING}, ["iban"]), {"type": "null"}]}}, ["to"])
    assert run(schema).asked == ["to/iban"]
    claimed = run(schema, {"to": NULL}, {"to": None})
    assert [(slot.name, slot.nullable) for slot in claimed.slots] == [("to", True)]
    assert claimed.walked.arguments == {"to": None}
    assert run(schema, {"to": NULL}, offers={("to",): None}).walked.arguments == {"to": None}
    assert run(schema, {"to/iban": "x"}, {"to": {"iban": "x"}}).walked.arguments == {"to": {"iban": "x"}}


def test_the_emptiness_of_a_required_object_needs_evidence() -> None:
    schema = obj({"filter": obj({"a": STRING, "b": STRING})}, ["filter"])
    assert run(schema).fields == {"filter": "unknown"}
    assert run(schema, {"filter": {}}).walked.arguments == {"filter": {}}
    stripped = run(schema, {}, {"filter": {"a": "x"}})
    assert stripped.asked == ["filter/a", "filter"]
    assert stripped.fields == {"filter": "unknown"}
    assert stripped.dropped == {"filter/a": "not confirmed at any source"}
    asked = run(schema, {}, {"filter": {"a": "x"}}, policy="ask")
    assert asked.asked == ["filter/a"]
    assert asked.extra == {"filter/a": "unknown"}
    absent = run(schema, {"filter/a": NULL}, {"filter": {"a": "x"}})
    assert absent.fields == {"filter": "unknown"}
    assert absent.extra == {"filter/a": "null"}


ITEMS = {"type": "array", "items": obj({"sku": STRING, "note": STRING}, ["sku"])}


def test_an_array_of_objects_has_the_length_that_is_claimed() -> None:
    claims = {"items": [{"sku": "1", "note": "n"}, {"sku": "2", "zz": 1}]}
    result = run(obj({"items": ITEMS}, ["items"]), {"items/0/sku": "1", "items/1/sku": "2"}, claims)
    assert result.asked == ["items/0/sku", "items/0/note", "items/1/sku"]
    assert result.walked.arguments == {"items": [{"sku": "1"}, {"sku": "2"}]}
    assert result.dropped == {"items/0/note": "not confirmed at any source", "items/1/zz": "not declared by the tool"}


def test_an_offer_decides_the_length_before_a_claim_does() -> None:
    offers = {("items",): [{"sku": "1"}], ("items", 0): {"sku": "1"}, ("items", 0, "sku"): "1"}
    claims = {"items": [{"sku": "8"}, {"sku": "9"}]}
    result = run(obj({"items": ITEMS}, ["items"]), {"items/0/sku": "1"}, claims, offers)
    assert [(slot.name, slot.claim) for slot in result.slots] == [("items/0/sku", "8")]
    longer = run(obj({"items": ITEMS}, ["items"]), {}, {"items": [{"sku": "8"}]}, {("items",): [1, 2]})
    assert [(slot.name, slot.claim) for slot in longer.slots] == [("items/0/sku", "8"), ("items/1/sku", UNSET)]


@pytest.mark.parametrize("claims", [{}, {"items": []}, {"items": "x"}, {"items": {"sku": 1}}])
def test_an_array_of_unknown_length_is_one_slot(claims: dict[str, object]) -> None:
    result = run(obj({"items": ITEMS}, ["items"]), {}, claims)
    assert [(slot.name, slot.claim) for slot in result.slots] == [("items", claims.get("items", UNSET))]
    whole = run(obj({"items": ITEMS}, ["items"]), {"items": [{"sku": "1"}]}, claims)
    assert whole.walked.arguments == {"items": [{"sku": "1"}]}


def test_one_unknown_element_blocks_the_array() -> None:
    claims = {"items": [{"sku": "1"}, {"sku": "2"}]}
    result = run(obj({"items": ITEMS}, ["items"]), {"items/1/sku": "2"}, claims)
    assert result.fields == {"items/0/sku": "unknown", "items/1/sku": "known"}
    assert result.walked.arguments == {}


def denied(*names: str) -> dict[Path, object]:
    """What the shape offers where the user said that there is none."""
    return {steps("/" + name): None for name in names}


TWO = {"items": [{"sku": "1", "note": "n"}, {"sku": "2"}]}


def test_an_element_that_only_the_model_proposed_can_be_denied() -> None:
    # R-46: what it needs does not exist, so there is no such element
    result = run(obj({"items": ITEMS}, ["items"]), {"items/1/sku": "2"}, TWO, denied("items/0/sku"))
    assert [(slot.name, slot.element) for slot in result.slots] == [
        ("items/0/sku", "items/0"), ("items/0/note", "items/0"), ("items/1/sku", "items/1"),
    ]  # fmt: skip
    assert result.walked.arguments == {"items": [{"sku": "2"}]}
    assert result.fields == {"items/1/sku": "known"}
    assert result.dropped == {"items/0": "the user said that there is none"}
    assert result.extra == {}


def test_when_all_are_denied_the_list_is_empty() -> None:
    result = run(obj({"items": ITEMS}, ["items"]), {}, TWO, denied("items/0/sku", "items/1/sku"))
    assert result.walked.arguments == {"items": []}
    assert result.fields == {}
    assert [each.value for each in result.walked.dropped] == TWO["items"]


def test_an_element_of_which_something_is_known_stays_open() -> None:
    schema = obj({"items": {"type": "array", "items": obj({"a": STRING, "b": STRING}, ["a", "b"])}}, ["items"])
    claims = {"items": [{"a": "1", "b": "2"}]}
    result = run(schema, {"items/0/a": "1"}, claims, denied("items/0/b"))
    assert result.fields == {"items/0/a": "known", "items/0/b": "unknown"}
    assert result.walked.arguments == {}
    unsaid = run(schema, {}, claims, denied("items/0/b"))
    assert unsaid.walked.arguments == {"items": []}, "one part that does not exist is enough"


def test_an_element_whose_lookup_failed_is_not_left_out() -> None:
    schema = obj({"items": {"type": "array", "items": obj({"a": STRING, "b": STRING}, ["a", "b"])}}, ["items"])
    walking = walk(plan_for(schema), Script({"items": [{"a": "1", "b": "2"}]}, denied("items/0/a")))
    assert next(walking).name == "items/0/a"
    assert walking.send(FieldState("items/0/a", "unknown", None, None, "")).name == "items/0/b"
    with pytest.raises(StopIteration) as end:
        walking.send(FieldState("items/0/b", "unknown", None, None, "", lookup_failed=True))
    assert [state.name for state in end.value.value.fields] == ["items/0/a", "items/0/b"]


def test_a_list_keeps_as_many_elements_as_it_needs() -> None:
    schema = obj({"items": {**ITEMS, "minItems": 1}}, ["items"])
    both = run(schema, {}, TWO, denied("items/0/sku", "items/1/sku"))
    assert both.fields == {"items/0/sku": "unknown", "items/1/sku": "unknown"}
    one = run(schema, {"items/1/sku": "2"}, TWO, denied("items/0/sku"))
    assert one.walked.arguments == {"items": [{"sku": "2"}]}
    needed = run(schema, {}, {"items": [{"sku": "1"}]}, denied("items/0/sku"))
    assert [slot.element for slot in needed.slots] == [None]
    assert needed.fields == {"items/0/sku": "unknown"}


def test_an_element_that_a_setting_gives_is_not_denied_away() -> None:
    offers = {("items",): [{"sku": None}], ("items", 0): {"sku": None}, ("items", 0, "sku"): None}
    result = run(obj({"items": ITEMS}, ["items"]), {}, TWO, offers)
    assert {slot.element for slot in result.slots} == {None}
    assert result.fields == {"items/0/sku": "unknown"}


def test_the_innermost_element_is_denied() -> None:
    schema = obj({"rows": {"type": "array", "items": ITEMS}}, ["rows"])
    claims = {"rows": [[{"sku": "1"}], [{"sku": "2"}]]}
    result = run(schema, {"rows/1/0/sku": "2"}, claims, denied("rows/0/0/sku"))
    assert [slot.element for slot in result.slots] == ["rows/0/0", "rows/1/0"]
    assert result.walked.arguments == {"rows": [[], [{"sku": "2"}]]}
    outer = obj({"rows": {"type": "array", "items": {**ITEMS, "minItems": 1}}}, ["rows"])
    assert run(outer, {"rows/1/0/sku": "2"}, claims, denied("rows/0/0/sku")).walked.arguments == {
        "rows": [[{"sku": "2"}]]
    }, "the outer one, where the inner list needs its only element"


PAIR = [obj({"account": STRING}, ["account"]), obj({"account": STRING}, ["account"])]
PARTY = obj({"account": STRING}, ["account"])
PLACED = {
    "2020-12": obj({"parties": {"type": "array", "prefixItems": PAIR, "items": PARTY}}, ["parties"]),
    "draft-07": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        **obj({"parties": {"type": "array", "items": PAIR, "additionalItems": PARTY}}, ["parties"]),
    },
}
FOUR = {"parties": [{"account": "1"}, {"account": "2"}, {"account": "3"}, {"account": "4"}]}


@pytest.mark.parametrize("form", PLACED)
@pytest.mark.parametrize(
    ("claimed", "gone", "told", "left"),
    [
        (2, [0], {1: "2"}, None),  # the payee would become the payer
        (2, [1], {0: "1"}, ["1"]),
        (2, [0, 1], {}, []),
        (4, [1], {0: "1", 2: "3", 3: "4"}, None),
        (4, [1, 2], {0: "1", 3: "4"}, None),
        (4, [1, 2, 3], {0: "1"}, ["1"]),
        (4, [2], {0: "1", 1: "2", 3: "4"}, ["1", "2", "4"]),  # these have no place of their own
        (4, [0, 3], {1: "2", 2: "3"}, None),
    ],
)
def test_nothing_moves_into_a_place_that_was_another_elements(
    form: str, claimed: int, gone: list[int], told: dict[int, str], left: list[str] | None
) -> None:
    claims = {"parties": FOUR["parties"][:claimed]}
    known = {f"parties/{index}/account": value for index, value in told.items()}
    result = run(PLACED[form], known, claims, denied(*(f"parties/{i}/account" for i in gone)))
    assert [slot.placed for slot in result.slots] == [True, True, False, False][:claimed]
    if left is None:
        assert result.walked.arguments == {}
        assert result.fields[f"parties/{gone[0]}/account"] == "unknown"
    else:
        assert result.walked.arguments == {"parties": [{"account": each} for each in left]}


def test_of_what_is_denied_only_the_end_is_left_out() -> None:
    claims = {"parties": FOUR["parties"][:2]}
    shape = {"parties": {"type": "array", "prefixItems": PAIR, "minItems": 1}}
    result = run(obj(shape, ["parties"]), {}, claims, denied("parties/0/account", "parties/1/account"))
    assert result.walked.arguments == {}, "one is needed"
    both = run(PLACED["2020-12"], {"parties/2/account": "3"}, FOUR, denied("parties/3/account"))
    assert both.dropped == {"parties/3": "the user said that there is none"}
    assert both.fields == {"parties/0/account": "unknown", "parties/1/account": "unknown", "parties/2/account": "known"}


def test_a_place_counts_for_the_innermost_list() -> None:
    row = {"type": "array", "prefixItems": PAIR}
    claims = {"rows": [[{"account": "1"}, {"account": "2"}], [{"account": "3"}]]}
    schema = obj({"rows": {"type": "array", "items": row}}, ["rows"])
    result = run(schema, {"rows/0/1/account": "2"}, claims, denied("rows/0/0/account", "rows/1/0/account"))
    assert [(slot.element, slot.placed) for slot in result.slots] == [
        ("rows/0/0", True), ("rows/0/1", True), ("rows/1/0", True),
    ]  # fmt: skip
    assert result.fields == {"rows/0/0/account": "unknown", "rows/0/1/account": "known"}


def test_an_element_of_alternatives_is_denied_when_each_of_them_is() -> None:
    either = {"type": "object", "oneOf": [obj({"a": STRING}, ["a"]), obj({"b": STRING}, ["b"])]}
    schema = obj({"list": {"type": "array", "items": either}}, ["list"])
    claims = {"list": [{"a": "1"}]}
    one = run(schema, {}, claims, denied("list/0/a"))
    assert one.walked.branches != ()
    both = run(schema, {}, claims, denied("list/0/a", "list/0/b"))
    assert both.walked.branches == ()
    assert both.walked.arguments == {"list": []}


@pytest.mark.parametrize(
    ("array", "dialect"),
    [
        ({"prefixItems": [STRING, obj({"b": STRING}, ["b"])], "items": {"type": "integer"}}, {}),
        (
            {"items": [STRING, obj({"b": STRING}, ["b"])], "additionalItems": {"type": "integer"}},
            {"$schema": "http://json-schema.org/draft-07/schema#"},
        ),
        (
            {
                "allOf": [{"prefixItems": [STRING]}, {"minItems": 3}],
                "anyOf": [{"prefixItems": [True, obj({"b": STRING}, ["b"])]}, {"type": "null"}],
                "items": True,
            },
            {},
        ),
    ],
)
def test_elements_have_the_schema_of_their_place(array: dict[str, object], dialect: dict[str, object]) -> None:
    schema = obj({"row": {"type": "array", **array}}, ["row"], **dialect)
    result = run(schema, {"row/0": "x", "row/1/b": "y", "row/2": 3}, {"row": ["x", {"b": "y"}, 3]})
    assert result.asked == ["row/0", "row/1/b", "row/2"]
    assert result.walked.arguments == {"row": ["x", {"b": "y"}, 3]}
    assert plan_for(schema).validate(result.walked.arguments) == ()


def test_arrays_of_arrays_of_objects_are_descended_into() -> None:
    schema = obj({"rows": {"type": "array", "items": ITEMS}}, ["rows"])
    result = run(schema, {"rows/0/0/sku": "1"}, {"rows": [[{"sku": "1"}]]})
    assert result.walked.arguments == {"rows": [[{"sku": "1"}]]}


def test_arrays_of_themselves_are_one_slot() -> None:
    schema = obj(
        {"a": {"$ref": "#/$defs/l"}}, ["a"], **{"$defs": {"l": {"type": "array", "items": {"$ref": "#/$defs/l"}}}}
    )
    assert run(schema, {}, {"a": [[[]]]}).asked == ["a"]


def test_a_null_that_an_element_does_not_admit_is_left_to_validation() -> None:
    schema = obj({"row": {"type": "array", "items": {"anyOf": [STRING, obj({"b": STRING}, ["b"])]}}}, ["row"])
    result = run(schema, {"row/0": NULL}, {"row": ["x"]})
    assert result.walked.arguments == {"row": [None]}
    assert plan_for(schema).validate(result.walked.arguments) != ()


def test_a_value_or_an_object_takes_the_form_that_is_proposed() -> None:
    schema = obj({"to": {"anyOf": [STRING, obj({"iban": STRING}, ["iban"])]}}, ["to"])
    assert run(schema).asked == ["to"]
    assert run(schema, {"to/iban": "x"}, {"to": {"iban": "x"}}).walked.arguments == {"to": {"iban": "x"}}
    assert run(schema, {"to": "x"}, {"to": "x"}).walked.arguments == {"to": "x"}


def test_all_of_is_merged() -> None:
    schema = obj(
        {"a": STRING},
        ["a"],
        allOf=[obj({"b": STRING}, ["b"]), {"$ref": "#/$defs/c"}, True],
        **{"$defs": {"c": obj({"c": STRING, "a": {"maxLength": 1}}, ["c"])}},
    )
    result = run(schema, {"a": "1", "b": "2", "c": "3"})
    assert result.walked.arguments == {"a": "1", "b": "2", "c": "3"}
    assert plan_for(schema).flat
    assert result.slots[0].schema == {"type": "string", "maxLength": 1}


def test_a_single_fitting_alternative_is_no_choice() -> None:
    inner = {"oneOf": [obj({"b": STRING}, ["b"])]}
    schema = obj({"a": STRING}, ["a"], anyOf=[inner, {"type": "string"}])
    assert run(schema, {"a": "1", "b": "2"}).walked.arguments == {"a": "1", "b": "2"}
    assert plan_for(schema).flat


@pytest.mark.parametrize("claims", [UNSET, None, "x", ["a"], 7])
def test_claims_that_are_no_object_claim_nothing(claims: object) -> None:
    deep = obj({"a": STRING, "o": obj({"b": STRING}, ["b"])}, ["a"])
    for schema in (obj({"a": STRING}, ["a"]), deep):
        assert [slot.claim for slot in run(schema, {}, claims).slots] == [UNSET]


def test_undeclared_claims_are_never_sent() -> None:
    for schema in (obj({"a": STRING}), obj({"a": STRING, "o": obj({"b": STRING}, ["b"])}), obj({}), {"type": "object"}):
        result = run(schema, {"zz": 1}, {"zz": 1}, policy="allow")
        assert result.asked == []
        assert result.walked.dropped == (DroppedClaim("zz", 1, "not declared by the tool"),)
        assert result.walked.arguments == {}


def test_frozen_values_are_read_and_sent_plain() -> None:
    frozen = MappingProxyType({"items": (MappingProxyType({"sku": "1"}),), "tags": ("x",)})
    schema = obj({"items": ITEMS, "tags": {"type": "array", "items": STRING}}, ["items", "tags"])
    result = run(schema, {"items/0/sku": "1", "tags": ("x",)}, frozen)
    assert result.walked.arguments == {"items": [{"sku": "1"}], "tags": ["x"]}
    flat = run(obj({"tags": {"type": "array", "items": STRING}}), {"tags": ("x",)}, frozen)
    assert flat.walked.arguments == {"tags": ["x"]}


def test_one_plan_serves_many_walks() -> None:
    plan = compile_schema(obj({"to": obj({"iban": STRING}, ["iban"])}, ["to"]))
    assert isinstance(plan, Plan)

    def told(slot: Slot) -> object:
        return "x" if slot.claim == "x" else UNSET

    first = drive(walk(plan, Script({"to": {"iban": "x"}})), told)
    second = drive(walk(plan, Script()), told)
    assert first.walked.arguments == {"to": {"iban": "x"}}
    assert second.fields == {"to/iban": "unknown"}
