"""Limits over the record log: what was started in a window, this call included (R-66)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal

from preflight.clock import iso, seconds_of
from preflight.model.json_value import is_number, is_object
from preflight.model.pointer import descend, steps
from preflight.model.record import Record
from preflight.model.request import Request
from preflight.model.rules import LimitRule
from preflight.ports import Query, Storage

_MOST_RECORDS = 100_000


def window_start(rule: LimitRule, now: str) -> str:
    """Return when the window of a limit begins, ISO 8601."""
    return iso(seconds_of(now) - rule.window_seconds)


def amount(rule: LimitRule, arguments: Mapping[str, object]) -> Decimal | None:
    """Return what one call adds to a limit; None when the field it adds up has no number."""
    if rule.kind == "count":
        return Decimal(1)
    value = descend(arguments, steps(f"/{rule.field}"))
    return Decimal(repr(value)) if is_number(value) else None


def used(rule: LimitRule, starts: Iterable[Record]) -> Decimal:
    """Return what some starts add up to."""
    amounts = (amount(rule, _arguments(record)) for record in starts)
    return sum((each for each in amounts if each is not None), Decimal(0))


def within(rule: LimitRule, total: Decimal) -> bool:
    """Whether a total keeps a limit."""
    return total <= Decimal(repr(rule.at_most))


def started(rule: LimitRule, request: Request, storage: Storage) -> Iterator[Record]:
    """Yield the starts of a tool in the window of a limit, those known to have failed left out."""
    since = window_start(rule, request.utterance.now)
    failed = {record.decision_id for record in _steps(rule, request, storage, "failed", since)}
    starts = _steps(rule, request, storage, "executing", since)
    return (record for record in starts if record.decision_id not in failed)


def admits(limits: Iterable[LimitRule], record: Record, now: str, starts: Iterable[Record]) -> str | None:
    """Return the id of the first limit that a start would pass, among the starts of its tool, or None.

    `starts` are of the whole tenant since the earliest window; each limit takes its own window and user.
    """
    known = list(starts)
    for rule in limits:
        since = window_start(rule, now)
        mine = (r for r in known if r.timestamp >= since and (rule.per != "user" or r.user_id == record.user_id))
        here = amount(rule, _arguments(record))
        if here is None or not within(rule, here + used(rule, mine)):
            return rule.id
    return None


def _arguments(record: Record) -> Mapping[str, object]:
    arguments = record.call_arguments
    return arguments if is_object(arguments) else {}


def _steps(rule: LimitRule, request: Request, storage: Storage, state: str, since: str) -> Iterator[Record]:
    user = request.user_id if rule.per == "user" else None
    query = Query(tool=request.tool.name, decision=state, user_id=user, since=since, limit=_MOST_RECORDS)
    for stored in storage.find(query):
        record = stored.record
        same_server = record.tool is not None and record.tool.server == request.tool.server
        if same_server and record.scope.tenant == request.scope.tenant:
            yield record
