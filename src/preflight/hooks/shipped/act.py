"""What does the user call it? The act in the user's own words, never the tool's (R-103)."""

from __future__ import annotations

import re

from preflight.hooks.shipped.request_text import wordings
from preflight.model.request import Utterance

_LONGEST = 300
_POLITE = re.compile(
    r"^(?:(?:hi|hello|hey|ok|okay|thanks|thank you|please|kindly|now|then|so|and|also|just|first|finally|next)\b[ ,.!]*"
    r"|(?:can|could|would|will) you\b[ ,]*(?:please\b[ ,]*)?"
    r"|(?:(?:i|we|you)(?:'d| would)? )?(?:also )?(?:like|want|wish|need|have)(?: you)? to\b[ ,]*"
    r"|(?:your task|the task) is to\b[ ,]*|let'?s\b[ ,]*|go ahead and\b[ ,]*"
    r"|(?:make sure|be sure|remember) (?:to|you)\b[ ,]*|\d{1,2}[.)][ ]+|[-*][ ]+)+",
    re.IGNORECASE,
)
_BREAK = re.compile(
    r"[.!?;:](?:\s+|$)|(?<=[a-z])\.(?=[A-Z][a-z])|\n+"  # the space after a sentence may be missing
    r"|(?<!go ahead),?\s+(?:[Aa]nd then|[Aa]nd|[Tt]hen|[Bb]ut)\s+|,\s+"
)
_REASON = re.compile(r",? (?:because|since|so that)\b", re.IGNORECASE)


def act_of(utterance: Utterance) -> str | None:
    """Return what the latest wording of the request asks for, without its courtesies; None when nothing was said.

    One request may name several acts ("read the notice and adjust my rent"); the name keeps all of them,
    since which of them a tool does is the tool gate's question.
    """
    clauses = clauses_of(next(iter(wordings(utterance)), ""))
    return "; ".join(clauses)[:_LONGEST].rstrip("; ") or None


def clauses_of(text: str) -> list[str]:
    """Return the clauses of a request, each without its courtesies and reasons; the number of a list's item is none."""
    parts = (" ".join(part.split()) for part in _BREAK.split(text))
    return [clause for part in parts if (clause := _bare(part)) and not clause.isdecimal()]


def _bare(part: str) -> str:
    text = _POLITE.sub("", part)
    reason = _REASON.search(text)
    return (text[: reason.start()] if reason else text).strip()
