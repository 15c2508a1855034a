"""Where records are kept: one protocol (`preflight.ports.Storage`), a driver in each module."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from preflight.errors import ConstructionError, InvalidInput
from preflight.ports import Storage

if TYPE_CHECKING:
    from preflight.storage.sql_store import Durability

__all__ = ["is_postgres", "open_storage"]

_SQLITE = "sqlite:///"
_POSTGRES = ("postgresql://", "postgres://")


def open_storage(where: str | Path, *, durability: Durability = "effects", tenant: str | None = None) -> Storage:
    """Open the record store at `where`, making it when it is missing.

    `where` is a file's path, `sqlite:///path` (`sqlite:////path` for an absolute one), `:memory:` for a store
    that dies with the process, or `postgresql://user@host/database` (extra `postgres`). A leading `~` is the
    home directory. `durability` says what waits for the disk: `effects` (what stands before or after a side
    effect) or `always` (every write). With `tenant`, nothing of the store reaches another tenant's rows.

    Raises InvalidInput for another kind of store, ConstructionError when its driver is not installed, and
    StorageError when it cannot be used.
    """
    store = _open(str(where), durability, tenant)
    if tenant is None:
        return store
    from preflight.storage.tenancy import TenantStorage  # noqa: PLC0415  only where it is needed

    return TenantStorage(store, tenant)


def is_postgres(where: str) -> bool:
    """Whether an address names a PostgreSQL store."""
    return where.startswith(_POSTGRES)


def _open(where: str, durability: Durability, tenant: str | None) -> Storage:
    # drivers are imported when they are needed: a program with one store need not load the other's
    if is_postgres(where):
        try:
            from preflight.storage.postgres import PostgresStorage  # noqa: PLC0415
        except ImportError as fault:
            raise ConstructionError(
                f"a PostgreSQL store needs psycopg; install `execution-state-preflight[postgres]`: {fault}"
            ) from fault
        return PostgresStorage(where, durability=durability, tenant=tenant)
    from preflight.storage.sqlite import SqliteStorage  # noqa: PLC0415

    return SqliteStorage(_path(where), durability=durability)


def _path(where: str) -> str:
    path = where.removeprefix(_SQLITE)
    if not path or "://" in path:
        raise InvalidInput(
            "storage",
            f"`{where}` names no record store",
            "give a file's path, `sqlite:///path`, or `postgresql://user@host/database`",
        )
    return path if path == ":memory:" else str(Path(path).expanduser())
