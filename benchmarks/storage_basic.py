"""What storing a record costs: CPU an append, with and without the audit catalogue; waits for the disk; look-ups.

    python benchmarks/storage_basic.py                  # appends, claims, searches on a small store
    python benchmarks/storage_basic.py --rows 1000000   # look-ups on a large one; takes minutes and some GB

CPU figures are process time, which other work on the machine does not distort; the others are wall time.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import apsw
import msgspec

from preflight.core import lifecycle
from preflight.model.evidence import Evidence
from preflight.model.record import Record, ToolRef
from preflight.model.request import Scope
from preflight.ports import Query
from preflight.storage import sqlite_audit
from preflight.storage.entry import encode as store_bytes
from preflight.storage.samples import sample_decision, sample_slot, sample_step
from preflight.storage.sqlite import SqliteStorage

SOURCES = ("instruction", "pre_set_data", "user_answer", "measured_data", "prior_state")
EVIDENCE = Evidence(0, 5, 16, "500,000 won", "number", "500000")


def decision(n: int) -> Record:
    """Return a decision with three slots among 60 names and about 1.3 kB, as the example transfer has."""
    fields = tuple(
        msgspec.structs.replace(
            sample_slot(f"field_{(n * 7 + k * 11) % 60}", SOURCES[(n + k) % 5], 500_000), evidence=EVIDENCE
        )
        for k in range(3)
    )
    return sample_decision(
        f"0192f0c1-{n:08x}-7000-8000-{n * 2654435761 % (1 << 48):012x}",
        action_key=f"u_{n % 200_000}:tool_{n % 20}",
        user_id=f"u_{n % 5_000}",
        scope=Scope("tenant", f"c_{n % 20_000}"),
        call_id=f"call-{n * 40503 % (1 << 40):x}",
        tool=ToolRef("server", f"tool_{n % 20}", "f" * 64),
        fields=fields,
        advisory_notes="Moves money between two accounts of this bank. " * 3,
        reason="every value has a source, and nothing else is missing",
    )


def cpu(work: Callable[[], object], count: int) -> float:
    """Return microseconds of process time for each of `count` things that `work` does."""
    before = time.process_time()
    work()
    return (time.process_time() - before) / count * 1e6


def wall(work: Callable[[int], object], count: int) -> tuple[float, float]:
    """Return median and 99th percentile of `count` calls, in microseconds."""
    times = []
    for n in range(count):
        before = time.perf_counter()
        work(n)
        times.append((time.perf_counter() - before) * 1e6)
    return median(times), sorted(times)[int(count * 0.99)]


def report_appends(folder: Path) -> None:
    """Print the CPU of appends, and of the catalogue in batches against in each append's transaction."""
    records = [decision(n) for n in range(8_192)]
    store = SqliteStorage(folder / "append.db")
    plain = cpu(lambda: [store.append(record) for record in records], len(records))
    batched = cpu(lambda: list(store.find(Query(limit=1))), len(records))
    store.close()
    other = SqliteStorage(folder / "at-once.db")

    def at_once(record: Record) -> None:
        other.append(record)
        other._file.write(sqlite_audit.catch_up, durable=False)

    together = cpu(lambda: [at_once(record) for record in records], len(records))
    other.close()
    size = len(store_bytes(records[1]))
    print(f"append, {size} B, no waiting for the disk: {plain:.1f} us CPU")
    print(
        f"  with the catalogue in the same transaction: {together:.1f} us; afterwards in batches: {batched:.1f} us more"
    )


def report_durable(folder: Path) -> None:
    """Print what waiting for the disk costs, against a bare commit of the same bytes."""
    body = store_bytes(decision(1))
    bare = apsw.Connection(str(folder / "bare.db"))
    bare.execute("PRAGMA journal_mode = WAL").fetchall()
    bare.execute("PRAGMA synchronous = FULL; CREATE TABLE t (id INTEGER PRIMARY KEY, body BLOB)").fetchall()
    store = SqliteStorage(folder / "durable.db")
    starts = [decision(n) for n in range(300)]
    for record in starts:
        store.append(record)
    rounds = {
        "bare durable commit": lambda n: bare.execute("INSERT INTO t (body) VALUES (?)", (body,)),
        "durable append": lambda n: store.append(decision(n + 1_000), durable=True),
        "claim": lambda n: store.claim(sample_step(starts[n], "executing")),
        "finish": lambda n: store.finish(sample_step(starts[n], "executed")),
    }
    for name, work in rounds.items():
        middle, slow = wall(work, len(starts))
        print(f"{name}: {middle:.0f} us, p99 {slow:.0f} us")
    store.close()


def fill(store: SqliteStorage, rows: int) -> None:
    """Write `rows` records, a third of them executions, in large transactions as no program would."""

    def batch(first: int) -> Callable[[apsw.Connection], None]:
        def work(db: apsw.Connection) -> None:
            for n in range(first, min(first + 1_000, rows // 3 + 1)):
                record = decision(n)
                for step in (record, sample_step(record, "executing"), sample_step(record, "executed")):
                    _insert(db, _row(step))

        return work

    for first in range(0, rows // 3 + 1, 1_000):
        store._file.transaction(batch(first), durable=False)


def report_look_ups(folder: Path, rows: int) -> None:
    """Print what look-ups cost on a store of `rows` records."""
    store = SqliteStorage(folder / "large.db")
    fill(store, rows)
    spent = cpu(lambda: list(store.find(Query(limit=1))), rows)
    print(f"{rows} rows: catalogue of all of them at once {spent:.1f} us CPU a record, {spent * rows / 1e6:.1f} s")
    known = [decision(n * 7919 % (rows // 3)) for n in range(1_000)]
    one = known[0]
    look_ups: dict[str, tuple[int, Callable[[int], object]]] = {
        "latest_executed": (1_000, lambda n: store.latest_executed(*_prior(known[n]))),
        "latest_for_call": (1_000, lambda n: store.latest_for_call(known[n].scope, known[n].call_id or "")),
        "steps": (1_000, lambda n: store.steps(known[n].decision_id)),
        "unfinished": (3, lambda n: store.unfinished()),
        "find by key": (100, lambda n: list(store.find(Query(action_key=known[n].key)))),
        "find by field and source": (10, lambda n: list(store.find(Query(field=f"field_{n}", source="instruction")))),
        "find by field and user": (10, lambda n: list(store.find(Query(field=f"field_{n}", user_id=f"u_{n}")))),
        "find by source": (10, lambda n: list(store.find(Query(source="prior_state")))),
        "find by tool, since": (10, lambda n: list(store.find(Query(tool="tool_3", since=one.timestamp)))),
        "find nothing since": (3, lambda n: list(store.find(Query(since="2030-01-01")))),
    }
    for name, (count, work) in look_ups.items():
        middle, slow = wall(work, count)
        print(f"  {name}: {middle:.0f} us, slowest {slow:.0f} us")
    assert not store.unfinished(), lifecycle.diagram()
    store.close()


def _prior(record: Record) -> tuple[Scope, str, str, str]:
    assert record.tool is not None
    return record.scope, record.user_id, record.key, record.tool.fingerprint


def main() -> None:
    """Print all reports; the store of `--rows` records is made in a temporary folder and removed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=30_000, help="records in the store that is searched")
    parser.add_argument("--folder", type=Path, help="where to make the stores (default: the system's temporary folder)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        report_appends(Path(folder))
        report_durable(Path(folder))
        report_look_ups(Path(folder), given.rows)


if __name__ == "__main__":
    main()
