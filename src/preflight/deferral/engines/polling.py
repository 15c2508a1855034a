"""The engine that every store has: a look at what is due, again and again."""

from __future__ import annotations

import threading

from preflight.deferral.worker import Worker

POLL_SECONDS = 1.0


class Polling:
    """Has a worker look every `poll_seconds`."""

    def __init__(self, poll_seconds: float = POLL_SECONDS) -> None:
        """Wait so long between two looks."""
        self._poll_seconds = poll_seconds

    def set_up(self) -> None:
        """Do nothing: the rows are all it needs."""

    def run(self, worker: Worker, stop: threading.Event) -> None:
        """Look until `stop` is set."""
        while not stop.is_set():
            worker.look()
            stop.wait(self._poll_seconds)
