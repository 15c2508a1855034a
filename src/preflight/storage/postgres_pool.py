"""Connections to one PostgreSQL database: pooled, kept at the right schema, lost at a fork; errors as StorageError."""

from __future__ import annotations

import os
import re
import select
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any, TypeVar

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import ConnectionPool

from preflight.errors import InvalidInput, StorageError
from preflight.storage.postgres_grants import missing_grants

T = TypeVar("T")
Connection = psycopg.Connection[Any]
_MIGRATING = 8097399  # the advisory lock under which one program at a time changes the schema
_TABLES = "record|slot|question|answer|meaning|buried|tombstone|deferral|deferral_note|occurrence|attachment|no_answer"

_ADVICE: tuple[tuple[type[psycopg.Error], str], ...] = (
    (errors.LockNotAvailable, "another session holds its lock; try again, or find out what keeps it"),
    (errors.DiskFull, "there is no room left; free some and try again"),
    (errors.InsufficientPrivilege, "the role may not do this; see `roles.sql` and whether a tenant must be named"),
    (errors.ReadOnlySqlTransaction, "the server is read-only; connect to the primary"),
    (errors.UniqueViolation, "another record took its place; try again"),
    (psycopg.OperationalError, "check that the server runs and can be reached; try again"),
)


class PostgresPool:
    """The connections of one store; any thread may use it, and each process of a fork opens its own.

    `wait_seconds` is how long a connection, a lock and an answer are waited for. Methods raise StorageError.
    """

    def __init__(self, url: str, *, size: int, wait_seconds: float, tenant: str | None) -> None:
        """Connect, and bring the schema up to date where the role may."""
        self.name = _name(url)
        self._url = url
        self._size = size
        self._wait_seconds = wait_seconds
        self._tenant = tenant
        self._lock = threading.Lock()
        self._pool: ConnectionPool[Connection] | None = None
        self._closed = False
        try:
            self.run("open", lambda connection: _prepare(connection, self.name))
        except BaseException:
            self.close()
            raise
        _OPEN.add(self)

    def run(self, verb: str, work: Callable[[Connection], T]) -> T:
        """Run `work` on a connection, where each statement is a transaction of its own unless it begins one."""
        try:
            pool = self._opened()
            connection = _living(pool)
            try:
                return work(connection)
            finally:
                pool.putconn(connection)  # which rolls back what was left open, and replaces what is broken
        except (psycopg.Error, UnicodeEncodeError) as fault:
            raise self._failure(verb, fault) from fault

    def close(self) -> None:
        """Close the connections for good; a second time is harmless."""
        with self._lock:
            self._closed = True
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    def forget(self) -> None:
        """Forget the connections, which are another process's, without a word to the server."""
        self._lock = threading.Lock()
        if self._pool is not None:
            _LEFT.append(self._pool)
            self._pool = None

    def _opened(self) -> ConnectionPool[Connection]:
        with self._lock:
            if self._closed:
                raise StorageError(f"the record store `{self.name}` is closed; open it again")
            if self._pool is None:
                self._pool = ConnectionPool(
                    self._url,
                    min_size=1,
                    max_size=self._size,
                    timeout=self._wait_seconds,
                    kwargs={"autocommit": True, **keeping(self._url, self._wait_seconds)},
                    configure=self._configure,
                    open=True,
                    name="preflight",
                )
            return self._pool

    def _configure(self, connection: Connection) -> None:
        wait = f"{int(self._wait_seconds * 1000)}ms"
        settings = {
            "lock_timeout": wait,
            "statement_timeout": f"{int(self._wait_seconds * 6000)}ms",
            # a program that stopped in the middle of a claim gives its locks up
            "idle_in_transaction_session_timeout": wait,
            # each statement sees what was committed before it, hence all that a lock waited for
            "default_transaction_isolation": "read committed",
        }
        if self._tenant is not None:
            settings["preflight.tenant"] = escape(self._tenant)
        chosen = ", ".join(["set_config(%s, %s, false)"] * len(settings))
        connection.execute("SELECT " + chosen, [text for pair in settings.items() for text in pair])

    def _failure(self, verb: str, fault: Exception) -> StorageError:
        advice = next((text for kind, text in _ADVICE if isinstance(fault, kind)), "nothing was stored")
        said = str(fault).strip().splitlines() or [type(fault).__name__]
        return StorageError(f"cannot {verb} `{self.name}`: {said[0]}; {advice}")


def rows(connection: Connection, statement: str, wanted: Mapping[str, Any]) -> list[Any]:
    """Run one of the shared statements and return its rows, texts as they were given."""
    values = {name: escape(value) if type(value) is str else value for name, value in wanted.items()}
    cursor = connection.execute(native(statement), values, binary=True)
    if cursor.description is None:
        return []
    return [tuple(unescape(v) if type(v) is str else v for v in row) for row in cursor.fetchall()]


@cache  # the statements are few and fixed, the searches a few hundred
def native(statement: str) -> str:
    """Return a shared statement as PostgreSQL reads it: its own way to name values, tables with their schema."""
    statement = re.sub(r"/\*\+ \w+ \*/", "", statement)
    statement = re.sub(rf"\b(FROM|JOIN|INTO|UPDATE) ({_TABLES})\b", r"\1 preflight.\2", statement)
    return re.sub(r":([a-z_]+)", r"%(\1)s", statement)


def escape(text: str) -> str:
    """Return a text without NUL, which PostgreSQL cannot store; nothing else is changed but backslashes."""
    return text if "\\" not in text and "\0" not in text else text.replace("\\", "\\\\").replace("\0", "\\0")


def unescape(text: str) -> str:
    """Return the text that was escaped."""
    if "\\" not in text:
        return text
    return re.sub(r"\\(.)", lambda found: "\0" if found[1] == "0" else found[1], text, flags=re.DOTALL)


def keeping(url: str, wait_seconds: float) -> dict[str, Any]:
    """Return how a connection is made and kept, where the address does not say it."""
    defaults = {
        "connect_timeout": max(2, int(wait_seconds)),
        "tcp_user_timeout": int(wait_seconds * 1000),
        "keepalives_idle": 30,
        "application_name": "preflight",
    }
    given = conninfo_to_dict(url)
    return {name: value for name, value in defaults.items() if name not in given}


def _name(url: str) -> str:
    """Return what tells the database apart, without user and password."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error as fault:
        raise InvalidInput("storage", f"no PostgreSQL address: {str(fault).strip()}", "see the documentation") from None
    port = f":{parts['port']}" if parts.get("port") else ""
    return f"postgresql://{parts.get('host') or 'localhost'}{port}/{parts.get('dbname') or ''}"


def _living(pool: ConnectionPool[Connection]) -> Connection:
    """Take a connection that the server has not ended meanwhile; to an idle session it says nothing but that."""
    while True:
        connection = pool.getconn()
        try:
            poll = select.poll()
            poll.register(connection.pgconn.socket, select.POLLIN)
            if not poll.poll(0):
                return connection
        except psycopg.Error:
            pass  # it has no socket any more
        connection.close()
        pool.putconn(connection)


@cache
def migrations() -> tuple[str, ...]:
    """Return the numbered schema scripts, oldest first; script `n` brings the schema to version `n`."""
    folder = resources.files("preflight.storage") / "sql" / "postgres"
    scripts = sorted((s for s in folder.iterdir() if s.name[0].isdigit()), key=lambda script: script.name)
    return tuple(script.read_text("utf-8") for script in scripts)


def _prepare(connection: Connection, name: str) -> None:
    _migrate(connection, name)
    if lacking := missing_grants(connection):
        raise StorageError(f"`{name}` has schema {len(migrations())}, and {lacking}")


def _migrate(connection: Connection, name: str) -> None:
    scripts = migrations()
    present = _version(connection, name)
    if present == len(scripts):
        return
    try:
        with connection.transaction():
            # another program's migration is waited for, and one over a large log may take its time
            connection.execute(
                "SELECT set_config('statement_timeout', '0', true), set_config('lock_timeout', '0', true)"
            )
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATING,))
            _apply(connection, scripts, _version(connection, name))  # another process may have done it meanwhile
    except errors.InsufficientPrivilege as fault:
        raise StorageError(
            f"`{name}` has schema {present} and this program needs {len(scripts)}; open it once as the owner of "
            f"the schema, then run `roles.sql` again: {fault}"
        ) from fault


def _apply(connection: Connection, scripts: Sequence[str], present: int) -> None:
    connection.execute("CREATE SCHEMA IF NOT EXISTS preflight")
    connection.execute("CREATE TABLE IF NOT EXISTS preflight.schema_version (version INTEGER PRIMARY KEY)")
    for number in range(present + 1, len(scripts) + 1):
        connection.execute(scripts[number - 1])
        connection.execute("INSERT INTO preflight.schema_version VALUES (%s)", (number,))


def has_table(connection: Connection, schema: str, name: str) -> bool:
    """Whether a table is there now.

    Read from the catalogue: after waiting for a lock, `to_regclass` may still answer from before the wait.
    """
    wanted = "SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = %s AND tablename = %s"
    return connection.execute(wanted, (schema, name)).fetchone() is not None


def _version(connection: Connection, name: str) -> int:
    """Return the schema's version, 0 where there is none; refuse a newer one."""
    if not has_table(connection, "preflight", "schema_version"):
        return 0
    row = connection.execute("SELECT coalesce(max(version), 0) FROM preflight.schema_version").fetchone()
    version: int = row[0] if row else 0
    if version > (known := len(migrations())):
        raise StorageError(
            f"`{name}` has schema {version}, this program knows up to {known}; use a newer version of it"
        )
    return version


# Two processes must not speak on one connection: after a fork the child forgets its parent's. What is left
# is kept for ever, so that nothing closes a socket that the parent goes on using.
_OPEN: weakref.WeakSet[PostgresPool] = weakref.WeakSet()
_LEFT: list[ConnectionPool[Connection]] = []


def _after_fork_in_child() -> None:
    for pool in list(_OPEN):
        pool.forget()


if hasattr(os, "register_at_fork"):  # pragma: no branch  only Windows has no fork
    os.register_at_fork(after_in_child=_after_fork_in_child)
