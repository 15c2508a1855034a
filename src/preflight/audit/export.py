"""The log for others: JSON Lines, and CSV that no spreadsheet takes for formulas. Secrets stay masked (R-78)."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec

from preflight.model.question import NoAnswer
from preflight.model.record import Record
from preflight.ports import Stored
from preflight.render.explain import silence_words
from preflight.render.public import public
from preflight.render.visible import visible

COLUMNS: Final = (
    "seq", "timestamp", "state", "user_id", "tenant", "conversation", "server", "tool", "action_key", "gate", "reason",
    "arguments", "outcome", "decision_id", "record_id", "previous_digest", "digest", "key_id", "no_answers",
)  # fmt: skip
_FORMULA = tuple("=+-@\t\r\n＝＋－＠")
"""How a cell begins that a spreadsheet would run."""


Silences = Callable[[str], Sequence[NoAnswer]]
"""Returns how often a question was put in vain (R-92)."""


def none_known(_question_id: str) -> Sequence[NoAnswer]:
    """Return nothing: for records without their questions."""
    return ()


def silences_of(record: Record, silences: Silences) -> Sequence[NoAnswer]:
    """Return how often the question of a decision was put in vain; a step of an execution asks nothing."""
    asked = record.question_id if record.record_id == record.decision_id else None
    return silences(asked) if asked else ()


def as_json_lines(records: Iterable[Stored], silences: Silences = none_known) -> Iterator[str]:
    """Yield one JSON object a line: the record, its place, its digest and the key that signed it.

    `no_answers` says how often its question was put in vain; it is no part of what is hashed and signed.
    """
    for stored in records:
        shape: dict[str, Any] = {"seq": stored.seq, "digest": stored.digest, "key_id": _key(stored)}
        shape["record"] = public(stored.record)
        if found := silences_of(stored.record, silences):
            shape["no_answers"] = msgspec.to_builtins(found)
        yield json.dumps(shape, ensure_ascii=False, separators=(",", ":")) + "\n"


def as_csv(records: Iterable[Stored], silences: Silences = none_known) -> Iterator[str]:
    """Yield a heading and one row a record (RFC 4180); every cell is quoted, and none begins like a formula."""
    yield _row(COLUMNS)
    for stored in records:
        yield _row((*_cells(stored), _silent(silences_of(stored.record, silences))))


def cell(value: object) -> str:
    """Return what a cell shows: visible characters only, with an apostrophe before what looks like a formula."""
    text = visible("" if value is None else str(value))
    return f"'{text}" if text.startswith(_FORMULA) else text


def _row(values: Iterable[object]) -> str:
    line = io.StringIO()
    csv.writer(line, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerow([cell(value) for value in values])
    return line.getvalue()


def _cells(stored: Stored) -> tuple[object, ...]:
    record = stored.record
    tool, shape = record.tool, public(record)
    arguments = shape.get("call_arguments")
    return (
        stored.seq, record.timestamp, record.execution_decision, record.user_id, record.scope.tenant,
        record.scope.conversation, tool and tool.server, tool and tool.name, record.key,
        record.gate and record.gate.kind, record.reason,
        None if arguments is None else json.dumps(arguments, ensure_ascii=False), _outcome(record),
        record.decision_id, record.record_id, record.previous_digest, stored.digest, _key(stored),
    )  # fmt: skip


def _outcome(record: Record) -> str | None:
    outcome = record.outcome
    if outcome is None:
        return None
    told = (outcome.error, outcome.settled_as, outcome.by and f"by {outcome.by}", outcome.evidence)
    return "; ".join(text for text in told if text) or None


def _silent(found: Sequence[NoAnswer]) -> str | None:
    return "; ".join(silence_words(each) for each in found) or None


def _key(stored: Stored) -> str | None:
    return None if stored.seal is None else stored.seal.key_id
