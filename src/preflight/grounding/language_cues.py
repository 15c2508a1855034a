"""What the words round a mention do to it: negate, hedge, leave open, take back (R-53, bad input 51)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from preflight.grounding.place import Place
from preflight.model.evidence import Evidence

_SMALL = r"(?:to |for |from |in |at |on |with |the |a |an |any |my )?"
_REFUSED = re.compile(
    r"(?:(?:(?<!i )(?<!we )(?<!they )(?<!you )\b(?:don['’]?t|do not|never)(?:,[^,.;!?\n]{1,30},)?"
    r"|\b(?:must|should|shall|may)(?:n['’]t|\snot|\snever))\s(?!forget|worry|hesitate|only|just)(?:[^\W\d_]+\s){1,2}"
    rf"{_SMALL}"
    rf"|\b(?:but |and |, ?)?not\s{_SMALL}"
    r"|\bwithout\s(?:[^\W\d_]+\s){1,2}(?:to|for)\s(?:the )?"
    r"|\b(?:except(?: for)?|exclud(?:e|ing)|omit(?:ting)?|ignor(?:e|ing)|instead of|rather than|other than"
    r"|(?:any|every)(?:thing|one|body|\s[^\W\d_]+)\sbut|all but|avoid|skip|used to be|formerly|previously"
    rf")\s{_SMALL}"
    r"|\b(?:nicht|außer|statt|anstatt|sin|no a|excepto|salvo|menos|en vez de|en lugar de"
    r"|anstelle von|sauf|pas|au lieu de|plutôt que)\s(?:an |auf |a |à |el |la "
    r"|le |den |die |das )?)['\"“]?$",
    re.IGNORECASE,
)
# What every refusal holds: a cheap look before the long pattern.
_REFUSER = re.compile(
    r"not|n['’]t|never|without|xcept|xclud|omit|ignor|instead|rather|than|but|avoid|skip|nicht|außer|statt|sin|no a"
    r"|salvo|menos|vez|sauf|pas|used|former|previous|lugar|stelle|lieu|plut",
    re.IGNORECASE,
)
_SPARED = re.compile(r"\b(?:keep|spare|preserve|leave)\s(?:the )?['\"“]?$", re.IGNORECASE)
_LEFT_ALONE = re.compile(r"['\"”]?\s(?:alone|as (?:it )?is|untouched|in place|unchanged)\b", re.IGNORECASE)
_REMOVAL = re.compile(r"\b(?:delet|remov|eras|drop|wip|clear|purg|cancel)", re.IGNORECASE)
_REFUSED_AFTER = re.compile(r"['\"”]?\s?(?:말고|빼고|제외|ではなく|じゃなくて|以外)")
# `no 300 sino 200`, `nicht 300, sondern 200`
_NO_BEFORE = re.compile(r"\b(?:no|not|nicht|pas)\s(?:a |el |la |à |le |an |the )?[$€£¥₩]?$", re.IGNORECASE)
_BUT_AFTER = re.compile(r"\s?[€%]?,?\s(?:sino|sondern|mais|but)\b", re.IGNORECASE)
_BOUND = re.compile(
    r"\b(?:not|no|nicht|no)\s(?:more|less|fewer|over|under|above|below|exceed\w*|greater|later|earlier|mehr)\b",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"\b(?:roughly|about|around|approximately|approx\.?|maybe|perhaps|some|circa|ungefähr|etwa|unos|unas|environ|~)\s?$|(?:약|대략|約)\s?$",
    re.IGNORECASE,
)
_OR = re.compile(r"or|oder|ou|또는|아니면|か|または", re.IGNORECASE)
_OR_AFTER = re.compile(
    r"[^\W\d_%°]{0,12}[ ]?,?\s?(?:or(?! rather)|oder|ou|또는|아니면|か|または)\s(?:the |on |at |a )?|\s?(?:아니면"
    r"|또는|か|または)\s?",
    re.IGNORECASE,
)
_OR_BEFORE = re.compile(
    r"\b(?:or|oder|ou|또는|아니면|または)\s(?:the |on |at |a )?[$€£¥₩]?$|(?:아니면|또는|か|または)\s?$", re.IGNORECASE
)
_WINDOW = 48


def refused(found: Evidence, place: Place) -> bool:
    """Whether the words just before name the value to be left out: `but not to X`, `never delete X`."""
    text = place.index.text
    before = text[max(0, found.start - _WINDOW) : found.start]
    if _REFUSED_AFTER.match(text, found.end) or _LEFT_ALONE.match(text, found.end):
        return True
    if _BUT_AFTER.match(text, found.end) and _NO_BEFORE.search(before):
        return True
    if _SPARED.search(before) and place.index.has_near(_REMOVAL, 0, len(text)):
        return True  # `keep X, delete Y`
    match = _REFUSED.search(before) if place.index.has_near(_REFUSER, found.start - _WINDOW, found.start) else None
    return match is not None and not _BOUND.search(before[match.start() :] + found.matched_text[:12])


def hedged(found: Evidence, place: Place) -> bool:
    """Whether the user called the value rough; it is flagged, and stays the user's value."""
    return _HEDGE.search(place.index.text[max(0, found.start - 24) : found.start]) is not None


def has_choice(found: Evidence, place: Place) -> bool:
    """Whether an `or` stands beside the mention at all."""
    if not place.index.has_near(_OR, found.start - 24, found.end + 24):
        return False
    text = place.index.text
    return (
        _OR_AFTER.match(text, found.end) is not None
        or _OR_BEFORE.search(text, max(0, found.start - 24), found.start) is not None
    )


def open_choice(found: Evidence, place: Place, others: Sequence[tuple[int, int]]) -> bool:
    """Whether another value of the kind stands on the other side of an `or` (R-53)."""
    text = place.index.text
    after = _OR_AFTER.match(text, found.end)
    if after and any(0 <= start - after.end() <= 1 for start, _ in others):
        return True
    before = _OR_BEFORE.search(text, max(0, found.start - 24), found.start)
    return before is not None and any(
        0 <= before.start() - end <= 14 and not _breaks(text[end : before.start()]) for _, end in others
    )


def _breaks(gap: str) -> bool:
    return any(char in ".;!?\n" for char in gap)
