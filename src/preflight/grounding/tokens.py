"""Tokens by their form: addresses, paths and codes are compared as written, words are not (R-47)."""

from __future__ import annotations

import re

TOKEN = re.compile(r"[^\s,;()<>\"'“”]{1,256}")
_IDENTIFIER_CHARS = frozenset("@/\\:#=&?%+$<>^|~")


def shape(token: str) -> str:
    """The sort of a token: `email`, `path`, `code` or `words`."""
    if "@" in token:
        return "email"
    if "/" in token or "\\" in token:
        return "path"
    return "code" if identifier_shaped(token) else "words"


def identifier_shaped(value: str) -> bool:
    """Whether the string is an address, a path, a code or a number rather than words (R-47)."""
    words = value.split()
    if len(words) > 1:
        return "@" in value or "\\" in value or "://" in value
    return any(char.isdigit() or char in _IDENTIFIER_CHARS for char in value) or "." in value.strip(".")
