"""A typed mention: a place in one text and what the words there mean, before any value is compared."""

from __future__ import annotations

from typing import NamedTuple

from preflight.model.evidence import Grade


class Mention(NamedTuple):
    """`text[start:end]` read as `key` by `normaliser`.

    `anchor` is the part of the span that the mention alone uses: in `3 to 7 March 2027` the first day's
    span is the whole phrase and its anchor `3`, so that the second day can use the rest (R-52).
    """

    start: int
    end: int
    key: object
    normaliser: str
    grade: Grade = "stated"
    rule: str | None = None
    flags: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()
    anchor: tuple[int, int] | None = None
