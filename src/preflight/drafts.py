"""Decisions that were handed out before they were recorded: each may be recorded once, unchanged (R-8, R-74)."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Final

import msgspec

from preflight.codec import encode
from preflight.errors import InvalidInput
from preflight.model.decision import Decision
from preflight.model.request import Request, request_digest

_REMEMBERED: Final = 1_000


class _Draft(msgspec.Struct, frozen=True):
    """A decision that was handed out, with what it was made of."""

    decision: Decision
    request: Request
    arguments: bytes


class Drafts:
    """The decisions that this process made and nobody recorded yet, the newest ones."""

    def __init__(self) -> None:
        """Know none."""
        self._made: OrderedDict[int, _Draft] = OrderedDict()
        self._lock = Lock()

    def add(self, request: Request, decision: Decision) -> Decision:
        """Remember a decision that is handed out, and return it."""
        draft = _Draft(decision, request, encode(decision.call_arguments))
        with self._lock:
            self._made[id(decision)] = draft
            if len(self._made) > _REMEMBERED:
                self._made.popitem(last=False)
        return decision

    def take(self, request: Request, decision: Decision) -> None:
        """Give a decision up to be recorded; raises InvalidInput for one that was not made here of this request."""
        with self._lock:
            made = self._made.pop(id(decision), None)
        if (
            made is None
            or made.decision is not decision
            or made.arguments != encode(decision.call_arguments)
            or request_digest(made.request) != request_digest(request)
        ):
            what = "not made here of this request, changed since, or recorded before"
            raise InvalidInput("decision", what, "decide again with `run_preflight`")
