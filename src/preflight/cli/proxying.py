"""`preflight proxy`: stand between a client and its servers, and take every call to the gate."""

from __future__ import annotations

import gc
import getpass
import hashlib
import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from preflight.cli.behind import Command, Name, RulesPath, Servers, Url, UserId, configs_of, proxy_extra
from preflight.cli.clocks import Locale, Zone, zone_here, zone_named
from preflight.cli.opening import RULES, Db, hints_here, opened
from preflight.cli.utf8 import check_variables
from preflight.errors import InvalidInput

TOKEN = "PREFLIGHT_PROXY_TOKEN"  # noqa: S105  the name of the variable
"""The environment variable with the token that clients over HTTP show."""
USERS = ("LOGNAME", "USER", "LNAME", "USERNAME")
"""The environment variables that say who the user is, where no option does."""
UNATTENDED = "unattended"
"""The session of unattended calls, where none is named."""


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command(context_settings={"allow_interspersed_args": False})(proxy)


def proxy(
    command: Command = None,
    rules: RulesPath = None,
    url: Url = None,
    servers: Servers = None,
    name: Name = None,
    user: UserId = None,
    hold: Annotated[
        float, typer.Option("--hold", min=0, metavar="SECONDS", help="How long a call waits for a person.")
    ] = 50,
    http: Annotated[
        str | None, typer.Option("--http", metavar="[HOST]:PORT", help="Serve clients over HTTP at this address.")
    ] = None,
    page: Annotated[
        int,
        typer.Option(
            "--page", min=-1, max=65535, metavar="PORT", help="The answer page and console; 0: any, -1: none."
        ),
    ] = 0,
    unattended: Annotated[
        bool, typer.Option("--unattended", help="Nobody is there: what has to be asked is kept for a person.")
    ] = False,
    session: Annotated[
        str | None,
        typer.Option("--session", metavar="NAME", help="What the calls belong to, also after a restart."),
    ] = None,
    hide_forbidden: Annotated[
        bool, typer.Option("--hide-forbidden", help="Leave tools that the rules forbid out of the lists.")
    ] = False,
    timeout: Annotated[
        float,
        typer.Option("--timeout", min=0, metavar="SECONDS", help="How long each of several servers is waited for."),
    ] = 8,
    zone: Zone = None,
    locale: Locale = "en",
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
      preflight proxy --rules rules/bank --http :8931 -- python bank.py --db bank.db
      preflight proxy --rules rules/bank --unattended -- python bank.py --db bank.db
      preflight proxy --rules rules/bank --zone Asia/Seoul --locale ko -- python bank.py --db bank.db
    """
    if rules:
        os.environ[RULES] = rules
    _check_joins()
    with _nothing_collected():
        configs = configs_of(command, url, servers, name)
        from preflight.hosts.words import StoredWords

        with proxy_extra():
            from preflight.mcp.gating import Who
            from preflight.mcp.serving import Assembled, Setting, run
    with opened(db) as gate:
        setting = Setting(
            servers=configs,
            storage=gate.storage,
            words=StoredWords(),
            rules=os.environ.get(RULES) or None,
            who=Who(
                user or getpass.getuser(),
                session or _session(unattended=unattended),
                zone=zone_named(zone) if zone else zone_here(),
                locale=locale,
                unattended=unattended,
                apart=bool(session),
            ),
            budget=hold,
            page_port=None if page < 0 else page,
            hide_forbidden=hide_forbidden,
            patience=timeout,
            hints=hints_here(db, _connections(servers)),
        )
        assembled = Assembled(setting)
        if http is None:
            run(assembled.serve_stdio)
            return
        listener, token = _listening(http)
        run(lambda: assembled.serve_http(listener, token))


def _connections(servers: Path | None) -> str | None:
    """Return the file of the servers, where commands can measure by it too: they start commands, and reach no URL."""
    if servers is None:
        return None
    from preflight.deferral.connections import ServerFile

    try:
        ServerFile(servers)
    except InvalidInput:
        return None
    return str(servers)


def _check_joins() -> None:
    """Refuse what would name the user or the session, and could be neither stored nor compared (R-11)."""
    from preflight.hosts.words import PROMPTS, SESSIONS, USES

    check_variables((*USERS, *USES, *SESSIONS, *PROMPTS), os.environ)


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """Import without looking for garbage: what is made stays, thousands of classes, and no call waits for it later."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _listening(http: str) -> tuple[socket.socket, str]:
    """Return the socket for `--http` and the token that clients show: from the environment, else one that is told."""
    from preflight.console.web import bound
    from preflight.mcp.http import PATH, address_of

    host, port = address_of(http)
    token = os.environ.get(TOKEN, "")
    if not token and host not in ("127.0.0.1", "::1", "localhost"):
        raise InvalidInput(TOKEN, "missing", f"beyond this machine, `{host}` is served only with a token of yours")
    listener = bound(host, port)
    typer.echo(f"serving http://{host}:{listener.getsockname()[1]}{PATH}", err=True)
    if not token:
        token = secrets.token_urlsafe(24)
        typer.echo(f"clients show: Authorization: Bearer {token}", err=True)
    return listener, token


def _session(*, unattended: bool) -> str:
    """Return the session that the calls belong to: one that is found again after a restart.

    It is the host's where its environment names one, else that of the folder that the client works in.
    """
    from preflight.hosts.words import SESSIONS

    if unattended:
        return UNATTENDED
    folder = hashlib.sha256(os.fsencode(os.getcwd())).hexdigest()[:16]  # noqa: PTH109  bytes are wanted
    return next((os.environ[name] for name in SESSIONS if os.environ.get(name)), f"folder {folder}")
