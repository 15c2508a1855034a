"""Time as the records write it: ISO 8601, UTC, microseconds."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from preflight.errors import InvalidInput


class SystemClock:
    """The machine's own clock."""

    def now(self) -> float:
        """Return seconds since the epoch, UTC."""
        return time.time()


def iso(seconds: float) -> str:
    """Write a moment the way every record does: all texts have one length and sort by time."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")


def seconds_of(text: str) -> float:
    """Read a moment; raises InvalidInput for one without an offset (a naive time is no moment)."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput("time", f"`{text}` is not ISO 8601", "write it like 2026-11-30T09:00:00+00:00") from None
    if moment.tzinfo is None:
        raise InvalidInput("time", f"`{text}` has no offset", "add one, like +00:00")
    return moment.timestamp()
