"""One SQLite file: opened, kept at the right schema, locked, made durable; its errors as StorageError.

One connection serves all threads of the process, behind a lock. SQLite has one writer at a time anyhow,
and two connections (one for durable commits, one for the others) empty each other's page cache at every
turn: 44 us an append against 33 with one connection and a pragma, which costs 1 us. Writes that come while
one is under way share the next transaction and its wait for the disk (`group`).
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

import apsw

from preflight.errors import StorageError
from preflight.storage.group import Groups, Write

T = TypeVar("T")
MEMORY = ":memory:"
_CHECK_SECONDS = 0.01  # between two looks at a lock that SQLite does not wait for itself

_ADVICE: tuple[tuple[type[apsw.Error], str], ...] = (
    (apsw.BusyError, "another process holds it; try again, or find out what keeps it"),
    (apsw.LockedError, "another process holds it; try again, or find out what keeps it"),
    (apsw.ReadOnlyError, "it cannot be written; check the permissions of the file and its directory"),
    (apsw.FullError, "there is no room left; free some and try again"),
    (apsw.CorruptError, "its content is damaged; restore it from a backup, and keep the damaged file"),
    (apsw.NotADBError, "it is no SQLite database; name another file"),
    (apsw.CantOpenError, "it cannot be opened; check that the directory exists and may be written"),
    (apsw.IOError, "reading or writing it failed; check the disk"),
)


class SqliteFile:
    """A database file that any thread may use and that survives a fork; see `reading` and `write`.

    `wait_seconds` is how long another process's lock is waited for. Every method raises StorageError,
    naming the file, when SQLite cannot do it; then nothing of it was done.
    """

    def __init__(self, path: str, *, wait_seconds: float) -> None:
        """Open the file, making it and its tables where they are missing."""
        self.path = path
        self._wait_seconds = wait_seconds
        self._lock = threading.Lock()
        self._holder: int | None = None  # the thread that works on the connection
        self._groups = Groups(self._write_group)
        self._connection: apsw.Connection | None = None
        self._synchronous = ""
        self._identity: tuple[int, int] | None = None  # device and inode
        self._closed = False
        with self._lock:
            self._ready()
        _OPEN.add(self)

    def reading(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run `work` on the connection; it reads only."""
        self._refuse_nesting()
        with self._lock:
            self._holder = threading.get_ident()
            try:
                return self._run("read", work, durable=None)
            finally:
                self._holder = None

    def write(
        self,
        work: Callable[[apsw.Connection], T],
        *,
        durable: bool,
        quick: Callable[[apsw.Connection], T | None] | None = None,
    ) -> T:
        """Run `work` in a transaction, of which nothing remains when it raises; `durable` waits for the disk.

        `quick`, a single statement that returns None where it did nothing, is tried before a transaction is begun.
        """
        self._refuse_nesting()
        done: T = self._groups.do(Write(work, durable=durable, quick=quick))
        return done

    def _refuse_nesting(self) -> None:
        if self._holder == threading.get_ident():
            raise StorageError("a signer or a judge of an admission must not use the store that called it")

    def _write_group(self, group: list[Write[apsw.Connection]]) -> None:
        with self._lock:
            self._holder = threading.get_ident()
            try:
                if len(group) == 1:
                    self._write_alone(group[0])
                else:
                    self._write_together(group)
            finally:
                self._holder = None

    def _write_alone(self, write: Write[apsw.Connection]) -> None:
        try:
            done = None
            if write.quick is not None:
                done = self._run("write", write.quick, durable=write.durable)
            if done is None:
                done = self._run("write", _transaction(write.work), durable=write.durable)
        except Exception as fault:  # noqa: BLE001  handed to the caller whose write it is
            write.settle(None, fault)
        else:
            write.settle(done)

    def _write_together(self, group: list[Write[apsw.Connection]]) -> None:
        def work(connection: apsw.Connection) -> list[Any]:
            done = []
            for write in group:
                try:
                    done.append(write.work(connection))
                except Exception as fault:
                    raise _Spoiled from fault
            return done

        try:
            results = self._run("write", _transaction(work), durable=any(write.durable for write in group))
        except _Spoiled:  # one of them raised and took all back: each for itself then
            for write in group:
                self._write_alone(write)
        except Exception as fault:  # noqa: BLE001  handed to the callers
            for write in group:
                write.settle(None, StorageError(*fault.args))
        else:
            for write, done in zip(group, results, strict=True):
                write.settle(done)

    def sync(self) -> None:
        """Wait until everything committed so far survives a loss of power."""
        if self.path == MEMORY:
            return
        try:
            # SQLite puts no lock on this file, so closing a second descriptor of it drops none.
            log = os.open(self.path + "-wal", os.O_RDONLY)
        except FileNotFoundError:
            return  # all of it is in the database already, which SQLite has synced
        try:
            os.fsync(log)
        except OSError as fault:
            raise StorageError(f"cannot write `{self.path}`: {fault}; check the disk") from fault
        finally:
            os.close(log)

    def close(self) -> None:
        """Close the connection for good; a second time is harmless."""
        with self._lock:
            self._closed = True
            self._drop()

    def _run(self, verb: str, work: Callable[[apsw.Connection], T], *, durable: bool | None) -> T:
        connection = self._ready()
        try:
            if durable is not None:
                self._set_synchronous(connection, durable=durable)
            if durable:
                self._check_identity()
            return work(connection)
        except BaseException as fault:
            self._roll_back(connection)
            if isinstance(fault, (apsw.Error, UnicodeEncodeError)):
                raise self._failure(verb, fault) from fault
            raise

    def _roll_back(self, connection: apsw.Connection) -> None:
        if not connection.in_transaction:
            return
        try:
            connection.execute("ROLLBACK")
        except apsw.Error:
            self._drop()  # closing ends the transaction too; the next call opens the file again

    def _check_identity(self) -> None:
        """Refuse a file that was replaced or removed while it was open.

        The old one would go on taking claims that nobody else sees, and two processes could start one decision.
        """
        if self.path == MEMORY:
            return
        try:
            found = Path(self.path).stat()
            identity = (found.st_dev, found.st_ino)
        except OSError:
            identity = None
        self._identity = self._identity or identity
        if identity is None or identity != self._identity:
            raise StorageError(f"`{self.path}` was replaced or removed while it was open; restart the program")

    def _ready(self) -> apsw.Connection:
        if self._closed:
            raise StorageError(f"the record store `{self.path}` is closed; open it again")
        if self._connection is None:
            try:
                self._connection = self._open()
            except apsw.Error as fault:
                raise self._failure("open", fault) from fault
        return self._connection

    def _failure(self, verb: str, fault: Exception) -> StorageError:
        advice = next((text for kind, text in _ADVICE if isinstance(fault, kind)), "nothing was stored")
        return StorageError(f"cannot {verb} `{self.path}`: {fault}; {advice}")

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close(force=True)
            self._connection = None
            self._synchronous = ""

    def _open(self) -> apsw.Connection:
        _create_private(self.path)
        connection = self._connect()
        try:
            connection.set_busy_timeout(int(self._wait_seconds * 1000))
            connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
            # Plans that do not look at values: else each use of a partial index is planned anew, three times its cost.
            connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
            _version(connection, self.path)  # before anything is changed in a file that may not be ours
            self._write_ahead(connection)
            self._set_synchronous(connection, durable=True)
            _migrate(connection, self.path)
            self._check_identity()
        except BaseException:
            connection.close(force=True)
            raise
        return connection

    def _connect(self) -> apsw.Connection:
        return apsw.Connection(self.path)

    def _write_ahead(self, connection: apsw.Connection) -> None:
        """Switch to write-ahead logging, kept in the file; several processes may be the first at once."""
        deadline = time.monotonic() + self._wait_seconds
        while connection.execute("PRAGMA journal_mode").fetchall() not in ([("wal",)], [("memory",)]):
            try:
                connection.execute("PRAGMA journal_mode = WAL").fetchall()
            except apsw.BusyError:  # SQLite does not wait for the lock of this switch
                if time.monotonic() > deadline:
                    raise
                time.sleep(_CHECK_SECONDS)

    def _set_synchronous(self, connection: apsw.Connection, *, durable: bool) -> None:
        wanted = "FULL" if durable else "NORMAL"
        if wanted != self._synchronous:
            connection.execute(f"PRAGMA synchronous = {wanted}")
            self._synchronous = wanted


class _Spoiled(Exception):
    """One write of a group raised; the others are innocent."""


def _transaction(work: Callable[[apsw.Connection], T]) -> Callable[[apsw.Connection], T]:
    def run(connection: apsw.Connection) -> T:
        # The write lock is taken first: what `work` reads cannot change before it writes.
        connection.execute("BEGIN IMMEDIATE")
        done = work(connection)
        connection.execute("COMMIT")
        return done

    return run


def _create_private(path: str) -> None:
    """Make a new file readable by its owner only: it will hold what users said. SQLite's other files follow it."""
    if path == MEMORY:
        return
    try:
        # An existing file must not even be opened here: closing it would drop this process's locks on it.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError:
        return  # it exists, or SQLite will say better why it cannot be made


@cache
def migrations() -> tuple[str, ...]:
    """Return the numbered schema scripts, oldest first; script `n` brings the schema to version `n`."""
    folder = resources.files("preflight.storage") / "sql" / "sqlite"
    scripts = sorted(folder.iterdir(), key=lambda script: script.name)
    return tuple(script.read_text("utf-8") for script in scripts)


def _migrate(connection: apsw.Connection, path: str) -> None:
    scripts = migrations()
    if _version(connection, path) == len(scripts):
        return
    connection.execute("BEGIN IMMEDIATE")
    # Asked again under the lock: another process may have done it meanwhile.
    present = _version(connection, path)
    connection.execute("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER PRIMARY KEY) STRICT")
    for number in range(present + 1, len(scripts) + 1):
        connection.execute(scripts[number - 1])
        connection.execute("INSERT INTO schema_version (version) VALUES (?)", (number,))
    connection.execute("COMMIT")


def _version(connection: apsw.Connection, path: str) -> int:
    """Return the schema's version, 0 for an empty file; refuse a newer one, and a file of another program."""
    # one look at both: between two, another process may have made the tables
    tables: list[Any] = connection.execute("SELECT name FROM sqlite_schema").fetchall()
    if not tables:
        return 0
    if ("schema_version",) not in tables:
        raise StorageError(f"`{path}` is the database of another program; name another file")
    rows: list[Any] = connection.execute("SELECT ifnull(max(version), 0) FROM schema_version").fetchall()
    version: int = rows[0][0]
    if version > (known := len(migrations())):
        raise StorageError(
            f"`{path}` has schema {version}, this program knows up to {known}; use a newer version of it"
        )
    return version


# SQLite must not be carried across a fork: the child would believe that it holds its parent's locks. So
# every store closes its connection before a fork, and parent and child open it again when they need it.
_OPEN: weakref.WeakSet[SqliteFile] = weakref.WeakSet()
_forking = threading.Lock()
_held: list[SqliteFile] = []


def _before_fork() -> None:
    _forking.acquire()
    for store in list(_OPEN):
        store._lock.acquire()  # noqa: SLF001  this module's own; no work is under way while it is held
        _held.append(store)
        if store.path != MEMORY:  # a database in memory has no locks, and its copy is the child's own
            store._drop()  # noqa: SLF001


def _after_fork() -> None:
    while _held:
        _held.pop()._lock.release()  # noqa: SLF001
    _forking.release()


def _after_fork_in_child() -> None:
    for store in _held:
        store._groups.forget()  # noqa: SLF001  the threads that waited in it are the parent's
    _after_fork()


if hasattr(os, "register_at_fork"):  # pragma: no branch  only Windows has no fork
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)
