"""The gate of the command line: shipped hooks over one record database."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from preflight.errors import InvalidInput, StorageError

if TYPE_CHECKING:
    from preflight import Preflight
    from preflight.model.request import Scope
    from preflight.render.hints import Hints
    from preflight.services.measuring import ReadTool

RULES = "PREFLIGHT_RULES"
"""The environment variable that names the rules: a file or folder. `preflight --rules` sets it."""

Db = Annotated[
    str | None,
    typer.Option("--db", envvar="PREFLIGHT_DB", metavar="FILE", help="The record database.", show_default=False),
]
Connections = Annotated[
    str | None,
    typer.Option(
        "--connections",
        envvar="PREFLIGHT_CONNECTIONS",
        metavar="FILE",
        help='Where rules measure: `{"mcpServers": {NAME: {"command": …}}}`.',
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
User = Annotated[
    str, typer.Option("--user", envvar="PREFLIGHT_USER", metavar="ID", help="The user, as requests name them.")
]
Tenant = Annotated[str, typer.Option("--tenant", metavar="NAME", help="The tenant of the scope.")]
Conversation = Annotated[str, typer.Option("--conversation", metavar="NAME", help="The conversation of the scope.")]


def database(given: str | None) -> str:
    """Return the record database's path: as given, else under the user's state directory (XDG)."""
    if given:
        return given
    state = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return str(Path(state).expanduser() / "preflight" / "records.db")


def hints_here(db: str | None, connections: str | None = None) -> Hints:
    """Return what commands need that are given elsewhere, where paths may be relative to something else."""
    from preflight.render.hints import Hints

    file = None if db is None else _file(db)
    at = db if file is None else str(file.absolute())
    rules = os.environ.get(RULES) or None
    return Hints(_absolute(rules), at, _absolute(connections))


def hints_as_given(db: str | None, connections: str | None = None) -> Hints:
    """Return what a further command needs that is given here."""
    from preflight.render.hints import Hints

    return Hints(os.environ.get(RULES) or None, db, connections)


def _absolute(path: str | None) -> str | None:
    return None if path is None else str(Path(path).absolute())


@contextmanager
def opened(db: str | None, read_tool: ReadTool | None = None) -> Iterator[Preflight]:
    """Open the gate, making the database where it is missing; `read_tool` reaches what rules measure."""
    path = database(db)
    if (file := _file(path)) is not None:
        _make_folder(file.parent)
    with _gate(path, read_tool) as gate:
        yield gate


@contextmanager
def reached(connections: str | None) -> Iterator[ReadTool | None]:
    """Give the way to the servers at which rules measure; they start when they are first needed."""
    if connections is None:
        yield None
        return
    from preflight.deferral.connections import ServerFile

    with ServerFile(connections) as servers:
        yield servers.read


def is_there(path: str) -> bool:
    """Whether records can be looked for at a place: a server's address, or a file that exists."""
    file = _file(path)
    return file is None or file.exists()


def _file(path: str) -> Path | None:
    """Return the file that a database is; None for one in memory, and for a server's."""
    bare = path.removeprefix("sqlite:///")
    return None if bare == ":memory:" or "://" in bare else Path(bare).expanduser()


@contextmanager
def opened_to_serve(db: str | None, read_tool: ReadTool | None = None) -> Iterator[Preflight]:
    """Open the gate over a database that others fill: without one there is nothing to serve, and none is made."""
    _require(database(db))
    with _gate(database(db), read_tool) as gate:
        yield gate


def _require(path: str) -> None:
    if not is_there(path):
        what = f"there is no file `{path}`"
        raise InvalidInput("db", what, "check the path; `preflight proxy` and `preflight check` make a new one")


@contextmanager
def opened_to_read(
    db: str | None, read_tool: ReadTool | None = None, *, with_rules: bool = True, must_exist: bool = True
) -> Iterator[Preflight]:
    """Open the gate over an existing database; a wrong path is an error, and no empty file is made of it."""
    path = database(db)
    if db and must_exist:
        _require(path)
    with _gate(path if is_there(path) else ":memory:", read_tool, with_rules=with_rules) as gate:
        yield gate


@contextmanager
def _gate(path: str, read_tool: ReadTool | None = None, *, with_rules: bool = True) -> Iterator[Preflight]:
    from preflight import create_preflight
    from preflight.storage import open_storage

    storage = open_storage(path)
    try:
        rules = (os.environ.get(RULES) or None) if with_rules else None
        yield create_preflight(storage=storage, rules=rules, read_tool=read_tool, store_instruction=True)
    finally:
        storage.close()


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)  # it will hold what users said
    except OSError as fault:
        raise StorageError(f"cannot make the folder `{folder}`: {fault.strerror}; name another with --db") from fault


def scope_of(tenant: str, conversation: str) -> Scope:
    """Return the scope that options name."""
    from preflight.model.request import Scope

    return Scope(tenant, conversation)
