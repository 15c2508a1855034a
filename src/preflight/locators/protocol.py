"""What a locator is given, and what it may answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec


class Spoken(msgspec.Struct, frozen=True):
    """One segment of the user's own words; `segment_index` is its place in the instruction.

    Passages that somebody else wrote are blanked out with newlines, so that offsets stay those of the segment.
    """

    segment_index: int
    text: str


class Wanted(msgspec.Struct, frozen=True):
    """A slot whose proposed value was not found: its name, its JSON Schema, and that value."""

    name: str
    schema: Mapping[str, object]
    claim: object


class Pointing(msgspec.Struct, frozen=True):
    """A place: a half-open span, in code points, of one segment. There is no room in it for a value (R-1)."""

    segment_index: int
    span: tuple[int, int]


class Locator(Protocol):
    """Points at the words that say a value.

    Called at most once for a request, on a thread of its own, with the segments of the current request that the
    user wrote and every slot that was not found. It returns places by slot name and leaves out what it does not
    see. Each place is checked; one that is wrong in any way counts as not given. It may raise: then nothing is
    located, and the slots stay unknown.
    """

    def __call__(self, spoken: Sequence[Spoken], wanted: Sequence[Wanted]) -> Mapping[str, Pointing]:
        """Return where each wanted value stands, by slot name."""
        ...
