"""What grounding is asked and what it answers: the clock and locale, one value to ground, one verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec
from msgspec import UNSET

from preflight.model.evidence import Evidence
from preflight.model.instruction import Segment
from preflight.model.request import Utterance

Role = Literal["target", "object", "quantity", "time", "option", "content"]
State = Literal["known", "unknown", "confirm"]


class Context(msgspec.Struct, frozen=True):
    """The recorded clock and locale of the request; never read from the machine (R-11).

    `now` is ISO 8601 with an offset, `zone` an IANA name, `locale` a BCP 47 tag whose language decides
    how `1.250` and `03/04` are read. Without `now`, no relative date is resolved.
    """

    now: str | None = None
    zone: str | None = None
    locale: str = "en"

    @classmethod
    def of(cls, utterance: Utterance, now: str) -> Context:
        """Return the context of an utterance, read by the clock `now`; empty: by none."""
        return cls(now=now or None, zone=utterance.zone, locale=utterance.locale)

    def at(self, segment: Segment) -> Context:
        """Return the context in which a segment was said: by its own clock, where that is known."""
        if segment.said_at is UNSET or segment.said_at == self.now:
            return self
        return msgspec.structs.replace(self, now=segment.said_at)

    @property
    def language(self) -> str:
        """The language of the locale, as its lower-case code."""
        return self.locale.replace("_", "-").split("-")[0].lower()


NOTHING_RECORDED = Context()


class Target(msgspec.Struct, frozen=True):
    """One value to be grounded.

    `name` is the slot's name (a JSON Pointer below the root, `recipient/iban`), `schema` its JSON
    Schema, `claim` the value that the model proposes. `hints` are the `x-*` keywords as the adopter's
    rules give them; they win over those of the schema (R-6, R-57).
    """

    name: str
    schema: Mapping[str, object]
    claim: object
    role: Role | None = None
    hints: Mapping[str, object] = {}


class Finding(msgspec.Struct, frozen=True):
    """The verdict on one value.

    `known`: `evidence` says where the value stands. `unknown`: `reason` is a short stable code and
    `mentions` are places that may be shown as the user's own earlier words. `confirm`: content written
    by the model in which every address, link, account and phone number is grounded (R-57).
    """

    state: State
    evidence: Evidence | None
    reason: str
    mentions: tuple[Evidence, ...] = ()
