"""The envelope of a signature: DSSE, as published by the Secure Systems Lab (protocol version 1.0.2).

What is signed is the pre-authentication encoding of a payload's type and its exact bytes. So no canonical
form of JSON is needed, and a signature over one kind of document can never stand for another kind.
"""

from __future__ import annotations

import base64
import binascii
from typing import Final

import msgspec

from preflight.errors import SignatureInvalid
from preflight.ports import Seal

RECORD: Final = "application/vnd.preflight.record+json"
HEAD: Final = "application/vnd.preflight.head+json"
TOMBSTONE: Final = "application/vnd.preflight.tombstone+json"


def pae(payload_type: str, body: bytes) -> bytes:
    """Return the bytes that are signed: `DSSEv1`, then type and body, each behind its length in bytes."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(body), body)


class _Signature(msgspec.Struct, frozen=True):
    keyid: str
    sig: str


class Envelope(msgspec.Struct, frozen=True, rename="camel"):
    """A signed document as it is handed to others: the JSON form of DSSE, in which everything is base64."""

    payload_type: str
    payload: str
    signatures: tuple[_Signature, ...]

    @classmethod
    def of(cls, payload_type: str, body: bytes, seal: Seal) -> Envelope:
        """Put a body and its seal together."""
        signature = _Signature(seal.key_id, base64.b64encode(seal.signature).decode())
        return cls(payload_type, base64.b64encode(body).decode(), (signature,))

    @classmethod
    def read(cls, text: bytes, payload_type: str) -> tuple[bytes, Seal]:
        """Return body and seal of an envelope of this type; raises SignatureInvalid for anything else.

        The seal is not verified yet.
        """
        try:
            envelope = msgspec.json.decode(text, type=cls)
            body = base64.b64decode(envelope.payload, validate=True)
            seals = [Seal(s.keyid, base64.b64decode(s.sig, validate=True)) for s in envelope.signatures]
        except (msgspec.MsgspecError, binascii.Error, ValueError) as fault:
            message = f"this is no signed envelope: {fault}"
            raise SignatureInvalid(message) from fault
        if envelope.payload_type != payload_type:
            message = f"the envelope holds `{envelope.payload_type}`, not `{payload_type}`"
            raise SignatureInvalid(message)
        if len(seals) != 1:
            message = f"the envelope has {len(seals)} signatures, one is expected"
            raise SignatureInvalid(message)
        return body, seals[0]

    def encode(self) -> bytes:
        """Return the envelope as JSON."""
        return msgspec.json.encode(self)
