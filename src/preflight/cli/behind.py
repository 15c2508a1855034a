"""Which servers stand behind: the options and arguments that say so, the same for `proxy` and `doctor`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from preflight.cli.opening import RULES
from preflight.errors import ConstructionError, InvalidInput

if TYPE_CHECKING:
    from preflight.mcp.config import ServerConfig

Command = Annotated[
    list[str] | None,
    typer.Argument(metavar="[-- COMMAND...]", help="The command that starts the server.", show_default=False),
]
RulesPath = Annotated[
    str | None, typer.Option("--rules", metavar="PATH", help="A rules file or folder.", show_default=False)
]
Url = Annotated[str | None, typer.Option("--url", help="A server that is reached over streamable HTTP.")]
Servers = Annotated[
    Path | None, typer.Option("--servers", metavar="FILE", help="A file with `mcpServers`.", show_default=False)
]
Name = Annotated[str | None, typer.Option("--name", metavar="NAME", help="The server's name, as rules name it.")]
UserId = Annotated[
    str | None, typer.Option("--user", envvar="PREFLIGHT_USER", metavar="ID", help="The user, as rules name them.")
]

PAGES = ("anyio", "jinja2", "python_multipart", "starlette", "uvicorn")
"""What the pages for the person need; the console imports it with the first page."""


def configs_of(
    command: list[str] | None, url: str | None, servers: Path | None, name: str | None
) -> tuple[ServerConfig, ...]:
    """Return the servers that the options name; raises InvalidInput where they name none, or in several ways."""
    with proxy_extra():
        from preflight.mcp.config import ServerConfig, of_command, of_file

    if sum(map(bool, (command, url, servers))) != 1:
        raise InvalidInput("server", "none, or several", "give one of `-- COMMAND`, `--url` and `--servers`")
    if servers is not None:
        return of_file(servers)
    named = name or _only_server()
    return (ServerConfig(name=named, url=url) if url else of_command(named, tuple(command or ())),)


@contextmanager
def proxy_extra() -> Iterator[None]:
    """Say which extra is missing where an import inside fails, or where one that comes later would."""
    with extra("proxy", "mcp", *PAGES):
        yield


@contextmanager
def extra(name: str, *packages: str) -> Iterator[None]:
    """Raise ConstructionError where a package of an extra is not there, or an import inside fails."""
    missing = next((package for package in packages if find_spec(package) is None), None)
    try:
        if missing is not None:
            raise ModuleNotFoundError(name=missing)
        yield
    except ImportError as absent:
        told = f"`{absent.name}` is not installed; install the extra: pip install 'execution-state-preflight[{name}]'"
        raise ConstructionError(told) from absent


def _only_server() -> str:
    """Return the server that the rules are about, where they are about one: a server's own word counts for nothing."""
    from preflight.rulebook import rules_source

    known = sorted({server for server, _ in rules_source(os.environ.get(RULES) or None)().tools})
    if len(known) != 1:
        told = f"the rules name {', '.join(f'`{each}`' for each in known) or 'none'}"
        raise InvalidInput("--name", f"missing, and {told}", "say how rules name the server")
    return known[0]
