"""What the user said: segments of text, each with a label that says whether it may ground a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeGuard

import msgspec
from msgspec import UNSET, UnsetType

from preflight.model.json_value import is_object

USER = "user"
UNTRUSTED = "untrusted"
ANSWER = "answer:"
"""How the origin of a segment begins that a user said when asked to say the act again; the question's id follows."""


def approved(setting: object) -> TypeGuard[Mapping[str, object]]:
    """Whether a setting is in the wrapper of one that a user approved (R-14)."""
    return is_object(setting) and setting.get("trust") == USER


class Segment(msgspec.Struct, frozen=True, gc=False):
    """One stretch of the instruction, in code points.

    Only a segment whose `trust` is exactly `user` can ground a value (R-13). `origin` says where an
    untrusted segment came from (`gmail:msg_881`); `request` numbers the request of the conversation
    that the segment belongs to, the largest being the current one. `said_at` is when it was said, ISO 8601
    with an offset: by that clock its "tomorrow" is read, and by that of the run where it is not known.
    """

    text: str
    trust: str = UNTRUSTED
    origin: str | None = None
    request: int | None = None
    said_at: str | UnsetType = UNSET

    @property
    def grounds(self) -> bool:
        """Whether a value may be looked up here (R-13)."""
        return self.trust == USER


class ReadBy(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """By what the words of a run were read: with it, evidence is read again from the record alone (R-59).

    `now` is the clock of the run, ISO 8601 with an offset, `zone` and `locale` are those of the request. `said_at`
    has the clock of each segment, empty where it is not known, and is empty as a whole where none is.
    """

    now: str
    zone: str | None = None
    locale: str = "en"
    said_at: tuple[str, ...] = ()
