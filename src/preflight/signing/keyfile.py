"""A file of keys, readable by its owner alone; processes that have it open notice when it changes.

    {"format": 1, "signing": [ENTRY, ...], "master": [ENTRY, ...]}
    ENTRY: {"id", "algorithm", "key": base64, "state", "made_at", "why"?}

Signing keys are `hs256`, `ed25519` or `ed25519-public`, master keys `aes256gcm`. `state` is `active` (at
most one of each list), `retired` or `revoked`.
"""

from __future__ import annotations

import base64
import binascii
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Literal

import msgspec

from preflight.errors import ConstructionError

try:
    import fcntl
except ImportError:  # Windows has neither the call nor the modes that are checked below
    fcntl = None  # type: ignore[assignment]

FORMAT = 1
Algorithm = Literal["hs256", "ed25519", "ed25519-public", "aes256gcm"]
State = Literal["active", "retired", "revoked"]


class KeyEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One key of a file. Its `repr` leaves the key itself out."""

    id: str
    algorithm: Algorithm
    key: str
    state: State
    made_at: str
    why: str = ""

    @property
    def material(self) -> bytes:
        """The key's bytes; raises ConstructionError when they are no base64."""
        try:
            return base64.b64decode(self.key, validate=True)
        except (binascii.Error, ValueError) as fault:
            message = f"the key `{self.id}` is not written in base64"
            raise ConstructionError(message) from fault

    def __repr__(self) -> str:
        return f"<KeyEntry {self.id} {self.state}>"


class KeyTable(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a key file holds."""

    format: int = FORMAT
    signing: tuple[KeyEntry, ...] = ()
    master: tuple[KeyEntry, ...] = ()


class KeyFile:
    """One key file: read when it changed, replaced whole and at once."""

    def __init__(self, path: str | Path, *, public: bool = False) -> None:
        """Name the file; it need not be there yet. A `public` one may be read by anybody, and holds no secret."""
        self.path = Path(path)
        self._public = public
        self._lock = Lock()
        self._seen: tuple[int, int, int] | None = None
        self._table = KeyTable()

    def table(self) -> KeyTable:
        """Return what the file holds now; raises ConstructionError when it cannot be used."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return KeyTable()
        stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
        with self._lock:
            if stamp != self._seen:
                self._table = _read(self.path, found, public=self._public)
                self._seen = stamp
            return self._table

    def change(self, make: Callable[[KeyTable], KeyTable]) -> KeyTable:
        """Replace the file's content by what `make` makes of it, one process at a time; returns the new content."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _alone(self.path):
            table = make(self.table())
            _replace(self.path, msgspec.json.format(msgspec.json.encode(table), indent=1))
        return table


def _read(path: Path, found: os.stat_result, *, public: bool) -> KeyTable:
    mine = hasattr(os, "getuid") and found.st_uid == os.getuid()
    if (
        not public and mine and found.st_mode & 0o077
    ):  # a file of another account was put there by whoever runs this machine
        message = f"others may read the keys in `{path}`; run `chmod 600` on it, and revoke them if they were read"
        raise ConstructionError(message)
    try:
        table = msgspec.json.decode(path.read_bytes(), type=KeyTable)
    except (OSError, msgspec.MsgspecError) as fault:
        message = f"the keys in `{path}` cannot be read: {fault}"
        raise ConstructionError(message) from None
    if table.format != FORMAT:
        message = f"`{path}` has format {table.format}, this program knows {FORMAT}; use a newer version of it"
        raise ConstructionError(message)
    return table


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold the lock of a key file: a file of its own, since the key file is replaced."""
    lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _replace(path: Path, content: bytes) -> None:
    """Write a file so that readers see the old content or the new, and the disk has it before its name does."""
    made, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # readable by its owner alone
    try:
        with os.fdopen(made, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise
    folder = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
