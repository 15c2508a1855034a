"""Daemon threads for work that may never come back: bounded, reused when it does, abandoned when not."""

from __future__ import annotations

import contextlib
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
        self._freed = threading.Condition()

    def run(self, job: Job, patience: float = 0.0) -> bool:
        """Start `job` on a thread of its own; False when every thread stays taken for `patience` seconds."""
        with self._freed:
            if not self._freed.wait_for(lambda: self._idle or self._count < self._most, patience):
                return False
            inbox = self._idle.pop() if self._idle else self._new()
        inbox.put(job)
        return True

    def _new(self) -> SimpleQueue[Job]:
        inbox: SimpleQueue[Job] = SimpleQueue()
        self._count += 1
        threading.Thread(target=self._work, args=(inbox,), name="preflight-hook", daemon=True).start()
        return inbox

    def _work(self, inbox: SimpleQueue[Job]) -> None:
        while True:
            job = inbox.get()
            with contextlib.suppress(BaseException):  # a job reports its own faults; its thread serves the next
                job()
            del job
            with self._freed:
                self._idle.append(inbox)
                self._freed.notify()
