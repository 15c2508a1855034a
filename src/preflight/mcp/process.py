"""An MCP server as a child process, spoken to over its standard input and output."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final, TextIO

import anyio
from anyio.abc import Process

from preflight.errors import ProviderError
from preflight.mcp.lines import GONE, LONGEST_LINE, Incoming, Outgoing, Oversized, Unreadable, failed, message_of
from preflight.mcp.sdk import SessionMessage, Streams, types
from preflight.mcp.unread import Heading

_PATIENCE: Final = 2.0  # seconds a server has to end after its input was closed, and again after it was told to
_CHUNK: Final = 262_144
_SHOWN: Final = 200
_log = logging.getLogger("preflight.mcp")


class CannotStart(ProviderError):
    """A server's command cannot be run."""


@asynccontextmanager
async def started(
    command: Sequence[str],
    environment: Mapping[str, str],
    folder: str | None = None,
    longest: int = LONGEST_LINE,
    errors: TextIO | None = None,
) -> AsyncIterator[Streams]:
    """Run a server in an environment of its own and yield the streams to it; raises CannotStart.

    What it writes to its standard error goes to `errors`, else to this program's own.

    On the way out its input is closed; what has not ended two seconds later is ended, with its children.
    """
    try:
        process = await anyio.open_process(
            list(command), env=dict(environment), cwd=folder, stderr=errors or sys.stderr, start_new_session=True
        )
    except (OSError, ValueError) as fault:
        message = f"`{command[0]}` cannot be started: {fault}"
        raise CannotStart(message) from fault
    stdin, stdout = process.stdin, process.stdout
    assert stdin is not None  # noqa: S101  it was started with pipes
    assert stdout is not None  # noqa: S101  same

    async def send(data: bytes) -> None:
        try:
            await stdin.send(data)
        except GONE:
            await stdout.aclose()  # so that whoever waits for an answer learns that there will be none
            raise

    outgoing = Asked(send)

    async def read(line: bytes | Oversized) -> SessionMessage | None:
        if isinstance(line, bytes) and not line.strip():
            return None
        try:
            return outgoing.answered(message_of(line))
        except Unreadable as fault:
            shown = line[:_SHOWN] if isinstance(line, bytes) and not fault.heading.answers else b"..."
            _log.warning("a server wrote a line that is no JSON-RPC message, %s: %r", fault.why, shown)
            if fault.heading.asks and fault.heading.id is not None:
                with suppress(anyio.BrokenResourceError):  # that it went away is noticed where it is read
                    await outgoing.send(failed(fault.heading.id, types.INVALID_REQUEST, f"not read: {fault.why}"))
            return unreadable(outgoing.told_apart(fault))

    try:
        yield Incoming(lambda: stdout.receive(_CHUNK), read, longest), outgoing
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process)


class Asked(Outgoing):
    """What is written to a server; it knows which requests are open."""

    def __init__(self, send: Callable[[bytes], Awaitable[object]]) -> None:
        """Write bytes with `send`."""
        super().__init__(send)
        self._open: set[int | str] = set()

    async def send(self, item: SessionMessage) -> None:
        """Write a message, and note that a request waits for its answer, or does so no longer."""
        message = item.message
        if isinstance(message, types.JSONRPCRequest) and message.method != "subscriptions/listen":  # which stays open
            self._open.add(message.id)
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            self._open.discard((message.params or {}).get("requestId", ""))
        await super().send(item)

    def answered(self, item: SessionMessage) -> SessionMessage:
        """Return a message; an error that names no request is the answer to the only one that is open."""
        message = item.message
        if isinstance(message, types.JSONRPCError) and message.id is None and len(self._open) == 1:
            raise Unreadable("it does not name the request that it answers", Heading(None, answers=True), parsed=True)
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError) and message.id is not None:
            self._open.discard(message.id)
        return item

    def told_apart(self, fault: Unreadable) -> Unreadable:
        """Return a fault of an answer with the id of the only request that it can be for."""
        heading = fault.heading
        if heading.answers and not heading.asks and heading.id is None and fault.parsed and len(self._open) == 1:
            return Unreadable(fault.why, Heading(self._open.pop(), answers=True), parsed=True)
        self._open.discard("" if heading.id is None else heading.id)
        return fault


def unreadable(fault: Unreadable) -> SessionMessage | None:
    """Return the error that ends the request which an unreadable message answers; None where it answers none.

    What was asked for may have been done: the error is none of those that say it was not (R-76).
    """
    heading = fault.heading
    if heading.id is None or heading.asks:
        return None
    text = f"the server's answer cannot be read: {fault.why}; what was asked for may have taken effect"
    return failed(heading.id, types.INTERNAL_ERROR, text)


async def _end(process: Process) -> None:
    """Close a server's input, then ask it to end, then end it."""
    if process.stdin is not None:
        with suppress(*GONE):
            await process.stdin.aclose()
    for number in (None, signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        if number is not None:
            _signal(process, number)
        if await _ended(process):
            break
    if process.stdout is not None:
        with suppress(*GONE):
            await process.stdout.aclose()


async def _ended(process: Process) -> bool:
    with anyio.move_on_after(_PATIENCE):
        # not `wait`: it waits for the pipes too, which a child of the server may hold open
        while process.returncode is None:  # noqa: ASYNC110
            await anyio.sleep(0.01)
    return process.returncode is not None


def _signal(process: Process, number: int) -> None:
    """Signal a server and the processes it started: a launcher such as npx has one of its own."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)
        else:
            process.terminate()
