"""What the shell needs from outside beside a store: time, signatures, the user's words, secrets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

import msgspec

from preflight.model.instruction import Segment
from preflight.model.pointer import Path
from preflight.model.record import Record
from preflight.secrecy.masking import Needles


class Clock(Protocol):
    """Tells the time. The core never asks it; the shell asks once a run."""

    def now(self) -> float:
        """Return seconds since the epoch, UTC."""
        ...


class Seal(msgspec.Struct, frozen=True):
    """A signature over stored bytes, and the id of the key that made it."""

    key_id: str
    signature: bytes


class Signer(Protocol):
    """Signs what is stored. The store calls it with the exact bytes, once they are final (R-73)."""

    def sign(self, body: bytes) -> Seal:
        """Return the seal of these bytes."""
        ...

    def verify(self, body: bytes, seal: Seal) -> None:
        """Return if the seal is of these bytes by a key in force; raises SignatureInvalid otherwise."""
        ...


class Words(Protocol):
    """Finds what the user said up to a call, as the user's own client stored it (specification, section 3)."""

    def segments(self, join: Mapping[str, str]) -> tuple[Segment, ...]:
        """Return the segments of the session that a call belongs to, oldest first; none when none are known.

        `join` holds what the call says about where it comes from, under the client's own names (a session's
        id, a tool-use id, a variable of the environment). They are claims: they choose among stored words
        and can never add any. Their `request` numbers grow within a session, and no other session has them: by
        them an act is started once of what was said (R-79).
        """
        ...


@runtime_checkable
class Hears(Protocol):
    """Words that also know which conversation a call belongs to: one that is taken up again keeps its open calls."""

    def heard(self, join: Mapping[str, str]) -> tuple[str | None, tuple[Segment, ...]]:
        """Return the conversation's id, None where it is not known, and its segments as `Words.segments` has them."""
        ...


@runtime_checkable
class Denies(Protocol):
    """Words that can also have their client stop a call before it makes it; it enforces nothing, and spares a try."""

    def deny(self, join: Mapping[str, str], tool: str, arguments: object, reason: str) -> bool:
        """Have the call's client stop this call until its user speaks again; whether it can.

        `arguments` None: the tool with any arguments. Only for what is held whatever a person answers.
        """
        ...


class Secrets(Protocol):
    """Puts secret arguments back where a call needs them, and finds them where they must not stand (R-78)."""

    def arguments(self, record: Record) -> Record:
        """Return the record with its arguments as they are sent; raises Erased when they cannot be read any more."""
        ...

    def paths(self, record: Record) -> tuple[Path, ...]:
        """Return where secret arguments stand."""
        ...

    def needles(self, record: Record, arguments: object) -> Needles:
        """Return the search for the secret ones among a call's arguments."""
        ...
