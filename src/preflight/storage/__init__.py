"""Where records are kept: one protocol (`preflight.ports.Storage`), a driver in each module."""

from __future__ import annotations

from pathlib import Path

from preflight.errors import InvalidInput
from preflight.ports import Storage

__all__ = ["open_storage"]

_SQLITE = "sqlite:///"


def open_storage(where: str | Path) -> Storage:
    """Open the record store at `where`, making it when it is missing.

    `where` is a file's path, `sqlite:///path` (`sqlite:////path` for an absolute one), or `:memory:` for a
    store that dies with the process. A leading `~` is the home directory. Raises InvalidInput for another
    kind of store, and StorageError when the file cannot be used.
    """
    # imported when it is needed: a program with another store need not load SQLite
    from preflight.storage.sqlite import SqliteStorage  # noqa: PLC0415

    return SqliteStorage(_path(str(where)))


def _path(where: str) -> str:
    path = where.removeprefix(_SQLITE)
    if not path or "://" in path:
        raise InvalidInput("storage", f"`{where}` names no record store", "give a file's path, or `sqlite:///path`")
    return path if path == ":memory:" else str(Path(path).expanduser())
