"""Which end of `from A to B` a mention stands at, against the end that the field's name asks for (R-52)."""

from __future__ import annotations

import re

from preflight.grounding.field import Field
from preflight.grounding.matching import claimed_spans
from preflight.grounding.place import Place
from preflight.model.evidence import Evidence

_FROM = frozenset("from source origin departure start begin sender".split())
_TO = frozenset("to destination dest arrival end until recipient receiver target".split())
_LINK = r"(?:the |my |account |den |el |la |le )?"
_AFTER_FROM = re.compile(rf"\b(?:from|out of|between|von|desde|de|du|ab)\s{_LINK}$", re.IGNORECASE)
_AFTER_TO = re.compile(rf"\b(?:to|into|until|till|and|nach|bis|hasta|hacia|à|au|vers)\s{_LINK}$", re.IGNORECASE)
# A name, a number or a code follows, not a verb.
_BEFORE_TO = re.compile(r"\s(?:to|into|nach|->|→)\s(?=[A-Z0-9]|\S*[.@/\d])")
_ANY_FROM = re.compile(r"\b(?:from|between|von|desde|du)\s", re.IGNORECASE)
_ANY_TO = re.compile(r"\b(?:to|into|until|till|and|nach|bis|hasta|à|au)\s", re.IGNORECASE)
_EAST_FROM = re.compile(r"(?:에서|부터|から)")
_EAST_UNTIL = re.compile(r"(?:까지|まで)")
_EAST_TO = re.compile(r"(?:으?로|까지|에게|한테|まで|へ|に)(?![가-힣])")
_CHANGED = re.compile(
    r"\b(?:chang\w+|updat\w+|rais\w+|lower\w*|increas\w+|reduc\w+|switch\w*|reschedul\w+|postpon\w+|correct\w*)\b"
    r"[^.;!?\n]{0,40}\bfrom\s(?:the )?$",
    re.IGNORECASE,
)
_CHANGE = re.compile(r"chang|updat|rais|lower|increas|reduc|switch|reschedul|postpon|correct", re.IGNORECASE)
# `change 300 to 200`, `replace bob@x.org by amy@x.org`, `300 → 200`: a value of the same form follows.
_SWAPPED_OUT = re.compile(
    r"\b(?:chang|updat|replac|swap|switch|exchang|correct)\w*\s(?:(?:the|my|our|it|this|that|[^\W\d_]+)\s){0,2}[$€£¥₩]?$",
    re.IGNORECASE,
)
_FOR_A_NUMBER = re.compile(r"\s?[€%]?(?:\s[^\W\d_]+)?\s(?:to|with|by|for|into)\s[$€£¥₩]?[0-9]", re.IGNORECASE)
_FOR_AN_ADDRESS = re.compile(r"\s(?:to|with|by|for|into)\s\S{1,64}@\S", re.IGNORECASE)
_ARROW = re.compile(r"\s?(?:->|→|=>)\s?[$€£¥₩]?(?:[0-9]|\S{1,64}@\S)")
_LINKED = re.compile(r"\s(?:to|with|by|for|into)\s", re.IGNORECASE)
_PAIR, _BEFORE = 80, 24


def wrong_end(field: Field, found: Evidence, place: Place) -> bool:
    """Whether the words put the mention at the other end than the field's name."""
    words = set(field.words)
    starts, ends = bool(words & _FROM), bool(words & _TO)
    if starts == ends:
        return False
    text = place.index.text
    _, begin, end = claimed_spans(found)[0]
    before = text[max(0, begin - _BEFORE) : begin]
    around = text[max(0, begin - _PAIR) : begin] + "|" + text[end : end + _PAIR]
    timed = found.normaliser.startswith(("date", "time"))
    if starts:
        paired = not timed or _ANY_FROM.search(around) is not None
        east = (_EAST_UNTIL if timed else _EAST_TO).match(text, end)
        return (_AFTER_TO.search(before) is not None and paired) or east is not None
    if _EAST_FROM.match(text, end):
        return True
    if _AFTER_FROM.search(before):
        return _ANY_TO.search(around) is not None
    return not timed and _BEFORE_TO.match(text, end) is not None and not _AFTER_TO.search(before)


def _swapped_out(text: str, found: Evidence) -> bool:
    """Whether another number or address is put in the place of this one."""
    address = "@" in found.matched_text
    if not address and not found.matched_text[-1:].isdigit():
        return False
    if _ARROW.match(text, found.end):
        return True
    if not (_FOR_AN_ADDRESS if address else _FOR_A_NUMBER).match(text, found.end):
        return False
    match = _SWAPPED_OUT.search(text, max(0, found.start - _BEFORE * 2), found.start)
    return match is not None and not _LINKED.search(match[0])


def changed_from(field: Field, found: Evidence, place: Place) -> bool:
    """Whether the mention is the old value of `change it from 500 to 400`."""
    if not _FROM.isdisjoint(field.words) or not {"old", "current", "previous"}.isdisjoint(field.words):
        return False
    text = place.index.text
    if _swapped_out(text, found):
        return True
    if not place.index.has_near(_CHANGE, found.start - _PAIR, found.start):
        return False
    before = text[max(0, found.start - _PAIR) : found.start]
    return _CHANGED.search(before) is not None and _ANY_TO.search(text, found.end, found.end + _PAIR) is not None
