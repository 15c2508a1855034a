"""The audit catalogue in SQLite: short rows and slot names derived from the log, and the searches over them.

Filling it in the transaction of each append would dirty some nine pages more a commit: 160 us of CPU for
an append instead of 45. In sorted batches it takes 11 to 17 us a record (`benchmarks/storage.py`), and
none of it while a call waits: it is brought up to date before every search, so no search misses a record.
"""

from __future__ import annotations

from typing import Any

import apsw
import msgspec

from preflight.model.slot import SOURCES
from preflight.ports import Query
from preflight.storage.matching import by_column

BATCH = 512
_BITS: dict[str | None, int] = {source: 1 << n for n, source in enumerate(SOURCES)}


class _Slot(msgspec.Struct):
    name: str
    source: str | None


class _Slots(msgspec.Struct):
    """What the catalogue reads of a stored decision."""

    fields: tuple[_Slot, ...] | None = None
    extra_fields: tuple[_Slot, ...] = ()


_DECODER = msgspec.json.Decoder(_Slots)

_BEHIND = "SELECT ifnull((SELECT max(seq) FROM record), 0) > ifnull((SELECT max(seq) FROM catalogue), 0)"
_LAST = "SELECT ifnull(max(seq), 0) FROM catalogue"
_NEXT = """
SELECT seq, at, state, tenant, conversation, user_id, action_key, tool, CASE stage WHEN 0 THEN body END
FROM record WHERE seq > ifnull((SELECT max(seq) FROM catalogue), 0) ORDER BY seq LIMIT ?
"""
_ENTER = "INSERT INTO catalogue VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_ENTER_SLOT = "INSERT OR IGNORE INTO catalogue_slot (name, seq, source) VALUES (?, ?, ?)"


def behind(connection: apsw.Connection) -> bool:
    """Whether records wait to be catalogued."""
    return bool(connection.execute(_BEHIND).fetchall()[0][0])


def last(connection: apsw.Connection) -> int:
    """Return the place in the log up to which all is catalogued."""
    rows: list[Any] = connection.execute(_LAST).fetchall()
    return int(rows[0][0])


def catch_up(connection: apsw.Connection) -> int:
    """Catalogue the next records, at most one batch, inside the caller's transaction; return how many."""
    rows: list[Any] = connection.execute(_NEXT, (BATCH,)).fetchall()
    slots: list[tuple[str, int, str]] = []
    entries = []
    for seq, *columns, body in rows:
        found = _slots(body)
        slots.extend((slot.name, seq, slot.source or "") for slot in found)
        sources = 0
        for slot in found:
            sources |= _BITS.get(slot.source, 0)  # None and odd words have no bit
        entries.append((seq, *columns, sources))
    connection.executemany(_ENTER, entries)
    connection.executemany(_ENTER_SLOT, sorted(slots))  # sorted: each page of the index is visited once
    return len(rows)


def _slots(body: bytes | None) -> tuple[_Slot, ...]:
    if body is None:  # a step of an execution repeats its decision's slots
        return ()
    try:
        decision = _DECODER.decode(body)
    except msgspec.MsgspecError:
        return ()  # a damaged record is reported to whoever reads it; it must not stop every audit
    return (decision.fields or ()) + decision.extra_fields


def search(query: Query) -> tuple[str, dict[str, object]]:
    """Return the statement for a query and its parameters, to which the caller adds `before` and `page`.

    It yields the columns of a record, newest first, of records with `seq < :before`. Raises InvalidInput
    when `since` is no time.
    """
    by_slot = query.field is not None
    source = (
        ("s.source = :source", "source", query.source)
        if by_slot
        else ("c.sources & :source", "source", None if query.source is None else _BITS.get(query.source, 0))
    )
    parts = (("s.name = :field", "field", query.field), source, *by_column(query, "c"))
    given = [part for part in parts if part[2] is not None]
    statement = _statement(by_slot=by_slot, conditions=[condition for condition, _, _ in given])
    return statement, {name: value for _, name, value in given}


def _statement(*, by_slot: bool, conditions: list[str]) -> str:
    """Put the search together; the joins are `CROSS`, which in SQLite fixes their order."""
    first = "s" if by_slot else "c"
    tables = "catalogue_slot s CROSS JOIN catalogue c ON c.seq = s.seq" if by_slot else "catalogue c"
    where = " AND ".join([*conditions, f"{first}.seq < :before"])
    # A name may stand in a decision twice, from two sources; grouping follows the index and sorts nothing.
    group = f"GROUP BY {first}.seq " if by_slot else ""
    return (
        "SELECT r.seq, r.digest, r.body, r.key_id, r.signature "  # noqa: S608  fixed words; every value is bound
        f"FROM {tables} CROSS JOIN record r ON r.seq = {first}.seq "
        f"WHERE {where} {group}ORDER BY {first}.seq DESC LIMIT :page"
    )
