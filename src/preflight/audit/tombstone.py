"""What stays of records whose bodies retention removed: signed, so that a removal is told from tampering (R-71)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from preflight.audit.head import HeadSigner
from preflight.errors import SignatureInvalid
from preflight.ports import RawRecord
from preflight.signing import TOMBSTONE, Envelope

FORMAT = 1


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """One removed body: the place, ids, key and digests that still stand in the log's columns."""

    seq: int
    record_id: str
    decision_id: str
    state: str
    tenant: str
    conversation: str
    action_key: str
    digest: str
    previous_digest: str | None

    @classmethod
    def of(cls, raw: RawRecord) -> Entry:
        """Return what stays of a record."""
        return cls(
            raw.seq, raw.record_id, raw.decision_id, raw.state, raw.tenant, raw.conversation, raw.action_key,
            raw.digest, raw.previous_digest,
        )  # fmt: skip

    def fits(self, raw: RawRecord) -> bool:
        """Whether this is what stands in the log."""
        return self == Entry.of(raw)


class Tombstone(msgspec.Struct, frozen=True):
    """The removal of some bodies: when, of which records, and how long they were kept (seconds, by action key)."""

    format: int
    made_at: str
    kept: dict[str, float | None]
    entries: tuple[Entry, ...]


class Burial(NamedTuple):
    """One removed body, and the tombstone it stands on."""

    entry: Entry
    tombstone: Tombstone


def signed_tombstone(tombstone: Tombstone, signer: HeadSigner) -> bytes:
    """Return a tombstone as a signed envelope in JSON."""
    body = msgspec.json.encode(tombstone)
    return Envelope.of(TOMBSTONE, body, signer.sign_as(TOMBSTONE, body)).encode()


def burials(envelopes: Iterable[bytes], signer: HeadSigner) -> tuple[Mapping[int, Burial], list[str]]:
    """Return what rightly signed tombstones say, by place in the log; and why others do not count."""
    found: dict[int, Burial] = {}
    faults: list[str] = []
    for text in envelopes:
        try:
            body, seal = Envelope.read(text, TOMBSTONE)
            signer.verify_as(TOMBSTONE, body, seal)
            tombstone = msgspec.json.decode(body, type=Tombstone)
        except (SignatureInvalid, msgspec.MsgspecError) as fault:
            faults.append(str(fault))
            continue
        found |= {entry.seq: Burial(entry, tombstone) for entry in tombstone.entries}
    return found, faults
