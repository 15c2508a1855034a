"""Rules that judge one mention by the words round it: what makes a value that was found not count (R-51 to R-55)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from preflight.grounding import cues, direction, language_cues, operands, tokens
from preflight.grounding.field import Field
from preflight.grounding.leaves import Leaf
from preflight.grounding.place import Place
from preflight.grounding.quantities import unit_after
from preflight.grounding.read_number import as_decimal
from preflight.grounding.read_option import rival_members
from preflight.grounding.words import STOP, cue_key
from preflight.model.evidence import Evidence

_STRICT = frozenset(("target", "object"))
_GENERIC = frozenset(
    (
        "number count limit num n quantity qty amount total top max maximum min minimum size results "
        "result k quantities amounts counts numbers"
    ).split()
)
_PEOPLE = frozenset(
    cue_key(word)
    for word in (
        "guest guests people person persons adults adult diners party seats seat attendees participants "
        "passengers travelers travellers members players"
    ).split()
)
_COUNTED = frozenset("people children men women kids persons feet".split())
_SHORT = 10
_LONG_TEXT = 1000
_NUMBERS = frozenset(
    ("number", "number_scaled", "number_words", "number_loose", "percent", "unit", "ordinal", "ordinal_words")
)
_ONE_BEFORE = re.compile(r"\b(?:this|that|no|any|some|the|another|each|which|every|other|new)\s$", re.IGNORECASE)
_ONE_AFTER = re.compile(r"\s(?:of|thing|that|who|which|way|more|another|day)\b|\s?[,.;!?]|\s?$", re.IGNORECASE)
_MONEY_SIGNS = tuple("$€£¥₩₹")
_MONEY_AFTER = re.compile(
    r"\s?(?:[$€£¥₩₹원円]|(?:won|euros?|dollars?|pounds?|yen|rupees?|francs?|bucks|cents|usd|eur|gbp|krw|jpy|chf)(?![^\W_]))",
    re.IGNORECASE,
)
_NAME = re.compile(r"\b[A-Z][^\W\d_]+")


def kind(found: Evidence) -> str:
    """What sort of thing a mention is, for telling which later mention takes its place."""
    if found.normaliser in _NUMBERS:
        return "number"
    if found.normaliser.startswith("date"):
        return "date"
    if found.normaliser == "time":
        return "time"
    return tokens.shape(found.matched_text)


def judge(leaf: Leaf, found: Evidence, place: Place, places: Sequence[Place]) -> str | None:
    """Why a mention does not count, as a reason code; None when it does."""
    grounding = leaf.field.grounding
    if grounding == "none":
        return "not_groundable"
    if found.grade == "weak" and grounding != "any":
        return "confusable" if "confusable" in found.flags else "weak"
    if place.carried:
        return "carried"
    if "ambiguous" in found.flags and found.normaliser not in _NUMBERS:
        return "ambiguous"
    if found.grade == "derived" and not may_derive(leaf.field):
        return "derived"
    if language_cues.refused(found, place) and (
        kind(found) != "number" or found.start == 0 or not _bound(found, place)
    ):
        return "negated"
    if superseded(found, place, places) or direction.changed_from(leaf.field, found, place):
        return "superseded"
    if _open(leaf, found, place):
        return "ambiguous"
    if _is_of_another(leaf, found, place) or _short(leaf, found, place, places):
        return "weak"
    return "swapped" if direction.wrong_end(leaf.field, found, place) else None


def _is_of_another(leaf: Leaf, found: Evidence, place: Place) -> bool:
    """Whether the number is one of something else than the field asks for."""
    if operands.is_operand(found, place):
        return True
    return _sum_of_money(leaf, found, place) or counts_another(leaf, found, place)


def may_derive(field: Field) -> bool:
    """Whether a value of this field may follow from the user's words by a named rule (R-51, R-57)."""
    grounding = field.grounding
    if grounding in ("derived", "any"):
        return True
    return grounding != "stated" and field.role not in _STRICT


def _bound(found: Evidence, place: Place) -> bool:
    return (
        re.search(
            r"\b(?:more|less|fewer|over|under|than|exceed\w*)\s",
            place.index.text[max(0, found.start - 24) : found.start],
        )
        is not None
    )


def superseded(found: Evidence, place: Place, places: Sequence[Place]) -> bool:
    """Whether a later mention of the same sort takes its place after a correction (R-53).

    Only the last correction counts: it says what the user wants in the end.
    """
    sort = kind(found)
    for other in reversed(places):
        if other.segment_index < place.segment_index:
            break
        after = found.end if other.segment_index == place.segment_index else 0
        if other.index.retracted >= after:
            return True
        if sort == "words":
            if after and other.index.taken_back(after):
                return True
            if found.normaliser == "exact" and other.index.other_name(after, found.matched_text):
                return True
            continue
        last = other.index.replacement(sort, len(found.matched_text) if sort == "code" else 0)
        if last and last.after >= after:
            written = other.index.text[last.start : last.end]
            return written.lower() != found.matched_text.lower() and str(last.key) != found.canonical
    return False


def _open(leaf: Leaf, found: Evidence, place: Place) -> bool:
    """`300 or 500`, `grill or steam`: two live candidates."""
    if not language_cues.has_choice(found, place):
        return False
    sort = kind(found)
    others = [(start, end) for start, end, _ in place.index.mentions(sort) if (start, end) != (found.start, found.end)]
    if leaf.field.members:
        others = [span for _, span in rival_members(leaf.field, leaf.value, place)]
    if sort in ("email", "code", "path"):
        text = place.index.text
        others = [
            token.span()
            for token in tokens.TOKEN.finditer(text, max(0, found.start - 64), min(len(text), found.end + 64))
            if tokens.shape(token[0].rstrip(".!?:")) == sort and token.start() != found.start
        ]
    if sort == "words" and not leaf.field.members and found.matched_text[:1].isupper():
        others = [
            word.span()
            for word in _NAME.finditer(
                place.index.text, max(0, found.start - 24), min(len(place.index.text), found.end + 40)
            )
            if word.end() <= found.start or word.start() >= found.end
        ]
    return bool(others) and language_cues.open_choice(found, place, others)


def _short(leaf: Leaf, found: Evidence, place: Place, places: Sequence[Place]) -> bool:
    """A short number that nothing ties to the field (R-54)."""
    if found.normaliser not in _NUMBERS or found.normaliser in ("unit", "percent"):
        return False
    value = as_decimal(leaf.value)
    if value is None or abs(value) >= _SHORT or value != value.to_integral_value():
        return False
    if cues.near(leaf.field, found, place):
        return False
    if "perhaps_time" in found.flags or _is_pronoun(found, place):
        return True
    return sum(len(other.index.text) for other in places) > _LONG_TEXT


def _sum_of_money(leaf: Leaf, found: Evidence, place: Place) -> bool:
    """`500 won` or `$1102534` for a field that names an account or another identifier."""
    if not leaf.field.identifier or not found.matched_text.isdigit():
        return False
    text = place.index.text
    return (
        text[max(0, found.start - 1) : found.start] in _MONEY_SIGNS or _MONEY_AFTER.match(text, found.end) is not None
    )


def _is_pronoun(found: Evidence, place: Place) -> bool:
    """`this one`, `one of them`: no count."""
    if found.matched_text.lower() != "one":
        return False
    text = place.index.text
    return bool(_ONE_BEFORE.search(text, max(0, found.start - 12), found.start) or _ONE_AFTER.match(text, found.end))


def counts_another(leaf: Leaf, found: Evidence, place: Place) -> bool:
    """`3 kids` for a field that counts rooms."""
    value = as_decimal(leaf.value)
    if found.normaliser not in ("number", "number_words") or value is None or abs(value) >= _SHORT:
        return False
    names = set(leaf.field.words) - _GENERIC
    if not any(_plural(word) or word in _COUNTED for word in names):
        return False
    text, index = place.index.text, place.index.words
    at = index.at(found.end)
    if at >= len(index.words) or unit_after(text, found.end):
        return False
    word = index.words[at]
    counted = word.isalpha() if value == 1 else _plural(word) or word in _COUNTED
    if text[found.end : index.span(at)[0]].strip(" -") or word in STOP or not counted:
        return False
    return cue_key(word) not in leaf.field.cues and not (
        cue_key(word) in _PEOPLE and not _PEOPLE.isdisjoint(leaf.field.cues)
    )


def _plural(word: str) -> bool:
    return (
        len(word) > 3
        and word.endswith("s")
        and not word.endswith(("us", "ss", "is"))
        and word not in ("units", "times")
    )
