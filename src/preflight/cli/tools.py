"""`preflight lint`, `init` and `gaps`: what tools' definitions leave open, before calls and after."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from preflight.cli.about import installed
from preflight.cli.auditing import moment
from preflight.cli.codes import ERROR
from preflight.cli.opening import Db, opened_to_read
from preflight.cli.screen import Screen
from preflight.deferral.connections import stdio_server
from preflight.errors import InvalidInput
from preflight.render.visible import visible

_MOST = 1_000_000

Server = Annotated[
    str | None, typer.Option("--server", metavar="COMMAND", help="The command that starts an MCP server to ask.")
]
Named = Annotated[str | None, typer.Option("--name", metavar="NAME", help="The server's name, as rules name it.")]
Level = Literal["error", "warning", "note"]


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command()(lint)
    app.command()(init)
    app.command()(gaps)


def lint(
    files: Annotated[list[Path] | None, typer.Argument(metavar="FILE...", help="Saved tool lists.")] = None,
    server: Server = None,
    name: Named = None,
    form: Annotated[Literal["text", "json", "sarif"], typer.Option("--format", help="How to print.")] = "text",
    least: Annotated[Level, typer.Option("--least", help="In text, show findings as grave as this.")] = "warning",
    fail_on: Annotated[
        Literal["error", "warning", "note", "never"], typer.Option("--fail-on", help="What makes the exit code 1.")
    ] = "error",
) -> None:
    """Look for faults in tool definitions.

    Tells what they leave to chance, hide, or say against themselves. Lists given together are looked at side by
    side, as a client with all these servers sees them.

    \b
    Examples:
      preflight lint tools/*.json
      preflight lint --server 'python bank.py' --name bank --format sarif --fail-on warning

    Exit code: 0, or 1 when something as grave as --fail-on was found, 2 when a file is no tool list.
    """
    from preflight.lint import as_json, exit_code, lint_listings, sarif, text

    listings = _listings(files or [], server, name)
    found = lint_listings(listings)
    if form == "sarif":
        places = {listing.server: str(file) for listing, file in zip(listings, files or [], strict=False)}
        _write_json(sarif(found, places, installed("execution-state-preflight") or ""))
    elif form == "json":
        _write_json(as_json(found))
    else:
        _write(text(found, least))
    raise typer.Exit(ERROR * exit_code(found, fail_on))


def init(
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="A saved tool list.")] = None,
    server: Server = None,
    name: Named = None,
    pins: Annotated[bool, typer.Option("--pins", help="Pin each tool to its present definition.")] = False,
) -> None:
    """Write a starting file of rules for the tools of a server.

    Guesses are marked `guess:` and set to the stricter side; conditions that stand only in prose become to-dos.

    \b
    Examples:
      preflight init bank.json > rules/bank.yaml
      preflight init --server 'python bank.py' --name bank --pins > rules/bank.yaml
    """
    from preflight.lint import gated_names, starting_rules

    if file is not None and server is not None:
        raise InvalidInput("tools", "a saved list and a server", "write the rules of one server at a time")
    (listing,) = _listings([] if file is None else [file], server, name)
    for refused in listing.refused:
        typer.echo(f"left out: {visible(refused.message)}", err=True)
    _write(starting_rules(listing.server, listing.tools, pins=pins))
    if gated := gated_names(listing.tools):
        named = ", ".join(f"`{visible(each)}`" for each in gated)
        told = "take in their `intents`; `preflight doctor` tells what is left"
        typer.echo(f"no words open {named} yet: {told}", err=True)


def gaps(
    since: Annotated[str | None, typer.Option("--since", help="An ISO 8601 time, or an age: 90m, 24h, 7d.")] = None,
    tool: Annotated[str | None, typer.Option("--tool", help="Only decisions about this tool.")] = None,
    form: Annotated[Literal["text", "json"], typer.Option("--format", help="How to print.")] = "text",
    provider: Annotated[
        str | None, typer.Option("--provider", metavar="NAME", help="Print a Markdown page for this server's provider.")
    ] = None,
    tools: Annotated[
        list[Path] | None,
        typer.Option("--tools", metavar="FILE", help="The provider's tool list, to name inner fields."),
    ] = None,
    db: Db = None,
) -> None:
    """Tell what users and providers leave out.

    Counted over the records: what users did not say, and what providers did not declare.

    \b
    Examples:
      preflight gaps --since 30d
      preflight gaps --provider bank --tools bank.json > bank.md
    """
    from preflight.gaps import as_json, provider_page, text
    from preflight.gaps import gaps as gaps_in
    from preflight.ports import Query

    query = Query(tool=tool, since=None if since is None else moment(since), limit=_MOST)
    with opened_to_read(db) as gate:
        report = gaps_in(stored.record for stored in gate.storage.find(query))
    if provider is not None:
        listed = [each for listing in _listings(tools, None, provider) for each in listing.tools] if tools else []
        _write(provider_page(report, provider, listed))
    elif form == "json":
        _write_json(as_json(report))
    else:
        _write(text(report))


def _listings(files: Iterable[Path], server: str | None, name: str | None) -> list[Any]:
    from preflight.lint import read_listing

    listings = [read_listing(file, name or "") for file in files]
    if server is not None:
        listings.append(_asked(server, name))
    if not listings:
        raise InvalidInput("tools", "no tool list", "name a saved list, or a server with --server")
    return listings


def _asked(server: str, name: str | None) -> Any:
    from preflight.lint import ask_listing

    try:
        command = shlex.split(server)
    except ValueError as fault:
        raise InvalidInput("--server", f"not a command line: {fault}") from None
    if not name:
        raise InvalidInput("--name", "missing", "say how rules name the server")
    with stdio_server()(command) as running:
        return ask_listing(running.tools, name)


def _write_json(text: str) -> None:
    Screen().json(json.loads(text))


def _write(text: str) -> None:
    """Print as it stands: what cannot be seen was written out before."""
    sys.stdout.write(text)
    sys.stdout.flush()
