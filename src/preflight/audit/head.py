"""Heads: what the log was at a moment, signed, to be kept where the log's owner cannot change it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import msgspec

from preflight.audit.tree import Tree
from preflight.errors import SignatureInvalid
from preflight.ports import RawRecord, Seal
from preflight.signing import HEAD, Envelope

FORMAT = 1


class Head(msgspec.Struct, frozen=True):
    """The state of a log. Hashes are hex.

    `log` is the digest of the first record and names the log; `size` counts records, `last_seq` is the place of
    the last one; `root` is the tree's root, `peaks` the roots of its complete subtrees, by which a difference
    can be narrowed down.
    """

    format: int
    log: str
    size: int
    last_seq: int
    root: str
    peaks: tuple[str, ...]
    made_at: str


class HeadSigner(Protocol):
    """What signs and verifies heads: a `Keyring`."""

    def sign_as(self, payload_type: str, body: bytes) -> Seal:
        """Return the seal of a document of this type."""
        ...

    def verify_as(self, payload_type: str, body: bytes, seal: Seal) -> None:
        """Verify a document of this type; raises SignatureInvalid."""
        ...


def head_of(records: Iterable[RawRecord], now: str) -> Head:
    """Return the head of a log, read through from its beginning."""
    tree, first, last = Tree(), "", 0
    for record in records:
        tree.append(bytes.fromhex(record.digest))
        first, last = first or record.digest, record.seq
    return Head(FORMAT, first, tree.size, last, tree.root().hex(), tuple(peak.hex() for peak in tree.peaks), now)


def signed_head(head: Head, signer: HeadSigner) -> bytes:
    """Return a head as a signed envelope in JSON, ready to be written to a file."""
    body = msgspec.json.encode(head)
    return Envelope.of(HEAD, body, signer.sign_as(HEAD, body)).encode()


def read_head(text: bytes, signer: HeadSigner) -> Head:
    """Return the head in a signed envelope; raises SignatureInvalid when it is none, or no key in force signed it."""
    body, seal = Envelope.read(text, HEAD)
    signer.verify_as(HEAD, body, seal)
    try:
        head = msgspec.json.decode(body, type=Head)
    except msgspec.MsgspecError as fault:
        message = f"the signed head cannot be read: {fault}"
        raise SignatureInvalid(message) from fault
    if head.format != FORMAT:
        message = f"the head has format {head.format}, this program knows {FORMAT}; use a newer version of it"
        raise SignatureInvalid(message)
    return head
