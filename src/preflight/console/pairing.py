"""Which browsers belong to a person: they show a cookie that only a code from a terminal, or a link, gives (R-93).

A link that a model may read opens nothing in any other browser, and nothing for a program that fetches it.
The secret lies beside the keys of the record database, readable by its owner alone; a code holds for ten minutes.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from preflight.errors import StorageError
from preflight.ports import Storage
from preflight.secrecy.safekeeping import Places

_STEP: Final = 600
_DIGITS: Final = 10
_TRIES: Final = 10
"""Wrong codes in one step, after which no code counts until the next."""


class Pairing:
    """Makes codes and cookies, and knows them again."""

    def __init__(self, secret: bytes) -> None:
        """Take the secret that this account's proxies share."""
        self._secret = secret
        self._wrong: dict[int, int] = {}

    @classmethod
    def of(cls, storage: Storage) -> Pairing:
        """Return the pairing for a store; one in memory has a secret of its own, which no terminal knows."""
        keys = Places(storage).keys
        return cls(secrets.token_bytes(32) if keys is None else _kept(Path(f"{keys}.page")))

    def code(self) -> str:
        """Return the code that holds now."""
        return self._code(int(time.time()) // _STEP)

    def cookie(self) -> str:
        """Return what a known browser shows."""
        return self._mac(b"browser").hex()

    def takes(self, code: str) -> bool:
        """Whether a code holds now, or did a step ago; after ten wrong ones none does for a while."""
        now = int(time.time()) // _STEP
        if self._wrong.get(now, 0) >= _TRIES:
            return False
        given = "".join(char for char in code if char.isascii() and char.isdigit())
        if any(hmac.compare_digest(given, self._code(step)) for step in (now, now - 1)):
            return True
        self._wrong = {now: self._wrong.get(now, 0) + 1}
        return False

    def knows(self, cookie: str | None) -> bool:
        """Whether a browser shows the right cookie."""
        return cookie is not None and hmac.compare_digest(cookie.encode(), self.cookie().encode())

    def _code(self, step: int) -> str:
        number = int.from_bytes(self._mac(f"code {step}".encode())[:16])
        return str(number % 10**_DIGITS).zfill(_DIGITS)

    def _mac(self, purpose: bytes) -> bytes:
        return hmac.new(self._secret, b"preflight page: " + purpose, hashlib.sha256).digest()


def _kept(path: Path) -> bytes:
    """Return the secret in a file, made where it is missing; of two that make it at once, both get the first's."""
    try:
        with suppress(FileExistsError):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(secrets.token_bytes(32))
        for _ in range(100):
            found = path.read_bytes()
            if len(found) == 32:
                return found
            time.sleep(0.01)  # the other process is about to write it
    except OSError as fault:
        message = f"`{path}` cannot be read or made: {fault.strerror}"
        raise StorageError(message) from fault
    message = f"`{path}` is damaged; remove it, and pair the browsers again"
    raise StorageError(message)
