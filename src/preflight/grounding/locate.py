"""Does the text in a named span support the value? That span only; nothing is searched (R-3, R-41)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation

from preflight.grounding.findings import Context
from preflight.grounding.text import bounded, has_deceiving, normal
from preflight.model.evidence import Evidence, Located
from preflight.model.instruction import USER, Segment

_PLAIN_NUMBER = re.compile(r"[-\u2212+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?", re.ASCII)
_SPACING = re.compile(r"[\s_\-]+")


def support(
    segments: Sequence[Segment],
    located: Located,
    schema: Mapping[str, object],
    context: Context = Context(),
) -> Evidence | None:
    """The evidence that the named span holds the value, or None when it does not."""
    text = _text(segments, located)
    if text is None or not bounded(text, located.start, located.end):
        return None
    quote = text[located.start : located.end]
    value = located.value
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float | Decimal):
        return _number(located, quote, value, text)
    return _string(located, quote, value) if isinstance(value, str) else None


def _text(segments: Sequence[Segment], located: Located) -> str | None:
    """The text of the named segment when the place is a place at all (R-41)."""
    for number in (located.segment_index, located.start, located.end):
        if type(number) is not int:
            return None
    if not 0 <= located.segment_index < len(segments):
        return None
    segment = segments[located.segment_index]
    if segment.trust != USER or not 0 <= located.start < located.end <= len(segment.text):
        return None
    return segment.text


def _number(located: Located, quote: str, value: float | Decimal, text: str) -> Evidence | None:
    if _PLAIN_NUMBER.fullmatch(quote) is None:
        return None
    if quote[0].isdigit() and located.start and text[located.start - 1] in "-\u2212":
        return None  # the sign is part of the value
    try:
        wanted = value if isinstance(value, Decimal) else Decimal(repr(value))
        same = wanted.is_finite() and wanted == Decimal(quote.replace(",", "").replace("\u2212", "-"))
    except InvalidOperation:
        return None
    return _evidence(located, quote, "number", str(wanted)) if same else None


def _string(located: Located, quote: str, value: str) -> Evidence | None:
    if has_deceiving(quote):
        return None
    if quote == value:
        return _evidence(located, quote, "exact", value)
    if has_deceiving(value) or any(char.isdigit() or char in "@/\\" for char in value):
        return None  # an identifier is compared as written
    folded = _SPACING.sub(" ", normal(value)).strip()
    if folded and folded == _SPACING.sub(" ", normal(quote)):
        return _evidence(located, quote, "fold", folded)
    return None


def _evidence(located: Located, quote: str, normaliser: str, canonical: str) -> Evidence:
    return Evidence(
        segment_index=located.segment_index,
        start=located.start,
        end=located.end,
        matched_text=quote,
        normaliser=normaliser,
        canonical=canonical,
        pointer=located.pointer,
    )
