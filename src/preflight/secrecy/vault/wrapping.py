"""Master keys: they encrypt data keys and nothing else, and can be rotated or held by a service."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
from collections.abc import Callable, Mapping
from typing import Final, Protocol

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from preflight.errors import ConstructionError, VaultError
from preflight.signing.keyfile import KeyEntry, KeyFile, KeyTable

MASTER_KEY: Final = "PREFLIGHT_MASTER_KEY"
"""The master key as 32 bytes in base64; further ones, of old, after spaces."""
MASTER_BYTES: Final = 32
_NONCE = 12


class KeyWrapper(Protocol):
    """The hook for master keys; a KMS can be one. `context` is bound to the wrapped key, and asked for again."""

    @property
    def active(self) -> str:
        """The id of the master key that wraps now."""
        ...

    def wrap(self, key: bytes, context: bytes) -> tuple[str, bytes]:
        """Return the id of the master key and the wrapped key."""
        ...

    def unwrap(self, master_id: str, wrapped: bytes, context: bytes) -> bytes:
        """Return the key; raises VaultError when the master key is not at hand or the bytes were changed."""
        ...


class LocalMasters:
    """Master keys in this process: AES-256-GCM."""

    def __init__(self, active: bytes, older: tuple[bytes, ...] = ()) -> None:
        """Wrap with `active`; unwrap with any."""
        for key in (active, *older):
            if len(key) != MASTER_BYTES:
                message = f"a master key has {len(key)} bytes; it takes exactly {MASTER_BYTES}"
                raise ConstructionError(message)
        self._ciphers = {master_id(key): AESGCM(key) for key in (*older, active)}
        self.active = master_id(active)

    def wrap(self, key: bytes, context: bytes) -> tuple[str, bytes]:
        """Return the active master key's id, and nonce and ciphertext."""
        nonce = os.urandom(_NONCE)
        return self.active, nonce + self._ciphers[self.active].encrypt(nonce, key, context)

    def unwrap(self, master_id: str, wrapped: bytes, context: bytes) -> bytes:
        """Return the key."""
        cipher = self._ciphers.get(master_id)
        if cipher is None:
            message = f"the master key `{master_id}` is not at hand; bring it back, or what it protects stays shut"
            raise VaultError(message)
        try:
            return cipher.decrypt(wrapped[:_NONCE], wrapped[_NONCE:], context)
        except (InvalidTag, ValueError):
            message = "a wrapped data key was changed; restore the vault from a backup"
            raise VaultError(message) from None


class FiledMasters:
    """The master keys of a key file, as they stand at each use."""

    def __init__(self, file: KeyFile, now: Callable[[], str]) -> None:
        """Use the keys of `file`; one without a master key gets a new one, dated `now()`, when it is first needed."""
        self._file = file
        self._now = now

    @property
    def active(self) -> str:
        """The id of the master key that wraps now."""
        return self._masters().active

    def wrap(self, key: bytes, context: bytes) -> tuple[str, bytes]:
        """Return the id of the master key and the wrapped key."""
        return self._masters().wrap(key, context)

    def unwrap(self, master_id: str, wrapped: bytes, context: bytes) -> bytes:
        """Return the key."""
        return self._masters().unwrap(master_id, wrapped, context)

    def _masters(self) -> LocalMasters:
        table = self._file.table()
        if not table.master:
            table = self._file.change(lambda now: now if now.master else with_new_master(now, self._now()))
        active = next((entry for entry in table.master if entry.state == "active"), None)
        if active is None:
            message = f"`{self._file.path}` has no active master key; restore it from a backup"
            raise VaultError(message)
        return LocalMasters(active.material, tuple(e.material for e in table.master if e is not active))


def master_id(key: bytes) -> str:
    """Return the id of a master key, made of the key itself."""
    return "m:" + hashlib.sha256(b"preflight master key id" + key).hexdigest()[:16]


def with_new_master(table: KeyTable, now: str) -> KeyTable:
    """Return a table with a new active master key; older ones go on unwrapping until nothing needs them."""
    key = os.urandom(MASTER_BYTES)
    entry = KeyEntry(master_id(key), "aes256gcm", base64.b64encode(key).decode(), "active", now)
    older = tuple(msgspec.structs.replace(each, state="retired") for each in table.master)
    return msgspec.structs.replace(table, master=(*older, entry))


def masters_from(environment: Mapping[str, str]) -> LocalMasters | None:
    """Return the master keys of the environment, or None; raises ConstructionError without quoting the value."""
    texts = environment.get(MASTER_KEY, "").split()
    if not texts:
        return None
    try:
        keys = [base64.b64decode(text, validate=True) for text in texts]
    except (binascii.Error, ValueError):
        message = f"{MASTER_KEY} is not base64; write 32 random bytes that way"
        raise ConstructionError(message) from None
    return LocalMasters(keys[0], tuple(keys[1:]))
