"""Turns: in one process, whoever wants the same thing waits for it rather than being refused."""

from __future__ import annotations

from collections.abc import AsyncIterator, Hashable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import anyio

from preflight.model.record import Record


class Turns:
    """Lets holders of one key follow one another, in the order in which they came."""

    def __init__(self) -> None:
        """Begin with nobody waiting."""
        self._locks: dict[Hashable, anyio.Lock] = {}

    @asynccontextmanager
    async def of(self, key: Hashable) -> AsyncIterator[bool]:
        """Wait until nobody before holds `key`, and hold it; gives whether somebody did."""
        lock = self._locks.setdefault(key, anyio.Lock())
        waited = lock.locked()
        try:
            async with lock:
                yield waited
        finally:
            if not lock.locked() and not lock.statistics().tasks_waiting:
                self._locks.pop(key, None)

    def at(self, record: Record) -> AbstractAsyncContextManager[bool]:
        """Wait until no run of this process under the record's action key executes (R-77)."""
        return self.of((record.scope, record.key))
