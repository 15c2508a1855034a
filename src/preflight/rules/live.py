"""Rules that change while the program runs: good ones in at once, a broken edit refused loudly (R-67)."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path
from threading import Lock

from preflight.rules.bounds import DEFAULT_BOUNDS, Bounds
from preflight.rules.faults import RulesError
from preflight.rules.files import listed
from preflight.rules.ruleset import Loaded, RuleSet, attempt

_log = logging.getLogger("preflight.rules")
_Stamp = tuple[int, ...]


class LiveRules:
    """The last good rules of some files. There is no thread: files are looked at when `current` is called.

    `interval` is how often at most, in seconds of `clock`. `fault` is the RulesError of a broken edit that
    was refused, None while the files are good. Raises RulesError when the first load fails: there is
    nothing to fall back to. Safe to use from many threads.
    """

    def __init__(
        self,
        *paths: str | Path,
        interval: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
        bounds: Bounds = DEFAULT_BOUNDS,
    ) -> None:
        """Load the rules."""
        self._paths = [Path(path) for path in paths]
        self._interval = interval
        self._clock = clock
        self._bounds = bounds
        self._lock = Lock()
        self._files: list[Path] = []
        self._seen: dict[Path, _Stamp | None] = {}
        self._looked = clock()
        self.fault: RulesError | None = None
        loaded = self._load(self._stamps())
        if loaded.rules is None:
            raise RulesError(loaded.faults)
        self._rules = loaded.rules

    def current(self) -> RuleSet:
        """Return the rules in force, after looking whether the files changed if it is time to."""
        now = self._clock()
        if now - self._looked >= self._interval and self._lock.acquire(blocking=False):
            try:
                self._looked = now
                self._look()
            finally:
                self._lock.release()
        return self._rules

    def _look(self) -> None:
        stamps = self._stamps()
        if stamps == self._seen:
            return
        loaded = self._load(stamps)
        if loaded.rules is None:
            fault = RulesError(loaded.faults)
            if self.fault is None or fault.faults != self.fault.faults:
                _log.error("a broken edit of the rules is refused, the last good ones stay:\n%s", fault)
            self.fault = fault
            return
        if loaded.rules.digest != self._rules.digest or self.fault is not None:
            _log.info("rules loaded: %s", loaded.rules.digest)
        self.fault, self._rules = None, loaded.rules

    def _load(self, stamps: dict[Path, _Stamp | None]) -> Loaded:
        """Load, and keep the stamps of before: a file edited meanwhile, or first seen now, is read once more."""
        loaded = attempt(*self._paths, bounds=self._bounds)
        self._files = loaded.files
        self._seen = {path: stamps.get(path) for path in self._stamps()}
        return loaded

    def _stamps(self) -> dict[Path, _Stamp | None]:
        here = [file for path in self._paths for file in listed(path, [])]
        return {path: _stamp(path) for path in (*here, *self._files)}


def _stamp(path: Path) -> _Stamp:
    """Return what changes when a file is edited or replaced; empty when there is no such file."""
    try:
        status = path.stat()
    except OSError:
        return ()
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev)
