"""Where a value may be looked up, and the making of evidence from a place."""

from __future__ import annotations

import msgspec

from preflight.grounding.findings import Context
from preflight.grounding.index import Index
from preflight.model.evidence import Evidence, Grade


class Place(msgspec.Struct, frozen=True, gc=False):
    """One segment of the user's, with its index; `carried` when it belongs to an earlier request.

    `context` is the one in which it was said.
    """

    segment_index: int
    index: Index
    context: Context
    carried: bool = False

    def evidence(  # noqa: PLR0913 - the fields of Evidence
        self,
        start: int,
        end: int,
        normaliser: str,
        canonical: str,
        grade: Grade = "stated",
        rule: str | None = None,
        flags: tuple[str, ...] = (),
        alternatives: tuple[str, ...] = (),
        *,
        parts: tuple[Evidence, ...] = (),
        pointer: str = "",
    ) -> Evidence:
        """Evidence for a span of this segment."""
        return Evidence(
            segment_index=self.segment_index,
            start=start,
            end=end,
            matched_text=self.index.text[start:end],
            normaliser=normaliser,
            canonical=canonical,
            grade=grade,
            rule=rule,
            flags=flags,
            alternatives=alternatives,
            parts=parts,
            pointer=pointer,
        )


def hull(first: Evidence, second: Evidence) -> tuple[int, int]:
    """The shortest span of one segment that holds both."""
    return min(first.start, second.start), max(first.end, second.end)
