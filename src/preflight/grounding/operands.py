"""Numbers that only lead to a value: `half of 120`, `120 plus tax` (R-51)."""

from __future__ import annotations

import re

from preflight.grounding.place import Place
from preflight.model.evidence import Evidence

_SIGN = r"[$€£¥₩₹]?"
_MULTIPLE = re.compile(
    r"(?:\b(?:half|double|twice|triple|(?:an?|one|two|three|four) (?:half|third|quarter|fifth|tenth)s?)"
    rf"|\d\s?%|\bper ?cent)\s(?:of\s)?(?:the\s|my\s)?{_SIGN}$",
    re.IGNORECASE,
)
_MULTIPLIER = re.compile(r"half|double|twice|triple|third|quarter|fifth|tenth|%|per ?cent", re.IGNORECASE)
_CHANGED = re.compile(
    r"\s?[€%$]?(?:\s(?:won|euros?|dollars?|pounds?|yen|bucks|usd|eur|gbp|krw))?,?\s?(?:plus|minus|\+)\s(?:the\s|an?\s)?"
    rf"(?:{_SIGN}\d[\d.,]*\s?(?:%|per ?cent)|(?:sales )?tax|vat|fees?|shipping|postage|interest|tips?\b|discount)",
    re.IGNORECASE,
)
_BEFORE = 24


def is_operand(found: Evidence, place: Place) -> bool:
    """Whether the words make another number of this one."""
    text = place.index.text
    if not found.matched_text[-1:].isdigit():
        return False
    if _CHANGED.match(text, found.end):
        return True
    if not place.index.has_near(_MULTIPLIER, found.start - _BEFORE, found.start):
        return False
    return _MULTIPLE.search(text[max(0, found.start - _BEFORE) : found.start]) is not None
