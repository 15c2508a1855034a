"""One span feeds one argument: a matching of leaves to mentions over the whole call (R-52)."""

from __future__ import annotations

from collections.abc import Sequence

from preflight.model.evidence import Evidence

_MAX_CHAIN = 64
Span = tuple[int, int, int]


def claimed_spans(found: Evidence) -> tuple[Span, ...]:
    """The stretches of text that a mention uses up: its parts, without those it only leans on."""
    if not found.parts:
        return ((found.segment_index, found.start, found.end),)
    # Two moments may lie on one day: `at 2 pm on 4 May, until 4 pm`.
    leaning = ("#start", "#date") if found.normaliser == "date_time" else ("#start",)
    own = [part for part in found.parts if part.pointer not in leaning]
    return tuple(span for part in own for span in claimed_spans(part))


def assign(candidates: Sequence[Sequence[Sequence[Span]]], order: Sequence[int]) -> list[int | None]:
    """For each leaf the index of its mention, such that no two leaves use overlapping text.

    Leaves earlier in `order` keep a mention once they have one; a leaf may move an earlier one to
    another of its mentions, but never leave it without (an augmenting path).
    """
    chosen: list[int | None] = [None] * len(candidates)
    for leaf in order:
        _place(leaf, candidates, chosen, {leaf})
    return chosen


def _place(
    leaf: int, candidates: Sequence[Sequence[Sequence[Span]]], chosen: list[int | None], moving: set[int]
) -> bool:
    blocked: list[tuple[int, int]] = []
    for option, spans in enumerate(candidates[leaf]):
        holders = _holders(leaf, spans, candidates, chosen)
        if not holders:
            chosen[leaf] = option
            return True
        if len(holders) == 1 and holders[0] not in moving and len(moving) < _MAX_CHAIN:
            blocked.append((option, holders[0]))
    for option, holder in blocked:
        before, chosen[leaf] = chosen[leaf], option
        kept, chosen[holder] = chosen[holder], None
        moving.add(holder)
        if _place(holder, candidates, chosen, moving):
            return True
        chosen[leaf], chosen[holder] = before, kept
    return False


def _holders(
    leaf: int, spans: Sequence[Span], candidates: Sequence[Sequence[Sequence[Span]]], chosen: list[int | None]
) -> list[int]:
    found = []
    for other, option in enumerate(chosen):
        if (
            option is not None
            and other != leaf
            and any(overlap(mine, theirs) for mine in spans for theirs in candidates[other][option])
        ):
            found.append(other)
    return found


def overlap(one: Span, other: Span) -> bool:
    """Whether two stretches share a code point."""
    return one[0] == other[0] and one[1] < other[2] and other[1] < one[2]
