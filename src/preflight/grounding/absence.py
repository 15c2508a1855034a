"""Why a value was not found: it stands in a look-alike form, in a quoted passage, or in untrusted text only."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from preflight.grounding.place import Place
from preflight.grounding.text import deceives, normal
from preflight.model.instruction import USER, Segment

# Letters that look like Latin ones: Cyrillic, Greek, then a few of other scripts.
_LOOKALIKES = str.maketrans(
    "аеорсухіјѕԁԛԝһьАВЕКМНОРСТУХІЈЅαενοιρτυκχΑΒΕΖΗΙΚΜΝΟΡΤΥΧıɡℓ",
    "aeopcyxijsdqwhbABEKMHOPCTYXIJSaevoiptukxABEZHIKMNOPTYXigl",
)


def skeleton(text: str) -> str:
    """The text as it looks: look-alike letters in Latin, invisible characters gone, width forms folded."""
    seen = unicodedata.normalize("NFKC", text.translate(_LOOKALIKES))
    return "".join(char for char in seen if unicodedata.category(char) != "Cf").lower()


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
