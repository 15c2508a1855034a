"""Inputs of a condition as CEL takes them: plain values, each with the code of its type (R-47, R-60)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec
from msgspec import UNSET

from preflight.rules.expression import EXACT

WORD = 2**63
"""Whole numbers of CEL have 64 bits."""
LARGEST = 1e100
"""Fractions above this are refused: a few products of them would be infinite, and infinite compares as true."""
ANY = "-"
"""The code of what may be of any type."""
_MAPS = (dict, MappingProxyType)
_LISTS = (list, tuple)


class Unusable(ValueError):
    """A value that CEL cannot hold exactly; the text says which sort, never the value."""


class Seen(msgspec.Struct):
    """What numbers there are among the inputs: a fraction, and a whole one that no double holds exactly."""

    fraction: bool = False
    big: bool = False


def take(value: object, seen: Seen) -> tuple[str, object]:
    """Return the type code of a value and the value as CEL takes it; raises Unusable."""
    kind = type(value)
    if kind is str:
        return "s", value
    if kind is int or kind is float:
        return _number(value, seen)  # type: ignore[arg-type]
    if kind is bool:
        return "b", value
    if kind in _LISTS:
        return _list(value, seen)  # type: ignore[arg-type]
    if kind in _MAPS:
        return "m", {name: take(item, seen)[1] for name, item in value.items()}  # type: ignore[attr-defined]
    if value is None:
        return ANY, None
    raise Unusable(f"a `{kind.__name__}` is no JSON value")


def _number(value: float, seen: Seen) -> tuple[str, object]:
    if type(value) is int:
        if not -WORD <= value < WORD:
            raise Unusable("a number beyond 64 bits")
        seen.big = seen.big or not -EXACT <= value <= EXACT
        return "i", value
    if not -LARGEST < value < LARGEST:  # also refuses nan
        raise Unusable("a number that is too large")
    seen.fraction = True
    return "d", value


def _list(items: list[object] | tuple[object, ...], seen: Seen) -> tuple[str, object]:
    taken = [take(item, seen) for item in items]
    codes = {code for code, _ in taken}
    code = codes.pop() if len(codes) == 1 else ""
    return f"l{code}" if code != ANY else "l", [value for _, value in taken]


def find(root: Mapping[str, object], steps: tuple[str, ...]) -> object:
    """Return what stands at a path, or UNSET when nothing does: null is a value."""
    value: object = root
    for step in steps:
        if type(value) not in _MAPS:
            return UNSET
        value = value.get(step, UNSET)  # type: ignore[attr-defined]
    return value
