"""A keyring kept in a key file: made when it is first needed, rotated and revoked while programs run."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Literal

import msgspec

from preflight.errors import InvalidInput
from preflight.ports import Seal
from preflight.signing.envelope import RECORD
from preflight.signing.keyfile import KeyEntry, KeyFile, KeyTable
from preflight.signing.keyring import Keyring
from preflight.signing.keys import Ed25519Key, Ed25519PublicKey, HmacKey, VerifyingKey, new_ed25519, new_hmac

Made = Literal["hs256", "ed25519"]


class FiledKeyring:
    """A `Signer` over the signing keys of a file, as they stand at each use."""

    def __init__(self, file: KeyFile, now: Callable[[], str]) -> None:
        """Use the keys of `file`; one without signing keys gets an HMAC key, dated `now()`, at the first signature."""
        self._file = file
        self._now = now
        self._loaded: tuple[KeyTable, Keyring] | None = None

    def keyring(self) -> Keyring:
        """Return the keys in force now."""
        table = self._file.table()
        loaded = self._loaded
        if loaded is None or loaded[0] is not table:
            loaded = (table, ring_of(table))
            self._loaded = loaded
        return loaded[1]

    def sign(self, body: bytes) -> Seal:
        """Return the seal of a record's exact bytes."""
        return self.sign_as(RECORD, body)

    def sign_as(self, payload_type: str, body: bytes) -> Seal:
        """Return the seal of a document of this type."""
        ring = self.keyring()
        if ring.empty:
            self._file.change(lambda table: table if table.signing else with_new_key(table, "hs256", self._now()))
            ring = self.keyring()
        return ring.sign_as(payload_type, body)

    def verify(self, body: bytes, seal: Seal) -> None:
        """Return if the seal is of these bytes by a key in force; raises SignatureInvalid otherwise."""
        self.keyring().verify_as(RECORD, body, seal)

    def verify_as(self, payload_type: str, body: bytes, seal: Seal) -> None:
        """Verify a document of this type."""
        self.keyring().verify_as(payload_type, body, seal)

    def knows(self, key_id: str) -> bool:
        """Whether a key is in the file."""
        return self.keyring().knows(key_id)

    def revoked(self, key_id: str) -> bool:
        """Whether a key counts no more."""
        return self.keyring().revoked(key_id)


def ring_of(table: KeyTable) -> Keyring:
    """Return the keyring of a key file's content."""
    active, retired, revoked = None, [], {}
    for entry in table.signing:
        key = key_of(entry)
        if entry.state == "revoked":
            revoked[entry.id] = entry.why or "no reason was given"
        if entry.state == "active" and isinstance(key, HmacKey | Ed25519Key):
            active = key
        else:
            retired.append(key)
    return Keyring(active, retired, revoked)


def key_of(entry: KeyEntry) -> VerifyingKey:
    """Return an entry's key; raises InvalidInput when it is not the key that its id names."""
    kinds = {"hs256": HmacKey, "ed25519": Ed25519Key, "ed25519-public": Ed25519PublicKey}
    kind = kinds.get(entry.algorithm)
    if kind is None:
        raise InvalidInput(entry.id, f"`{entry.algorithm}` does not sign", f"use one of {', '.join(kinds)}")
    key: VerifyingKey = kind(entry.material)  # type: ignore[assignment]
    if key.id != entry.id:
        raise InvalidInput(entry.id, f"the key under this id is `{key.id}`", "restore the file from a backup")
    return key


def with_new_key(table: KeyTable, algorithm: Made, now: str) -> KeyTable:
    """Return a table with a new active key; the one that was active before goes on verifying."""
    material = new_hmac() if algorithm == "hs256" else new_ed25519()
    key = HmacKey(material) if algorithm == "hs256" else Ed25519Key(material)
    entry = KeyEntry(key.id, algorithm, base64.b64encode(material).decode(), "active", now)
    older = tuple(msgspec.structs.replace(e, state="retired") if e.state == "active" else e for e in table.signing)
    return msgspec.structs.replace(table, signing=(*older, entry))


def with_revoked(table: KeyTable, key_id: str, why: str) -> KeyTable:
    """Return a table in which a key counts no more; raises InvalidInput when there is no such key."""
    if key_id not in [entry.id for entry in table.signing]:
        raise InvalidInput("key", f"no signing key has the id `{key_id}`", "`preflight keys list` lists them")
    signing = tuple(
        msgspec.structs.replace(e, state="revoked", why=why) if e.id == key_id else e for e in table.signing
    )
    return msgspec.structs.replace(table, signing=signing)


def public_table(table: KeyTable) -> KeyTable:
    """Return what others need to verify: the public halves of the Ed25519 keys, and nothing that can sign."""
    entries = []
    for entry in table.signing:
        key = key_of(entry)
        if isinstance(key, Ed25519PublicKey):
            public = base64.b64encode(key.public_bytes).decode()
            state = "retired" if entry.state == "active" else entry.state
            entries.append(msgspec.structs.replace(entry, algorithm="ed25519-public", key=public, state=state))
    return KeyTable(signing=tuple(entries))
