"""When should it happen? Read from explicit wording only; None when the words leave it open (R-21, R-23)."""

from __future__ import annotations

import re
import unicodedata

from preflight.hooks.shipped.request_text import wordings
from preflight.model.checklist import WhenCase
from preflight.model.request import Utterance

_UNITS = r"(?:second|minute|hour|day|week|month|year)s?"
_DAYS = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_COUNTS = r"\d+|(?:half )?an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a few|a couple of|several"
_SIGNS = r"is|are|has|have|gets?|falls?|drops?|rises?|reaches|exceeds?|arrives?|comes?|goes|clears?|changes?|becomes?"
_CUES: dict[WhenCase, tuple[str, ...]] = {
    "recurring": (
        rf"\b(?:every|each) (?:other )?(?:\w+ )?(?:{_UNITS}|{_DAYS}|morning|evening|night|weekday|weekend|time)\b",
        r"\b(?:daily|hourly|weekly|fortnightly|monthly|quarterly|yearly|annually)\b",
        rf"\bonce a {_UNITS}\b|\bon {_DAYS}s\b",
        r"매일|날마다|매주|매월|매달|매시간|평일마다|毎日|毎週|毎月|毎時間|毎平日",
        r"\bcada \w+\b|\bdiariamente\b|\btodos los \w+\b",
        r"\blos (?:lunes|martes|miércoles|jueves|viernes|sábados|domingos)\b",
        r"\bjede[nrs]? \w+\b|\b(?:täglich|stündlich|werktags)\b",
        r"\bchaque \w+\b|\btous les \w+\b",
    ),
    "conditional": (
        r"\b(?:as soon as|once|whenever|in case|provided that|unless)\b",
        rf"\b(?:when|if|until) (?:\S+ ){{1,6}}(?:{_SIGNS})\b",
        r"하면|되면|たら|\bsobald\b|\bcuando\b|\bdès que\b",
    ),
    "scheduled": (
        r"\b(?:schedule|postpone|delay)\b|\b(?:tomorrow|tonight|later)\b",
        rf"\bin (?:{_COUNTS}) (?:{_UNITS}|secs?|mins?|hrs?)\b",
        rf"\b(?:next|this coming) (?:{_UNITS}|{_DAYS})\b|(?<!for )(?<!from )(?<!since )\bon (?:{_DAYS})\b",
        r"내일|모레|明日|明後日|\bmañana\b|\bmorgen\b|\bdemain\b",
    ),
    "immediate": (
        r"\b(?:now|right away|immediately|at once|straight away|asap)\b",
        r"지금|바로|今すぐ|\bahora\b|\bsofort\b|\bmaintenant\b",
    ),
}
_COMPILED = {case: re.compile("|".join(patterns)) for case, patterns in _CUES.items()}
# a time that belongs to a thing ("the meeting on Friday", "for tomorrow") is not a time to act
_OF_A_THING = re.compile(
    rf"\b(?:for|from|since|until|till|by|before|after|between|to) (?:tomorrow|tonight|next \w+|{_DAYS}|on {_DAYS})\b"
    r"|\b(?:if|when) (?:needed|necessary|possible|applicable)\b"
)
_KNOWN_SCRIPTS = ("LATIN", "HANGUL", "HIRAGANA", "KATAKANA", "CJK")


def classify(utterance: Utterance) -> WhenCase | None:
    """Return the case the current request states; a bare order means now, mixed or foreign wording None.

    Of a request that was said again, the latest wording that names a time counts: saying once more what
    is to be done does not take back when.
    """
    said = wordings(utterance)
    if not said or not all(map(_readable, said)):
        return None
    bare: frozenset[WhenCase] = frozenset({"immediate"})
    found = next(filter(None, map(_cues, said)), bare)
    if found == {"recurring", "scheduled"}:
        return "recurring"  # "from tomorrow on, every day"
    return next(iter(found)) if len(found) == 1 else None


def says_now(utterance: Utterance) -> bool:
    """Whether the latest wording that names a time says outright that it is to be done now."""
    now: frozenset[WhenCase] = frozenset({"immediate"})
    return next(filter(None, map(_cues, wordings(utterance))), None) == now


def later_in(text: str) -> tuple[int, int] | None:
    """Return the place of the first words that say later, or None."""
    at = [i for i, char in enumerate(text) if not char.isspace() or (i and not text[i - 1].isspace())]
    joined = "".join(" " if text[i].isspace() else text[i].lower()[:1] for i in at)
    found = _COMPILED["scheduled"].search(joined)
    return found and (at[found.start()], at[found.end() - 1] + 1)


def _cues(text: str) -> frozenset[WhenCase]:
    text = _OF_A_THING.sub(" ", " ".join(text.casefold().split()))
    return frozenset(case for case, pattern in _COMPILED.items() if pattern.search(text))


def _readable(text: str) -> bool:
    """Whether every letter is of a script whose wording is known here: silence of unknown words is no cue."""
    return all(
        char.isascii() or not char.isalpha() or unicodedata.name(char, "").startswith(_KNOWN_SCRIPTS) for char in text
    )
