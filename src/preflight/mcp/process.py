"""An MCP server as a child process: newline-delimited JSON-RPC over its standard input and output.

Written here and not taken from the MCP package because a line has a bound here, and takes linear time.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import anyio
from anyio.abc import Process

from preflight.errors import ProviderError
from preflight.mcp.sdk import SessionMessage, Streams, types

LONGEST_LINE: Final = 96 * 1024 * 1024
"""Bytes of one message at the most: 50 MB of text still fit where all of it is escaped once."""
_GONE = (anyio.ClosedResourceError, anyio.BrokenResourceError, ConnectionError, OSError)
_PATIENCE: Final = 2.0  # seconds a server has to end after its input was closed, and again after it was told to
_HEAD: Final = 4_096
_ID = re.compile(rb'"id"\s*:\s*([0-9]{1,18}|"[^"\\]{1,200}")')
_log = logging.getLogger("preflight.mcp")


class CannotStart(ProviderError):
    """A server's command cannot be run."""


@asynccontextmanager
async def started(
    command: Sequence[str], environment: Mapping[str, str], folder: str | None = None, longest: int = LONGEST_LINE
) -> AsyncIterator[Streams]:
    """Run a server in an environment of its own and yield the streams to it; raises CannotStart.

    On the way out its input is closed; what has not ended two seconds later is ended, with its children.
    """
    try:
        process = await anyio.open_process(
            list(command), env=dict(environment), cwd=folder, stderr=sys.stderr, start_new_session=True
        )
    except (OSError, ValueError) as fault:
        message = f"`{command[0]}` cannot be started: {fault}"
        raise CannotStart(message) from fault
    to_session, from_server = anyio.create_memory_object_stream[Any](0)
    to_server, from_session = anyio.create_memory_object_stream[Any](0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_read, process, to_session, longest)
        tasks.start_soon(_write, process, from_session, to_session)
        try:
            yield from_server, to_server
        finally:
            with anyio.CancelScope(shield=True):
                from_server.close()
                to_server.close()
                await _end(process)
            tasks.cancel_scope.cancel()


async def _read(process: Process, to_session: Any, longest: int) -> None:
    lines = Lines(longest)
    assert process.stdout is not None  # noqa: S101  it was started with pipes
    async with to_session:
        with suppress(*_GONE, anyio.EndOfStream):
            while True:
                for line in lines.feed(await process.stdout.receive(262_144)):
                    if (item := _message(line)) is not None:
                        await to_session.send(item)


def _message(line: bytes | Oversized) -> SessionMessage | None:
    if isinstance(line, Oversized):
        error = types.ErrorData(code=types.INTERNAL_ERROR, message=f"the server's answer has {line.why}")
        return SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=line.id, error=error))
    if not line.strip():
        return None
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        _log.warning("a server wrote a line that is no JSON-RPC message: %r", line[:200])
        return None


class Oversized:
    """A line that was longer than allowed; `id` is that of the request it answers, where it can be read."""

    def __init__(self, head: bytes, tail: bytes, longest: int) -> None:
        """Look for the id at either end: that is where servers write it."""
        found = _ID.search(head) or _ID.search(tail)
        text = found[1].decode() if found else ""
        self.id: int | str | None = None if not text else text.strip('"') if text.startswith('"') else int(text)
        self.why = f"more than {longest} bytes and was dropped"


class Lines:
    """Cuts what arrives into lines; of one that is too long only its two ends are kept."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        """Take lines up to `longest` bytes."""
        self._longest = longest
        self._parts: list[bytes] = []
        self._size = 0
        self._head: bytes | None = None

    def feed(self, chunk: bytes) -> Iterator[bytes | Oversized]:
        """Yield the lines that a chunk completes."""
        *whole, rest = chunk.split(b"\n")
        for line in whole:
            self._take(line)
            yield self._done()
        self._take(rest)

    def _take(self, part: bytes) -> None:
        self._parts.append(part)
        self._size += len(part)
        if self._size > self._longest:
            kept = b"".join(self._parts) if self._head is None else self._parts[-2] + self._parts[-1]
            if self._head is None:
                self._head = kept[:_HEAD]
            self._parts = [kept[-_HEAD:]]

    def _done(self) -> bytes | Oversized:
        line = b"".join(self._parts)
        head, self._parts, self._size, self._head = self._head, [], 0, None
        return line if head is None else Oversized(head, line, self._longest)


async def _write(process: Process, from_session: Any, to_session: Any) -> None:
    assert process.stdin is not None  # noqa: S101  it was started with pipes
    try:
        async with from_session:
            async for item in from_session:
                text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                await process.stdin.send(text.encode() + b"\n")
    except _GONE:
        await to_session.aclose()  # so that whoever waits for an answer learns that there will be none


async def _end(process: Process) -> None:
    """Close a server's input, then ask it to end, then end it."""
    if process.stdin is not None:
        with suppress(*_GONE):
            await process.stdin.aclose()
    for number in (None, signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        if number is not None:
            _signal(process, number)
        if await _ended(process):
            break
    if process.stdout is not None:
        with suppress(*_GONE):
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
