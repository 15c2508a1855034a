"""Passages of a user's message that somebody else wrote: quoted lines, forwarded mail, reported speech (R-55)."""

from __future__ import annotations

import re
from functools import lru_cache

_MAYBE = re.compile(
    r"^[ \t]*>|forward|original message|wrote|writes|says|said|subject:|schrieb|escribió|écrit|작성|님이|引用|転送",
    re.IGNORECASE | re.MULTILINE,
)
_QUOTED_LINE = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_FORWARDED = re.compile(
    r"^[ \t>*]*-{2,}[ \t]*(?:forwarded message|original message|weitergeleitete nachricht"
    r"|mensaje reenviado|message transféré|전달된 메시지|転送メッセージ)[ \t]*-{0,}"
    r"|^[ \t]*begin forwarded message:|^[ \t]*from:[^\n]{1,200}\n(?:[ \t]*(?:sent|date|to|cc"
    r"|subject):[^\n]{0,300}\n?){1,5}",
    re.IGNORECASE | re.MULTILINE,
)
_WROTE = re.compile(
    r"^[ \t]*(?:on|am|el|le)\b[^\n]{4,120}\b(?:wrote|schrieb|escribió|écrit)\b[^\n]{0,60}:[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_REPORTED = re.compile(
    r"\b(?P<who>[^\W\d_]+)[ ](?:wrote|writes|says|said|emailed|texted)(?: to)?(?: me| us)?(?: today"
    r"| yesterday| this)?[ ]?:[ \t\n]*(?P<what>\"[^\"\n]{1,2000}\"|“[^”\n]{1,2000}”|'[^'\n]{1,2000}'"
    r"|[^\n]+)",
    re.IGNORECASE,
)
_OWN = frozenset(("i", "we"))


@lru_cache(maxsize=512)
def own_words(text: str) -> str:
    """The text with every foreign passage blanked out, length and offsets kept."""
    if not _MAYBE.search(text):
        return text
    pieces, at = [], 0
    for start, end in sorted(foreign(text)):
        if end > at:
            pieces += [text[at : max(at, start)], "\n" * (end - max(at, start))]
            at = end
    return "".join([*pieces, text[at:]])


def foreign(text: str) -> list[tuple[int, int]]:
    """The spans that somebody else wrote, as far as their form shows it."""
    spans = [match.span() for match in _QUOTED_LINE.finditer(text)]
    for pattern in (_FORWARDED, _WROTE):
        first = pattern.search(text)
        if first:
            spans.append((first.start(), len(text)))
    return spans + [match.span("what") for match in _REPORTED.finditer(text) if match["who"].lower() not in _OWN]
