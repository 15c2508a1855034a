"""Which call a repeated call is, and which instruction it comes from (decisions 0083 and 0130)."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from itertools import count
from threading import Lock
from typing import Final, NamedTuple

import msgspec

from preflight.hooks.shipped.request_text import current
from preflight.hosts.continuing import goes_on
from preflight.model.instruction import Segment
from preflight.model.json_value import exact, is_object
from preflight.model.record import Record
from preflight.model.request import Scope
from preflight.model.tool import Tool
from preflight.ports import Storage

_OVER: Final = ("executed", "failed", "settled")
_REMEMBERED: Final = 10_000
_BEYOND: Final = ("$ref", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "patternProperties")
"""Keywords by which a schema may have properties that do not stand at its root."""


def base_of(session: str, user_id: str, tool: Tool, arguments: Mapping[str, object]) -> str:
    """Return what all runs of one and the same call have in common: what is never sent does not tell calls apart."""
    return digest([session, user_id, tool.server, tool.name, exact(_declared(tool.input_schema, arguments))])


def _declared(schema: object, arguments: Mapping[str, object]) -> Mapping[str, object]:
    if not is_object(schema) or any(key in schema for key in _BEYOND):
        return arguments
    properties = schema.get("properties")
    known = properties if is_object(properties) else {}
    return {name: value for name, value in arguments.items() if name in known}


def instruction_of(segments: Iterable[Segment], conversation: str | None) -> str | None:
    """Return the id of the instruction that is current: what the user said last, whatever else was said or has expired.

    Requests are told apart by their numbers, in a `conversation`, or everywhere where it is None. Where none is
    numbered, the same text said again is another one. None where the user said nothing.
    """
    said = [segment for segment in segments if segment.grounds and segment.text.strip()]
    now = current(said)
    if not now:
        return None
    texts = [segment.text for segment in now if not goes_on(segment.text)] or [now[0].text]
    number = now[0].request
    if number is not None:
        return digest([conversation, number, texts])
    again = sum(segment.text == texts[-1] for segment in said)
    return digest([conversation, again, texts])


def segment_shape(segment: Segment) -> dict[str, object]:
    """Return a segment as a request has it."""
    shape: dict[str, object] = msgspec.to_builtins(segment)
    return {key: value for key, value in shape.items() if value is not None}


def digest(value: object) -> str:
    """Return a short digest of a JSON value; of what has no JSON form, which the gate refuses, of its text."""
    try:
        text = json.dumps(value, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        text = repr(value)
    return hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()[:32]


class Run(NamedTuple):
    """A run of a call: the conversation it belongs to, what all runs of the call have in common, and its own id."""

    scope: Scope
    base: str
    call_id: str
    is_open: bool
    """Whether it was decided before, and is not over."""


class CallIds:
    """Numbers the runs of one and the same call: while one is open or in doubt, the same call means that one."""

    def __init__(self, storage: Storage) -> None:
        """Look runs up in `storage`; where to begin to look is remembered here."""
        self._storage = storage
        self._begin: OrderedDict[str, int] = OrderedDict()
        self._lock = Lock()

    def current(self, scope: Scope, base: str) -> Run:
        """Return the run that the call `base` means now."""
        for number in count(self._begin.get(base, 0)):
            call_id = f"{base}.{number}"
            stored = self._storage.latest_for_call(scope, call_id)
            if stored is None or not self._is_over(stored.record):
                break
        self._remember(base, number)
        return Run(scope, base, call_id, stored is not None)

    def executed_before(self, run: Run) -> Record | None:
        """Return the outcome of the run before this one, where the same call was executed then."""
        number = int(run.call_id.rpartition(".")[2])
        stored = self._storage.latest_for_call(run.scope, f"{run.base}.{number - 1}") if number else None
        last = None if stored is None else self._storage.steps(stored.record.decision_id)[-1].record
        return last if last is not None and last.execution_decision == "executed" else None

    def ended(self, base: str, record: Record) -> None:
        """Remember the last step of a run that was executed here: the next is looked for behind it."""
        number = (record.call_id or "").rpartition(".")[2]
        if record.execution_decision in _OVER and number.isdigit():
            self._remember(base, int(number) + 1)

    def _is_over(self, decision: Record) -> bool:
        return self._storage.steps(decision.decision_id)[-1].record.execution_decision in _OVER

    def _remember(self, base: str, number: int) -> None:
        with self._lock:
            self._begin[base] = number
            self._begin.move_to_end(base)
            if len(self._begin) > _REMEMBERED:
                self._begin.popitem(last=False)
