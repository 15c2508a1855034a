"""JSON values as the program holds them: frozen on the way in, compared exactly."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import TypeGuard

import msgspec

from preflight.errors import InvalidInput
from preflight.limits import DEFAULT, Limits

_ENCODER = msgspec.json.Encoder(order="deterministic")
_SCALARS = frozenset({type(None), bool, int, str})
_BITS_A_DIGIT = 3.3219
"""Bits that a decimal digit takes: comparing with a power of ten would build that power each time."""
_ARRAYS = frozenset({list, tuple})


def freeze(value: object, where: str, limits: Limits = DEFAULT) -> object:
    """Return a deep, read-only copy of a JSON value: objects as mappings, arrays as tuples (R-101).

    Raises InvalidInput naming the place when something is not JSON: NaN, infinities, lone surrogates,
    keys that are not strings, cycles and anything nested deeper than `limits.json_depth`.
    """
    return _freeze(value, where, limits.json_depth, limits.number_digits)


def _freeze(value: object, where: str, depth: int, digits: int) -> object:
    kind = type(value)
    if kind in _SCALARS:
        if kind is str:
            _check_text(str(value), where)
        elif isinstance(value, int) and value.bit_length() > digits * _BITS_A_DIGIT:
            raise InvalidInput(where, f"a number of more than {digits} digits", "send it as a string")
        return value
    if isinstance(value, float | Decimal):
        return _finite(value, where, digits)
    if depth == 0:
        raise InvalidInput(where, "nested too deeply", "flatten the value")
    if isinstance(value, Mapping):
        return _freeze_object(value, where, depth - 1, digits)
    if isinstance(value, list | tuple) and kind in _ARRAYS:
        return tuple([_freeze(item, f"{where}/{i}", depth - 1, digits) for i, item in enumerate(value)])
    raise InvalidInput(where, f"a `{kind.__name__}` is not a JSON value", "send plain JSON")


def _freeze_object(value: Mapping[object, object], where: str, depth: int, digits: int) -> object:
    frozen: dict[str, object] = {}
    for key, item in value.items():
        if type(key) is not str:
            raise InvalidInput(where, f"a key of type `{type(key).__name__}`", "use strings as keys")
        _check_text(key, where)
        frozen[key] = _freeze(item, f"{where}/{key}", depth, digits)
    return MappingProxyType(frozen)


def _check_text(text: str, where: str) -> None:
    if text.isascii():
        return
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInput(where, "a lone surrogate in a string", "send valid Unicode") from None


def _finite(value: float | Decimal, where: str, digits: int) -> int | float:
    if not (value.is_finite() if type(value) is Decimal else math.isfinite(value)):
        raise InvalidInput(where, "not a finite number", "send a number or a string")
    if isinstance(value, float):
        return float(value)  # of a type of its own, the number alone
    return exact_number(value, where, digits)


def exact_number(value: Decimal, where: str, digits: int) -> int | float:
    """Return the int or float that stands for exactly this decimal; refuse one that would be rounded (R-47)."""
    if abs(value.adjusted()) > digits:
        raise InvalidInput(where, f"a number of more than {digits} digits", "send it as a string")
    if value == value.to_integral_value():
        return int(value)
    if Decimal(repr(float(value))) != value:
        raise InvalidInput(where, "a number that cannot be carried exactly", "send it as a string")
    return float(value)


def thaw(value: object) -> object:
    """Return a plain, mutable copy (`dict`, `list`) of a frozen JSON value, as encoders and validators want it."""
    kind = type(value)
    if kind is MappingProxyType or kind is dict:
        return {key: thaw(item) for key, item in value.items()}  # type: ignore[attr-defined]
    if kind is tuple or kind is list:
        return [thaw(item) for item in value]  # type: ignore[attr-defined]
    return value


def exact(value: object) -> object:
    """Return a plain copy of a JSON value with each number in one form: `500000.0` is `500000` (R-47)."""
    kind = type(value)
    if kind is float:
        return int(value) if value.is_integer() else value  # type: ignore[attr-defined, call-overload]
    if kind is MappingProxyType or kind is dict:
        return {key: exact(item) for key, item in value.items()}  # type: ignore[attr-defined]
    if kind is tuple or kind is list:
        return [exact(item) for item in value]  # type: ignore[attr-defined]
    return value


def value_digest(value: object) -> str:
    """Return the hex SHA-256 of a JSON value in a fixed form: equal values have equal digests."""
    return hashlib.sha256(_ENCODER.encode(exact(value))).hexdigest()


CONFIRMED_BY = 32
"""Hex digits of a value's digest in the key of its approval: 128 bits, so that nobody finds two values with one key."""


def confirmation_id(name: str, value: object) -> str:
    """Return the key under which a user approves a shown value: it dies when the value changes (R-57)."""
    return f"confirm/{name}/{value_digest(value)[:CONFIRMED_BY]}"


def is_object(value: object) -> TypeGuard[Mapping[str, object]]:
    """Whether a value is a JSON object: of an exact type, for a look-alike could answer as it likes (R-101)."""
    kind = type(value)
    return kind is dict or kind is MappingProxyType


def is_number(value: object) -> bool:
    """Whether a value is a JSON number; booleans are not (R-47)."""
    kind = type(value)
    return kind is int or kind is float


def same_value(left: object, right: object) -> bool:
    """Whether two JSON values are equal: numbers by exact value, strings by code points (R-47)."""
    if is_number(left) and is_number(right):
        return left == right if type(left) is type(right) else _exact(left) == _exact(right)
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same_value(left[k], right[k]) for k in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(same_value, left, right))
    return type(left) is type(right) and left == right


def _exact(number: object) -> Decimal:
    """Return the number's decimal value; a float stands for the shortest text that reads back as it."""
    return Decimal(repr(number)) if type(number) is float else Decimal(number)  # type: ignore[arg-type]
