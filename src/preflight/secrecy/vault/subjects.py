"""Where data keys are kept, apart from the records: this place can change and forget."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, Protocol

import apsw
import msgspec

from preflight.errors import VaultError

_WAIT_MILLISECONDS = 10_000
_TABLE = """
CREATE TABLE IF NOT EXISTS data_key (
    tenant    TEXT NOT NULL,
    user_id   TEXT NOT NULL,
    key_id    TEXT NOT NULL,
    wrapped   BLOB NOT NULL,
    master_id TEXT NOT NULL,
    PRIMARY KEY (tenant, user_id)
) STRICT
"""
_GET = "SELECT key_id, wrapped, master_id FROM data_key WHERE tenant = ? AND user_id = ?"
_ADD = (
    "INSERT INTO data_key (tenant, user_id, key_id, wrapped, master_id) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
)
_ALL = "SELECT tenant, user_id, key_id, wrapped, master_id FROM data_key ORDER BY tenant, user_id"
_REPLACE = """
UPDATE data_key SET wrapped = ?, master_id = ?
WHERE tenant = ? AND user_id = ? AND key_id = ? AND master_id = ? RETURNING 1
"""
_REMOVE = "DELETE FROM data_key WHERE tenant = ? AND user_id = ? RETURNING 1"


class Subject(NamedTuple):
    """A person whose values are encrypted under one key."""

    tenant: str
    user_id: str


class DataKey(msgspec.Struct, frozen=True):
    """A wrapped data key: useless without the master key that `master_id` names."""

    subject: Subject
    key_id: str
    wrapped: bytes
    master_id: str


class SubjectKeys(Protocol):
    """Keeps one data key for each subject. Each method is one transaction; raises VaultError when it fails."""

    def get(self, subject: Subject) -> DataKey | None:
        """Return the subject's key."""
        ...

    def add(self, subject: Subject, key: DataKey) -> DataKey:
        """Keep a subject's first key; returns the one in force, which another process may have added before."""
        ...

    def replace(self, subject: Subject, before: DataKey, after: DataKey) -> bool:
        """Put the same key, wrapped anew, in its own place; False when it changed meanwhile."""
        ...

    def remove(self, subject: Subject) -> bool:
        """Forget a subject's key for good; False when there is none."""
        ...

    def rows(self) -> list[tuple[Subject, DataKey]]:
        """Return every key."""
        ...


class MemorySubjectKeys:
    """Data keys that die with the process, as records in memory do."""

    def __init__(self) -> None:
        """Start empty."""
        self._keys: dict[Subject, DataKey] = {}
        self._lock = Lock()

    def get(self, subject: Subject) -> DataKey | None:
        """Return the subject's key."""
        return self._keys.get(subject)

    def add(self, subject: Subject, key: DataKey) -> DataKey:
        """Keep a subject's first key."""
        return self._keys.setdefault(subject, key)

    def replace(self, subject: Subject, before: DataKey, after: DataKey) -> bool:
        """Put the same key, wrapped anew, in its own place."""
        with self._lock:
            if self._keys.get(subject) != before:
                return False
            self._keys[subject] = after
            return True

    def remove(self, subject: Subject) -> bool:
        """Forget a subject's key."""
        return self._keys.pop(subject, None) is not None

    def rows(self) -> list[tuple[Subject, DataKey]]:
        """Return every key."""
        return list(self._keys.items())


class FiledSubjectKeys:
    """Data keys in an SQLite file of their own, whose deleted pages are overwritten.

    Erasing reaches as far as this file: a backup of it still has the key, so keep its backups short.
    """

    def __init__(self, path: str | Path) -> None:
        """Name the file; it is made when the first key is kept."""
        self.path = Path(path)

    def get(self, subject: Subject) -> DataKey | None:
        """Return the subject's key."""
        if not self.path.exists():
            return None
        with self._opened() as db:
            rows: list[Any] = db.execute(_GET, subject).fetchall()
        return DataKey(subject, *rows[0]) if rows else None

    def add(self, subject: Subject, key: DataKey) -> DataKey:
        """Keep a subject's first key."""
        with self._opened() as db:
            db.execute(_ADD, (*subject, key.key_id, key.wrapped, key.master_id)).fetchall()
            rows: list[Any] = db.execute(_GET, subject).fetchall()
        return DataKey(subject, *rows[0])

    def replace(self, subject: Subject, before: DataKey, after: DataKey) -> bool:
        """Put the same key, wrapped anew, in its own place."""
        with self._opened() as db:
            wanted = (after.wrapped, after.master_id, *subject, before.key_id, before.master_id)
            return bool(db.execute(_REPLACE, wanted).fetchall())

    def remove(self, subject: Subject) -> bool:
        """Forget a subject's key, and overwrite where it stood."""
        if not self.path.exists():
            return False
        with self._opened() as db:
            return bool(db.execute(_REMOVE, subject).fetchall())

    def rows(self) -> list[tuple[Subject, DataKey]]:
        """Return every key."""
        if not self.path.exists():
            return []
        with self._opened() as db:
            found: list[Any] = db.execute(_ALL).fetchall()
        keys = [DataKey(Subject(tenant, user_id), *rest) for tenant, user_id, *rest in found]
        return [(key.subject, key) for key in keys]

    @contextmanager
    def _opened(self) -> Iterator[apsw.Connection]:
        """Open the file for one transaction: secrets are rare, and nothing is then held across a fork."""
        with suppress(OSError):  # it exists, or SQLite says better why it cannot be made
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            with closing(apsw.Connection(str(self.path))) as db:
                db.set_busy_timeout(_WAIT_MILLISECONDS)
                # no write-ahead log, in which a deleted key would live on
                db.execute(
                    "PRAGMA journal_mode = DELETE; PRAGMA secure_delete = ON; PRAGMA synchronous = FULL"
                ).fetchall()
                db.execute("BEGIN IMMEDIATE")
                db.execute(_TABLE)
                yield db
                db.execute("COMMIT")
        except apsw.Error as fault:
            message = f"cannot use the vault `{self.path}`: {fault}; see that its folder can be written"
            raise VaultError(message) from fault
