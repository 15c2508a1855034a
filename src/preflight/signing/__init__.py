"""Signatures over stored bytes: DSSE envelopes, keys, and the keyring that knows which of them are in force (R-73)."""

from __future__ import annotations

from preflight.signing.envelope import HEAD, RECORD, TOMBSTONE, Envelope, pae
from preflight.signing.keyring import Keyring
from preflight.signing.keys import (
    Ed25519Key,
    Ed25519PublicKey,
    HmacKey,
    ServiceKey,
    SigningService,
    VerifyingKey,
    new_ed25519,
    new_hmac,
)

__all__ = [
    "HEAD",
    "RECORD",
    "TOMBSTONE",
    "Ed25519Key",
    "Ed25519PublicKey",
    "Envelope",
    "HmacKey",
    "Keyring",
    "ServiceKey",
    "SigningService",
    "VerifyingKey",
    "new_ed25519",
    "new_hmac",
    "pae",
]
