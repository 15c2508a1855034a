"""`preflight host` and `hook`: the programs in which people work with agents, and what they tell."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from preflight.cli.opening import AsJson
from preflight.cli.screen import Screen
from preflight.errors import InvalidInput
from preflight.hosts.files import Change, installing, path_of, switched_off, uninstalling, write
from preflight.hosts.health import hooks_of, words_arrive
from preflight.hosts.layout import HOSTS, Host
from preflight.render.styled import Line, Style, Table, line
from preflight.render.visible import visible

Name = Annotated[str, typer.Argument(metavar="HOST", help="claude-code, codex, gemini, cursor or vscode.")]
Project = Annotated[
    bool, typer.Option("--project/--user", help="In the files of this folder's project, or in the user's own.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would change, and write nothing.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Write without asking.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    group = typer.Typer(help="Have hosts tell what their users say, and stop calls early.", no_args_is_help=True)
    group.command("install")(install)
    group.command("uninstall")(uninstall)
    group.command("list")(list_)
    app.add_typer(group, name="host")
    app.command(context_settings={"ignore_unknown_options": True, "help_option_names": ["-h", "--help"]})(hook)


def install(
    host: Name,
    project: Project = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    trust_unlabelled: Annotated[
        bool,
        typer.Option(
            "--trust-unlabelled",
            help="Count prompts of which the host does not say who they are from as the user's own.",
        ),
    ] = False,
) -> None:
    """Write the hooks into a host's configuration.

    The change is shown first. What else stands in the file stays as it is, comments and spacing included; entries
    of an earlier installation are replaced.

    \b
    Examples:
      preflight host install claude-code
      preflight host install codex --project --dry-run
    """
    found = _host(host)
    folder = Path.cwd() if project else None
    _carry_out(installing(found, folder, trust_unlabelled=trust_unlabelled), dry_run=dry_run, yes=yes)
    notes = [found.note, switched_off(found, folder)]
    if not dry_run and any(notes):
        Screen().show([line(visible(note), "dim") for note in notes if note])


def uninstall(host: Name, project: Project = False, dry_run: DryRun = False, yes: Yes = False) -> None:
    """Take the hooks out of a host's configuration, and nothing else.

    A file in which nothing else stands is removed.
    """
    _carry_out(uninstalling(_host(host), Path.cwd() if project else None), dry_run=dry_run, yes=yes)


def list_(as_json: AsJson = False) -> None:
    """Show which hosts have the hooks, and whether words arrive."""
    rows = [
        {"host": host.name, "where": where, "hooks": hooks_of(host, folder), "file": str(path_of(host, folder))}
        for host in HOSTS.values()
        for where, folder in (("user", None), ("project", Path.cwd()))
    ]
    if as_json:
        Screen().json({"hosts": rows, "words": words_arrive()})
        return
    cells = tuple(_cells(row) for row in rows)
    Screen().show([Table(("host", "where", "hooks", "file"), cells), line(), line(f"words: {visible(words_arrive())}")])


def _cells(row: dict[str, str]) -> tuple[Line, ...]:
    return tuple(line(visible(value), "dim" if row["hooks"] == "no" else "") for value in row.values())


def hook(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[EVENT] --host HOST", help="The event, and the host it is from.")
    ] = None,
) -> None:
    """Answer one event of a host's hook.

    Hosts run this; `preflight host install` writes it into their configuration. The event is one JSON object on
    standard input.
    `--trust-unlabelled` counts prompts as the user's own of which Claude Code or Gemini CLI does not say who they are
    from, before its transcript is looked at.

    Exit code: 0 taken, with the answer on standard output; 1 the words of a prompt were not kept; 2 the call is
    stopped, since the event or the store could not be read.
    """
    from preflight.hosts.receive import main

    raise typer.Exit(main(words or []))


def _host(name: str) -> Host:
    found = HOSTS.get(name)
    if found is None:
        raise InvalidInput("host", f"`{name}` is none that is known", f"use one of {', '.join(HOSTS)}")
    return found


def _carry_out(change: Change, *, dry_run: bool, yes: bool) -> None:
    if not change.needed:
        Screen().show([line(f"nothing to do: {visible(str(change.path))} is as it should be")])
        return
    Screen().show([_coloured(each) for each in change.diff().splitlines()])
    if dry_run:
        return
    if not yes and not _agreed():
        Screen().show([line("nothing was written")])
        raise typer.Exit(1)
    write(change)
    done = "removed" if change.after is None else "written"
    Screen().show([line(f"{done}: {visible(str(change.path))}", "good")])


def _agreed() -> bool:
    if not sys.stdin.isatty():
        raise InvalidInput("host", "nobody is there to ask, so nothing was written", "look at it, and add --yes")
    return typer.confirm("Write this?", default=False)


def _coloured(text: str) -> Line:
    styles: dict[str, Style] = {"+": "good", "-": "bad", "@": "mark"}
    return line(visible(text), styles.get(text[:1], ""))
