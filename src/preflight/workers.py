"""Daemon threads for work that may never come back: bounded, reused when it does, abandoned when not."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue

Job = Callable[[], None]


class Workers:
    """A pool whose threads do not keep the process alive, so that a hung job cannot stop it from ending."""

    def __init__(self, most: int) -> None:
        """Allow at most `most` threads, hung ones included."""
        self._most = most
        self._idle: list[SimpleQueue[Job]] = []
        self._count = 0
        self._lock = threading.Lock()

    def run(self, job: Job) -> bool:
        """Start `job` on a thread of its own; False when every thread is taken."""
        with self._lock:
            if self._idle:
                inbox = self._idle.pop()
            elif self._count < self._most:
                self._count += 1
                inbox = SimpleQueue()
                threading.Thread(target=self._work, args=(inbox,), name="preflight-hook", daemon=True).start()
            else:
                return False
        inbox.put(job)
        return True

    def _work(self, inbox: SimpleQueue[Job]) -> None:
        while True:
            inbox.get()()
            with self._lock:
                self._idle.append(inbox)
