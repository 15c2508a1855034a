"""Deferred runs of one tenant: nothing of it reaches another tenant's rows, in any store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from preflight.errors import InvalidInput
from preflight.model.request import Scope
from preflight.storage.contract_deferral import ELEVEN, NINE, TEN, fired, later, note, row
from preflight.storage.sqlite import SqliteStorage
from preflight.storage.tenancy import TenantStorage
from preflight.testing import MemoryStorage, sample_answer, sample_decision, sample_question, sample_step
from tests.storage.postgres_server import Server

OTHER = Scope("other", "conversation")


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def whole(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A store with a row of each of two tenants, the other's longer due."""
    store: Any
    if request.param == "memory":
        store = MemoryStorage()
    elif request.param == "sqlite":
        store = SqliteStorage(tmp_path / "records.db")
    else:
        server: Server = request.getfixturevalue("postgres")
        store = server.store()
    store.defer(sample_decision("mine", "deferred"), row("mine", TEN, event="paid"))
    store.defer(sample_decision("theirs", "deferred", scope=OTHER), row("theirs", NINE, scope=OTHER, event="paid"))
    return store


def names(rows: list[Any]) -> list[str]:
    return [each.deferral_id for each in rows]


def test_a_tenant_sees_its_own_rows(whole: Any) -> None:
    mine = TenantStorage(whole, "tenant")
    assert names(mine.deferrals()) == names(mine.awaiting("paid")) == ["mine"]
    assert mine.deferral("theirs") is None
    assert mine.notes("theirs") == []
    assert [each.what for each in mine.notes("mine")] == ["scheduled"]
    with pytest.raises(InvalidInput, match="has no place in the store"):
        mine.deferrals(OTHER)


def test_a_tenant_leases_its_own_rows_though_others_are_longer_due(whole: Any) -> None:
    mine = TenantStorage(whole, "tenant")
    assert mine.lease(ELEVEN, ELEVEN, 1, tenant="other") == []
    assert names(mine.lease(ELEVEN, "2026-03-01T12:00:00+00:00", 1)) == ["mine"]
    assert mine.lease(ELEVEN, ELEVEN, 1) == []
    mine.release("theirs", ELEVEN)
    mine.release("mine", ELEVEN)
    assert names(mine.lease(ELEVEN, ELEVEN, 1)) == ["mine"]
    assert names(whole.lease(ELEVEN, ELEVEN, 5)) == ["theirs", "mine"]


def test_a_tenant_changes_its_own_rows(whole: Any) -> None:
    mine = TenantStorage(whole, "tenant")
    with pytest.raises(InvalidInput, match="has no place in the store"):
        mine.change(later(row("theirs", scope=OTHER)), note("theirs"))
    assert mine.change(later(row("theirs")), note("theirs")) is False
    assert mine.change(later(row("mine", TEN)), note("mine")) is True
    mine.note(note("theirs"))
    mine.note(note("mine"))
    assert (len(whole.notes("theirs")), len(whole.notes("mine"))) == (1, 3)
    with pytest.raises(InvalidInput, match="has no place in the store"):
        mine.defer(sample_decision("new", "deferred", scope=OTHER), row("new"))


def test_a_tenant_starts_its_own_occurrences(whole: Any) -> None:
    mine, theirs = TenantStorage(whole, "tenant"), TenantStorage(whole, "other")
    decision = fired("e1", "mine", f"k@{TEN}")
    whole.append(decision)
    start = sample_step(decision, "executing")
    assert mine.over(start) is False
    assert mine.claim(start) is not None
    assert (mine.started("mine", f"k@{TEN}"), theirs.started("mine", f"k@{TEN}")) == ("e1", None)
    assert mine.started("nothing", f"k@{TEN}") is None
    with pytest.raises(InvalidInput, match="has no place in the store"):
        theirs.over(start)


def test_a_tenant_finds_what_was_answered(whole: Any) -> None:
    for name, scope in (("mine", row("mine").scope), ("theirs", OTHER)):
        whole.ask(sample_question(f"q {name}", scope=scope))
        whole.change(later(row(name, scope=scope), state="held", question_id=f"q {name}"), note(name))
        whole.answer(sample_answer(f"q {name}"))
    assert names(whole.answered()) == ["mine", "theirs"]
    assert names(TenantStorage(whole, "tenant").answered()) == ["mine"]


def test_rows_are_cut_down_to_one_tenant_in_the_database(postgres: Server) -> None:
    url = postgres.database()
    app, operator = postgres.roles(url)
    from preflight.storage.postgres import PostgresStorage

    writing, other, every = (
        PostgresStorage(app, tenant="tenant"), PostgresStorage(app, tenant="other"), PostgresStorage(operator),
    )  # fmt: skip
    try:
        writing.defer(sample_decision("mine", "deferred"), row("mine"))
        other.defer(sample_decision("theirs", "deferred", scope=OTHER), row("theirs", scope=OTHER))
        assert names(writing.deferrals()) == ["mine"]
        assert names(every.deferrals()) == ["mine", "theirs"]
        assert writing.change(later(row("theirs", scope=OTHER)), note("theirs")) is False
        assert names(writing.lease(TEN, ELEVEN, 9)) == ["mine"]
        decision = fired("e1", "mine", f"k@{NINE}")
        writing.append(decision)
        assert writing.claim(sample_step(decision, "executing")) is not None
        assert (every.started("mine", f"k@{NINE}"), other.started("mine", f"k@{NINE}")) == ("e1", None)
        assert names(every.lease(TEN, ELEVEN, 9)) == ["theirs"]
    finally:
        for store in (writing, other, every):
            store.close()
