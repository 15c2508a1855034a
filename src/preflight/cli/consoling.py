"""`preflight console` and `pair`: the pages for the person, and how a browser becomes known to them."""

from __future__ import annotations

import getpass
import os
import sys
from typing import Annotated

import typer

from preflight.cli.behind import PAGES, extra
from preflight.cli.opening import RULES, Connections, Db, hints_here, opened_to_serve, reached
from preflight.cli.person import require_person


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command()(console)
    app.command()(pair)


def console(
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, metavar="PORT", help="Where it is served; 0: any that is free.")
    ] = 0,
    user: Annotated[
        str | None,
        typer.Option("--user", envvar="PREFLIGHT_USER", metavar="ID", help="The user, as requests name them."),
    ] = None,
    connections: Connections = None,
    db: Db = None,
) -> None:
    """Show questions and deferred runs in a browser.

    A person answers there, and cancels, moves, hastens or resumes runs; the page calls no tool itself. It is served
    on this machine alone, to browsers that were paired, until it is interrupted. `preflight proxy` serves the same.

    \b
    Examples:
      preflight console
      preflight console --port 8765 --user minji
    """
    with extra("console", *PAGES):
        import anyio

        from preflight.console.web import ServedConsole
        from preflight.console.whose import Whose
    from preflight.api import create_async_preflight
    from preflight.console.pairing import Pairing

    name = user or getpass.getuser()
    with reached(connections) as read_tool, opened_to_serve(db, read_tool) as given:
        gate = create_async_preflight(
            storage=given.storage, rules=os.environ.get(RULES) or None, read_tool=read_tool, store_instruction=True
        )
        served = ServedConsole(gate, Whose(name), port, hints_here(db, connections))
        typer.echo(f"{served.address}/  for {name}; an interrupt ends it")
        shown = sys.stdin.isatty() and sys.stdout.isatty()  # what reads a pipe gets no code
        code = f"is {Pairing.of(given.storage).code()}" if shown else "is what `preflight pair` shows at a terminal"
        typer.echo(f"the code that the browser asks for once {code}")
        sys.stdout.flush()
        served.needed()
        anyio.run(served.serve)


def pair(db: Db = None) -> None:
    """Show the code that makes a browser known to the page.

    The page asks for it once. A person does this, at a terminal.

    \b
    Example:
      preflight pair
    """
    from preflight.console.pairing import Pairing

    require_person("terminal")
    with opened_to_serve(db) as gate:
        typer.echo(Pairing.of(gate.storage).code())
