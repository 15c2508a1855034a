"""JSON as it stands on the wire: read strictly, with every number kept as it is written."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Final, Self

import msgspec

from preflight.limits import DEFAULT
from preflight.model.json_value import exact_number

DEEPEST: Final = 200
"""Levels of nesting at the most: what is deeper cannot be written again by everything that writes here."""
_SHOWN: Final = 40
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")

_STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)


class Written(float):
    """A number whose text a float alone would not give back, like `1.10` or one with more digits than a float has."""

    text: str

    def __new__(cls, text: str) -> Self:
        """Read the text, and keep it."""
        made = super().__new__(cls, text)
        made.text = text
        return made

    def __repr__(self) -> str:
        return self.text


def read(text: bytes) -> object:
    """Read one JSON text; raises ValueError saying why it cannot be read.

    Refused are lone surrogates, invalid UTF-8, `NaN` and infinities, numbers larger than a double, and deep nesting.
    """
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise _too_deep() from None
    except ValueError as fault:
        known = "it has a lone surrogate, or is no JSON text" if _SURROGATE.search(text) else "it is no JSON text"
        message = f"{known}: {fault}"
        raise ValueError(message) from None
    # few texts have so many brackets, so that few are looked at twice
    if text.count(b"[") + text.count(b"{") > DEEPEST and _is_deep(value):
        raise _too_deep()
    return value


def names_twice(text: bytes, value: object) -> bool:
    """Whether an object in a text that was read has a member twice: of two, readers take one or the other (R-34)."""
    level, members = [value], 0
    while level:
        members += sum(len(each) for each in level if type(each) is dict)
        level = list(_inside(level))
    return _STRING.sub(b"", text).count(b":") != members


def write(value: object) -> bytes:
    """Return the JSON text of a value, numbers as they were read; raises an error for what has none."""
    return _ENCODER.encode(value)


def exact(value: object, where: str) -> object:
    """Return arguments with plain numbers, each of exactly the value that was sent.

    Raises InvalidInput for a number that would be rounded: what is recorded is what was proposed (R-47).
    """
    if type(value) is Written:
        number = float(value)
        if Decimal(value.text) == Decimal(repr(number)):
            return number
        return exact_number(Decimal(value.text), where, DEFAULT.number_digits)
    if type(value) is dict:
        given = {name: exact(item, f"{where}/{name}") for name, item in value.items()}
        return given if any(given[name] is not item for name, item in value.items()) else value
    if type(value) is list:
        items = [exact(item, f"{where}/{at}") for at, item in enumerate(value)]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    return value


def plain(value: object) -> Any:
    """Return a value with plain numbers, for what computes with them instead of handing them on."""
    if type(value) is Written:
        return float(value)
    if type(value) is dict:
        return {name: plain(item) for name, item in value.items()}
    return [plain(item) for item in value] if type(value) is list else value


def is_finite(value: object) -> bool:
    """Whether a value that was read elsewhere has no `NaN` and no infinity in it, which JSON cannot say."""
    level = [value]
    while level:
        if any(type(each) is float and not math.isfinite(each) for each in level):
            return False
        level = list(_inside(level))
    return True


def _is_deep(value: object) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        level = [each for each in _inside(level) if type(each) is dict or type(each) is list]
        if not level:
            return False
    return True


def _inside(level: list[object]) -> Iterable[object]:
    for each in level:
        if type(each) is dict:
            yield from each.values()
        elif type(each) is list:
            yield from each


def _too_deep() -> ValueError:
    return ValueError(f"it is nested more than {DEEPEST} levels deep")


def _number(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        message = f"the number `{text[:_SHOWN]}` is larger than a double"
        raise ValueError(message)
    return value if _PLAIN.encode(value).decode() == text else Written(text)


def _as_written(value: object) -> object:
    if isinstance(value, Written):
        return msgspec.Raw(value.text.encode())
    if isinstance(value, Mapping):
        return dict(value)
    message = f"a `{type(value).__name__}` has no JSON text"
    raise TypeError(message)


_PLAIN: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(float_hook=_number)
_ENCODER: Final = msgspec.json.Encoder(enc_hook=_as_written)
