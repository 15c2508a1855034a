"""Random small schemas, random claims, a scripted lookup: what every walk must hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

import jsonschema_rs
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from preflight.core.schema import Plan, compile_schema, walk
from preflight.core.schema.deep import walk_deep
from preflight.model.slot import Slot, Unsupported
from tests.unit.core.schema.scripted import NULL, Policy, Run, Script, drive

NAMES = ("a", "b", "kind", "__class__", "items", "", " ", "x/y", "x~y", "get")
LEAVES: tuple[dict[str, object], ...] = (
    {"type": "string"},
    {"type": "integer"},
    {"type": "boolean"},
    {"enum": ["p", "q"]},
    {"const": "p"},
    {"type": ["string", "null"]},
    {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    {"type": "array", "items": {"type": "string"}},
    {"type": "object"},
    {},
)
VALUES: tuple[object, ...] = ("p", "q", 1, True, None, ["p"], [], {}, {"a": "p"})

leaf = st.sampled_from(LEAVES)


@st.composite
def objects(draw: st.DrawFn, depth: int = 2, rich: bool = True) -> dict[str, object]:
    names = draw(st.lists(st.sampled_from(NAMES), max_size=4, unique=True))
    schema: dict[str, object] = {
        "type": "object",
        "properties": {name: draw(values(depth - 1)) for name in names},
        "required": draw(st.lists(st.sampled_from(names), unique=True)) if names else [],
    }
    if rich and names:
        for keyword in draw(
            st.lists(
                st.sampled_from(("oneOf", "anyOf", "allOf", "if", "dependentRequired")),
                min_size=draw(st.integers(0, 1)),
                max_size=2,
            )
        ):
            schema[keyword] = draw(_added(keyword, names, depth))
            if keyword == "if":
                schema["then"] = {"required": [draw(st.sampled_from(names))]}
                schema["else"] = {"properties": {"otherwise": draw(leaf)}, "required": ["otherwise"]}
    return schema


def _added(keyword: str, names: list[str], depth: int) -> st.SearchStrategy[Any]:
    name = st.sampled_from(names)
    if keyword == "if":
        return name.map(lambda each: {"properties": {each: {"const": "p"}}, "required": [each]})
    if keyword == "dependentRequired":
        return st.dictionaries(name, st.lists(name, unique=True, max_size=2), max_size=2)
    branch = st.one_of(objects(depth - 1, rich=False), name.map(lambda each: {"required": [each]}))
    return st.lists(branch, min_size=1, max_size=3)


def values(depth: int) -> st.SearchStrategy[dict[str, object]]:
    if depth <= 0:
        return leaf
    array = objects(depth, rich=False).map(lambda inner: {"type": "array", "items": inner})
    either = objects(depth, rich=False).map(lambda inner: {"anyOf": [{"type": "string"}, inner]})
    return st.one_of(leaf, leaf, objects(depth), array, either)


claims = st.recursive(
    st.sampled_from(VALUES),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.sampled_from((*NAMES, "zz")), inner, max_size=4)
    ),
    max_leaves=12,
)
policies = st.sampled_from(("drop", "ask", "allow"))


def answering(plan: Plan, data: st.DataObject, settled: bool) -> Callable[[Slot], object]:
    """Answer each slot with a value that fits it; unless all must be settled, now and then with nothing."""

    def answer(slot: Slot) -> object:
        fitting = [value for value in VALUES if value is not None and plan.validate_slot(slot, value) is None]
        choices = fitting + ([NULL] if slot.nullable else [])
        if not choices or (not settled and data.draw(st.booleans())):
            return UNSET
        return data.draw(st.sampled_from(choices))

    return answer


def compiled(schema: dict[str, object]) -> Plan | None:
    plan = compile_schema(schema)
    if isinstance(plan, Unsupported):
        assert plan.at == "" or plan.at.startswith("/")
        return None
    return plan


def leaves(value: object, path: tuple[str | int, ...], stops: set[tuple[str | int, ...]]) -> Iterator[Any]:
    """The values at the places that were slots, and at the ends of everything else."""
    if path not in stops and isinstance(value, dict | list) and value:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in items:
            yield from leaves(inner, (*path, key), stops)
    else:
        yield path, value


def at(value: object, path: tuple[str | int, ...]) -> object:
    for key in path:
        if (isinstance(value, dict) and key in value) or (
            isinstance(value, list) and isinstance(key, int) and key < len(value)
        ):
            value = value[key]
        else:
            return UNSET
    return value


@given(objects(), claims, policies, st.data(), st.booleans())
def test_a_walk_ends_asks_once_and_sends_only_what_it_was_told(
    schema: dict[str, object], claimed: object, policy: Policy, data: st.DataObject, settled: bool
) -> None:
    plan = compiled(schema)
    if plan is None:
        return
    answers: dict[tuple[str | int, ...], object] = {}
    answer = answering(plan, data, settled)

    def remember(slot: Slot) -> object:
        assert slot.path not in answers
        answers[slot.path] = answer(slot)
        return answers[slot.path]

    result = drive(walk(plan, Script(claimed, policy=policy)), remember)
    assert result.walked.unsupported is None
    assert_sent(result, answers, claimed)
    states = (*result.walked.fields, *result.walked.extra_fields)
    if all(state.settled for state in states) and not result.walked.branches and not result.walked.allowed:
        assert_complete(schema, result.walked.arguments)


def assert_sent(result: Run, answers: dict[tuple[str | int, ...], object], claimed: object) -> None:
    allowed = {each.name for each in result.walked.allowed}
    for path, value in leaves(result.walked.arguments, (), set(answers)):
        if path == ():
            continue
        told = answers.get(path, UNSET)
        if told is UNSET and path in answers:
            assert allowed
            assert value == at(claimed, path)
        elif told is NULL:
            assert value is None
        elif path in answers:
            assert value == told
        else:  # an empty container whose members are all settled or left out
            assert value == {}


def assert_complete(schema: dict[str, object], arguments: dict[str, Any]) -> None:
    """No required name is missing, by the judgement of the validator."""
    kinds = jsonschema_rs.ValidationErrorKind
    for error in jsonschema_rs.Draft202012Validator(cast("dict[str, Any]", schema)).iter_errors(arguments):
        assert not isinstance(error.kind, kinds.Required | kinds.AnyOf | kinds.OneOfNotValid), error.message


@given(st.dictionaries(st.sampled_from(NAMES), leaf, max_size=5), st.data(), claims, policies, st.booleans())
def test_the_fast_path_and_the_general_walk_agree(
    properties: dict[str, object], data: st.DataObject, claimed: object, policy: Policy, settled: bool
) -> None:
    required = data.draw(st.lists(st.sampled_from(sorted(properties)), unique=True)) if properties else []
    plan = compiled({"type": "object", "properties": properties, "required": required})
    assert plan is not None
    assert plan.flat
    answers: dict[str, object] = {}
    answer = answering(plan, data, settled)

    def remember(slot: Slot) -> object:
        return answers.setdefault(slot.name, answer(slot))

    script = Script(claimed, policy=policy)
    fast = drive(walk(plan, script), remember)
    general = drive(walk_deep(plan, script), remember)
    assert fast.slots == general.slots
    assert_same(fast, general)


def assert_same(one: Run, other: Run) -> None:
    left, right = one.walked, other.walked
    assert (left.fields, left.extra_fields, left.arguments, left.allowed, left.branches) == (
        right.fields,
        right.extra_fields,
        right.arguments,
        right.allowed,
        right.branches,
    )
    assert sorted(left.dropped, key=lambda each: each.name) == sorted(right.dropped, key=lambda each: each.name)


dialects = st.sampled_from(
    (
        {},
        {"$schema": "https://json-schema.org/draft/2019-09/schema"},
        {"$schema": "http://json-schema.org/draft-07/schema#"},
        {"$schema": "http://json-schema.org/draft-06/schema"},
    )
)


few = st.sampled_from(("a", "b", "A", "$ref", "default"))
names_lists = st.lists(few, unique=True, max_size=2)
references = st.sampled_from(("#/$defs/a", "#/$defs/a", "#/$defs/b", "#", "#/properties/a", "#/default", "#a", "#/x/0"))
LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
MAPS = ("properties", "properties", "properties", "dependentSchemas", "patternProperties", "dependencies")
SINGLE = ("items", "not", "if", "then", "else", "contains", "additionalProperties", "unevaluatedProperties", "default")
PLAIN: dict[str, st.SearchStrategy[object]] = {
    "type": st.sampled_from(("object", "string", "array", ["object", "null"], ["array", "string"])),
    "required": names_lists,
    "dependentRequired": st.dictionaries(few, names_lists, max_size=2),
    "$ref": references,
    "$anchor": st.just("a"),
    "const": st.sampled_from(VALUES),
    "enum": st.lists(st.sampled_from(VALUES), max_size=3),
    "minProperties": st.integers(0, 1),
}
KEYWORDS = sorted({*LISTS, *MAPS, *SINGLE, *PLAIN})


@st.composite
def schemas(draw: st.DrawFn, depth: int = 3) -> object:
    if depth == 0 or draw(st.integers(0, 9)) == 0:
        return draw(st.one_of(leaf, st.booleans()))
    schema: dict[str, object] = {}
    for keyword in draw(st.lists(st.sampled_from((*LISTS, *MAPS, *SINGLE, *PLAIN)), max_size=3)):
        if keyword in LISTS:
            schema[keyword] = draw(st.lists(schemas(depth - 1), min_size=1, max_size=3))
        elif keyword in MAPS:
            schema[keyword] = draw(st.dictionaries(few, schemas(depth - 1), max_size=3))
        else:
            schema[keyword] = draw(schemas(depth - 1) if keyword in SINGLE else PLAIN[keyword])
    return schema


@st.composite
def roots(draw: st.DrawFn) -> dict[str, object]:
    root: dict[str, object] = {"type": "object", "$defs": {"a": draw(schemas(2)), "b": draw(schemas(2))}}
    for _ in range(draw(st.integers(1, 2))):
        root |= {
            key: value
            for key, value in cast(
                "dict[str, object]", draw(schemas().filter(lambda each: isinstance(each, dict)))
            ).items()
            if key != "type"
        }
    return root | {"properties": draw(st.dictionaries(few, schemas(), min_size=1, max_size=3)), **draw(dialects)}


@given(roots(), claims, policies, st.data())
def test_any_schema_is_walked_or_refused(
    schema: dict[str, object], claimed: object, policy: Policy, data: st.DataObject
) -> None:
    plan = compile_schema(schema)
    if isinstance(plan, Unsupported):
        assert plan.what
        assert plan.at == "" or plan.at.startswith("/")
        return
    result = drive(walk(plan, Script(claimed, policy=policy)), answering(plan, data, settled=False))
    assert len({slot.path for slot in result.slots}) == len(result.slots)
    assert all(isinstance(message, str) for message in plan.validate(result.walked.arguments))


anything = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.binary(max_size=2)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=8,
)


@given(anything, st.dictionaries(st.sampled_from(KEYWORDS), anything, max_size=4))
def test_compiling_is_total(anything: object, keywords: dict[str, object]) -> None:
    for schema in (anything, {"type": "object", **keywords}, {"type": "object", "properties": {"a": keywords}}):
        plan = compile_schema(schema)
        assert isinstance(plan, Plan) or plan.what
