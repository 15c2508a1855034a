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
# What stands behind such words and a colon is to be written, said or tried, or is taken back: `dry run: pay 500`.
_SPOKEN_OF = re.compile(
    r"(?:please |now |just |and )*(?:draft|write|compose|say|tell|reply|answer|translate|summari[sz]e|explain|rephrase"
    r"|proofread|quote|note|remember|remind|to-?do|add to|simulate|simulation|pretend|imagine|suppose|test|dry[- ]?run"
    r"|example|for example|undo|revert|cancel|stop|ignore|forget|prepare|don['’]?t|do not|never|not)\b",
    re.IGNORECASE,
)
_ORDERED = re.compile(
    r"\bplease\b|\b(?:can|could|would|will|may|might|shall) (?:you|we|i)\b|\bwould you mind\b", re.IGNORECASE
)
_TAG = re.compile(
    r"(?:is|was|isn['’]t) (?:that|this|it) .{0,20}|right|correct|or not|or (?:should|shall|do) (?:i|we|you)\b.{0,30}"
    r"|(?:should|shall) (?:i|we)\b.{0,30}",
    re.IGNORECASE,
)


def act_of(utterance: Utterance) -> str | None:
    """Return what the latest wording of the request asks for, without its courtesies; None when nothing was said.

    One request may name several acts ("read the notice and adjust my rent"); the name keeps all of them,
    since which of them a tool does is the tool gate's question.
    """
    clauses = clauses_of(next(iter(wordings(utterance)), ""))
    return "; ".join(clauses)[:_LONGEST].rstrip("; ") or None


def clauses_of(text: str) -> list[str]:
    """Return the clauses of a request, each without its courtesies and reasons; the number of a list's item is none.

    Left out is what is only spoken of, behind a colon, and what is asked and not ordered: "pay 500, right?".
    """
    found: list[str] = []
    sentence = start = 0
    for end in (*_BREAK.finditer(text), None):
        part = " ".join(text[start : end.start() if end else len(text)].split())
        mark = end[0].strip()[:1] or end[0][:1] if end else ""
        clause = _bare(part)
        if mark == "?" and not _ORDERED.search(part):
            del found[sentence if _TAG.fullmatch(part) else len(found) :]
        elif clause and not clause.isdecimal():
            found.append(clause)
        if end is None or (mark == ":" and _SPOKEN_OF.match(part)):
            break
        sentence, start = len(found) if mark in ".!?;\n" else sentence, end.end()
    return found


def _bare(part: str) -> str:
    text = _POLITE.sub("", part)
    reason = _REASON.search(text)
    return (text[: reason.start()] if reason else text).strip()
