"""Serving HTTP on this machine: the pages for the person, and clients that speak MCP over HTTP."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import anyio
import uvicorn

from preflight.api import AsyncPreflight
from preflight.console.pairing import Pairing
from preflight.console.whose import Whose
from preflight.errors import InvalidInput
from preflight.model.question import Question
from preflight.render.hints import NO_HINTS, Hints

if TYPE_CHECKING:
    from preflight.console.page import Console

LOOPBACK = "127.0.0.1"


class _Server(uvicorn.Server):
    """A server that leaves signals to the program."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


def bound(host: str, port: int) -> socket.socket:
    """Return a listening socket; raises InvalidInput when the address cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(2_048)
    except OSError as fault:
        listener.close()
        raise InvalidInput("port", f"`{host}:{port}` cannot be had: {fault.strerror}", "choose another") from None
    return listener


async def serve(app: Any, listener: socket.socket) -> None:
    """Serve an application on a socket until cancelled; what is under way then has a second to end."""
    config = uvicorn.Config(app, log_config=None, access_log=False, ws="none", timeout_graceful_shutdown=1)
    server = _Server(config)

    async def running() -> None:
        with anyio.CancelScope(shield=True):
            await server.serve([listener])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(running)
        try:
            await anyio.sleep_forever()
        finally:
            server.should_exit = True


class ServedConsole:
    """The pages on a port of this machine's own: at once on a port that was named, else from the first question on."""

    def __init__(self, gate: AsyncPreflight, whose: Whose, port: int = 0, hints: Hints = NO_HINTS) -> None:
        """Serve what is `whose` in the store of `gate`; port 0 takes one that is free.

        `hints` make commands that work at a terminal. Raises InvalidInput when the port is taken.
        """
        self._gate = gate
        self._whose = whose
        self._hints = hints
        self._listener = bound(LOOPBACK, port)
        self.address = f"http://{LOOPBACK}:{self._listener.getsockname()[1]}"
        self._console: Console | None = None
        self._needed = anyio.Event()
        if port:  # of a free port nobody knows before a question tells it
            self._needed.set()
        self._answered: dict[str, anyio.Event] = {}

    async def serve(self) -> None:
        """Serve once it is needed, until cancelled."""
        try:
            await self._needed.wait()
            await serve(self._made().app, self._listener)
        finally:
            self._listener.close()

    def needed(self) -> None:
        """Serve from now on."""
        self._needed.set()

    async def link(self, question: Question) -> str | None:
        """Return a link that opens this question once."""
        return f"{self.address}/t/{self._made().token(question.question_id)}"

    def where(self, question: Question) -> str:
        """Say where a person answers: the link in it opens only in a browser that was paired."""
        from preflight.console.page import where  # noqa: PLC0415  its libraries are loaded with the first question

        self._made()
        return where(question, self.address, self._hints)

    async def answered(self, question_id: str, seconds: float) -> bool:
        """Wait for an answer given on the page."""
        event = self._answered.setdefault(question_id, anyio.Event())
        with anyio.move_on_after(seconds):
            await event.wait()
        if not event.is_set() and not event.statistics().tasks_waiting:
            self._answered.pop(question_id, None)
        return event.is_set()

    def _made(self) -> Console:
        if self._console is None:
            from preflight.console.page import Console  # noqa: PLC0415  same

            self._console = Console(self._gate, Pairing.of(self._gate.storage), self._whose, self._told, self._hints)
            self._needed.set()
        return self._console

    def _told(self, question_id: str) -> None:
        event = self._answered.pop(question_id, None)
        if event is not None:
            event.set()
