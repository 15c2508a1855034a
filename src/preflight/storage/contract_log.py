"""The part of the contract that is about the log itself: chained, signed, scanned, judged, raced for."""

# ruff: noqa: D102  each test's name is the promise it holds a store to

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise

import msgspec

from preflight import codec
from preflight.errors import PreflightError
from preflight.model.record import Outcome, Record
from preflight.model.request import Scope
from preflight.ports import Admission, LogHead, Query, RawRecord, Seal, Storage, Stored
from preflight.storage.samples import MORNING, sample_decision, sample_step


def same(found: object, expected: object, rule: str) -> None:
    """Raise AssertionError, naming the rule, unless both are equal."""
    if found != expected:
        raise AssertionError(f"{rule}: expected `{expected!r}`, found `{found!r}`")


def holds(found: object, rule: str) -> None:
    """Raise AssertionError, naming the rule, unless it holds."""
    if not found:
        raise AssertionError(f"{rule}: does not hold")


@contextmanager
def refused(kind: type[PreflightError], rule: str) -> Iterator[None]:
    """Raise AssertionError, naming the rule, unless the block raises this kind of error."""
    try:
        yield
    except kind:
        return
    raise AssertionError(f"{rule}: `{kind.__name__}` was expected, nothing was raised")


def ids(found: Iterable[Stored]) -> list[str]:
    """Return the record ids of what was found."""
    return [stored.record.record_id for stored in found]


def run_together(work: Callable[[int], None], count: int) -> None:
    """Run `work(0)`, `work(1)`, ... in threads and raise what the first of them raised."""
    faults: list[BaseException] = []

    def run(number: int) -> None:
        try:
            work(number)
        except BaseException as fault:  # noqa: BLE001  handed to the thread that asked
            faults.append(fault)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]


def starts_together(store: Storage, decisions: list[Record]) -> int:
    """Store decisions, claim all of them at one moment, and return how many were started."""
    for decision in decisions:
        store.append(decision)
    started: list[str] = []

    def start(number: int) -> None:
        if store.claim(sample_step(decisions[number], "executing")) is not None:
            started.append(decisions[number].decision_id)

    run_together(start, len(decisions))
    return len(started)


class Marks:
    """A signer whose signature is the digest of the bytes, so that a test sees what was signed."""

    def sign(self, body: bytes) -> Seal:
        return Seal("marks", codec.digest(body).encode())

    def verify(self, body: bytes, seal: Seal) -> None:
        same(self.sign(body), seal, "R-73: the seal")


class LogContract:
    """The promises of `preflight.ports.Storage` about its log; `StorageContract` has them too."""

    def open_storage(self) -> Storage:
        """Return a new, empty store."""
        raise NotImplementedError

    def test_records_chain_under_their_key(self) -> None:
        store, other = self.open_storage(), Scope("tenant", "other")
        first = store.append(sample_decision("d1", action_key="k", previous_digest="made up"))
        same(first.record.previous_digest, None, "R-72: the first under a key")
        start = store.claim(sample_step(sample_decision("d1", action_key="k"), "executing"))
        for record in (sample_decision("e1", action_key="k", scope=other), sample_decision("e2", action_key="l")):
            same(store.append(record).record.previous_digest, None, "R-72: another scope, another key")
        holds(start is not None, "a claim")
        end = store.finish(sample_step(sample_decision("d1", action_key="k"), "executed"))
        last = store.append(sample_decision("d2", "hold", action_key="k"))
        chain = [first, start, end, last]
        for one, following in pairwise(chain):
            found = following and following.record.previous_digest
            same(found, one and one.digest, "R-72: chained to the digest before it")
        for stored in chain:
            same(
                stored and codec.decode_record(stored.body), stored and stored.record, "R-72: the chain is in the bytes"
            )

    def test_what_is_stored_is_signed(self) -> None:
        store, signer, decision = self.open_storage(), Marks(), sample_decision("d1", action_key="k")
        store.append(sample_decision("d0", action_key="k"))
        stored = [store.append(decision, signer=signer)]
        stored += [found for found in (
            store.claim(sample_step(decision, "executing"), signer=signer),
            store.finish(sample_step(decision, "executed"), signer=signer),
        ) if found is not None]  # fmt: skip
        same(len(stored), 3, "signed records")
        for found in stored:
            same(found.seal, signer.sign(found.body), "R-73: the seal of the stored bytes")
            same(store.get(found.record.record_id), found, "R-73: the seal is stored")
        unsigned = store.get("d0")
        same(unsigned and unsigned.seal, None, "no signer, no seal")

    def test_the_log_is_scanned_in_its_order(self) -> None:
        store = self.open_storage()
        same((list(store.scan()), store.head()), ([], LogHead(0, 0, None)), "an empty log")
        for n in range(1100):
            store.append(sample_decision(f"d{n}", action_key=f"k{n % 7}"), signer=Marks() if n % 2 else None)
        found, raw = list(store.scan()), list(store.raw_scan())
        same([stored.seq for stored in found], list(range(1, 1101)), "R-72: places without gaps")
        same(ids(found), [f"d{n}" for n in range(1100)], "R-72: the order of the log")
        same(raw, [_raw(stored) for stored in found], "R-72: raw records")
        same(store.head(), LogHead(1100, 1100, found[-1].digest), "R-72: the head")
        same(ids(store.scan(1098)), ["d1098", "d1099"], "after a place")
        same([row.seq for row in store.raw_scan(1099)], [1100], "after a place, raw")

    def test_a_start_is_judged_by_those_before_it(self) -> None:
        store, seen = self.open_storage(), []

        def judge(starts: Iterator[Record]) -> bool:
            seen.append([start.record_id for start in starts])
            return True

        def start(decision: Record, admit: Admission | None = None) -> Stored | None:
            store.append(decision)
            return store.claim(sample_step(decision, "executing"), admit=admit)

        since = "2026-03-01T08:30:00+00:00"
        start(sample_decision("old", timestamp="2026-03-01T08:00:00Z"))
        start(sample_decision("other user", user_id="u_02", timestamp="2026-03-01T10:30:00+01:00"))
        start(sample_decision("other tenant", scope=Scope("another", "conversation")))
        start(sample_decision("other tool", tool=msgspec.structs.replace(sample_decision("d").tool, name="order")))  # type: ignore[type-var]
        start(sample_decision("other server", tool=msgspec.structs.replace(sample_decision("d").tool, server="x")))  # type: ignore[type-var]
        start(sample_decision("running"))
        for name, state in (
            ("done", "executed"),
            ("failed", "failed"),
            ("doubtful", "in_doubt"),
            ("settled", "in_doubt"),
        ):
            start(sample_decision(name))
            store.finish(sample_step(sample_decision(name), state))  # type: ignore[arg-type]
        settled = msgspec.structs.replace(
            sample_step(sample_decision("settled"), "settled"), outcome=Outcome(settled_as="failed")
        )
        store.finish(settled)
        holds(start(sample_decision("d1"), Admission(since, judge)), "R-66: admitted")
        holds(start(sample_decision("d2"), Admission(since, judge, user_id="u_02")), "R-66: admitted, this user's only")
        counted = ["running/executing", "done/executing", "doubtful/executing"]
        same(seen[0], [*counted, "other user/executing"], "R-66: what counts")
        same(seen[1], ["other user/executing"], "R-66: what counts of one user")
        for verdict in (False, None, 1):
            found = start(sample_decision(f"not {verdict}"), Admission(since, lambda _, v=verdict: v))  # type: ignore[misc]
            same(found, None, "R-5: only True admits")
            same(ids(store.steps(f"not {verdict}")), [f"not {verdict}"], "R-66: nothing was started")

    def test_a_judge_that_raises_admits_nothing(self) -> None:
        store, decision = self.open_storage(), sample_decision("d1")
        store.append(decision)

        def judge(starts: Iterator[Record]) -> bool:
            return 1 / len(list(starts)) > 1

        start = sample_step(decision, "executing")
        try:
            store.claim(start, admit=Admission(MORNING, judge))
        except ZeroDivisionError:
            holds(store.claim(start) is not None, "nothing of the first claim remained")
        else:
            raise AssertionError("R-66: what a judge raises goes through")

    def test_two_that_pass_a_limit_together_do_not_both_start(self) -> None:
        store, started = self.open_storage(), []
        threads, most = 6, 3
        for n in range(threads):
            store.append(sample_decision(f"d{n}"))
        barrier = threading.Barrier(threads)

        def work(number: int) -> None:
            barrier.wait()
            admit = Admission(MORNING, lambda starts: len(list(starts)) < most)
            if store.claim(sample_step(sample_decision(f"d{number}"), "executing"), admit=admit) is not None:
                started.append(number)

        run_together(work, threads)
        same(len(started), most, "R-66: the second of two that pass a limit together")

    def test_racing_threads_start_each_decision_once(self) -> None:
        store, threads, decisions = self.open_storage(), 6, 20
        for n in range(decisions):
            store.append(sample_decision(f"d{n}", action_key=f"k{n % 10}"))
        claimed: list[str] = []
        barrier = threading.Barrier(threads)

        def work(worker: int) -> None:
            barrier.wait()
            for n in range(decisions):
                decision = sample_decision(f"d{n}", action_key=f"k{n % 10}")
                if store.claim(sample_step(decision, "executing", f"{n} by {worker}")) is not None:
                    claimed.append(decision.decision_id)
                    store.finish(sample_step(decision, "executed"))

        run_together(work, threads)
        same(len(claimed), len(set(claimed)), "R-75: starts of one decision")
        executed = [stored.record.decision_id for stored in store.find(Query(decision="executed"))]
        same(sorted(executed), sorted(claimed), "each start has its outcome")


def _raw(stored: Stored) -> RawRecord:
    record = stored.record
    return RawRecord(
        stored.seq, record.record_id, record.decision_id, record.execution_decision, record.scope.tenant,
        record.scope.conversation, record.key, stored.body, stored.digest, record.previous_digest, stored.seal,
    )  # fmt: skip
