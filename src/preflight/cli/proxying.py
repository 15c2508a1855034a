"""`preflight proxy`: stand between a client and its servers, and take every call to the gate."""

from __future__ import annotations

import getpass
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from preflight.cli.opening import RULES, Db, opened
from preflight.errors import ConstructionError, InvalidInput

if TYPE_CHECKING:
    from preflight.mcp.config import ServerConfig

FormFor = Literal["reversible", "irreversible", "none"]


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command(context_settings={"allow_interspersed_args": False})(proxy)


def proxy(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-- COMMAND...]", help="The command that starts the server.", show_default=False),
    ] = None,
    rules: Annotated[
        str | None, typer.Option("--rules", metavar="PATH", help="A rules file or folder.", show_default=False)
    ] = None,
    url: Annotated[str | None, typer.Option("--url", help="A server that is reached over streamable HTTP.")] = None,
    servers: Annotated[
        Path | None, typer.Option("--servers", metavar="FILE", help="A file with `mcpServers`.", show_default=False)
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="The server's name, as rules name it.")
    ] = None,
    user: Annotated[
        str | None, typer.Option("--user", envvar="PREFLIGHT_USER", metavar="ID", help="The user, as rules name them.")
    ] = None,
    form_for: Annotated[
        FormFor, typer.Option("--form-for", help="The gravest effect for which a client's form is enough.")
    ] = "reversible",
    hold: Annotated[
        float, typer.Option("--hold", min=0, metavar="SECONDS", help="How long a call waits for a person.")
    ] = 50,
    db: Db = None,
) -> None:
    """Stand in front of an MCP server and gate its tools.

    Put it in a client's configuration in place of the server's own command. Tools that the rules call `read`
    pass; every other call is decided, asked about where something is missing, and executed from its record.

    \b
    Examples:
      preflight proxy --rules rules/bank -- python bank.py --db bank.db
      preflight proxy --rules rules --servers mcp.json
      preflight proxy --rules rules --name shop --url http://127.0.0.1:8000/mcp
    """
    if rules:
        os.environ[RULES] = rules
    configs = _configs(command, url, servers, name)
    from preflight.hosts.words import StoredWords

    try:
        from preflight.mcp.gating import Who
        from preflight.mcp.serving import Assembled, Setting, run
    except ImportError as absent:
        raise ConstructionError(str(absent)) from absent
    with opened(db) as gate:
        setting = Setting(
            servers=configs,
            storage=gate.storage,
            words=StoredWords(),
            rules=os.environ.get(RULES) or None,
            who=Who(user or getpass.getuser(), _session()),
            form_for=None if form_for == "none" else form_for,
            budget=hold,
        )
        run(Assembled(setting).serve_stdio)


def _configs(
    command: list[str] | None, url: str | None, servers: Path | None, name: str | None
) -> tuple[ServerConfig, ...]:
    from preflight.mcp.config import ServerConfig, of_command, of_file

    if sum(map(bool, (command, url, servers))) != 1:
        raise InvalidInput("server", "none, or several", "give one of `-- COMMAND`, `--url` and `--servers`")
    if servers is not None:
        return of_file(servers)
    named = name or _only_server()
    return (ServerConfig(name=named, url=url) if url else of_command(named, tuple(command or ())),)


def _only_server() -> str:
    """Return the server that the rules are about, where they are about one: a server's own word counts for nothing."""
    from preflight.rulebook import rules_source

    known = sorted({server for server, _ in rules_source(os.environ.get(RULES) or None)().tools})
    if len(known) != 1:
        told = f"the rules name {', '.join(f'`{each}`' for each in known) or 'none'}"
        raise InvalidInput("--name", f"missing, and {told}", "say how rules name the server")
    return known[0]


def _session() -> str:
    from preflight.hosts.words import SESSIONS
    from preflight.ids import new_id

    return next((os.environ[name] for name in SESSIONS if os.environ.get(name)), None) or new_id()
