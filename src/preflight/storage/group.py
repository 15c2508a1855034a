"""Group commit: callers that come while a write is under way are written together by one of them.

There is no writer thread: the first caller leads. It takes everything that waits as one group, runs it,
hands the lead to whoever came meanwhile, and wakes the others. A single caller pays about a microsecond;
32 of them share one wait for the disk. Nothing is left behind by a fork or by a caller that is interrupted.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Generic, TypeVar

C = TypeVar("C")  # what the work is done on
MOST = 256
"""Writes in one group, at most: bounds what a failing one makes the others repeat."""

_WAITS, _TAKEN, _LEADS, _SETTLED = range(4)


class Write(Generic[C]):
    """One caller's write: `work` in a transaction; `quick`, where it has one, is tried without one if it is alone.

    `quick` is a single statement that returns None when it did nothing. Either may be run again after a roll back.
    """

    __slots__ = ("durable", "fault", "quick", "result", "state", "wake", "work")

    def __init__(self, work: Callable[[C], Any], *, durable: bool, quick: Callable[[C], Any] | None = None) -> None:
        """Write by `work`; `durable` waits for the disk."""
        self.work = work
        self.quick = quick
        self.durable = durable
        self.result: Any = None
        self.fault: BaseException | None = None
        self.state = _WAITS
        self.wake: threading.Lock | None = None

    def settle(self, result: Any, fault: BaseException | None = None) -> None:
        """Say how it ended: with what the work returned, or with what it raised."""
        self.result, self.fault, self.state = result, fault, _SETTLED

    @property
    def settled(self) -> bool:
        """Whether it has ended."""
        return self.state == _SETTLED

    def outcome(self) -> Any:
        """Return what the work returned, or raise what it raised."""
        fault, self.fault = self.fault, None
        try:
            if fault is not None:
                raise fault
            return self.result
        finally:
            del fault  # its traceback holds this frame: a cycle that would keep cursors open


class Groups(Generic[C]):
    """The queue of one store.

    `run` writes a group and settles each write of it. It raises nothing but interrupts; the writes that are
    not settled then are as if they had not begun.
    """

    def __init__(self, run: Callable[[list[Write[C]]], None]) -> None:
        """Begin with nobody in the queue."""
        self._run = run
        self.forget()

    def forget(self) -> None:
        """Forget who waits: in a forked child, none of them exists."""
        self._lock = threading.Lock()
        self._queue: deque[Write[C]] = deque()
        self._led = False

    def do(self, write: Write[C]) -> Any:
        """Have a write done, alone or with others; return what its work returned or raise what it raised."""
        with self._lock:
            self._queue.append(write)
            if self._led:
                write.wake = threading.Lock()
                write.wake.acquire()
            self._led = True
        if write.wake is not None:
            self._await(write, write.wake)
            if write.settled:
                return write.outcome()
        self._lead(write)
        return write.outcome()

    def _await(self, write: Write[C], wake: threading.Lock) -> None:
        try:
            wake.acquire()
        except BaseException:  # an interrupt: what has not begun is withdrawn, and a lead is handed on
            with self._lock:
                if write.state in (_WAITS, _LEADS):
                    self._queue.remove(write)
                if write.state == _LEADS:
                    self._hand_over()
            raise

    def _lead(self, own: Write[C]) -> None:
        with self._lock:
            group = [self._queue.popleft() for _ in range(min(len(self._queue), MOST))]
            for write in group:
                write.state = _TAKEN
        try:
            self._run(group)
        finally:
            with self._lock:
                self._put_back([write for write in group if write is not own and not write.settled])
                self._hand_over()
            for write in group:
                if write is not own and write.settled and write.wake is not None:
                    write.wake.release()

    def _put_back(self, interrupted: list[Write[C]]) -> None:
        for write in reversed(interrupted):
            write.state = _WAITS
            self._queue.appendleft(write)

    def _hand_over(self) -> None:
        """Give the lead to the next in the queue; the caller holds the lock."""
        self._led = bool(self._queue)
        if self._led:
            heir = self._queue[0]
            heir.state = _LEADS
            assert heir.wake is not None  # noqa: S101  who came while somebody led waits
            heir.wake.release()
