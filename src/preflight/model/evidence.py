"""What shows that a value stands at a source: where it was found, and how the text became the value."""

from __future__ import annotations

from typing import Literal

import msgspec

Grade = Literal["stated", "derived", "weak", "carried"]


class Evidence(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A place in the user's words and the reading of it (R-51, R-59).

    `start` and `end` are half-open offsets in Unicode code points into the text of segment
    `segment_index`; `matched_text` is exactly that slice. `canonical` is the typed key that both the
    text and the value were brought to by `normaliser`; `rule` names the derivation of a `derived` grade.
    A list or an object is grounded leaf by leaf: `parts` then holds one evidence a leaf, each with the
    JSON Pointer of the leaf inside the value under `pointer`, and the outer span covers the parts that
    stand in the outer segment. `flags` record what a reader should know (`negated`, `hedged`,
    `ambiguous`, `also_untrusted`); `alternatives` are other readings of the same words.
    """

    segment_index: int
    start: int
    end: int
    matched_text: str
    normaliser: str
    canonical: str
    grade: Grade = "stated"
    normaliser_version: int = 1
    pointer: str = ""
    rule: str | None = None
    flags: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()
    parts: tuple[Evidence, ...] = ()


class Located(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A place that a hook or a model names for a value; a claim until code has looked there (R-3, R-41)."""

    value: object
    segment_index: int
    start: int
    end: int
    pointer: str = ""
    parts: tuple[Located, ...] = ()


class NotGrounded(msgspec.Struct, frozen=True, gc=False):
    """The user's words do not confirm the value: why (a short stable code), and words that come near.

    `mentions` may be shown in the question as the user's own earlier words, never as a candidate (R-9, R-51).
    `choices` are what the user's words select where they select several, in the provider's order (R-58).
    """

    reason: str | None = None
    mentions: tuple[Evidence, ...] = ()
    choices: tuple[object, ...] = ()
