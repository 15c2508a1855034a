"""Passages of a user's message that somebody else wrote: quoted lines, forwarded mail, reported speech (R-55)."""

from __future__ import annotations

import re
from functools import lru_cache

_MAYBE = re.compile(
    r"^[ \t]*>|forward|original message|wrote|writes|says|said|subject[ \t]*:|schrieb|escribió|écrit|작성|님이|引用"
    r"|転送|weitergeleitet|reenviado|transféré|betreff|asunto|objet|전달된|원본|제목|件名|元のメッセージ|<blockquote"
    r"|^[ \t]*\[",
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
# The line alone, as mail programs of other languages put it.
_FORWARD_LINE = re.compile(
    r"^[ \t]*(?:forwarded message|original message|weitergeleitete nachricht|ursprüngliche nachricht|mensaje reenviado"
    r"|message transféré|전달된 메시지|원본 메시지|転送メッセージ|元のメッセージ)[ \t]*[:：]?[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_HEADER = re.compile(
    r"^[ \t]*(?:(?P<sender>from|von|de|da|absender|remitente|expéditeur|보낸 ?사람|差出人)"
    r"|(?P<subject>subject|betreff|asunto|objet|oggetto|제목|件名)"
    r"|to|cc|bcc|date|sent|reply-to|an|datum|gesendet|para|fecha|enviado|à|envoyé|받는 ?사람|날짜|보낸 날짜|宛先|日時)"
    r"[ \t]{0,2}[:：][^\n]{0,300}(?:\n|\Z)",
    re.IGNORECASE | re.MULTILINE,
)
_BLOCK = re.compile(r"<blockquote\b[^>]{0,200}>.*?(?:</blockquote>|\Z)", re.IGNORECASE | re.DOTALL)
# `[10:32] Eve: ...`, `[3/12/26, 10:32] Eve: ...`: a line copied from a chat.
_CHAT_LINE = re.compile(
    r"^[ \t]*\[[^\]\n]{0,24}\d:\d\d[^\]\n]{0,10}\][ \t]?(?P<who>[^\W\d_][^:\n]{0,40}):[^\n]*$", re.MULTILINE
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
# Without a colon only a quotation of several words is a message; `the button that says "Submit"` is none.
_SAID = re.compile(
    r"\b(?P<who>[^\W\d_]+)[ ](?:wrote|writes|says|said),?[ ]"
    r"(?P<what>\"[^\"\s]+(?:\s[^\"\s]+){2,400}\"|“[^”\s]+(?:\s[^”\s]+){2,400}”)",
    re.IGNORECASE,
)
_OWN = frozenset(("i", "we", "me"))


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
    spans += [match.span() for match in _BLOCK.finditer(text)]
    for pattern in (_FORWARDED, _FORWARD_LINE, _WROTE):
        first = pattern.search(text)
        if first:
            spans.append((first.start(), len(text)))
    if (header := _header_block(text)) is not None:
        spans.append((header, len(text)))
    for pattern, group in ((_REPORTED, "what"), (_SAID, "what"), (_CHAT_LINE, 0)):
        spans += [match.span(group) for match in pattern.finditer(text) if match["who"].lower() not in _OWN]
    return spans


def _header_block(text: str) -> int | None:
    """Where the header of a mail starts: lines in a row that name its sender and its subject."""
    start, end, seen = 0, -1, set[str]()
    for line in _HEADER.finditer(text):
        if line.start() != end:
            start, seen = line.start(), set()
        end = line.end()
        seen.add(line.lastgroup or "")
        if {"sender", "subject"} <= seen:
            return start
    return None
