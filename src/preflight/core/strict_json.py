"""Strict JSON: what other readers silently repair is refused here, with the place (R-11, R-47).

Refused are duplicate keys, NaN and infinities, numbers that a float would round, lone surrogates, byte
order marks, invalid UTF-8, and anything larger or deeper than the limits.
"""

from __future__ import annotations

import json
from decimal import Decimal

from preflight.errors import InvalidInput
from preflight.limits import DEFAULT, Limits
from preflight.model.json_value import exact_number, freeze


def parse(text: bytes | str, where: str = "input", limits: Limits = DEFAULT) -> object:
    """Read one JSON text into frozen values; raises InvalidInput saying what is wrong and where."""
    text = _decoded(text, where, limits)
    _check_depth(text, where, limits.json_depth)
    try:
        value = json.loads(
            text,
            object_pairs_hook=lambda pairs: _object(pairs, where),
            parse_float=lambda literal: _number(literal, where, limits),
            parse_int=lambda literal: _integer(literal, where, limits),
            parse_constant=lambda literal: _constant(literal, where),
        )
    except json.JSONDecodeError as fault:
        place = f"{where}, line {fault.lineno} column {fault.colno}"
        raise InvalidInput(place, f"not JSON: {fault.msg.lower()}", "send one JSON value") from None
    return freeze(value, where, limits)


def _decoded(text: bytes | str, where: str, limits: Limits) -> str:
    if len(text) > limits.request_bytes:
        raise InvalidInput(where, f"larger than {limits.request_bytes} bytes")
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as fault:
            raise InvalidInput(where, f"not UTF-8 at byte {fault.start}", "send UTF-8") from None
    if text.startswith("\ufeff"):
        raise InvalidInput(where, "starts with a byte order mark", "send UTF-8 without one")
    return text


def _check_depth(text: str, where: str, deepest: int) -> None:
    """Refuse deep nesting before the recursive reader meets it; brackets inside strings do not count."""
    depth = 0
    for i, piece in enumerate(text.replace("\\\\", "").replace('\\"', "").split('"')):
        if i % 2:
            continue
        for char in piece:
            if char in "[{":
                depth += 1
                if depth > deepest:
                    raise InvalidInput(where, f"nested deeper than {deepest}", "flatten the value")
            elif char in "]}":
                depth -= 1


def _object(pairs: list[tuple[str, object]], where: str) -> dict[str, object]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise InvalidInput(where, f"the key `{twice}` stands twice in one object", "keep one of them")
    return made


def _number(literal: str, where: str, limits: Limits) -> int | float:
    _check_length(literal, where, limits)
    return exact_number(Decimal(literal), where, limits.number_digits)


def _integer(literal: str, where: str, limits: Limits) -> int:
    _check_length(literal, where, limits)
    return int(literal)


def _check_length(literal: str, where: str, limits: Limits) -> None:
    if len(literal) > limits.number_digits:
        raise InvalidInput(where, f"a number of more than {limits.number_digits} digits", "send it as a string")


def _constant(literal: str, where: str) -> object:
    raise InvalidInput(where, f"`{literal}` is not JSON", "send a number, a string or null")
