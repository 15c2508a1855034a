"""Text as grounding sees it: token boundaries, the one fold that is allowed, characters that deceive.

Everything here works on code points of the text as the user wrote it. Folding keeps one code point for
one code point wherever it can, and carries a map back where it cannot, so a span always names the
original text.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

# canonical singletons that look like another letter; NFC would make them equal to it.
_SINGLETONS = frozenset("\u2126\u212a\u212b")
_JOINING_MARKS = frozenset(("Mn", "Mc", "Me"))
_TRAILING = frozenset(".,;:!?)]}>'\"`“”‘’«»…。、，！？）」』")
_QUOTES = {"'": "'", '"': '"', "`": "`", "‘": "’", "“": "”", "«": "»", "「": "」"}
_SEPARATORS = frozenset(',;()[]{}<>"`“”‘’«»…。、，！？（）「」『』|—–*')


@lru_cache(maxsize=4096)
def is_cjk(char: str) -> bool:
    """Whether the character belongs to a script that does not put spaces between words."""
    return "\u3040" <= char <= "\u30ff" or "\u3400" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7a3"


@lru_cache(maxsize=8192)
def deceives(char: str) -> bool:
    """Whether a reader cannot tell the character from another one, or cannot see it (R-56).

    Format characters (bidirectional controls, zero-width, soft hyphen, tags), digits outside ASCII,
    and letters or numbers that NFKC would turn into others.
    """
    if char.isascii():
        return False
    if char in _SINGLETONS:
        return True
    category = unicodedata.category(char)
    if category in ("Cf", "Nd") or "\ufe00" <= char <= "\ufe0f":
        return True
    return category[0] in "LN" and unicodedata.normalize("NFKC", char) != unicodedata.normalize("NFC", char)


def has_deceiving(text: str) -> bool:
    """Whether any character of the text deceives."""
    return not text.isascii() and any(deceives(char) for char in text)


def normal(text: str) -> str:
    """Canonical composition and lower case; accents, `ß` and scripts stay as they are (R-47, R-56)."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text).lower()


def lowered(text: str) -> str:
    """Lower case, one code point for one: what would grow (`İ`) stays as it is."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(char.lower() if len(char.lower()) == 1 else char for char in text)


def _joins(before: str, after: str) -> bool:
    """Whether two neighbouring characters belong to one word."""
    if unicodedata.category(after) in _JOINING_MARKS or deceives(before) or deceives(after):
        return True
    return before.isalnum() and after.isalnum() and not is_cjk(before) and not is_cjk(after)


def marked(text: str, at: int) -> bool:
    """Whether the character at a place belongs onto the one before: a combining mark, or one that deceives (R-56)."""
    return at < len(text) and (unicodedata.category(text[at]) in _JOINING_MARKS or deceives(text[at]))


def bounded(text: str, start: int, end: int) -> bool:
    """Whether the span is a whole token or several: nothing of a longer token is cut off (R-52).

    `500` is not in `5000`, `bob` not in `bobby@x`, `report-2024` not in `report-2024-final.pdf`,
    `ana@example.org` not in `ana@example.org.evil.example`.
    """
    before, after = text[start - 1 : start] or " ", text[end : end + 1] or " "
    if before == after == " " and text[start].isascii() and text[end - 1].isascii():
        return True  # most spans: a space, or an end of the text, on either side
    if start > 0 and _joins(text[start - 1], text[start]):
        return False
    if end < len(text) and _joins(text[end - 1], text[end]):
        return False
    if start > 0 and end < len(text) and _QUOTES.get(text[start - 1]) == text[end]:
        return True
    return not (_continues_left(text, start) or _continues_right(text, end))


def _continues_right(text: str, end: int) -> bool:
    stop = end
    while stop < len(text) and stop - end < 64 and not text[stop].isspace() and text[stop] not in _SEPARATORS:
        stop += 1
    rest = text[end:stop]
    while rest and rest[-1] in _TRAILING:
        rest = rest[:-1]
    if not rest or is_cjk(rest[0]) or rest[:2] in ("'s", "’s"):
        if not rest and end + 1 < len(text) and text[end] == ",":
            return text[end - 1].isdigit() and text[end + 1].isdigit()
        return False
    return _is_joined(text[max(0, end - 64) : end], rest)


def _continues_left(text: str, start: int) -> bool:
    stop = start
    while stop > 0 and start - stop < 64 and not text[stop - 1].isspace() and text[stop - 1] not in _SEPARATORS:
        stop -= 1
    rest = text[stop:start].lstrip("'#$€£¥₩₹@")
    if not rest or is_cjk(rest[-1]):
        if not rest and start > 1 and text[start - 1] == ",":
            return text[start].isdigit() and text[start - 2].isdigit()
        return False
    if rest[-1] in ":=" and rest[:-1].replace("_", "").isalpha():
        return False  # `format:json`, `a=2`: a label, not a longer token
    return _is_joined(text[start : start + 64], rest[::-1])


def _is_joined(inside: str, rest: str) -> bool:
    """Whether `rest`, read away from the span, makes one token with it; a hyphen between words does not."""
    if rest[0] in "-/" and rest[1:].replace("-", "").replace("/", "").isalpha():
        word = inside.rsplit(maxsplit=1)[-1] if inside.split() else ""
        return not word.replace("-", "").replace("'", "").isalpha()
    return any(char.isalnum() for char in rest) or rest[0] in "/\\%@_+#"
