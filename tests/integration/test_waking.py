"""The engine for many machines: what it wakes for, what it leaves alone, and what goes on when it fails."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from preflight import Asking
from preflight.clock import SystemClock
from preflight.deferral.changes import DeferredRuns
from preflight.deferral.connections import Callables
from preflight.deferral.engines import waking
from preflight.deferral.engines.waking import Procrastinate
from preflight.deferral.worker import Worker
from preflight.errors import ConstructionError, InvalidInput
from preflight.results import ToolCall
from preflight.storage import open_storage
from preflight.storage.entry import instant
from tests.storage.postgres_server import Server
from tests.unit.deferral.runs import BALANCE, RULES, Bank, schema

NOW = "Transfer 100 to Bob in one second"
NEVER = 3_600.0  # seconds between scans: whatever fires was woken for
AWAITED = (
    RULES
    + """
triggers:
  salary: {phrases: [my salary arrives], event: salary.received, match: {employer: acme}, deadline: 2d}
  funded: {phrases: [the account holds enough], expression: measured.balance >= args.amount, poll: 1s, deadline: 2d}
"""
)
JOBS = "SELECT args->>'deferral_id', (extract(epoch FROM scheduled_at) * 1000000)::BIGINT, status::TEXT FROM "
JOBS += "preflight_wake.procrastinate_jobs"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


class Shifted:
    """The machine's clock, which may be set apart for a moment."""

    apart = 0.0

    def now(self) -> float:
        return time.time() + self.apart


class Watched(Worker):
    """A worker that tells each look once it is over: what it was woken for, None for a scan."""

    def __init__(self, bank: Bank) -> None:
        super().__init__(bank.gate, Callables(bank.tools))
        self.looks: queue.Queue[str | None] = queue.Queue()

    def look(self, only: str | None = None) -> None:
        super().look(only)
        self.looks.put(only)

    def looked(self) -> str | None:
        return self.looks.get(timeout=30)


class Machine:
    """A bank whose worker the engine wakes, over a database of its own."""

    def __init__(self, server: Server, folder: Path, rules: str = AWAITED) -> None:
        self.server = server
        self.url = server.database()
        self.bank = Bank(folder, rules, storage=open_storage(self.url), clock=Shifted())
        self.worker = Watched(self.bank)
        self.stop = threading.Event()

    @contextmanager
    def awake(self, scan_seconds: float = NEVER) -> Iterator[None]:
        """Run the engine meanwhile."""
        self.stop.clear()
        engine = Procrastinate(self.url, poll_seconds=0.1, scan_seconds=scan_seconds)
        engine.set_up()
        running = threading.Thread(target=engine.run, args=(self.worker, self.stop))
        running.start()
        try:
            yield
        finally:
            self.stop.set()
            running.join(30)
            engine.close()
        assert not running.is_alive()

    def scheduled(self) -> None:
        """Write what is to wake the worker, and end before it can be woken."""
        self.stop.set()
        engine = Procrastinate(self.url, poll_seconds=0.1, scan_seconds=NEVER)
        engine.set_up()
        engine.run(self.worker, self.stop)
        engine.close()

    def overdue(self, **parts: Any) -> str:
        """Defer a run that is due when it is stored."""
        self.bank.clock.apart = -1.0
        try:
            return self.bank.defer(NOW, **parts)
        finally:
            self.bank.clock.apart = 0.0

    def sql(self, *statements: str) -> list[Any]:
        return self.server.run("SET search_path = preflight_wake", *statements, url=self.url)

    def jobs(self) -> list[tuple[str, int, str]]:
        return self.sql(JOBS)

    def due(self, name: str) -> int:
        return instant(self.bank.row(name).due, "due")


@pytest.fixture
def machine(server: Server, tmp_path: Path) -> Iterator[Machine]:
    machine = Machine(server, tmp_path)
    yield machine
    machine.bank.gate.close()


def test_a_run_that_another_program_defers_is_woken_for_at_its_time(machine: Machine, tmp_path: Path) -> None:
    other = Bank(tmp_path, storage=open_storage(machine.url), clock=SystemClock())
    with machine.awake():
        name = other.defer(NOW)
        assert machine.worker.looked() == name
    assert machine.bank.calls == [{"amount": 100, "to": "Bob"}]
    assert [what for what, _ in machine.bank.noted(name)] == ["scheduled", "fired"]
    assert machine.bank.store.notes(name)[-1].late_seconds < waking.SCAN_SECONDS
    other.gate.close()


def test_a_wake_up_carries_the_id_and_nothing_else(machine: Machine) -> None:
    with machine.awake():
        pass
    name = machine.bank.defer("Transfer 100 to Bob in 5 minutes")
    assert machine.sql("SELECT args FROM procrastinate_jobs") == [({"deferral_id": name},)]


def test_a_recurrence_is_woken_for_again(machine: Machine) -> None:
    checked = machine.bank.say("Transfer 100 to Bob every day at 09:00")
    assert isinstance(checked, Asking)
    name = machine.bank.gate.answer(
        checked.question.question_id, {"when": "*/5 * * * * UTC until cancelled"}, person="u1"
    ).record.decision_id
    with machine.awake():
        machine.bank.runs.run_now(name, by="u1")
        while not machine.bank.calls:
            assert machine.worker.looked() == name
    assert machine.bank.row(name).state == "waiting"
    assert (name, machine.due(name), "todo") in machine.jobs()


def test_a_condition_is_polled(machine: Machine) -> None:
    BALANCE["now"] = 5
    name = machine.bank.defer("Transfer 100 to Bob once the account holds enough")
    with machine.awake():
        assert machine.worker.looked() == name
        BALANCE["now"] = 500
        while not machine.bank.calls:
            assert machine.worker.looked() == name
    assert [what for what, _ in machine.bank.noted(name)] == ["scheduled", "happened", "fired"]


def test_an_event_wakes_at_once(machine: Machine) -> None:
    name = machine.bank.defer("Transfer 100 to Bob when my salary arrives")
    with machine.awake():
        machine.bank.runs.event("salary.received", {"employer": "acme"}, by="payroll")
        assert machine.worker.looked() == name
        assert len(machine.bank.calls) == 1


def test_an_answer_wakes_what_was_held_for_it(machine: Machine) -> None:
    name = machine.overdue()
    machine.bank.tools["bank", "transfer"] = (
        {"name": "transfer", "inputSchema": schema("memo")},
        machine.bank.transfer,
    )
    with machine.awake():
        assert machine.worker.looked() == name
        row = machine.bank.row(name)
        assert (row.state, machine.bank.calls) == ("held", [])
        assert row.question_id is not None
        machine.bank.gate.answer(row.question_id, {"memo": "rent"}, person="u1")
        assert machine.worker.looked() == name
    assert len(machine.bank.calls) == 1


def test_a_stale_wake_up_does_nothing(machine: Machine) -> None:
    moved, cancelled = machine.overdue(), machine.overdue()
    machine.scheduled()
    machine.bank.runs.move(moved, datetime.now(UTC) + timedelta(days=1), by="u1")
    machine.bank.runs.cancel(cancelled, by="u1")
    noted = machine.bank.noted(moved), machine.bank.noted(cancelled)
    with machine.awake():
        assert {machine.worker.looked(), machine.worker.looked()} == {moved, cancelled}
    assert machine.bank.calls == []
    assert (machine.bank.noted(moved), machine.bank.noted(cancelled)) == noted
    assert machine.jobs() == []


def test_cancelling_and_moving_race_with_firing_and_one_of_them_wins(machine: Machine) -> None:
    #
    names = [machine.overdue(user_id=f"u{n}") for n in range(12)]
    changed: set[str] = set()

    def change() -> None:
        runs = DeferredRuns(machine.bank.gate)
        for n, name in enumerate(names):
            try:
                if n % 2:
                    runs.cancel(name, by="u1")
                else:
                    runs.move(name, datetime.now(UTC) + timedelta(days=1), by="u1")
                changed.add(name)
            except InvalidInput:
                pass  # it has started

    begun = machine.bank.tools["bank", "transfer"][1]
    people = threading.Thread(target=change)

    def transfer(call: ToolCall) -> object:
        if not machine.bank.calls:
            people.start()  # as soon as the first is called
        return begun(call)

    machine.bank.tools["bank", "transfer"] = (machine.bank.tools["bank", "transfer"][0], transfer)
    with machine.awake():
        for _ in names:
            machine.worker.looked()
        people.join(30)
    fired = {name for name in names if ("fired", None) in machine.bank.noted(name)}
    assert fired
    assert (fired | changed, fired & changed) == (set(names), set())
    assert len(machine.bank.calls) == len(fired)


@pytest.mark.parametrize(("during", "calls"), [("lookup", 0), ("call", 1)])
def test_what_is_cancelled_before_the_start_does_not_start_and_what_started_is_not_cancelled(
    machine: Machine, during: str, calls: int
) -> None:
    name = machine.overdue()
    refused: list[str] = []

    class Meddled(Callables):
        def tool(self, server: str, tool: str) -> Any:
            meddle("lookup")
            return super().tool(server, tool)

        def call(self, call: ToolCall) -> object:
            meddle("call")
            return super().call(call)

    def meddle(now: str) -> None:
        if now == during:
            try:
                machine.bank.runs.cancel(name, by="u1")
            except InvalidInput as fault:
                refused.append(str(fault))

    machine.worker._firing._connections = Meddled(machine.bank.tools)
    with machine.awake():
        assert machine.worker.looked() == name
    assert (len(machine.bank.calls), len(refused)) == (calls, calls)
    assert machine.bank.row(name).state == ("done" if calls else "cancelled")


def test_the_scan_finds_what_no_wake_up_came_for(machine: Machine) -> None:
    with machine.awake():
        pass
    machine.sql("ALTER TABLE preflight.deferral DISABLE TRIGGER wake_up")
    name = machine.overdue()
    assert machine.jobs() == []
    with machine.awake(scan_seconds=0.05):
        while not machine.bank.calls:
            assert machine.worker.looked() in (None, name)
    assert [what for what, _ in machine.bank.noted(name)] == ["scheduled", "fired"]


def test_jobs_of_workers_that_died_are_dropped(machine: Machine) -> None:
    with machine.awake():
        pass
    name = machine.bank.defer("Transfer 100 to Bob in 5 minutes")
    machine.sql(
        "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() - INTERVAL '1 hour')",
        "UPDATE procrastinate_jobs SET status = 'doing', worker_id = (SELECT max(id) FROM procrastinate_workers)",
    )
    with machine.awake(scan_seconds=0.05):
        for _ in range(3):
            assert machine.worker.looked() is None
    assert machine.jobs() == [(name, machine.due(name), "todo")]


def test_the_scan_goes_on_without_the_engine_and_the_engine_comes_back(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(waking, "RETRY_SECONDS", 0.1)
    with machine.awake(scan_seconds=0.1):
        assert machine.worker.looked() is None
        machine.sql("ALTER TABLE procrastinate_jobs RENAME TO taken_away")
        name = machine.overdue()
        while not machine.bank.calls:
            assert machine.worker.looked() is None
        machine.sql("ALTER TABLE taken_away RENAME TO procrastinate_jobs")
        again = machine.overdue()
        while len(machine.bank.calls) < 2:
            assert machine.worker.looked() in (None, again)
    assert [what for what, _ in machine.bank.noted(name)] == ["scheduled", "fired"]
    assert "the engine failed, starting it again" in caplog.text
    assert "wake-ups are left to the next scan" in caplog.text


def test_sessions_that_the_server_ends_are_replaced(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waking, "RETRY_SECONDS", 0.1)
    name = machine.bank.defer("Transfer 100 to Bob when my salary arrives")
    early = machine.overdue()
    with machine.awake():
        assert machine.worker.looked() == early
        ended = machine.sql(
            "SELECT pg_terminate_backend(pid, 30000) FROM pg_stat_activity WHERE application_name = 'preflight' "
            "AND datname = current_database()"
        )
        assert len(ended) > 2
        machine.bank.runs.event("salary.received", {"employer": "acme"}, by="payroll")
        while len(machine.bank.calls) < 2:
            assert machine.worker.looked() == name


def test_who_locks_the_engines_tables_stops_neither_deferring_nor_the_scan(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waking, "WAIT_SECONDS", 0.2)
    with machine.awake(scan_seconds=0.1):
        assert machine.worker.looked() is None
        with psycopg.connect(machine.url) as other:
            other.execute("LOCK TABLE preflight_wake.procrastinate_jobs")
            machine.overdue()
            while not machine.bank.calls:
                assert machine.worker.looked() is None


def test_a_worker_that_fails_for_good_ends_the_engine_and_leaves_its_wake_up(machine: Machine) -> None:
    class Broken(Watched):
        def look(self, only: str | None = None) -> None:
            raise RuntimeError("a fault of the program")

    with machine.awake():
        pass
    name = machine.overdue()
    engine = Procrastinate(machine.url, poll_seconds=0.1)
    with pytest.raises(RuntimeError, match="a fault of the program"):
        engine.run(Broken(machine.bank), threading.Event())
    engine.close()
    assert [(job, status) for job, _, status in machine.jobs()] == [(name, "todo")]
    assert threading.active_count() == len([t for t in threading.enumerate() if t.name != "preflight-waking"])


def test_it_serves_every_tenant_of_its_own_store_and_no_other(server: Server, tmp_path: Path) -> None:
    url, elsewhere = server.database(), server.database()
    engine = Procrastinate(url)
    for where, tenant, told in (
        (":memory:", None, "every row of a PostgreSQL store, and this worker has a `SqliteStorage`"),
        (url, "acme", "`TenantStorage`; open its store by a `postgresql://` address, without `tenant`"),
        (elsewhere, None, "the worker's store at"),
    ):
        bank = Bank(tmp_path, storage=open_storage(where, tenant=tenant))
        with pytest.raises(ConstructionError, match=told):
            engine.run(bank.worker, threading.Event())
        bank.gate.close()
    engine.close()
