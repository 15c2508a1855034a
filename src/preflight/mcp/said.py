"""What a program hands over as the user's words, looked at before it counts as nothing without a word about it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from preflight.errors import InvalidInput, storable
from preflight.model.instruction import UNTRUSTED, USER, Segment

_DO: Final = 'give segments, each with its trust: `Segment("send 500 to Ana", "user")`'
_LABELS: Final = (USER, UNTRUSTED)
_log = logging.getLogger("preflight.mcp")
_told: set[str] = set()


def check_words(words: object) -> None:
    """Refuse what is no list of segments where it is a list, and a text; raises InvalidInput."""
    if isinstance(words, str):
        raise InvalidInput("words", "a text, which says not whose it is", _DO)
    if isinstance(words, Sequence):
        segments_in(words)


def segments_in(words: object) -> Sequence[Segment]:
    """Return segments as they were given; raises InvalidInput for anything else (R-13).

    A label that is neither of the two is told in the log, once: it grounds nothing, and may be misspelt.
    """
    if isinstance(words, str) or not isinstance(words, Sequence):
        raise InvalidInput("words", f"a `{type(words).__name__}`, and no list of segments", _DO)
    for at, each in enumerate(words):
        if not isinstance(each, Segment):
            raise InvalidInput(f"words.{at}", f"a `{type(each).__name__}`, and no segment", _DO)
        if type(each.trust) is str and each.trust not in _LABELS and each.trust not in _told:
            _told.add(each.trust)
            label = storable(each.trust, 80)
            _log.warning("the trust label `%s` is not known and counts as `untrusted`; the user's is `user`", label)
    return words
