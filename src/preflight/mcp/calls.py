"""Which call a repeated call is: the one that waits or is under way, or a new one (decision 0083)."""

from __future__ import annotations

from collections import OrderedDict
from itertools import count
from threading import Lock
from typing import Final, TypeVar

from preflight.model.record import Record
from preflight.model.request import Scope
from preflight.ports import Storage

T = TypeVar("T")
_OVER: Final = ("executed", "failed", "settled")
_REMEMBERED: Final = 10_000


class CallIds:
    """Numbers the runs of one and the same call: while one is open or in doubt, the same call means that one."""

    def __init__(self, storage: Storage) -> None:
        """Look runs up in `storage`; where to begin to look is remembered here."""
        self._storage = storage
        self._begin: OrderedDict[str, tuple[int, Record | None]] = OrderedDict()
        self._words: OrderedDict[str, str] = OrderedDict()
        self._lock = Lock()

    def current(self, scope: Scope, base: str) -> tuple[str, Record | None]:
        """Return the id of the run that the call `base` means now, and the last step of the run before, if it ran."""
        first, ended = self._begin.get(base, (0, None))
        for number in count(first):
            call_id = f"{base}.{number}"
            stored = self._storage.latest_for_call(scope, call_id)
            if stored is None:
                break
            last = self._storage.steps(stored.record.decision_id)[-1].record
            if last.execution_decision not in _OVER:
                break
            ended = last if last.execution_decision != "failed" else None
        self._remember(self._begin, base, (number, ended))
        return call_id, ended

    def ended(self, base: str, record: Record) -> None:
        """Remember the last step of a run that was executed here: the next is looked for behind it."""
        number = (record.call_id or "").rpartition(".")[2]
        if record.execution_decision in _OVER and number.isdigit():
            known = record if record.execution_decision != "failed" else None
            self._remember(self._begin, base, (int(number) + 1, known))

    def runs(self, base: str, words: str) -> None:
        """Remember on which words a call is started."""
        self._remember(self._words, base, words)

    def words_of(self, base: str) -> str | None:
        """Return on which words a call was started last."""
        return self._words.get(base)

    def _remember(self, where: OrderedDict[str, T], base: str, value: T) -> None:
        with self._lock:
            where[base] = value
            where.move_to_end(base)
            if len(where) > _REMEMBERED:
                where.popitem(last=False)
