"""The words of the current request: the latest the user said, apart from earlier turns."""

from __future__ import annotations

from preflight.model.instruction import Segment
from preflight.model.request import Utterance


def current_segments(utterance: Utterance) -> tuple[Segment, ...]:
    """Return the user's segments of the latest request; the last one where requests are not numbered."""
    said = [s for s in utterance.segments or () if s.grounds and s.text.strip()]
    numbered = [s.request for s in said if s.request is not None]
    if not numbered:
        return tuple(said[-1:])
    return tuple(s for s in said if s.request == max(numbered))


def current_words(utterance: Utterance) -> str:
    """Return the text of the current request, or an empty string when the user said nothing."""
    return "\n".join(s.text for s in current_segments(utterance))
