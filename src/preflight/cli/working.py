"""`preflight worker`: fires deferred runs when they are due, woken by an engine."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
import typer

from preflight.cli.opening import AsJson, Db, database, opened_to_serve
from preflight.cli.screen import Screen
from preflight.deferral.connections import ServerFile
from preflight.deferral.engines import Engine
from preflight.deferral.engines.polling import POLL_SECONDS, Polling
from preflight.deferral.firing import Fired
from preflight.deferral.worker import Worker
from preflight.errors import ConstructionError, InvalidInput
from preflight.logs import handler_to_stderr
from preflight.render.phrases import deferral_words
from preflight.render.styled import Block, line
from preflight.storage import is_postgres

if TYPE_CHECKING:
    from preflight.deferral.engines.waking import Procrastinate

EngineName = Literal["poll", "procrastinate"]


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command()(worker)


def worker(
    connections: Annotated[
        str | None,
        typer.Option(
            "--connections",
            metavar="FILE",
            help='The MCP servers: `{"mcpServers": {NAME: {"command": …}}}`.',
            show_default=False,
        ),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Fire what is due now, and end.")] = False,
    poll_seconds: Annotated[float, typer.Option("--poll", min=0.05, help="Seconds between two looks.")] = POLL_SECONDS,
    engine: Annotated[
        EngineName, typer.Option("--engine", help="What wakes the worker; `procrastinate` needs PostgreSQL.")
    ] = "poll",
    set_up: Annotated[
        bool, typer.Option("--set-up", help="Make what the engine keeps in the database, and end.")
    ] = False,
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Fire deferred runs when they are due.

    Any number of workers may share a database. At its time the whole path runs again, with the tool as its server
    lists it now, the rules and measurements of now. What cannot run is held or skipped, and questions wait for
    `preflight answer`: the worker does not.

    \b
    Examples:
      preflight worker --connections servers.json
      preflight worker --connections servers.json --once
      preflight worker --connections servers.json --engine procrastinate --db postgresql://worker@db.example/records
    """
    with _engine(engine, database(db), poll_seconds) as waking:
        if set_up:
            _set_up(waking)
            return
        if connections is None:
            raise InvalidInput("--connections", "missing", "name the file with the servers whose tools are called")
        with ServerFile(connections) as servers, opened_to_serve(db, servers.read) as gate:
            if once:
                _fired(Worker(gate, servers).run_due(), as_json=as_json)
            else:
                _until_stopped(Worker(gate, servers), waking)


@contextmanager
def _engine(name: EngineName, where: str, poll_seconds: float) -> Iterator[Engine]:
    if name == "poll":
        yield Polling(poll_seconds)
        return
    if not is_postgres(where):
        what = f"`procrastinate` wakes by way of PostgreSQL, and `{where}` is another kind of store"
        raise InvalidInput("--engine", what, "give `--db postgresql://...`, or leave `--engine` out")
    waking = _procrastinate()(where, poll_seconds=poll_seconds)
    try:
        yield waking
    finally:
        waking.close()


def _procrastinate() -> type[Procrastinate]:
    try:
        from preflight.deferral.engines.waking import Procrastinate
    except ImportError as absent:
        extra = "pip install 'execution-state-preflight[procrastinate]'"
        told = f"`{absent.name}` is not installed; install the extra: {extra}"
        raise ConstructionError(told) from absent
    return Procrastinate


def _set_up(engine: Engine) -> None:
    if isinstance(engine, Polling):
        raise InvalidInput("--set-up", "the engine `poll` keeps nothing", "add `--engine procrastinate`")
    engine.set_up()
    Screen().show([line("the engine is set up")])


def _until_stopped(worker: Worker, engine: Engine) -> None:
    logging.basicConfig(level=logging.INFO, handlers=[handler_to_stderr("%(asctime)s %(message)s")])
    logging.getLogger("procrastinate").setLevel(
        logging.WARNING
    )  # of each wake-up it would tell when it began and ended
    with _stopping() as stop:
        engine.run(worker, stop)


@contextmanager
def _stopping() -> Iterator[threading.Event]:
    """Set an event on the first signal to end; what is under way is finished, and a second signal ends at once."""
    stop = threading.Event()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def end(number: int, frame: object) -> None:  # noqa: ARG001  the signature of a handler
        stop.set()
        signal.signal(number, before[signal.Signals(number)])

    for number in before:
        signal.signal(number, end)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _fired(fired: list[Fired], *, as_json: bool) -> None:
    if as_json:
        Screen().json(msgspec.to_builtins(fired))
        return
    blocks: list[Block] = [line(_fired_words(each)) for each in fired]
    Screen().show(blocks or [line("nothing is due")])


def _fired_words(fired: Fired) -> str:
    what = fired.what or "tried again later"
    why = f": {deferral_words(fired.reason)}" if fired.reason else ""
    return f"{fired.row.deferral_id} {what}{why}" + (f" ({fired.status})" if fired.status else "")
