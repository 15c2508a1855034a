"""What every driver does to a record before it stores it: check its place, encode it once, read its times."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, NamedTuple

import msgspec

from preflight import codec
from preflight.core import lifecycle
from preflight.errors import InvalidInput, StorageError
from preflight.model.record import Record
from preflight.ports import Seal, Signer, Stored

Way = Literal["append", "claim", "finish"]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def instant(text: str, where: str) -> int:
    """Return an ISO 8601 time as microseconds since the epoch, UTC; one without offset counts as UTC.

    Texts with different offsets do not sort by time, so stores compare this number. Raises InvalidInput
    naming `where`.
    """
    try:
        at = datetime.fromisoformat(text)
    except (ValueError, TypeError) as fault:
        raise InvalidInput(
            where, f"`{text}` is not a time", "write it as ISO 8601, like `2026-03-01T09:00:00Z`"
        ) from fault
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    return (at - _EPOCH) // _MICROSECOND


def check_way(record: Record, way: Way) -> None:
    """Refuse a record that must not be stored this way: decisions are appended, starts claimed, outcomes finished.

    Raises InvalidInput. Without this, `append` would be a way around the claim (R-75).
    """
    state = record.execution_decision
    try:
        stage = lifecycle.stage(state)
    except KeyError as fault:
        raise InvalidInput("execution_decision", f"`{state}` is no state of a record") from fault
    right: Way = ("append", "claim", "finish", "finish")[stage]
    if right != way:
        raise InvalidInput(
            "execution_decision", f"a record in state `{state}` cannot be stored by `{way}`", f"use `{right}`"
        )
    if way == "append" and record.decision_id != record.record_id:
        raise InvalidInput(
            "decision_id", f"`{record.decision_id}` is not the decision's own record id", "give both the same id"
        )


class Entry(NamedTuple):
    """A record as it goes into the log: chained, encoded once, hashed and signed."""

    record: Record
    body: bytes
    digest: str
    seal: Seal | None

    def stored(self, seq: int) -> Stored:
        """Return it as it stands at its place in the log."""
        return Stored(seq, self.record, self.body, self.digest, self.seal)


def make_entry(record: Record, previous: str | None, signer: Signer | None) -> Entry:
    """Chain a record to the digest before it, and encode, hash and sign it (R-72, R-73)."""
    if record.previous_digest != previous:
        record = msgspec.structs.replace(record, previous_digest=previous)
    body = encode(record)
    return Entry(record, body, codec.digest(body), None if signer is None else signer.sign(body))


COLUMNS = (
    "record_id, decision_id, stage, unfinished, state, tenant, conversation, user_id, action_key, "
    "tool, fingerprint, call_id, instructed_by, at, digest, previous_digest, key_id, signature, body"
)
"""The columns of the log that `columns` gives the values of."""


def columns(entry: Entry) -> tuple[Any, ...]:
    """Return the values of `COLUMNS` for an entry; those that only some states are found by are None elsewhere."""
    record, state = entry.record, entry.record.execution_decision
    scope, tool, seal, stage = record.scope, record.tool, entry.seal, lifecycle.stage(record.execution_decision)
    return (
        record.record_id,
        record.decision_id,
        stage,
        int(lifecycle.unfinished(state)),
        state,
        scope.tenant,
        scope.conversation,
        record.user_id,
        record.key,
        None if tool is None else tool.name,
        tool.fingerprint if tool is not None and state == "executed" else None,
        record.call_id if stage == 0 else None,
        record.instructed.by if record.instructed and (stage == 1 or state == "deferred") else None,
        instant(record.timestamp, "timestamp"),
        entry.digest,
        record.previous_digest,
        None if seal is None else seal.key_id,
        None if seal is None else seal.signature,
        entry.body,
    )


def lock_number(*parts: str) -> int:
    """Return the number of the lock that stands for these texts, in 64 bits with sign."""
    packed = b"".join(len(text := part.encode()).to_bytes(8, "big") + text for part in parts)
    return int.from_bytes(hashlib.blake2b(packed, digest_size=8).digest(), "big", signed=True)


class Heads:
    """The newest digest under each key, as far as this process knows: a guess that the store checks.

    A right guess saves a look-up inside the transaction; a wrong one costs one more encoding.
    """

    MOST = 4_096
    """Keys remembered; about 1 MB."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._known: dict[tuple[str, str, str], str] = {}

    def guess(self, record: Record) -> str | None:
        """Return the digest that the record's predecessor probably has; None: it is probably the first."""
        return self._known.get((record.scope.tenant, record.scope.conversation, record.key))

    def learn(self, stored: Stored) -> None:
        """Note what now is the newest under its key."""
        if len(self._known) >= self.MOST:
            self._known.clear()
        scope = stored.record.scope
        self._known[scope.tenant, scope.conversation, stored.record.key] = stored.digest


def encode(value: object) -> bytes:
    """Return the bytes to store; raises StorageError where a value has no JSON form."""
    try:
        return codec.encode(value)
    except (TypeError, ValueError, NotImplementedError, OverflowError, RecursionError) as fault:
        raise StorageError(f"a value cannot be stored: {fault}; hand over JSON values only") from fault
