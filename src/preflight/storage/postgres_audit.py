"""The audit's search in PostgreSQL: by the log's own columns, and by the slots entered with each decision."""

from __future__ import annotations

from preflight.ports import Query
from preflight.storage.matching import by_column


def search(query: Query) -> tuple[str, dict[str, object]]:
    """Return the statement for a query and its parameters, to which the caller adds `before` and `page`.

    It yields the columns of a record, newest first, of records with `seq < :before`. Raises InvalidInput
    when `since` is no time.
    """
    slot_parts: tuple[tuple[str, str, object], ...] = (
        ("s.name = :field", "field", query.field),
        ("s.source = :source", "source", query.source),
    )
    given = [part for part in (*slot_parts, *by_column(query, "r")) if part[2] is not None]
    by_slot = query.field is not None or query.source is not None
    statement = _statement([condition for condition, _, _ in given], by_slot=by_slot)
    return statement, {name: value for _, name, value in given}


def _statement(conditions: list[str], *, by_slot: bool) -> str:
    # A name may stand in a decision twice, from two sources.
    place, distinct = ("s.seq", "DISTINCT ON (s.seq) ") if by_slot else ("r.seq", "")
    tables = "FROM slot s JOIN record r ON r.seq = s.seq" if by_slot else "FROM record r"
    where = " AND ".join([*conditions, f"{place} < :before"])
    return (
        f"SELECT {distinct}r.seq, r.digest, r.body, r.key_id, r.signature {tables} "
        f"WHERE {where} ORDER BY {place} DESC LIMIT :page"
    )
