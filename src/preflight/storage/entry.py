"""What every driver does to a record before it stores it: check its place, encode it once, read its times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Literal

from preflight import codec
from preflight.core import lifecycle
from preflight.errors import InvalidInput, StorageError
from preflight.model.record import Record

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


def encode(value: object) -> bytes:
    """Return the bytes to store; raises StorageError where a value has no JSON form."""
    try:
        return codec.encode(value)
    except (TypeError, ValueError, NotImplementedError, OverflowError, RecursionError) as fault:
        raise StorageError(f"a value cannot be stored: {fault}; hand over JSON values only") from fault
