"""For the tests of programs that use this package: a clock and a store under the test's control.

`StorageContract` and `check_storage` hold a driver of one's own to what `preflight.ports.Storage`
promises; the `sample_*` functions build the records and questions it uses.
"""

from __future__ import annotations

from preflight.storage.contract import StorageContract, check_storage
from preflight.storage.memory import MemoryStorage
from preflight.storage.samples import (
    sample_answer,
    sample_decision,
    sample_no_answer,
    sample_question,
    sample_slot,
    sample_step,
)

__all__ = [
    "FakeClock",
    "MemoryStorage",
    "StorageContract",
    "check_storage",
    "sample_answer",
    "sample_decision",
    "sample_no_answer",
    "sample_question",
    "sample_slot",
    "sample_step",
]


class FakeClock:
    """A clock that stands still until it is told to go on. Seconds since the epoch, UTC."""

    def __init__(self, now: float = 1_772_355_600.0) -> None:
        """Start at 2026-03-01T09:00:00Z, or at `now`."""
        self._now = now

    def now(self) -> float:
        """Return the time that was set last."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Go on by `seconds`; negative ones set the clock back, as real clocks are at times."""
        self._now += seconds
