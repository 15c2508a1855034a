"""Alternatives of objects are chosen by what came back known, never by a claim (R-35)."""

from __future__ import annotations

import pytest

from preflight.core.schema import Walked
from preflight.model.slot import BranchProblem
from tests.unit.core.schema.scripted import NULL, STRING, obj, plan_for, run

IBAN = obj({"iban": STRING}, ["iban"])
CARD = obj({"card": STRING, "cvv": STRING}, ["card", "cvv"])
OPTIONS = (("iban",), ("card", "cvv"))
CLAIMS = {"iban": "x", "card": "c", "cvv": "v"}
NOT_CHOSEN = "belongs to an alternative or a case that does not apply"


def pay(kind: str, **more: object) -> dict[str, object]:
    return obj({"amount": {"type": "number"}}, ["amount"], **{kind: [IBAN, CARD]}, **more)


BOTH = pytest.mark.parametrize("kind", ["oneOf", "anyOf"])


def problems(walked: Walked) -> list[tuple[str, str]]:
    return [(problem.at, problem.kind) for problem in walked.branches]


@BOTH
def test_the_one_touched_branch_is_chosen(kind: str) -> None:
    result = run(pay(kind), {"amount": 1, "iban": "x"}, CLAIMS)
    assert result.fields == {"amount": "known", "iban": "known"}
    assert result.walked.arguments == {"amount": 1, "iban": "x"}
    assert result.walked.branches == ()
    assert result.dropped == {"card": NOT_CHOSEN, "cvv": NOT_CHOSEN}


@BOTH
def test_what_the_chosen_branch_lacks_is_an_ordinary_unknown(kind: str) -> None:
    result = run(pay(kind), {"amount": 1, "card": "c"}, CLAIMS)
    assert result.fields == {"amount": "known", "card": "known", "cvv": "unknown"}
    assert result.walked.branches == ()


@BOTH
def test_claims_alone_choose_nothing(kind: str) -> None:
    result = run(pay(kind), {"amount": 1}, {"iban": "x"})
    assert result.walked.branches == (BranchProblem("", "branch_unresolved", OPTIONS),)
    assert result.fields == {"amount": "known"}
    assert result.extra == {}
    assert sorted(result.asked) == ["amount", "card", "cvv", "iban"]


def test_two_touched_branches_of_one_of_conflict() -> None:
    result = run(pay("oneOf"), {"amount": 1, "iban": "x", "card": "c"}, CLAIMS)
    assert result.walked.branches == (BranchProblem("", "branch_conflict", OPTIONS),)
    assert result.fields == {"amount": "known"}
    assert result.extra == {"iban": "known", "card": "known"}
    assert result.walked.arguments == {"amount": 1}


def test_any_of_takes_every_satisfied_branch() -> None:
    both = run(pay("anyOf"), {"amount": 1, "iban": "x", "card": "c", "cvv": "v"})
    assert both.walked.arguments == {"amount": 1, "iban": "x", "card": "c", "cvv": "v"}
    assert both.walked.branches == ()
    one = run(pay("anyOf"), {"amount": 1, "iban": "x", "card": "c"}, CLAIMS)
    assert one.walked.arguments == {"amount": 1, "iban": "x"}
    assert one.dropped == {"card": NOT_CHOSEN, "cvv": NOT_CHOSEN}


def test_any_of_with_several_touched_and_none_satisfied_is_unresolved() -> None:
    two = obj({}, anyOf=[obj({"a": STRING, "b": STRING}, ["a", "b"]), CARD])
    result = run(two, {"a": "1", "card": "2"})
    assert problems(result.walked) == [("", "branch_unresolved")]
    assert result.extra == {"a": "known", "card": "known"}


def test_a_branch_may_only_require_what_is_declared_beside_it() -> None:
    schema = obj({"a": STRING, "b": STRING}, anyOf=[{"required": ["a"]}, {"required": ["b"]}])
    assert run(schema, {"a": "1"}).fields == {"a": "known"}
    assert run(schema, {"a": "1", "b": "2"}, {"b": "2"}).walked.arguments == {"a": "1", "b": "2"}
    claimed = run(schema, {"a": "1"}, {"a": "1", "b": "2"})
    assert claimed.dropped == {"b": "not confirmed at any source"}
    nothing = run(schema)
    assert nothing.walked.branches == (BranchProblem("", "branch_unresolved", (("a",), ("b",))),)
    exclusive = obj({"a": STRING, "b": STRING}, oneOf=[{"required": ["a"]}, {"required": ["b"]}])
    assert problems(run(exclusive, {"a": "1", "b": "2"}).walked) == [("", "branch_conflict")]


def tagged(kind: str = "oneOf", tag: dict[str, object] | None = None) -> dict[str, object]:
    one = obj({"by": {"const": "iban", "title": "By"}, "iban": STRING}, ["by", "iban"])
    other = obj({"by": {"const": "card", "title": "By"}, "card": STRING}, ["by", "card"])
    return obj({"by": tag} if tag else {}, ["by"] if tag else [], **{kind: [one, other]})


@BOTH
@pytest.mark.parametrize("tag", [None, {"type": "string"}])
def test_a_discriminator_is_looked_up_with_the_chosen_branch(kind: str, tag: dict[str, object] | None) -> None:
    plan = plan_for(tagged(kind, tag))
    result = run(plan, {"iban": "x", "by": "iban"}, {"by": "iban", "iban": "x"})
    by = next(slot for slot in result.slots if slot.name == "by")
    assert by.schema["const"] == "iban"
    assert result.walked.arguments == {"iban": "x", "by": "iban"}
    assert plan.validate_slot(by, "card") == "`const` is not met"


@BOTH
def test_a_known_discriminator_chooses(kind: str) -> None:
    result = run(tagged(kind), {"by": "card"}, {"by": "card", "card": "c"})
    by = next(slot for slot in result.slots if slot.name == "by")
    assert by.schema == {"title": "By", "enum": ["iban", "card"]}
    assert result.fields == {"by": "known", "card": "unknown"}
    assert result.walked.branches == ()


@BOTH
def test_an_unknown_discriminator_is_asked_for_with_the_choice(kind: str) -> None:
    result = run(tagged(kind), {}, {"by": "card", "card": "c"})
    assert result.fields == {"by": "unknown"}
    assert result.walked.branches == (BranchProblem("", "branch_unresolved", (("by", "iban"), ("by", "card"))),)
    assert len(result.asked) == len(set(result.asked))


def test_a_value_that_contradicts_a_branch_takes_it_out() -> None:
    one = obj({"n": {"type": "integer"}, "a": STRING}, ["n", "a"])
    other = obj({"n": {"type": "string"}, "b": STRING}, ["n", "b"])
    schema = obj({"n": {"type": ["integer", "string"]}}, ["n"], oneOf=[one, other])
    result = run(schema, {"n": 5, "a": "1", "b": "2"})
    assert result.walked.arguments == {"n": 5, "a": "1"}
    assert result.walked.branches == ()
    assert result.dropped == {}


def test_a_contradicted_branch_is_not_touched() -> None:
    other = obj({"mode": {"const": "fast"}, "limit": STRING}, ["limit"])
    schema = obj({"mode": STRING}, ["mode"], oneOf=[obj({"x": STRING}, ["x"]), other])
    assert problems(run(schema, {"mode": "slow", "limit": "3"}).walked) == [("", "branch_unresolved")]
    assert run(schema, {"mode": "fast", "limit": "3"}).walked.arguments == {"mode": "fast", "limit": "3"}


def test_alternatives_that_need_the_same_names_need_no_choice() -> None:
    number, text = obj({"v": {"type": "number"}}, ["v"]), obj({"v": STRING}, ["v"])
    schema = obj({}, anyOf=[number, text])
    result = run(schema, {"v": "x"})
    assert result.walked.arguments == {"v": "x"}
    assert run(schema).fields == {"v": "unknown"}
    assert run(schema).walked.branches == ()
    plan = plan_for(schema)
    union = run(plan).slots[0]
    assert union.schema == {"anyOf": [{"type": "number"}, STRING]}
    assert plan.validate_slot(union, True) == "`anyOf` is not met"
    same = obj({}, oneOf=[obj({"v": STRING}, ["v"]), obj({"v": {"type": "string"}}, ["v"], additionalProperties=False)])
    assert run(same, {"v": "x"}).walked.arguments == {"v": "x"}


def test_alternatives_of_a_property() -> None:
    schema = obj({"to": {"oneOf": [IBAN, CARD]}}, ["to"])
    result = run(schema, {"to/iban": "x"})
    assert result.fields == {"to/iban": "known"}
    assert result.walked.arguments == {"to": {"iban": "x"}}
    open_ = run(schema)
    assert open_.walked.branches == (BranchProblem("to", "branch_unresolved", (("to/iban",), ("to/card", "to/cvv"))),)
    assert open_.fields == {}


def test_optional_alternatives_without_claim_or_offer_are_skipped() -> None:
    schema = obj({"to": {"oneOf": [IBAN, CARD]}})
    assert run(schema).asked == []
    assert run(schema).walked.branches == ()
    claimed = run(schema, {}, {"to": {"iban": "x"}})
    assert claimed.dropped == {"to": "not confirmed at any source"}
    assert claimed.walked.branches == ()
    asked = run(schema, {}, {"to": {"iban": "x"}}, policy="ask")
    assert problems(asked.walked) == [("to", "branch_unresolved")]
    assert run(schema, {}, {"to": {"iban": "x"}}, policy="allow").walked.arguments == {}


def test_alternatives_within_alternatives() -> None:
    inner = obj({"kind": STRING}, ["kind"], oneOf=[IBAN, CARD])
    schema = obj({}, oneOf=[inner, obj({"cash": STRING}, ["cash"])])
    result = run(schema, {"kind": "k", "iban": "x"})
    assert result.walked.arguments == {"kind": "k", "iban": "x"}
    half = run(schema, {"kind": "k"})
    assert half.fields == {"kind": "known"}
    assert half.walked.branches == (BranchProblem("", "branch_unresolved", OPTIONS),)
    assert run(schema, {"cash": "1"}).walked.arguments == {"cash": "1"}


def test_two_groups_are_judged_apart() -> None:
    schema = obj({}, allOf=[{"oneOf": [IBAN, CARD]}, {"anyOf": [obj({"a": STRING}, ["a"]), obj({"b": STRING}, ["b"])]}])
    result = run(schema, {"iban": "x", "b": "1"})
    assert result.walked.arguments == {"iban": "x", "b": "1"}
    half = run(schema, {"iban": "x"})
    assert half.fields == {"iban": "known"}
    assert half.walked.branches == (BranchProblem("", "branch_unresolved", (("a",), ("b",))),)


def test_a_nested_object_touches_its_branch() -> None:
    one = obj({"person": obj({"name": STRING, "born": STRING}, ["name", "born"])}, ["person"])
    schema = obj({}, oneOf=[one, obj({"firm": STRING}, ["firm"])])
    result = run(schema, {"person/name": "x"})
    assert result.fields == {"person/name": "known", "person/born": "unknown"}
    assert result.walked.branches == ()


def test_null_touches_nothing() -> None:
    one = obj({"a": {"type": ["string", "null"]}}, ["a"])
    result = run(obj({}, oneOf=[one, obj({"b": STRING}, ["b"])]), {"a": NULL})
    assert problems(result.walked) == [("", "branch_unresolved")]
    assert result.extra == {"a": "null"}


def test_optional_members_touch_when_they_are_confirmed() -> None:
    schema = obj({}, oneOf=[obj({"a": STRING}), obj({"b": STRING})])
    assert run(schema).walked.branches == (BranchProblem("", "branch_unresolved", (("a",), ("b",))),)
    result = run(schema, {"a": "1"}, {"a": "1"})
    assert result.extra == {"a": "known"}
    assert result.walked.arguments == {"a": "1"}


def test_a_value_that_all_branches_admit_tells_nothing() -> None:
    one = obj({"n": {"type": "integer"}, "a": STRING}, ["n", "a"])
    other = obj({"n": {"type": "number"}, "b": STRING}, ["n", "b"])
    schema = obj({}, oneOf=[one, other])
    assert problems(run(schema, {"n": 5}).walked) == [("", "branch_unresolved")]
    assert run(schema, {"n": 5}).fields == {"n": "known"}
    assert run(schema, {"n": 5.5}).fields == {"n": "known", "b": "unknown"}


def test_what_the_object_requires_may_be_declared_by_a_branch_alone() -> None:
    schema = obj({}, ["x"], oneOf=[obj({"x": STRING}), obj({"y": STRING}, ["y"])])
    assert run(schema, {"x": "1"}).walked.arguments == {"x": "1"}
    wrong = run(schema, {"y": "1"})
    assert wrong.walked.branches == ()
    assert "`/x`: a required property is missing" in plan_for(schema).validate(wrong.walked.arguments)
    nested = obj({"o": schema})
    assert run(nested, {"o/y": "1"}, {"o": {"y": "1"}}).walked.arguments == {}


def test_an_optional_discriminator_is_looked_up_when_claimed() -> None:
    one = obj({"by": {"const": "x"}, "a": STRING}, ["a"])
    other = obj({"by": {"const": "y"}, "b": STRING}, ["b"])
    schema = obj({}, oneOf=[one, other])
    assert run(schema, {}, {"by": "y"}).extra == {}
    assert run(schema, {"by": "y"}, {"by": "y"}).fields == {"b": "unknown"}
    assert run(schema, {"by": "y"}, {"by": "y"}).extra == {"by": "known"}
    told = run(schema, {"by": "y", "a": "1", "b": "2"}, {"by": "y"})
    assert told.walked.arguments == {"by": "y", "b": "2"}
    conflict = run(schema, {"a": "1", "b": "2"}, {"by": "y"})
    assert conflict.walked.branches == (BranchProblem("", "branch_conflict", (("a",), ("b",))),)
    assert conflict.extra == {"a": "known", "b": "known"}


def test_three_branches_share_a_member_of_two() -> None:
    common = {"street": STRING}
    one, two = obj({**common, "flat": STRING}, ["street", "flat"]), obj({**common, "box": STRING}, ["street", "box"])
    schema = obj({}, oneOf=[one, two, obj({"grid": STRING}, ["grid"])])
    assert problems(run(schema, {"street": "s"}).walked) == [("", "branch_conflict")]
    assert run(schema, {"street": "s", "box": "1"}).walked.branches != ()
    assert run(schema, {"grid": "g"}).walked.arguments == {"grid": "g"}


def test_members_with_constants_of_several_schemas_are_shown_as_one() -> None:
    wide = {"allOf": [{"type": "object"}, {"minProperties": 0}], "additionalProperties": True}
    one = {"allOf": [obj({"by": wide, "a": STRING}, ["by", "a"]), obj({"by": {"x-note": 1}})]}
    schema = obj({}, anyOf=[one, obj({"by": STRING, "b": STRING}, ["by", "b"])], **{"$defs": {"s": STRING}})
    plan = plan_for(schema)
    by = next(slot for slot in run(plan).slots if slot.name == "by")
    assert plan.validate_slot(by, "x") is None
    assert plan.validate_slot(by, {}) is None
    assert plan.validate_slot(by, 3) == "`anyOf` is not met"


def test_made_up_schemas_reach_their_references() -> None:
    one = {"allOf": [obj({"by": {"$ref": "#/$defs/s"}, "a": STRING}, ["by", "a"]), obj({"by": {"minLength": 2}})]}
    schema = obj(
        {}, anyOf=[one, obj({"by": {"type": "integer"}, "b": STRING}, ["by", "b"])], **{"$defs": {"s": STRING}}
    )
    plan = plan_for(schema)
    by = next(slot for slot in run(plan).slots if slot.name == "by")
    assert plan.validate_slot(by, "xy") is None
    assert plan.validate_slot(by, 3) is None
    assert plan.validate_slot(by, "x") == "`anyOf` is not met"
    listed = obj(
        {},
        anyOf=[
            obj({"by": {"$ref": "#/$defs/e"}, "a": STRING}, ["by", "a"]),
            obj({"by": {"enum": ["q"]}, "b": STRING}, ["by", "b"]),
        ],
        **{"$defs": {"e": {"enum": ["p", {"k": 1}], "description": "which"}}},
    )
    plan = plan_for(listed)
    by = next(slot for slot in run(plan).slots if slot.name == "by")
    assert by.schema == {"enum": ["p", {"k": 1}, "q"]}
    assert plan.validate_slot(by, "z") == "`enum` is not met"


def test_a_name_that_only_a_condition_declares_does_not_stop_the_choice() -> None:
    late = {"if": {"required": ["never"]}, "then": obj({"late": STRING}, ["late"])}
    schema = obj({"never": STRING}, oneOf=[{"required": ["late"]}, obj({"b": STRING}, ["b"])], **late)
    assert run(schema, {"b": "1"}).walked.arguments == {"b": "1"}
    assert problems(run(schema).walked) == [("", "branch_unresolved")]
