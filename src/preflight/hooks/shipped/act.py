"""What does the user call it? The act in the user's own words, never the tool's (R-103)."""

from __future__ import annotations

import re

from preflight.hooks.shipped.request_text import wordings
from preflight.model.request import Utterance

_LONGEST = 120
_POLITE = re.compile(
    r"^(?:(?:hi|hello|hey|ok|okay|thanks|thank you|please|kindly|now|then|so|and|also|just)\b[ ,.!]*"
    r"|(?:can|could|would|will) you\b[ ,]*(?:please\b[ ,]*)?"
    r"|i(?:'d| would)? (?:like|want|need)(?: you)? to\b[ ,]*"
    r"|let'?s\b[ ,]*|go ahead and\b[ ,]*|make sure (?:to|you)\b[ ,]*)+",
    re.IGNORECASE,
)
_END = re.compile(r"[.!?;:](?:\s|$)|\n|,? (?:because|since|so that)\b", re.IGNORECASE)


def act_of(utterance: Utterance) -> str | None:
    """Return the first clause of the latest wording without its courtesies, or None when nothing was said."""
    latest = next(iter(wordings(utterance)), "")
    text = _POLITE.sub("", latest.strip())
    end = _END.search(text)
    clause = " ".join((text[: end.start()] if end else text).split())
    return clause[:_LONGEST].rstrip() or None
