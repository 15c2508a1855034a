"""The kinds of keys. An algorithm belongs to its key and is never read from what is to be verified.

A key's id is made of its algorithm and of the key itself, so that no key can be filed under another's id.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from typing import Final, Protocol

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from preflight.errors import ConstructionError

SHORTEST_SECRET: Final = 32
"""Bytes of an HMAC key: as many as the digest has (RFC 2104, section 3)."""
ED25519_BYTES: Final = 32
_NAME = b"preflight key id"


class VerifyingKey(Protocol):
    """A key that can say whether a signature is its own."""

    @property
    def id(self) -> str:
        """The key's id, `algorithm:fingerprint`."""
        ...

    def verify(self, message: bytes, signature: bytes) -> bool:
        """Whether `signature` was made over `message` with this key."""
        ...


class SigningKey(VerifyingKey, Protocol):
    """A key that can sign too."""

    def sign(self, message: bytes) -> bytes:
        """Return the signature of `message`."""
        ...


class SigningService(Protocol):
    """The hook for a key that never leaves its place, such as a KMS or an HSM.

    `public_key` are the 32 raw bytes of an Ed25519 key, with which signatures are verified here.
    """

    @property
    def public_key(self) -> bytes:
        """The raw public key."""
        ...

    def sign(self, message: bytes) -> bytes:
        """Return the 64 bytes of the Ed25519 signature over `message`."""
        ...


class HmacKey:
    """HMAC-SHA256: fast, and fit where one process, or one account, both signs and verifies."""

    algorithm: Final = "hs256"

    def __init__(self, secret: bytes) -> None:
        """Take at least 32 random bytes."""
        if len(secret) < SHORTEST_SECRET:
            message = f"an HMAC key has {len(secret)} bytes; give at least {SHORTEST_SECRET} random ones"
            raise ConstructionError(message)
        self._secret = secret
        self.id = f"{self.algorithm}:{hmac.digest(secret, _NAME, 'sha256').hex()[:16]}"

    def sign(self, message: bytes) -> bytes:
        """Return the 32 bytes of the MAC."""
        return hmac.digest(self._secret, message, "sha256")

    def verify(self, message: bytes, signature: bytes) -> bool:
        """Compare in constant time."""
        return hmac.compare_digest(hmac.digest(self._secret, message, "sha256"), signature)

    def __repr__(self) -> str:
        return f"<HmacKey {self.id}>"


class Ed25519PublicKey:
    """The half of an Ed25519 key that verifies (RFC 8032)."""

    algorithm: Final = "ed25519"

    def __init__(self, public: bytes) -> None:
        """Take the 32 raw bytes."""
        if len(public) != ED25519_BYTES:
            message = f"an Ed25519 public key has {len(public)} bytes; it takes exactly {ED25519_BYTES}"
            raise ConstructionError(message)
        self.public_bytes = public
        self._public = ed25519.Ed25519PublicKey.from_public_bytes(public)
        self.id = f"{self.algorithm}:{hashlib.sha256(_NAME + public).hexdigest()[:16]}"

    def verify(self, message: bytes, signature: bytes) -> bool:
        """Whether the signature is right."""
        try:
            self._public.verify(signature, message)
        except InvalidSignature:
            return False
        return True

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id}>"


class Ed25519Key(Ed25519PublicKey):
    """A whole Ed25519 key: for signers whose records others verify."""

    def __init__(self, seed: bytes) -> None:
        """Take the 32 bytes of the private key."""
        if len(seed) != ED25519_BYTES:
            message = f"an Ed25519 key has {len(seed)} bytes; it takes exactly {ED25519_BYTES}"
            raise ConstructionError(message)
        self._private = ed25519.Ed25519PrivateKey.from_private_bytes(seed)
        super().__init__(self._private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))

    def sign(self, message: bytes) -> bytes:
        """Return the 64 bytes of the signature."""
        return self._private.sign(message)


class ServiceKey(Ed25519PublicKey):
    """An Ed25519 key that a service holds: it signs there, and is verified here."""

    def __init__(self, service: SigningService) -> None:
        """Sign by `service`."""
        super().__init__(service.public_key)
        self._service = service

    def sign(self, message: bytes) -> bytes:
        """Return the service's signature; whatever the service raises goes on to the store, which stores nothing."""
        return self._service.sign(message)


def new_hmac() -> bytes:
    """Return a new HMAC secret from the system's random source."""
    return os.urandom(SHORTEST_SECRET)


def new_ed25519() -> bytes:
    """Return a new Ed25519 private key from the system's random source."""
    return os.urandom(ED25519_BYTES)
