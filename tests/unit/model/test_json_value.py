"""JSON values: frozen on the way in, compared exactly (R-47, R-101)."""

from __future__ import annotations

from collections import OrderedDict
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import pytest

from preflight.codec import encode
from preflight.errors import InvalidInput
from preflight.model.json_value import confirmation_id, freeze, is_number, same_value, thaw


class Word(str):
    __slots__ = ()


class Number(int): ...


class Part(float): ...


@pytest.mark.parametrize(
    "value",
    [None, True, 0, -5, 2.5, "", "가", "😀", [], {}, [1, [2]], {"a": {"b": [None]}}, 10**399, {"": 1, "__class__": 2}],
)
def test_a_json_value_comes_back_as_it_was(value: Any) -> None:
    assert thaw(freeze(value, "x")) == value


def test_a_number_of_a_type_of_its_own_becomes_a_plain_one() -> None:
    frozen = freeze({"a": Part(1.5)}, "x")
    assert frozen == {"a": 1.5}
    assert type(frozen["a"]) is float  # type: ignore[index]
    assert encode({"a": [Part(1.5)]}) == b'{"a":[1.5]}'
    with pytest.raises(InvalidInput, match="not a finite number"):
        freeze(Part("inf"), "x")


def test_a_frozen_value_cannot_be_changed_and_follows_no_change() -> None:
    given: dict[str, Any] = {"a": [1, {"b": 2}]}
    frozen: Any = freeze(given, "x")
    given["a"][1]["b"] = 3
    assert thaw(frozen) == {"a": [1, {"b": 2}]}
    for change in (lambda: frozen.__setitem__("a", 1), lambda: frozen["a"][1].__setitem__("b", 1)):
        with pytest.raises((TypeError, AttributeError)):
            change()
    assert type(frozen["a"]) is tuple


def test_any_mapping_is_an_object() -> None:
    assert thaw(freeze(OrderedDict(a=MappingProxyType({"b": (1,)})), "x")) == {"a": {"b": [1]}}


REFUSED: dict[str, tuple[Any, str]] = {
    "nan": ({"a": [float("nan")]}, "`x/a/0`: not a finite number"),
    "infinity": (float("-inf"), "not a finite number"),
    "a decimal that is none": (Decimal("NaN"), "not a finite number"),
    "a decimal that signals": (Decimal("sNaN"), "not a finite number"),
    "an endless decimal": (Decimal("Infinity"), "not a finite number"),
    "a decimal too long": (Decimal("1e401"), "more than 400 digits"),
    "a decimal that would be rounded": (Decimal("0.1000000000000000000001"), "cannot be carried exactly"),
    "an integer too long": (10**400, "more than 400 digits"),
    "a negative one too long": (-(10**400), "more than 400 digits"),
    "a surrogate": (["\ud800"], "`x/0`: a lone surrogate"),
    "a surrogate in a key": ({"\udfff": 1}, "a lone surrogate"),
    "a key that is no text": ({1: 2}, "a key of type `int`"),
    "a key of another type": ({Word("a"): 2}, "a key of type `Word`"),
    "bytes": (b"x", "a `bytes` is not a JSON value"),
    "a set": ({1}, "a `set` is not a JSON value"),
    "an object": (object(), "a `object` is not a JSON value"),
    "a text of another type": (Word("a"), "a `Word` is not a JSON value"),
    "a number of another type": (Number(1), "a `Number` is not a JSON value"),
}


@pytest.mark.parametrize(("value", "why"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_no_json_value_is_refused_with_its_place(value: Any, why: str) -> None:
    with pytest.raises(InvalidInput) as fault:
        freeze(value, "x")
    assert why in str(fault.value)


@pytest.mark.parametrize("deep", [lambda v: [v], lambda v: {"a": v}, lambda v: (v,)])
def test_64_levels_are_the_limit(deep: Any) -> None:
    value: Any = 1
    for _ in range(64):
        value = deep(value)
    freeze(value, "x")
    with pytest.raises(InvalidInput, match="nested too deeply"):
        freeze(deep(value), "x")


@pytest.mark.parametrize(("value", "number"), [("1.0", 1), ("-0", 0), ("1e2", 100), ("0.5", 0.5), ("1e20", 10**20)])
def test_a_decimal_becomes_the_number_it_is(value: str, number: Any) -> None:
    frozen = freeze(Decimal(value), "x")
    assert frozen == number
    assert type(frozen) is type(number)


SAME: list[tuple[Any, Any]] = [
    *((1, 1.0), (0, -0.0), (100, 1e2), (10**20, 1e20), (0.1, 0.1)),
    *(("a", "a"), (None, None), (True, True), ([1, [2.0]], (1.0, (2,)))),
    ({"a": 1, "b": [1]}, MappingProxyType({"b": (1.0,), "a": 1})),
]
DIFFERENT: list[tuple[Any, Any]] = [
    *((1, True), (0, False), (1, "1"), (None, False), (None, 0), ("", None), ([], {}), ([], [1])),
    *((2**53 + 1, float(2**53)), (0.1 + 0.2, 0.3), (10**23, 1e23 * 1.0000001)),
    *(("ß", "ss"), ("e\u0301", "é"), ("a", "а"), ("5", "５")),
    *(([1, 2], [2, 1]), ({"a": 1}, {"a": 1, "b": 2}), ({"a": 1}, {"a": True})),
]


@pytest.mark.parametrize(("left", "right"), SAME)
def test_equal_values_are_equal(left: Any, right: Any) -> None:
    assert same_value(left, right)
    assert same_value(right, left)


@pytest.mark.parametrize(("left", "right"), DIFFERENT)
def test_values_that_only_look_equal_are_not(left: Any, right: Any) -> None:
    assert not same_value(left, right)
    assert not same_value(right, left)


def test_a_boolean_is_no_number() -> None:
    assert [is_number(value) for value in (1, 1.5, True, "1", None)] == [True, True, False, False, False]


def test_an_approval_belongs_to_one_slot_and_one_value() -> None:
    #
    key = confirmation_id("body", {"a": 1, "b": [2]})
    assert key == confirmation_id("body", freeze({"b": [2], "a": 1}, "x"))
    assert key.startswith("confirm/body/")
    assert len(key.rpartition("/")[2]) == 32
    assert len({key, confirmation_id("body", {"a": 1}), confirmation_id("title", {"a": 1, "b": [2]})}) == 3
