"""Foreign text made harmless and honest: what cannot be seen is written as its code point (R-56)."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping

from preflight.model.json_value import thaw

_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
# Letters and marks that draw nothing: Hangul fillers, the blank Braille cell, variation selectors.
_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f") | {chr(code) for code in range(0xFE00, 0xFE10)}
_PLAIN_SPACES = frozenset(" \u3000")


def shown(char: str) -> str:
    """Return one character as it may be printed: itself, or an escape where it draws nothing or moves things."""
    if char.isascii() and char.isprintable():
        return char
    category = unicodedata.category(char)
    hidden = category[0] == "C" or category in ("Zl", "Zp") or char in _BLANK or "\U000e0100" <= char <= "\U000e01ef"
    if hidden or (category == "Zs" and char not in _PLAIN_SPACES):
        return _NAMED.get(char) or f"\\u{{{ord(char):04x}}}"
    return char


def visible(text: str) -> str:
    """Return text with control, bidirectional and invisible characters written out."""
    return text if text.isascii() and text.isprintable() else "".join(map(shown, text))


def quoted(text: str) -> str:
    """Return text in double quotes, so that its ends can be seen."""
    return '"' + visible(text.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def value_text(value: object) -> str:
    """Return a JSON value in one line, whole: what is bound is never shortened."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{quoted(key)}: {value_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(value_text, value)) + "]"
    return json.dumps(thaw(value), ensure_ascii=False)


def visible_json(text: str) -> str:
    """Return JSON text with what cannot be seen as escapes: it reads back as the same value."""
    return "".join(map(_line_visible, text.splitlines(keepends=True)))


def _line_visible(line: str) -> str:
    bare = line.rstrip("\n")
    if bare.isascii() and bare.isprintable():
        return line
    return "".join(char if char == "\n" or shown(char) == char else _escaped(char) for char in line)


def _escaped(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{int.from_bytes(units[at : at + 2]):04x}" for at in range(0, len(units), 2))


def code_points(text: str) -> str:
    """Return the characters outside ASCII by code point and name, for look-alikes."""
    odd = dict.fromkeys(char for char in text if not char.isascii())
    return ", ".join(f"U+{ord(char):04X} {unicodedata.name(char, 'unnamed').lower()}" for char in odd)


def width(text: str) -> int:
    """Return how many cells a text takes on a terminal."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) == "Me":
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1
