"""Encryption of secret values: a data key for each person, wrapped by a master key that can be rotated (R-78).

Theory of operation
-------------------
Records can never change (R-71), yet a person's values must be erasable. So values are encrypted under a data
key of their own person, and only that key is kept in a place that can change. Destroying it makes every value
of the person unreadable, in every record and every backup of the records, while chains and signatures stay
true: they were made over the ciphertext.

Data keys lie beside the records, wrapped by a master key. Rotating the master key wraps them anew and
touches no record. The ciphertext is bound to its person, its document and its place in it, so that it can
be put nowhere else.
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Mapping
from typing import Final

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from preflight.codec import encode
from preflight.errors import Erased, VaultError
from preflight.model.sealed import Sealed
from preflight.secrecy.vault.subjects import DataKey, Subject, SubjectKeys
from preflight.secrecy.vault.wrapping import KeyWrapper

__all__ = ["DataKey", "KeyWrapper", "Subject", "SubjectKeys", "Vault"]

NONCE_BYTES: Final = 12
KEY_BYTES: Final = 32


class Vault:
    """Encrypts and opens values of persons. Safe to use from many threads."""

    def __init__(self, keys: SubjectKeys, wrapper: KeyWrapper) -> None:
        """Keep data keys in `keys`, wrapped by `wrapper`."""
        self._keys = keys
        self._wrapper = wrapper

    def seal(
        self, subject: Subject, document: str, values: Mapping[str, object], slots: Mapping[str, str]
    ) -> dict[str, Sealed]:
        """Encrypt JSON values by their place in a document, under the subject's key; the key is made if need be.

        `slots` names the slot whose whole value stands at a place: that one can be searched for. Raises
        VaultError when the key cannot be had: then nothing may be stored.
        """
        row, secret = self._own(subject)
        cipher, tag = AESGCM(_derived(secret, b"encrypt")), _derived(secret, b"digest")
        sealed = {}
        for place, value in values.items():
            nonce, body = os.urandom(NONCE_BYTES), encode(value)
            box = nonce + cipher.encrypt(nonce, body, _bound(document, place))
            digest = _digest(tag, slots[place], body) if place in slots else None
            sealed[place] = Sealed(row.key_id, box, digest)
        return sealed

    def open(self, subject: Subject, document: str, sealed: Mapping[str, Sealed]) -> dict[str, object]:
        """Return the values by their place; raises Erased when the key is destroyed, VaultError when one is no more."""
        if not sealed:
            return {}
        row = self._keys.get(subject)
        if row is None or any(each.key != row.key_id for each in sealed.values()):
            message = f"the values of `{document}` are erased: the key of their person was destroyed"
            raise Erased(message)
        cipher = AESGCM(_derived(self._secret(row), b"encrypt"))
        return {place: _opened(cipher, document, place, each) for place, each in sealed.items()}

    def digest(self, subject: Subject, slot: str, value: object) -> str | None:
        """Return the keyed digest that an equal value of this subject in this slot has; None without a key."""
        row = self._keys.get(subject)
        if row is None:
            return None
        return _digest(_derived(self._secret(row), b"digest"), slot, encode(value))

    def keyed(self, subject: Subject, text: str) -> str:
        """Return a keyed digest of a text, in hex: it tells equal texts apart and cannot be guessed at."""
        return _digest(_derived(self._own(subject)[1], b"digest"), "", text.encode())

    def destroy(self, subject: Subject) -> bool:
        """Destroy the subject's key: what was encrypted under it can never be read again. False when there is none."""
        return self._keys.remove(subject)

    def rewrap(self) -> int:
        """Wrap every data key anew under the active master key; return how many were under another one."""
        done = 0
        for subject, row in self._keys.rows():
            if row.master_id != self._wrapper.active:
                master_id, wrapped = self._wrapper.wrap(self._secret(row), _context(subject, row.key_id))
                fresh = msgspec.structs.replace(row, wrapped=wrapped, master_id=master_id)
                done += self._keys.replace(subject, row, fresh)
        return done

    def _own(self, subject: Subject) -> tuple[DataKey, bytes]:
        row = self._keys.get(subject)
        if row is None:
            secret, key_id = os.urandom(KEY_BYTES), f"d:{os.urandom(8).hex()}"
            master_id, wrapped = self._wrapper.wrap(secret, _context(subject, key_id))
            row = self._keys.add(subject, DataKey(subject, key_id, wrapped, master_id))
        return row, self._secret(row)

    def _secret(self, row: DataKey) -> bytes:
        return self._wrapper.unwrap(row.master_id, row.wrapped, _context(row.subject, row.key_id))


def _derived(secret: bytes, purpose: bytes) -> bytes:
    """Return a key for one purpose: no key is used for two."""
    return hmac.digest(secret, b"preflight " + purpose, "sha256")


def _bound(document: str, place: str) -> bytes:
    """Return what the ciphertext is bound to; the lengths keep two pairs from looking alike."""
    return b"%d|%b|%b" % (len(document.encode()), document.encode(), place.encode())


def _context(subject: Subject, key_id: str) -> bytes:
    return encode([subject.tenant, subject.user_id, key_id])


def _digest(tag: bytes, slot: str, body: bytes) -> str:
    name = slot.encode()
    return hmac.digest(tag, b"%d|%b|%b" % (len(name), name, body), "sha256").hex()


def _opened(cipher: AESGCM, document: str, place: str, sealed: Sealed) -> object:
    try:
        body = cipher.decrypt(sealed.box[:NONCE_BYTES], sealed.box[NONCE_BYTES:], _bound(document, place))
    except (InvalidTag, ValueError):
        message = f"the encrypted value at `{place}` of `{document}` was changed, or moved there"
        raise VaultError(message) from None
    return msgspec.json.decode(body)
