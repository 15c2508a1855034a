"""How long records are kept: old ones are removed, and a signed tombstone says so in their place (R-71).

A decision goes with all steps of its execution, its question and its answers. What stays is its place, its ids
and its digest: the chain and the tree remain whole, and a head that was exported before still fits.

Never removed: what is not finished, a deferred run that is not known to be over, a question that is still open, and
the newest record under each key, to which the next one will chain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

import msgspec

from preflight.audit.head import HeadSigner
from preflight.audit.tombstone import FORMAT, Burial, Entry, Tombstone, burials, signed_tombstone
from preflight.clock import iso, seconds_of
from preflight.core import lifecycle
from preflight.errors import InvalidInput, StorageError
from preflight.model.record import UNKEYED, RecordState
from preflight.ports import Burying, Clock, Folding, Grave, RawRecord, Scheduling, Storage

BATCH = 1_000
"""Records of one tombstone: each is one transaction."""
NOTHING: Mapping[str, float] = MappingProxyType({})


class Retention(msgspec.Struct, frozen=True, kw_only=True):
    """How long records are kept, in seconds; None: for ever.

    `keyed` is for records under an action key, `unkeyed` for those under the reserved one, `keys` for single keys.
    """

    keyed: float | None = None
    unkeyed: float | None = None
    keys: Mapping[str, float | None] = NOTHING

    def of(self, action_key: str) -> float | None:
        """Return how long records under a key are kept."""
        if action_key in self.keys:
            return self.keys[action_key]
        return self.unkeyed if action_key == UNKEYED else self.keyed

    def check(self) -> None:
        """Raise InvalidInput for a time that is none."""
        for name, seconds in (("keyed", self.keyed), ("unkeyed", self.unkeyed), *self.keys.items()):
            if seconds is not None and not seconds > 0:
                raise InvalidInput(name, f"records cannot be kept for {seconds} s", "give a time, or leave it out")


class Removed(msgspec.Struct, frozen=True):
    """What a run of retention removed, by action key, and how many tombstones it took."""

    by_key: Mapping[str, int]
    tombstones: int

    @property
    def records(self) -> int:
        """How many records were removed."""
        return sum(self.by_key.values())


class _Inside(msgspec.Struct):
    timestamp: str
    question_id: str | None = None


_DECODER = msgspec.json.Decoder(_Inside)


class _Chain:
    """A decision and its steps, as far as the log was read."""

    __slots__ = ("last", "question_id", "rows", "seconds")

    def __init__(self) -> None:
        self.rows: list[RawRecord] = []
        self.seconds = 0.0
        self.question_id: str | None = None
        self.last: str = ""

    def add(self, raw: RawRecord) -> None:
        inside = _DECODER.decode(raw.body)
        self.rows.append(raw._replace(body=b"", seal=None))
        self.seconds = max(self.seconds, seconds_of(inside.timestamp))
        self.question_id = self.question_id or inside.question_id
        self.last = raw.state


def apply(
    retention: Retention, storage: Storage, signer: HeadSigner, clock: Clock, *, dry_run: bool = False
) -> Removed:
    """Remove what was kept long enough. `dry_run` only counts.

    Raises StorageError when the store cannot remove anything, or a part of it is damaged: audit it first.
    """
    retention.check()
    buried = burying(storage)
    now = clock.now()
    due = list(_due(retention, storage, now))
    count: dict[str, int] = {}
    for chain in due:
        key = chain.rows[0].action_key
        count[key] = count.get(key, 0) + len(chain.rows)
    batches = [] if dry_run else list(_batches(due))
    for batch in batches:
        _bury(batch, buried, signer, retention, now)
    if batches:
        buried.compact()
    return Removed(count, len(batches))


def graves(storage: Storage, signer: HeadSigner) -> tuple[Mapping[int, Burial], list[str]]:
    """Return what the tombstones of a store say, by place in the log; and why some do not count."""
    tombstones = getattr(storage, "tombstones", None)
    return burials(tombstones() if callable(tombstones) else (), signer)


def burying(storage: Storage) -> Burying:
    """Return a store as one that can remove records; raises StorageError when it cannot."""
    if not isinstance(storage, Burying):
        message = f"`{type(storage).__name__}` keeps records for ever: it has no `bury`"
        raise StorageError(message)
    return storage


def _due(retention: Retention, storage: Storage, now: float) -> Iterator[_Chain]:
    chains: dict[str, _Chain] = {}
    newest: dict[tuple[str, str, str], int] = {}
    for raw in storage.raw_scan():
        newest[raw.tenant, raw.conversation, raw.action_key] = raw.seq
        if raw.body:
            chains.setdefault(raw.decision_id, _Chain()).add(raw)
    rows = storage.deferrals(None, ("waiting", "held")) if isinstance(storage, Scheduling) else ()
    still_open = {question.question_id for question in storage.open_questions(None, iso(now))}
    still_open |= {row.question_id for row in rows if row.question_id is not None}  # others may go on with its answer
    heads = set(newest.values())
    waiting = frozenset(row.decision_id for row in rows)
    for chain in chains.values():
        keep = retention.of(chain.rows[0].action_key)
        if keep is None or now - chain.seconds < keep or chain.question_id in still_open:
            continue
        if not (_ended(chain.last) or _fires_no_more(chain, storage, waiting)):
            continue
        if heads.isdisjoint(row.seq for row in chain.rows):
            chain.question_id = _own_question(chain, storage)
            yield chain


def _own_question(chain: _Chain, storage: Storage) -> str | None:
    """Return the question that goes with a decision: not one that another run asked and this one was attached to."""
    if chain.question_id is None or not isinstance(storage, Folding):
        return chain.question_id
    runs = storage.attached(chain.question_id)
    return None if runs and runs[0].decision_id != chain.rows[0].decision_id else chain.question_id


def _ended(state: RecordState | str) -> bool:
    """Whether nothing more happens to a decision: it is refused, or its execution is over."""
    return state != "deferred" and not lifecycle.unfinished(state)  # type: ignore[arg-type]


def _fires_no_more(chain: _Chain, storage: Storage, waiting: frozenset[str]) -> bool:
    """Whether a deferred run is over: its row says so, and no occurrence of it is held apart (R-82)."""
    decision_id = chain.rows[0].decision_id
    if decision_id in waiting or not isinstance(storage, Scheduling):
        return False
    return storage.deferral(decision_id) is not None


def _batches(chains: Iterable[_Chain]) -> Iterator[list[_Chain]]:
    batch: list[_Chain] = []
    rows = 0
    for chain in chains:
        batch.append(chain)
        rows += len(chain.rows)
        if rows >= BATCH:
            yield batch
            batch, rows = [], 0
    if batch:
        yield batch


def _bury(batch: list[_Chain], storage: Burying, signer: HeadSigner, retention: Retention, now: float) -> None:
    entries = sorted((Entry.of(row) for chain in batch for row in chain.rows), key=lambda entry: entry.seq)
    keys = sorted({entry.action_key for entry in entries})
    kept = {key: retention.of(key) for key in keys}
    tombstone = Tombstone(FORMAT, iso(now), kept, tuple(entries))
    found = [Grave(row.seq, chain.question_id) for chain in batch for row in chain.rows]
    storage.bury(found, signed_tombstone(tombstone, signer))
