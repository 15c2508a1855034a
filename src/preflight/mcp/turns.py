"""Turns: in one process, whoever wants the same thing waits for it rather than being refused."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Hashable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import anyio

from preflight.model.record import Record


class Busy(Exception):
    """The turn did not come in time; `holder` names who has it."""

    def __init__(self, holder: str) -> None:
        """Keep the name."""
        self.holder = holder
        super().__init__(f"`{holder}` has the turn")


class Turns:
    """Lets holders of one key follow one another, in the order in which they came."""

    def __init__(self) -> None:
        """Begin with nobody waiting."""
        self._locks: dict[Hashable, anyio.Lock] = {}
        self._holders: dict[Hashable, str] = {}

    @asynccontextmanager
    async def of(self, key: Hashable, name: str = "", seconds: float = math.inf) -> AsyncIterator[bool]:
        """Wait until nobody before holds `key`, and hold it as `name`; gives whether somebody did.

        Raises Busy where that takes longer than so many seconds.
        """
        lock = self._locks.setdefault(key, anyio.Lock())
        waited = lock.locked()
        try:
            if waited:
                await self._wait(key, lock, seconds)
            else:  # at once, however little time is left
                lock.acquire_nowait()
            self._holders[key] = name
            try:
                yield waited
            finally:
                del self._holders[key]
                lock.release()
        finally:
            if not lock.locked() and not lock.statistics().tasks_waiting:
                self._locks.pop(key, None)

    async def _wait(self, key: Hashable, lock: anyio.Lock, seconds: float) -> None:
        try:
            with anyio.fail_after(seconds):
                await lock.acquire()
        except TimeoutError:
            raise Busy(self._holders.get(key, "")) from None

    def at(self, record: Record, seconds: float = math.inf) -> AbstractAsyncContextManager[bool]:
        """Wait until no run of this process under the record's action key executes (R-77)."""
        return self.of((record.scope, record.key), record.decision_id, seconds)
