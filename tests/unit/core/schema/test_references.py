"""Local references are followed, others are never fetched, and no reference can stall the compiler (R-34)."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
import pytest

from preflight.core.schema import Plan, compile_schema, walk
from preflight.limits import DEFAULT
from preflight.model.slot import Unsupported
from tests.unit.core.schema.scripted import STRING, Script, drive, obj, plan_for, refusal_of, run

SEVEN = "http://json-schema.org/draft-07/schema#"
UNKNOWN = msgspec.UNSET


@contextmanager
def listening() -> Iterator[tuple[int, list[bytes]]]:
    """A loopback server that notes every connection."""
    seen: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                connection, _ = server.accept()
                with connection:
                    if first := connection.recv(4):
                        seen.append(first)
                    if first == b"stop":
                        return

        thread = threading.Thread(target=serve)
        thread.start()
        port = server.getsockname()[1]
        try:
            yield port, seen
        finally:
            with socket.create_connection(("127.0.0.1", port)) as last:
                last.sendall(b"stop")
            thread.join()


def test_nothing_is_fetched(tmp_path: object) -> None:
    with listening() as (port, seen):
        address = f"http://127.0.0.1:{port}/schema.json"
        for schema in (
            obj({"a": {"$ref": address}}),
            obj({"a": {"$ref": f"{address}#/$defs/a"}}),
            obj({"a": {"$ref": f"//127.0.0.1:{port}/schema.json"}}),
            obj({"a": {"$ref": "schema.json"}}, **{"$id": address}),
            obj({"a": {"$dynamicRef": address}}),
            obj({"a": STRING}, **{"$schema": address}),
            obj({"a": {"$ref": f"file://{tmp_path}/schema.json"}}),
            obj({"a": {"allOf": [{"$ref": address}]}}, **{"$schema": SEVEN}),
            obj({"a": {"$ref": "#/$defs/a"}}, **{"$defs": {"a": {"$id": address, "$ref": "#/x"}}}),
            {"$ref": address},
        ):
            refusal_of(schema)
        plan = plan_for(obj({"a": {"$ref": "#/$defs/a"}}, ["a"], **{"$id": address, "$defs": {"a": STRING}}))
        assert plan.validate({"a": 1}) != ()
        assert plan.validate_slot(plan.required[0], "x") is None
        assert seen == []
    assert seen == [b"stop"]


@pytest.mark.parametrize(
    ("schema", "what"),
    [
        (obj({"a": {"$ref": "http://example.com/x"}}), "not local"),
        (obj({"a": {"$ref": ""}}), "not local"),
        (obj({"a": {"$ref": "#/$defs/b"}}), "does not have"),
        (obj({"a": {"$ref": "#/required/0"}}, ["a"]), "not a schema"),
        (obj({"a": {"$ref": "#/properties/a/anyOf/9", "anyOf": [STRING]}}), "does not have"),
        (obj({"a": {"$ref": "#b"}}), "anchor"),
        (obj({"a": {"$ref": "#b"}}, **{"$defs": {"x": {"$anchor": "b"}}, "$schema": SEVEN}), "anchor"),
        (obj({"a": {"$ref": "#b"}}, **{"$defs": {"x": {"$anchor": "b"}, "y": {"$anchor": "b"}}}), "anchor"),
        (obj({"a": {"$ref": "#/$defs/a"}}, **{"$defs": {"a": {"$ref": "#/properties/a"}}}), "no progress"),
        (obj({"a": {"not": {"$ref": "#/properties/a"}}}), "no progress"),
        (
            obj({"a": {"$ref": "#/properties/b/default"}, "b": {"default": {"properties": 5}}}),
            "not a valid JSON Schema",
        ),
        (obj({"a": {"$ref": "#/x-own/a"}}, **{"x-own": {"a": {"type": "x"}}}), "not a valid JSON Schema"),
        (obj({"a": {"$id": "other"}, "b": {"$ref": "#/$defs/b"}}, **{"$defs": {"b": STRING}}), "nested `$id`"),
    ],
)
def test_references_that_are_refused(schema: object, what: str) -> None:
    assert what in refusal_of(schema).what


@pytest.mark.parametrize(
    ("reference", "more"),
    [
        ("#/$defs/a", {"$defs": {"a": {"type": "integer"}}}),
        ("#/$defs/a%20b~1c", {"$defs": {"a b/c": {"type": "integer"}}}),
        ("#here", {"$defs": {"a": {"$anchor": "here", "type": "integer"}}}),
        ("#here", {"$defs": {"a": {"anyOf": [{"$dynamicAnchor": "here", "type": "integer"}]}}}),
        ("#/allOf/0/properties/z", {"allOf": [{"properties": {"z": {"type": "integer"}}}]}),
        ("#/x-own", {"x-own": {"type": "integer"}}),
        ("#/definitions/a", {"$schema": SEVEN, "definitions": {"a": {"type": "integer"}}}),
        ("#here", {"$schema": SEVEN, "definitions": {"a": {"$id": "#here", "type": "integer"}}}),
        ("#/$defs/a", {"$schema": SEVEN, "$defs": {"a": {"type": "integer"}}}),
    ],
)
def test_local_references_are_followed(reference: str, more: dict[str, object]) -> None:
    plan = plan_for(obj({"a": {"$ref": reference, "title": "count"}}, ["a"], **more))
    slot = plan.required[0]
    assert slot.schema["type"] == "integer"
    assert plan.validate_slot(slot, 1) is None
    assert plan.validate_slot(slot, "1") == "`type` must be integer"
    assert plan.validate({"a": "1"}) == ("`/a`: `type` must be integer",)


def test_a_reference_may_name_a_boolean() -> None:
    plan = plan_for(obj({"a": {"$ref": "#/$defs/no"}}, ["a"], **{"$defs": {"no": False}}))
    assert plan.validate_slot(plan.required[0], "x") == "no value is allowed here"


def test_an_anchor_in_data_is_none() -> None:
    data = {
        "default": {"$anchor": "p", "type": "integer"},
        "properties": {"default": {"$anchor": "p", "type": "string"}},
    }
    plan = plan_for(obj({"a": {"$ref": "#p"}}, ["a"], **{"$defs": {"x": data}}))
    assert plan.required[0].schema["type"] == "string"
    assert plan.validate_slot(plan.required[0], 1) == "`type` must be string"


def test_several_anchors() -> None:
    defs = {"x": {"$anchor": "p", "type": "string"}, "y": {"$anchor": "q", "type": "integer"}}
    plan = plan_for(obj({"a": {"$ref": "#p"}, "b": {"$ref": "#q"}}, ["a", "b"], **{"$defs": defs}))
    assert [slot.schema["type"] for slot in plan.required] == ["string", "integer"]


def test_keywords_beside_a_reference_hold_since_2019_only() -> None:
    beside = {"$ref": "#/definitions/a", "maxLength": 2, "title": "outer"}
    more: dict[str, object] = {"definitions": {"a": {"type": "string", "title": "inner"}}}
    now = plan_for(obj({"a": beside}, ["a"], **more)).required[0]
    assert now.schema == {"type": "string", "maxLength": 2, "title": "outer"}
    then = plan_for(obj({"a": beside}, ["a"], **more, **{"$schema": SEVEN}))
    assert then.required[0].schema == {"type": "string", "title": "inner"}
    assert then.validate_slot(then.required[0], "long") is None


def test_what_stands_beside_a_reference_counts_no_more_inside_all_of() -> None:
    part = {"allOf": [{"$ref": "#/definitions/a", "maxLength": 2}], "description": "outer"}
    more: dict[str, object] = {"definitions": {"a": {"type": "string", "title": "inner"}}}
    now = plan_for(obj({"a": part}, ["a"], **more)).required[0]
    assert now.schema == {"description": "outer", "type": "string", "maxLength": 2, "title": "inner"}
    then = plan_for(obj({"a": part}, ["a"], **more, **{"$schema": SEVEN})).required[0]
    assert then.schema == {"description": "outer", "type": "string", "title": "inner"}


def test_a_root_may_be_a_reference_alone() -> None:
    tool = {"$schema": SEVEN, "$ref": "#/definitions/Tool", "definitions": {"Tool": obj({"a": STRING}, ["a"])}}
    result = run(tool, {"a": "x"})
    assert result.walked.arguments == {"a": "x"}
    assert plan_for(tool).validate({}) == ("`/a`: a required property is missing",)


def test_an_unknown_nested_id_is_harmless_without_references() -> None:
    assert plan_for(obj({"a": {"$id": "other", "type": "string"}})).flat


def doubling(depth: int, keyword: str) -> dict[str, object]:
    defs: dict[str, object] = {f"d{n}": {keyword: [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(depth)}
    return obj({"a": {"$ref": "#/$defs/d0"}}, ["a"], **{"$defs": {**defs, f"d{depth}": STRING}})


def doubling_arrays(depth: int) -> dict[str, object]:
    defs: dict[str, object] = {
        f"d{n}": {"anyOf": [{"type": "array", "items": {"$ref": f"#/$defs/d{n + 1}"}}] * 2} for n in range(depth)
    }
    return obj({"a": {"$ref": "#/$defs/d0"}}, **{"$defs": {**defs, f"d{depth}": STRING}})


def wide_recursion() -> dict[str, object]:
    """Each level of a value is visited by twenty times as many subschemas as the level above."""
    again = [{"properties": {"a": {"$ref": "#/$defs/n"}}} for _ in range(20)]
    return obj({"a": {"$ref": "#/$defs/n"}}, **{"$defs": {"n": {"type": "object", "allOf": again}}})


@pytest.mark.parametrize(
    "schema",
    [
        doubling(18, "anyOf"),
        doubling(18, "allOf"),
        doubling(18, "oneOf"),
        doubling(300, "anyOf"),
        doubling_arrays(18),
        wide_recursion(),
    ],
    ids=["anyOf", "allOf", "oneOf", "long", "arrays", "recursion"],
)
def test_a_bomb_is_refused_within_50_ms(schema: object) -> None:
    times = []
    for _ in range(3):
        start = time.thread_time()  # its own work: a busy machine is no bug
        what = refusal_of(schema).what
        times.append(time.thread_time() - start)
        assert "too many subschemas" in what or "one inside another" in what
    assert min(times) < 0.05


def chain(name: str, length: int, end: dict[str, object]) -> dict[str, object]:
    links: dict[str, object] = {f"{name}{n}": {"$ref": f"#/$defs/{name}{n + 1}"} for n in range(length)}
    return {**links, f"{name}{length}": end}


@pytest.mark.parametrize(
    "start",
    [
        {"b": {"$ref": "#/$defs/x0"}, "a": {"$ref": "#/$defs/y0"}},
        {"a": {"anyOf": [{"$ref": "#/$defs/x0"}, {"$ref": "#/$defs/y0"}]}},
    ],
)
def test_chains_are_measured_whole(start: dict[str, object]) -> None:
    defs = {**chain("x", 40, {"$ref": "#/$defs/y0"}), **chain("y", 40, STRING)}
    assert "one inside another" in refusal_of(obj(start, **{"$defs": defs})).what


def test_a_long_chain_is_no_reason_to_fail() -> None:
    ends = chain("x", 15_000, STRING)
    starts = {f"p{n}": {"$ref": f"#/$defs/x{n * 60}"} for n in range(250)}
    assert "one inside another" in refusal_of(obj(starts, **{"$defs": ends})).what


@pytest.mark.parametrize("keyword", ["items", "properties"])
def test_a_long_way_down_is_no_reason_to_fail(keyword: str) -> None:
    def below(number: int) -> dict[str, object]:
        inner = {"$ref": f"#/$defs/x{number + 1}"}
        return {"type": "array", "items": inner} if keyword == "items" else obj({"a": inner})

    defs = {**{f"x{n}": below(n) for n in range(3_000)}, "x3000": obj({"end": STRING})}
    schema = obj({"a": {"type": "array", "items": {"$ref": "#/$defs/x0"}}}, ["a"], **{"$defs": defs})
    result = run(schema)
    assert result.asked == ["a"]
    shown, levels = result.slots[0].schema, 0
    while shown:
        shown = shown["items"] if "items" in shown else shown.get("properties", {}).get("a")  # type: ignore[attr-defined]
        levels += 1
    assert 50 < levels < 70


AGAIN: dict[str, object] = {"$ref": "#/$defs/n"}


@pytest.mark.parametrize(
    "node",
    [
        {"type": "object", "allOf": [{"properties": {"a": AGAIN}}, {"properties": {"a": AGAIN, "b": STRING}}]},
        {"type": "object", "patternProperties": {"a": AGAIN, "^a": AGAIN}},
        {"anyOf": [{"type": "object", "additionalProperties": AGAIN}, {"additionalProperties": AGAIN}]},
    ],
    ids=["same name", "patterns", "rest"],
)
def test_what_doubles_with_each_level_is_checked_only_so_deep(node: dict[str, object]) -> None:
    plan = plan_for(obj({"a": AGAIN}, **{"$defs": {"n": node}}))
    value: dict[str, object] = {}
    for _ in range(8):
        value = {"a": value}
    assert plan.validate({"a": value}) == ()
    for _ in range(40):
        value = {"a": value}
    start = time.thread_time()
    assert "cannot be checked" in plan.validate({"a": value})[0]
    place = plan.nodes.of(plan.nodes.views.of_object(plan.root.raws).properties["a"])
    assert "cannot be checked" in str(plan.validate_slot(plan.slot(place, ("a",), None, required=True), value))
    assert plan.checks.fits((node,), value) is False
    assert time.thread_time() - start < 0.5


def test_alternatives_that_hold_each_other_are_a_common_form() -> None:
    either = {"anyOf": [obj({word: {"type": "array", "items": AGAIN}}, [word]) for word in ("and", "or")]}
    leaf = obj({"field": STRING, "equals": STRING}, ["field", "equals"])
    schema = obj({"filter": AGAIN}, ["filter"], **{"$defs": {"n": {"anyOf": [*either["anyOf"], leaf]}}})
    claims = {"filter": {"and": [{"field": "a", "equals": "1"}, {"or": [{"field": "b", "equals": "2"}]}]}}
    told = {
        "filter/and/0/field": "a",
        "filter/and/0/equals": "1",
        "filter/and/1/or/0/field": "b",
        "filter/and/1/or/0/equals": "2",
    }
    result = run(schema, told, claims)
    assert result.walked.arguments == claims
    assert plan_for(schema).validate(claims) == ()


def test_a_cycle_of_very_many_schemas_is_refused() -> None:
    defs: dict[str, object] = {f"d{n}": obj({"a": {"$ref": f"#/$defs/d{(n + 1) % 6000}"}}) for n in range(6000)}
    assert "too many" in refusal_of(obj({"a": {"$ref": "#/$defs/d0"}}, **{"$defs": defs})).what


def test_doubling_members_end_at_the_limit_of_slots() -> None:
    defs: dict[str, object] = {
        f"d{n}": obj({"l": {"$ref": f"#/$defs/d{n + 1}"}, "r": {"$ref": f"#/$defs/d{n + 1}"}}, ["l", "r"])
        for n in range(40)
    }
    plan = plan_for(obj({"a": {"$ref": "#/$defs/d0"}}, ["a"], **{"$defs": {**defs, "d40": STRING}}))
    start = time.thread_time()
    walked = drive(walk(plan, Script()), lambda _: UNKNOWN).walked
    assert walked.unsupported is not None
    assert walked.unsupported.what == "more than 2000 slots in one call"
    assert time.thread_time() - start < 1


def test_showing_a_slot_is_bounded_too() -> None:
    few = msgspec.structs.replace(DEFAULT, schema_nodes=120)
    defs: dict[str, object] = {
        f"d{n}": obj({"l": {"$ref": f"#/$defs/d{n + 1}"}, "r": {"$ref": f"#/$defs/d{n + 1}"}}) for n in range(10)
    }
    items = {"type": "array", "items": {"$ref": "#/$defs/d0"}}
    plan = compile_schema(obj({"a": items}, ["a"], **{"$defs": {**defs, "d10": STRING}}), few)
    assert isinstance(plan, Plan)
    walked = drive(walk(plan, Script()), lambda _: UNKNOWN).walked
    assert walked.unsupported == Unsupported(at="", what="expanding the schema takes too much work")


TREE = obj({"value": STRING, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}}, ["value"])
LIST = obj({"value": STRING, "next": {"$ref": "#/$defs/node"}}, ["value", "next"])


def test_recursive_data_is_followed_as_deep_as_it_goes() -> None:
    schema = obj({"root": {"$ref": "#/$defs/node"}}, ["root"], **{"$defs": {"node": TREE}})
    claims = {"root": {"value": "1", "children": [{"value": "2", "children": [{"value": "3"}]}]}}
    told = {"root/value": "1", "root/children/0/value": "2", "root/children/0/children/0/value": "3"}
    result = run(schema, told, claims)
    assert result.walked.arguments == claims
    assert result.asked == list(told)


def test_what_requires_itself_without_end_is_unsupported() -> None:
    schema = obj({"root": {"$ref": "#/$defs/node"}}, ["root"], **{"$defs": {"node": LIST}})
    unsupported = run(schema).walked.unsupported
    assert unsupported is not None
    assert unsupported.what == "requires itself without end"
    assert unsupported.at == "/$defs/node"


def test_a_claim_nested_too_deep_is_unsupported() -> None:
    schema = obj({"root": {"$ref": "#/$defs/node"}}, **{"$defs": {"node": TREE}})
    claim: dict[str, object] = {"value": "x"}
    for _ in range(40):
        claim = {"value": "x", "children": [claim]}
    unsupported = run(schema, claims={"root": claim}).walked.unsupported
    assert unsupported is not None
    assert unsupported.what == "a value nested deeper than 64"
