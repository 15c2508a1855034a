"""When should it happen? Read from explicit wording only; None when the words leave it open (R-21, R-23)."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from preflight.hooks.shipped.mentions import spoken
from preflight.hooks.shipped.request_text import wordings
from preflight.hooks.shipped.when_cues import CUES, NO_CUE, OF_A_THING
from preflight.model.checklist import WhenCase
from preflight.model.request import Utterance

_COMPILED = {case: re.compile("|".join(patterns)) for case, patterns in CUES.items()}
_NOW: frozenset[WhenCase] = frozenset({"immediate"})
_LATER: frozenset[WhenCase] = frozenset({"conditional", "scheduled"})
_KNOWN_SCRIPTS = ("LATIN", "HANGUL", "HIRAGANA", "KATAKANA", "CJK")


def classify(utterance: Utterance) -> WhenCase | None:
    """Return the case the current request states; a bare order means now, mixed or foreign wording None.

    Of a request that was said again, the latest wording that names a time counts: saying once more what
    is to be done does not take back when.
    """
    said = wordings(utterance)
    if not said or not all(map(_readable, said)):
        return None
    found = next(filter(None, map(_cues, said)), _NOW)
    if found == {"recurring", "scheduled"}:
        return "recurring"  # "from tomorrow on, every day"
    if found == _LATER:
        return "conditional"  # "tomorrow, if it rains"
    return next(iter(found)) if len(found) == 1 else None


def says_now(utterance: Utterance) -> bool:
    """Whether the latest wording that names a time says outright that it is to be done now."""
    return next(filter(None, map(_cues, wordings(utterance))), None) == _NOW


def later_in(text: str) -> tuple[int, int] | None:
    """Return the place of the first words that say later, or None."""
    at = [i for i, char in enumerate(text) if not char.isspace() or (i and not text[i - 1].isspace())]
    joined = "".join(" " if text[i].isspace() else text[i].lower()[:1] for i in at)
    found = _COMPILED["scheduled"].search(joined)
    return found and (at[found.start()], at[found.end() - 1] + 1)


@lru_cache(maxsize=128)  # asked twice a call, and of each call on the same words
def _cues(text: str) -> frozenset[WhenCase]:
    text = " ".join(spoken(text).casefold().split())
    text = OF_A_THING.sub(" ", NO_CUE.sub(" ", text))
    return frozenset(case for case, pattern in _COMPILED.items() if pattern.search(text))


def _readable(text: str) -> bool:
    """Whether every letter is of a script whose wording is known here: silence of unknown words is no cue."""
    return all(
        char.isascii() or not char.isalpha() or unicodedata.name(char, "").startswith(_KNOWN_SCRIPTS) for char in text
    )
