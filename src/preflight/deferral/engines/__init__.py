"""What makes a worker look at the right time. An engine only wakes: what happens then is the worker's (R-83)."""

from __future__ import annotations

import threading
from typing import Protocol

from preflight.deferral.worker import Worker


class Engine(Protocol):
    """Has a worker look when something is due.

    An engine may wake too often, too late or twice: whether a row is due, and whether its occurrence starts, is
    decided by the store each time. An engine knows the ids of rows and nothing of what they are for.
    """

    def set_up(self) -> None:
        """Make what the engine keeps beside the rows, where it is missing; raises StorageError when it cannot."""
        ...

    def run(self, worker: Worker, stop: threading.Event) -> None:
        """Have `worker` look when something is due, until `stop` is set; what is under way then is finished."""
        ...
