"""Which plain words of YAML are values: those of JSON, and nothing that readers of YAML disagree about."""

from __future__ import annotations

import re
from decimal import Decimal

from preflight.errors import InvalidInput
from preflight.limits import DEFAULT
from preflight.model.json_value import exact_number
from preflight.rules.node import Kind

NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
SURROGATE = re.compile("[\ud800-\udfff]")
_ALMOST_NUMBER = re.compile(
    r"[-+]?(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?|[-+]?0[xXoObB][0-9a-fA-F_]+"
)
_ALMOST_WORD = re.compile(r"true|false|yes|no|on|off|y|n", re.IGNORECASE)
_ALMOST_NULL = re.compile(r"null|~", re.IGNORECASE)
_ENDLESS = re.compile(r"[-+]?\.inf|\.nan", re.IGNORECASE)


class Ambiguous(ValueError):
    """A plain word that some readers take for a number, a flag or null; the text says what to write."""


def resolve(word: str) -> tuple[Kind, object]:
    """Return the kind and value of a plain scalar; raises Ambiguous for one that readers disagree about."""
    if word in ("true", "false"):
        return "flag", word == "true"
    if word == "null":
        return "null", None
    if NUMBER.fullmatch(word):
        return "number", number(word)
    return "text", _text(word)


def number(word: str) -> int | float:
    """Return the exact number; raises Ambiguous for one that a float would round (R-47)."""
    if len(word) > DEFAULT.number_digits:
        raise Ambiguous("a number of too many digits; write it in quotes")
    try:
        return exact_number(Decimal(word), "number", DEFAULT.number_digits)
    except InvalidInput as fault:
        raise Ambiguous(f"{fault.what}; write it in quotes") from None


def _text(word: str) -> str:
    if word == "":
        raise Ambiguous("nothing stands here; write a value, or `null`")
    if _ALMOST_WORD.fullmatch(word):
        raise Ambiguous(f"`{word}` is a flag to some and text to others; write `true` or `false`, or text in quotes")
    if _ALMOST_NULL.fullmatch(word):
        raise Ambiguous(f"`{word}` is null to some and text to others; write `null`, or text in quotes")
    if _ENDLESS.fullmatch(word):
        raise Ambiguous(f"`{word}` is no number of JSON; write a finite one, or text in quotes")
    if _ALMOST_NUMBER.fullmatch(word):
        raise Ambiguous(f"`{word}` is not written as JSON writes numbers; write `10`, `0.5`, or text in quotes")
    return word
