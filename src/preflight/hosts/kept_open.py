"""The words file, kept open between calls: opening it costs as much as all that is read in it."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from preflight.hosts.store import Store, default_path

_MOST_IDLE = 4


class KeptOpen:
    """Gives out the file that lies at a path now; one that was opened before only where it is still that one.

    Calls at one moment have a file each, and do not wait for one another. A few stay open.
    """

    def __init__(self, path: str | None = None) -> None:
        """Open the file at `path`, or the user's own, when it is first asked for."""
        self._path = path
        self._idle: deque[Store] = deque()
        weakref.finalize(self, _close, self._idle)

    @contextmanager
    def opened(self) -> Iterator[Store]:
        """Give out the file, for one thread; raises FileNotFoundError where there is none, and StoreFault."""
        store = self._current(self._path or default_path())
        try:
            yield store
        except BaseException:
            store.close()
            raise
        self._idle.append(store)
        while len(self._idle) > _MOST_IDLE:
            with suppress(IndexError):  # another thread took it
                self._idle.popleft().close()

    def _current(self, path: str) -> Store:
        try:
            store = self._idle.pop()
        except IndexError:
            return Store(path, create=False)
        current = False
        try:
            current = store.path == path and store.is_current()
        finally:
            if not current:
                store.close()
        return store if current else Store(path, create=False)


def _close(stores: Iterable[Store]) -> None:
    for store in stores:
        store.close()
