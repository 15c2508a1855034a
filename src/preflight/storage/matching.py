"""What an audit asks of a record: as conditions of a search, and as a test where no index can tell."""

from __future__ import annotations

from collections.abc import Callable

from preflight.core import lifecycle
from preflight.model.record import Record
from preflight.ports import Query
from preflight.storage.entry import instant


def matcher(query: Query) -> Callable[[Record], bool]:
    """Return the test for one query; raises InvalidInput when its `since` is no time."""
    since = None if query.since is None else instant(query.since, "since")
    return lambda record: _matches(record, query, since)


def by_column(query: Query, table: str) -> tuple[tuple[str, str, object], ...]:
    """Return what a query asks of a record's columns in `table`: condition, parameter, and value or None.

    Raises InvalidInput when `since` is no time.
    """
    scope = query.scope
    return (
        (f"{table}.tenant = :within", "within", query.tenant),
        (f"{table}.tenant = :tenant", "tenant", None if scope is None else scope.tenant),
        (f"{table}.conversation = :conversation", "conversation", None if scope is None else scope.conversation),
        (f"{table}.action_key = :action_key", "action_key", query.action_key),
        (f"{table}.tool = :tool", "tool", query.tool),
        (f"{table}.state = :state", "state", query.decision),
        (f"{table}.user_id = :user_id", "user_id", query.user_id),
        (f"{table}.at >= :since", "since", None if query.since is None else instant(query.since, "since")),
    )


def _matches(record: Record, query: Query, since: int | None) -> bool:
    exact = (
        (query.scope, record.scope),
        (query.tenant, record.scope.tenant),
        (query.action_key, record.key),
        (query.tool, None if record.tool is None else record.tool.name),
        (query.decision, record.execution_decision),
        (query.user_id, record.user_id),
    )
    return (
        all(wanted is None or wanted == found for wanted, found in exact)
        and (since is None or instant(record.timestamp, "timestamp") >= since)
        and _matches_slot(record, query.field, query.source)
    )


def _matches_slot(record: Record, name: str | None, source: str | None) -> bool:
    if name is None and source is None:
        return True
    # The steps of an execution repeat their decision's slots; an audit by slot finds the decision only.
    if lifecycle.stage(record.execution_decision) > 0:
        return False
    slots = record.states
    return any(name in (None, slot.name) and source in (None, slot.source) for slot in slots)
