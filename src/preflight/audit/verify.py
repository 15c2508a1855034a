"""The check of a whole log: each record by itself, against the one before it, and against a head."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Protocol

import msgspec

from preflight.audit.findings import MOST, Finding, Kind, Report
from preflight.audit.head import Head
from preflight.audit.tombstone import Burial
from preflight.audit.tree import Tree, spans
from preflight.core import lifecycle
from preflight.errors import SignatureInvalid
from preflight.model.record import UNKEYED, RecordState
from preflight.model.request import Scope
from preflight.ports import RawRecord, Seal

_Key = tuple[str, str, str]
NOTHING_BURIED: Mapping[int, Burial] = MappingProxyType({})


class SealVerifier(Protocol):
    """What tells whether a seal is right, and why it is not: a `Keyring`."""

    def verify(self, body: bytes, seal: Seal) -> None:
        """Raise SignatureInvalid unless the seal is of these bytes, by a key in force."""
        ...

    def knows(self, key_id: str) -> bool:
        """Whether a key is in the ring."""
        ...

    def revoked(self, key_id: str) -> bool:
        """Whether a key counts no more."""
        ...


class _Inside(msgspec.Struct, gc=False):
    """What is compared of the bytes of a record."""

    record_id: str
    decision_id: str
    scope: Scope
    action_key: str | None
    execution_decision: RecordState
    previous_digest: str | None = None

    @property
    def key(self) -> str:
        """The action key under which the record accumulates, or the reserved one; an empty key is a key."""
        return UNKEYED if self.action_key is None else self.action_key


_DECODER = msgspec.json.Decoder(_Inside)
Scan = Callable[[], Iterable[RawRecord]]


def verify(
    scan: Scan,
    keys: SealVerifier,
    head: Head | None = None,
    buried: Mapping[int, Burial] = NOTHING_BURIED,
    *,
    whole: bool = True,
) -> Report:
    """Check every record that `scan` reads, oldest first; it may be called twice.

    With a head, the log must begin with what the head saw, and the records under it need no proof of their own:
    their seals are checked only when the head does not match. `buried` maps the places whose bodies retention
    removed to what a tombstone with a right signature says of them. Where `scan` reads a part of the log, say
    `whole=False`: then places that are left out are no finding.
    """
    if head is None:
        return _Pass(keys, None, buried, whole=whole).over(scan())
    trusting = _Pass(keys, head, buried, whole=whole)
    report = trusting.over(scan())
    if trusting.matched:
        return report
    doubting = _Pass(keys, None, buried, whole=whole)
    doubting.findings = [*trusting.about_head]
    return doubting.over(scan())


class _Pass:
    """One reading of the log."""

    def __init__(self, keys: SealVerifier, head: Head | None, buried: Mapping[int, Burial], *, whole: bool) -> None:
        self._whole = whole
        self._keys = keys
        self._head = head
        self._buried = buried
        self._tree = Tree()
        self._chains: dict[_Key, str] = {}
        self._states: dict[str, RecordState] = {}
        self._seen: dict[str, int] = {}
        self._last = 0
        self._first = ""
        self._removed = 0
        self._more = 0
        self.matched = False
        self.findings: list[Finding] = []
        self.about_head: list[Finding] = []

    def over(self, records: Iterable[RawRecord]) -> Report:
        """Read everything and report."""
        if self._head is not None and self._head.size == 0:
            self.matched = True  # a head of the empty log fits every log
        for raw in records:
            self._record(raw)
            if self._head is not None and self._tree.size == self._head.size:
                self._compare(self._head)
        if self._head is not None and self._tree.size < self._head.size:
            self._truncated(self._head)
        vouched = self._head.size if self._head is not None and self.matched else 0
        return Report(
            self._tree.size, self._tree.root().hex(), tuple(self.findings), self._more, vouched, self._removed
        )

    def _found(self, kind: Kind, raw: RawRecord, what: str, *, seq: int | None = None, last: int | None = None) -> None:
        if len(self.findings) >= MOST:
            self._more += 1
            return
        place = raw.seq if seq is None else seq
        self.findings.append(Finding(kind, what, place, last, raw.record_id, raw.action_key))

    def _record(self, raw: RawRecord) -> None:
        self._place(raw)
        if raw.body:
            digest = hashlib.sha256(raw.body).digest()
            if digest.hex() != raw.digest:
                self._found("edited", raw, "its bytes do not match their digest")
            self._tree.append(digest)
            self._body(raw, digest.hex())
        else:
            self._tree.append(_bytes_of(raw.digest))
            self._burial(raw)
        self._first = self._first or raw.digest

    def _place(self, raw: RawRecord) -> None:
        expected = self._last + 1
        if raw.seq > expected and self._whole:
            what = "no record stands at this place" if raw.seq == expected + 1 else "no records stand at these places"
            self._found("missing", raw, what, seq=expected, last=raw.seq - 1)
        elif raw.seq < expected:
            self._found("reordered", raw, f"it is read after place {self._last}")
        self._last = raw.seq

    def _body(self, raw: RawRecord, digest: str) -> None:
        try:
            inside = _DECODER.decode(raw.body)
        except msgspec.MsgspecError as fault:
            self._found("unreadable", raw, f"its bytes are no record: {fault}")
            self._sealed(raw)
            return
        self._labels(raw, inside)
        key = (inside.scope.tenant, inside.scope.conversation, inside.key)
        self._chained(raw, key, inside.previous_digest, digest)
        self._step(raw, inside.decision_id, inside.execution_decision)
        if self._head is None or self._tree.size > self._head.size:
            self._sealed(raw)

    def _labels(self, raw: RawRecord, inside: _Inside) -> None:
        scope = inside.scope
        written = (inside.record_id, inside.decision_id, inside.execution_decision, scope.tenant, scope.conversation,
                   inside.key, inside.previous_digest)  # fmt: skip
        columns = (raw.record_id, raw.decision_id, raw.state, raw.tenant, raw.conversation, raw.action_key,
                   raw.previous_digest)  # fmt: skip
        if written != columns:
            names = ("record_id", "decision_id", "state", "tenant", "conversation", "action_key", "previous_digest")
            odd = [name for name, one, other in zip(names, written, columns, strict=True) if one != other]
            self._found("mislabelled", raw, f"it is filed under another {', '.join(f'`{name}`' for name in odd)}")

    def _chained(self, raw: RawRecord, key: _Key, previous: str | None, digest: str) -> None:
        before = self._chains.get(key)
        if previous != before:
            if previous is None:
                what = "it names no record before it, and one stands there"
            elif previous in self._seen:
                what = f"it names the record at place {self._seen[previous]} as the one before it; another stands there"
            else:
                what = "the record that it names as the one before it is not in the log"
            self._found("broken_chain", raw, what)
        self._chains[key] = digest
        self._seen[digest] = raw.seq

    def _step(self, raw: RawRecord, decision_id: str, state: RecordState) -> None:
        before = self._states.get(decision_id)
        if not lifecycle.may_follow(before, state):
            after = "nothing" if before is None else f"`{before}`"
            self._found("impossible_step", raw, f"`{state}` cannot follow {after}")
        elif state == "execute" or lifecycle.stage(state) > 0:
            self._states[decision_id] = state  # other decisions have no steps, and need not be remembered

    def _sealed(self, raw: RawRecord) -> None:
        if raw.seal is None:
            self._found("unsigned", raw, "it has no signature")
            return
        try:
            self._keys.verify(raw.body, raw.seal)
        except SignatureInvalid as fault:
            kind: Kind = "forged"
            if self._keys.revoked(raw.seal.key_id):
                kind = "revoked_key"
            elif not self._keys.knows(raw.seal.key_id):
                kind = "unknown_key"
            self._found(kind, raw, str(fault))

    def _burial(self, raw: RawRecord) -> None:
        """Check a record without a body: a signed tombstone must say exactly what still stands of it."""
        burial = self._buried.get(raw.seq)
        key = (raw.tenant, raw.conversation, raw.action_key)
        if burial is None:
            self._found("body_missing", raw, "its body was removed, and no signed tombstone says so")
        elif burial.entry.fits(raw):
            self._removed += 1
        else:
            self._found("bad_tombstone", raw, "what stands of it is not what its tombstone says")
        self._chained(raw, key, raw.previous_digest, raw.digest)
        self._step(raw, raw.decision_id, raw.state)  # type: ignore[arg-type]  # any other word follows nothing

    def _compare(self, head: Head) -> None:
        if self._tree.root().hex() == head.root:
            self.matched = True
            return
        if self._first != head.log:
            self.about_head.append(Finding("other_log", "the head is of another log, or the first record was replaced"))
        peaks = [peak.hex() for peak in self._tree.peaks]
        differing = [
            span for span, ours, theirs in zip(spans(head.size), peaks, head.peaks, strict=False) if ours != theirs
        ]
        start, end = differing[0] if differing else (0, head.size)
        what = f"records {start + 1} to {end} are not those that the head of {head.made_at} saw"
        self.about_head.append(Finding("not_the_heads_log", what, start + 1, end))

    def _truncated(self, head: Head) -> None:
        missing = head.size - self._tree.size
        what = f"the head of {head.made_at} saw {head.size} records, and {self._tree.size} are left: {missing} are gone"
        self.about_head.append(Finding("truncated", what, self._tree.size + 1, head.size))


def _bytes_of(digest: str) -> bytes:
    try:
        return bytes.fromhex(digest)
    except ValueError:
        return digest.encode()
