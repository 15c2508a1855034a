"""What goes in and out of a store of records, as values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from preflight.model.record import Record
from preflight.model.request import Scope
from preflight.ports.outside import Seal


class Stored(msgspec.Struct, frozen=True):
    """A record with the exact bytes that stand in the store, their hex SHA-256, and their seal where it has one."""

    seq: int
    record: Record
    body: bytes
    digest: str
    seal: Seal | None = None


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """Which records an audit asks for; every given part must hold. `since` is ISO 8601."""

    scope: Scope | None = None
    tenant: str | None = None
    action_key: str | None = None
    tool: str | None = None
    field: str | None = None
    source: str | None = None
    decision: str | None = None
    user_id: str | None = None
    since: str | None = None
    limit: int = 100


class RawRecord(NamedTuple):
    """A record as it lies in the store, undecoded: what verification and export read (R-72).

    Everything but `body` and `seal` only finds it; the truth is in the bytes of `body`, which hold their
    own `previous_digest`. `digest` is the hex SHA-256 that was stored with them.
    """

    seq: int
    record_id: str
    decision_id: str
    state: str
    tenant: str
    conversation: str
    action_key: str
    body: bytes
    digest: str
    previous_digest: str | None
    seal: Seal | None


class LogHead(msgspec.Struct, frozen=True):
    """Where the log ends: how many records it holds, the last one's place, and its digest (None while empty).

    A restored backup or a tail that was cut off shows as a `count` or `last_seq` below one seen before, or,
    once new records took the place of lost ones, as another digest at that place.
    """

    count: int
    last_seq: int
    digest: str | None


class Grave(NamedTuple):
    """A record that retention removes: its place, and the question that it asked, which goes with it."""

    seq: int
    question_id: str | None = None


class Admission(msgspec.Struct, frozen=True):
    """A judgement over what was started, made inside the transaction of a claim (R-66).

    `judge` is called with every `executing` record of the claim's tenant and tool whose start is not older
    than `since` (ISO 8601), oldest first, those known to have failed left out; with `user_id`, of this user
    only. Claims with an admission on one tenant and tool are judged one after the other, so that no two of
    them can pass a limit together. Only exactly True admits. It must be quick and must not use the store.
    """

    since: str
    judge: Callable[[Iterator[Record]], bool]
    user_id: str | None = None
