"""The keys in force: one that signs, others that still verify, and those that count no more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from preflight.errors import ConstructionError, SignatureInvalid
from preflight.ports import Seal
from preflight.signing.envelope import RECORD, pae
from preflight.signing.keys import SigningKey, VerifyingKey

_NONE: Mapping[str, str] = MappingProxyType({})


class Keyring:
    """A `Signer` over a fixed set of keys. Rotate by making another with a new active key and the old one retired.

    `revoked` maps the ids of keys that became known to others to the reason. What such a key signed counts
    no more, whenever it was signed: whoever has the key can write any date.
    """

    def __init__(
        self,
        active: SigningKey | None,
        retired: Iterable[VerifyingKey] = (),
        revoked: Mapping[str, str] = _NONE,
    ) -> None:
        """Sign with `active` (None: verify only) and verify with all keys that are not revoked."""
        if active is not None and active.id in revoked:
            message = f"the active key `{active.id}` is revoked; make another one active"
            raise ConstructionError(message)
        self._active = active
        self._keys = {key.id: key for key in (*retired, *([active] if active else []))}
        self._revoked = dict(revoked)

    @property
    def active(self) -> str | None:
        """The id of the key that signs; None where this keyring only verifies."""
        return None if self._active is None else self._active.id

    @property
    def empty(self) -> bool:
        """Whether there is no key at all."""
        return not self._keys

    def knows(self, key_id: str) -> bool:
        """Whether a key is in the ring, in force or revoked."""
        return key_id in self._keys or key_id in self._revoked

    def revoked(self, key_id: str) -> bool:
        """Whether a key counts no more."""
        return key_id in self._revoked

    def sign(self, body: bytes) -> Seal:
        """Return the seal of a record's exact bytes (R-73)."""
        return self.sign_as(RECORD, body)

    def sign_as(self, payload_type: str, body: bytes) -> Seal:
        """Return the seal of a document of this type; raises SignatureInvalid where there is no key to sign with."""
        if self._active is None:
            message = "these keys only verify; signing needs a private key"
            raise SignatureInvalid(message)
        return Seal(self._active.id, self._active.sign(pae(payload_type, body)))

    def verify(self, body: bytes, seal: Seal) -> None:
        """Return if the seal is of these bytes by a key in force; raises SignatureInvalid otherwise."""
        self.verify_as(RECORD, body, seal)

    def verify_as(self, payload_type: str, body: bytes, seal: Seal, *, allow_revoked: bool = False) -> None:
        """Verify a document of this type. `allow_revoked` asks only whether the key made it, not whether it counts."""
        if seal.key_id in self._revoked and not allow_revoked:
            message = f"the key `{seal.key_id}` was revoked: {self._revoked[seal.key_id]}"
            raise SignatureInvalid(message)
        key = self._keys.get(seal.key_id)
        if key is None:
            message = f"the key `{seal.key_id}` is not known here; add it to the keys that verify"
            raise SignatureInvalid(message)
        if not key.verify(pae(payload_type, body), seal.signature):
            message = f"the signature by `{seal.key_id}` is not of these bytes"
            raise SignatureInvalid(message)
