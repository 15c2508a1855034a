"""Whatever is done to a stored log, `verify` finds it, unless nothing was changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from preflight import codec
from preflight.audit import head_of, verify
from preflight.ports import RawRecord
from preflight.signing import HmacKey, Keyring
from preflight.testing import MemoryStorage, sample_decision, sample_step

RING = Keyring(HmacKey(b"k" * 32))
Log = list[RawRecord]


def log_of(decisions: int) -> Log:
    storage = MemoryStorage()
    for n in range(decisions):
        decision = sample_decision(f"d{n}", action_key=(None, "a", "b")[n % 3])
        storage.append(decision, signer=RING)
        if n % 4 == 1:
            storage.claim(sample_step(decision, "executing"), signer=RING)
            storage.finish(sample_step(decision, "failed"), signer=RING)
    return list(storage.raw_scan())


LOG = log_of(14)
HEAD = head_of(LOG, "2026-03-01T09:00:00+00:00")
places = st.integers(0, len(LOG) - 1)


def edit(log: Log, at: int, byte: int) -> None:
    body = bytearray(log[at].body or b" ")  # nothing is left where it was emptied before
    body[byte % len(body)] ^= 1 + byte % 255
    log[at] = log[at]._replace(body=bytes(body))


def edit_neatly(log: Log, at: int, byte: int) -> None:
    edit(log, at, byte)
    log[at] = log[at]._replace(digest=codec.digest(log[at].body))


def rewrite(log: Log, at: int, other: int) -> None:
    """Put a whole new record in the place of one, with all that goes without the key."""
    record = msgspec.structs.replace(codec.decode_record(LOG[at].body), reason=f"forged {other}")
    body = codec.encode(record)
    log[at] = log[at]._replace(body=body, digest=codec.digest(body))


def remove(log: Log, at: int, _other: int) -> None:
    del log[at]


def cut(log: Log, at: int, _other: int) -> None:
    del log[at:]


def swap(log: Log, at: int, other: int) -> None:
    log[at], log[other] = log[other], log[at]


def repeat(log: Log, at: int, other: int) -> None:
    log.insert(at, log[other % len(log)])


def empty(log: Log, at: int, _other: int) -> None:
    log[at] = log[at]._replace(body=b"", seal=None)


def unseal(log: Log, at: int, other: int) -> None:
    log[at] = log[at]._replace(seal=log[other].seal)


TRICKS: list[Callable[..., None]] = [edit, edit_neatly, rewrite, remove, cut, swap, repeat, empty]
tricks = st.lists(st.tuples(st.sampled_from(TRICKS), places, places), min_size=1, max_size=4)


def renumbered(log: Log) -> Log:
    return [raw._replace(seq=n) for n, raw in enumerate(log, 1)]


def played(steps: list[tuple[Any, int, int]]) -> Log:
    log = list(LOG)
    for trick, at, other in steps:
        if log:
            trick(log, at % len(log), other % len(log))
    return log


@given(steps=tricks, neat=st.booleans())
def test_with_a_head_nothing_stays_hidden(steps: list[tuple[Any, int, int]], neat: bool) -> None:
    log = renumbered(played(steps)) if neat else played(steps)
    report = verify(lambda: log, RING, HEAD)
    same = [raw.body for raw in log[: len(LOG)]] == [raw.body for raw in LOG]
    assert report.intact == (same and log == LOG)


@given(steps=tricks)
def test_without_a_head_only_ends_can_be_hidden(steps: list[tuple[Any, int, int]]) -> None:
    """An unnoticed log holds only records that were signed, in an order in which each follows its predecessor."""
    log = renumbered(played(steps))
    if verify(lambda: log, RING).intact:
        assert {raw.body for raw in log} <= {raw.body for raw in LOG}
        for key in {raw.action_key for raw in LOG}:
            bodies = [raw.body for raw in log if raw.action_key == key]
            assert bodies == [raw.body for raw in LOG if raw.action_key == key][: len(bodies)]


@given(at=places, other=places)
def test_a_seal_is_of_one_record(at: int, other: int) -> None:
    log = list(LOG)
    unseal(log, at, other)
    assert verify(lambda: log, RING).intact == (at == other)
