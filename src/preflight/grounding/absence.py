"""Why a value was not found: it stands in a look-alike form, in a quoted passage, or in untrusted text only."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from preflight.grounding.place import Place
from preflight.grounding.text import deceives, normal
from preflight.model.instruction import USER, Segment

# Letters that look like Latin ones: Cyrillic, Greek, then a few of other scripts.
_LOOKALIKES = str.maketrans(
    "аеорсухіјѕԁԛԝһьАВЕКМНОРСТУХІЈЅαενοιρτυκχΑΒΕΖΗΙΚΜΝΟΡΤΥΧıɡℓ",
    "aeopcyxijsdqwhbABEKMHOPCTYXIJSaevoiptukxABEZHIKMNOPTYXigl",
)


_INVISIBLE = [
    *range(0xAD, 0xAE),
    *range(0x200B, 0x2010),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2070),
    0xFEFF,
    *range(0xE0000, 0xE0080),
]
_SEEN = _LOOKALIKES | dict.fromkeys(_INVISIBLE)


@lru_cache(maxsize=256)
def skeleton(text: str) -> str:
    """The text as it looks: look-alike letters in Latin, invisible characters gone, width forms folded."""
    return unicodedata.normalize("NFKC", text.translate(_SEEN)).lower()


def why_absent(value: object, segments: Sequence[Segment], places: Sequence[Place]) -> str:
    """A stable code for a value that no trusted text supports."""
    wanted = str(value)
    if not wanted.strip():
        return "not_found"
    own = [place.index.text for place in places]
    if any(not text.isascii() for text in own) or not wanted.isascii():
        shape = skeleton(wanted)
        if any((_differs(text) or _differs(wanted)) and shape in skeleton(text) for text in own) or _hidden(wanted):
            return "confusable"
    written = [segment.text for segment in segments if segment.trust == USER]
    if any(wanted in text for text in written) and not any(wanted in text for text in own):
        return "quoted"
    if any(wanted in segment.text for segment in segments if segment.trust != USER):
        return "untrusted_only"
    return "not_found"


def _differs(text: str) -> bool:
    return not text.isascii() and skeleton(text) != normal(text)


def _hidden(value: str) -> bool:
    return any(deceives(char) for char in value)
