"""All commands together, and the last net: whatever goes wrong ends in one sentence and an exit code."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated

import typer

from preflight.cli.about import own_version
from preflight.cli.codes import ERROR, INTERRUPTED, STORAGE, USAGE
from preflight.cli.commands import Commands
from preflight.cli.opening import RULES
from preflight.cli.utf8 import check_arguments
from preflight.errors import CallerError, PreflightError, StorageError
from preflight.logs import make_visible

app = typer.Typer(
    name="preflight",
    cls=Commands,
    help="Decide, record and execute an agent's tool call only when every value, condition and intent is confirmed.",
    epilog="Records lie in ~/.local/state/preflight/records.db, unless --db or PREFLIGHT_DB names another file.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(own_version())
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and end.")
    ] = False,
    rules: Annotated[
        str | None,
        typer.Option("--rules", envvar=RULES, metavar="PATH", help="A rules file or folder.", show_default=False),
    ] = None,
) -> None:
    if rules:
        os.environ[RULES] = rules


def run(arguments: Sequence[str] | None = None) -> None:
    """Run one command; raises SystemExit with its exit code, and nothing else."""
    make_visible()
    try:
        check_arguments(sys.argv[1:] if arguments is None else arguments, os.environ)
        app(args=None if arguments is None else list(arguments), prog_name="preflight")
    except StorageError as fault:
        _fail(fault, STORAGE)
    except CallerError as fault:
        _fail(fault, USAGE, *map(str, getattr(fault, "faults", ())))  # of rules, each fault on its own line
    except PreflightError as fault:
        _fail(fault, ERROR)
    except KeyboardInterrupt:
        _say("interrupted")
        raise SystemExit(INTERRUPTED) from None
    except BrokenPipeError:
        # the reader went away; without this, Python complains once more when it flushes at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(ERROR) from None
    except Exception as fault:  # noqa: BLE001  the last net
        if os.environ.get("PREFLIGHT_DEBUG"):
            for told in traceback.format_exc().splitlines():
                _say(told, "")
        _say(f"unforeseen: {type(fault).__name__}: {fault}; PREFLIGHT_DEBUG=1 shows where")
        raise SystemExit(ERROR) from None


def _fail(fault: Exception, code: int, *texts: str) -> None:
    for text in texts or (str(fault),):
        _say(text)
    raise SystemExit(code) from None


def _say(text: str, before: str = "error: ") -> None:
    from preflight.render.visible import visible

    print(f"{before}{visible(text)}", file=sys.stderr)  # noqa: T201  what a failure prints
