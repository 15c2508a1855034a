"""What is being handed on for a call: its result must not overtake the notifications that came before it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import anyio

_PATIENCE: Final = 5.0
"""Seconds that a result waits for a client that is slow to take what came before."""


class Deliveries:
    """Notifications under way, by what they belong to."""

    def __init__(self) -> None:
        """Hold none yet."""
        self._count: dict[object, int] = {}
        self._done: dict[object, anyio.Event] = {}

    @contextmanager
    def one(self, owner: object) -> Iterator[None]:
        """Count a notification while it is handed on."""
        self._count[owner] = self._count.get(owner, 0) + 1
        try:
            yield
        finally:
            self._count[owner] -= 1
            if not self._count[owner]:
                del self._count[owner]
                done = self._done.pop(owner, None)
                if done is not None:
                    done.set()

    async def delivered(self, owner: object) -> None:
        """Wait until nothing of this owner's is under way any more."""
        if owner in self._count:
            with anyio.move_on_after(_PATIENCE):
                await self._done.setdefault(owner, anyio.Event()).wait()
