"""What wakes workers, compared on one PostgreSQL: the loop, and the engine for many machines.

    python benchmarks/waking.py --postgres URL [--runs 200] [--jobs 10000]

URL is an empty database. Prints how long after it was hastened a run is called, what one worker gets through when all
is due at once, what a deferral costs with the engine in place, and how long the engine takes to fetch a job while
others lie ahead: it makes jobs only for what is due within minutes.
"""

from __future__ import annotations

import argparse
import statistics
import threading
import time
from typing import Any

import psycopg

from preflight import ShippedHooks, create_preflight
from preflight.clock import SystemClock, iso
from preflight.deferral.changes import DeferredRuns
from preflight.deferral.connections import Callables
from preflight.deferral.engines import Engine
from preflight.deferral.engines.polling import Polling
from preflight.deferral.engines.waking import Procrastinate
from preflight.deferral.worker import Worker
from preflight.hooks.shipped import Meaning
from preflight.results import ToolCall
from preflight.storage import open_storage
from preflight.storage.contract_deferral import row
from preflight.testing import sample_decision

SCHEMA = {"type": "object", "properties": {"node": {"type": "string"}}, "required": ["node"]}
TOOL: dict[str, Any] = {"name": "restart", "inputSchema": SCHEMA}
AHEAD = """
INSERT INTO procrastinate_jobs (queue_name, task_name, queueing_lock, scheduled_at)
SELECT 'preflight', 'preflight.wake', 'ahead-' || n, now() + INTERVAL '1 day' FROM generate_series(1, %s::INT) n
"""
FETCH = "SELECT id FROM procrastinate_fetch_job_v2(ARRAY['preflight']::VARCHAR[], %s)"


class Bench:
    """A gate with one tool over one database."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.store: Any = open_storage(url)
        self.calls: list[float] = []
        self.called = threading.Condition()
        meanings = [Meaning("restart", "ops", "restart", shared=True)]
        hooks = ShippedHooks(storage=self.store, meanings=meanings)
        self.gate = create_preflight(storage=self.store, hooks=hooks)
        self.worker = Worker(self.gate, Callables({("ops", "restart"): (TOOL, self.restart)}))
        self.runs = DeferredRuns(self.gate)

    def restart(self, call: ToolCall) -> object:
        with self.called:
            self.calls.append(time.time())
            self.called.notify()
        return {"restarted": call.arguments["node"]}

    def defer(self, n: int) -> str:
        said = [{"text": f"restart node-{n} tomorrow at 9am", "trust": "user"}]
        request = {"user_id": f"u{n}", "zone": "UTC", "instruction": said, "claims": {"node": f"node-{n}"}}
        return self.gate.check({**request, "tool": {"server": "ops", **TOOL}}).record.decision_id

    def run(self, engine: Engine, work: Any) -> None:
        """Do `work` while the engine runs."""
        engine.set_up()
        stop = threading.Event()
        running = threading.Thread(target=engine.run, args=(self.worker, stop))
        running.start()
        work()
        stop.set()
        running.join()

    def wait(self, calls: int) -> None:
        with self.called:
            self.called.wait_for(lambda: len(self.calls) >= calls)


def hastened(bench: Bench, engine: Engine, runs: int = 20) -> None:
    names = [bench.defer(n) for n in range(runs)]
    waits = []

    def work() -> None:
        for name in names:
            before, began = len(bench.calls), time.time()
            bench.runs.run_now(name, by="u")
            bench.wait(before + 1)
            waits.append((bench.calls[-1] - began) * 1e3)

    bench.run(engine, work)
    waits.sort()
    print(f"  hastened to called: median {statistics.median(waits):.0f} ms, worst {waits[-1]:.0f} ms")


def at_once(bench: Bench, engine: Engine, runs: int) -> None:
    for n in range(runs):
        bench.runs.run_now(bench.defer(n), by="u")
    before, began = len(bench.calls), time.time()
    bench.run(engine, lambda: bench.wait(before + runs))
    print(f"  {runs} due at once: {runs / (bench.calls[-1] - began):.0f} a second")


def deferrals(bench: Bench, name: str, seconds: float) -> None:
    due = iso(SystemClock().now() + seconds)
    times = []
    for n in range(200):
        began = time.perf_counter()
        bench.store.defer(sample_decision(f"{name}-{n}", "deferred"), row(f"{name}-{n}", due))
        times.append((time.perf_counter() - began) * 1e3)
    print(f"  a deferral {name}: median {statistics.median(times):.2f} ms")


def fetches(url: str, jobs: int) -> None:
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("SET search_path = preflight_wake")
        db.execute("DELETE FROM procrastinate_jobs")
        worker = db.execute("INSERT INTO procrastinate_workers DEFAULT VALUES RETURNING id").fetchone()
        for ahead in (0, jobs, jobs * 10):
            db.execute("DELETE FROM procrastinate_jobs")
            db.execute(AHEAD, (ahead,))
            db.execute("VACUUM ANALYZE procrastinate_jobs")
            times = []
            for _ in range(30):
                began = time.perf_counter()
                db.execute(FETCH, worker)
                times.append((time.perf_counter() - began) * 1e3)
            print(f"  a fetch with {ahead} jobs ahead: median {statistics.median(times):.2f} ms")


def main(url: str, runs: int, jobs: int) -> None:
    bench = Bench(url)
    print("the loop, a look each second:")
    deferrals(bench, "without the engine", 60)
    hastened(bench, Polling())
    at_once(bench, Polling(), runs)
    print("the engine `procrastinate`:")
    engine = Procrastinate(url)
    hastened(bench, engine)
    at_once(bench, engine, runs)
    deferrals(bench, "due soon", 60)
    deferrals(bench, "due later", 86_400)
    fetches(url, jobs)
    engine.close()
    bench.gate.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="what wakes workers, compared")
    parser.add_argument("--postgres", metavar="URL", required=True)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=10_000)
    given = parser.parse_args()
    main(given.postgres, given.runs, given.jobs)
