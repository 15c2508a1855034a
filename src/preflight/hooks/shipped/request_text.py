"""The words of the current request: the latest the user said, apart from earlier turns."""

from __future__ import annotations

from collections.abc import Iterable

from preflight.model.instruction import ANSWER, Segment
from preflight.model.request import Utterance


def current_segments(utterance: Utterance) -> tuple[Segment, ...]:
    """Return the user's segments of the latest request, and what was said again of it when asked."""
    return current(utterance.segments or ())


def current(segments: Iterable[Segment]) -> tuple[Segment, ...]:
    """Return those of the user's segments that are of the latest request.

    That is the one with the largest number, or the last segment where none is numbered.
    """
    said = [s for s in segments if s.grounds and s.text.strip()]
    numbered = [s.request for s in said if s.request is not None]
    if numbered:
        latest = max(numbered)
        return tuple(s for s in said if s.request == latest)
    first = next((at for at in range(len(said) - 1, -1, -1) if not _said_again(said[at])), 0)
    return tuple(said[first:])


def current_places(utterance: Utterance) -> list[int]:
    """Return which of the utterance's segments are of the latest request."""
    current = {id(segment) for segment in current_segments(utterance)}
    return [at for at, segment in enumerate(utterance.segments or ()) if id(segment) in current]


def wordings(utterance: Utterance) -> list[str]:
    """Return the current request, and each time it was said again, the latest first."""
    segments = current_segments(utterance)
    again = [s.text for s in reversed(segments) if _said_again(s)]
    first = "\n".join(s.text for s in segments if not _said_again(s))
    return [*again, first] if first else again


def _said_again(segment: Segment) -> bool:
    return segment.origin is not None and segment.origin.startswith(ANSWER)
