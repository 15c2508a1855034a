"""How long a worker's look takes over many deferred runs, on both databases.

    python benchmarks/due_scan.py [--rows 10000] [--postgres URL [--engine]]

Prints the median and the 95th percentile of 50 looks, in milliseconds: with nothing due, one due, all due. With
`--engine`, what the engine `procrastinate` keeps is in the database beside the rows.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from preflight.clock import iso
from preflight.storage import open_storage
from preflight.storage.contract_deferral import row
from preflight.testing import sample_decision

BEGIN, LOOKS, LONG = 1_796_083_200.0, 50, 1e8


def fill(store: Any, rows: int) -> None:
    for n in range(rows):
        store.defer(sample_decision(f"d{n}", "deferred"), row(f"d{n}", iso(BEGIN + n * 60)))


def looks(store: Any, name: str, clocks: list[float]) -> None:
    times, found = [], 0
    for now in clocks:
        began = time.perf_counter()
        found += len(store.lease(iso(now), iso(now + LONG), 1))
        times.append((time.perf_counter() - began) * 1e3)
    times.sort()
    print(
        f"  {name:<12} median {statistics.median(times):.3f} ms, p95 {times[int(LOOKS * 0.95)]:.3f} ms, leased {found}"
    )


def measure(where: str, rows: int, *, engine: bool = False) -> None:
    store = open_storage(where)
    if engine:
        from preflight.deferral.engines.waking import Procrastinate

        beside = Procrastinate(where)
        beside.set_up()
        beside.close()
    print(f"{where.split(':', maxsplit=1)[0] if '://' in where else 'sqlite'}: {rows} rows")
    fill(store, rows)
    looks(store, "nothing due", [BEGIN - 1] * LOOKS)
    looks(store, "one due", [BEGIN + n * 60 for n in range(LOOKS)])
    looks(store, "all due", [BEGIN + rows * 60.0] * LOOKS)
    store.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="the time of a worker's look")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--postgres", metavar="URL")
    parser.add_argument("--engine", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(str(Path(folder) / "records.db"), given.rows)
    if given.postgres:
        measure(given.postgres, given.rows, engine=given.engine)
