"""The client on this program's standard input and output.

Both are taken for the protocol alone: what else in this program reads or prints gets an empty input, and writes to
standard error. Pipes, sockets and terminals are read on the event loop, files in threads; on Windows the MCP package's
way is used.
"""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from io import RawIOBase
from typing import Final

import anyio

from preflight.mcp.lines import Incoming, Outgoing, Oversized, Unreadable, failed, message_of
from preflight.mcp.sdk import INVALID_REQUEST, SessionMessage, Streams, stdio_server, types

_CHUNK: Final = 262_144
_Receive = Callable[[], Awaitable[bytes]]
_Send = Callable[[bytes], Awaitable[object]]


@asynccontextmanager
async def standard_streams() -> AsyncIterator[Streams]:
    """Yield the streams to the client; what it sends and is no message, or takes an id in use, is refused."""
    if sys.platform == "win32":
        async with stdio_server() as streams:
            yield streams
        return
    opened = _pipes if all(_can_wait(number) for number in (0, 1)) else _files
    with _taken() as (source, target):
        async with opened(source, target) as (receive, send):
            outgoing = Answers(send)
            yield Incoming(receive, outgoing.read), outgoing


class Answers(Outgoing):
    """What is written to the client; it knows which requests are open."""

    def __init__(self, send: Callable[[bytes], Awaitable[object]]) -> None:
        """Write bytes with `send`."""
        super().__init__(send)
        self._open: set[str] = set()

    async def send(self, item: SessionMessage) -> None:
        """Write a message, and note that a request is answered."""
        message = item.message
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError) and message.id is not None:
            self._open.discard(str(message.id))
        await super().send(item)

    async def read(self, line: bytes | Oversized) -> SessionMessage | None:
        """Return the message in a line; refuse what is none, and a request whose id is in use."""
        if isinstance(line, bytes) and not line.strip():
            return None
        try:
            item = message_of(line, once=True)
        except Unreadable as fault:
            return await self._unread(fault)
        message = item.message
        if isinstance(message, types.JSONRPCRequest):
            if self._in_use(message.id):
                told = f"the id `{message.id}` belongs to a request that is not answered yet"
                await self._refuse(None, INVALID_REQUEST, told)
                return None
            self._open.add(str(message.id))
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            # a cancelled request is never answered, so that its id is free
            cancelled = (message.params or {}).get("requestId")
            if isinstance(cancelled, str | int):
                self._open.discard(str(cancelled))
        return item

    async def _unread(self, fault: Unreadable) -> SessionMessage | None:
        """Answer a request that cannot be read, under its own id if it can be told; end what an answer was for."""
        known = fault.heading.id
        if known is not None and fault.heading.answers and not fault.heading.asks:
            return failed(known, types.INTERNAL_ERROR, f"the client's answer cannot be read: {fault.why}")
        code = INVALID_REQUEST if fault.parsed else types.PARSE_ERROR
        # under the id of another request, this would pass for that one's answer
        await self._refuse(None if self._in_use(known) else known, code, f"the message cannot be read: {fault.why}")
        return None

    def _in_use(self, identifier: int | str | None) -> bool:
        """Whether a request of the client's is open under an id; 7 and "7" are one where requests are cancelled."""
        return identifier is not None and str(identifier) in self._open

    async def _refuse(self, identifier: int | str | None, code: int, text: str) -> None:
        await super().send(failed(identifier, code, text))


def _can_wait(number: int) -> bool:
    mode = os.fstat(number).st_mode
    return sys.platform != "win32" and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(number))


@contextmanager
def _taken() -> Iterator[tuple[int, int]]:
    """Yield descriptors of the protocol's own, while the standard ones lead elsewhere."""
    source, target = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    try:
        os.dup2(nowhere, 0)
        os.dup2(2, 1)
        yield source, target
    finally:
        os.close(nowhere)
        for number, kept in ((0, source), (1, target)):
            os.set_blocking(kept, True)
            os.dup2(kept, number)
            os.close(kept)


@asynccontextmanager
async def _pipes(source: int, target: int) -> AsyncIterator[tuple[_Receive, _Send]]:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=_CHUNK)
    with os.fdopen(os.dup(source), "rb", 0) as inward, os.fdopen(os.dup(target), "wb", 0) as outward:
        reading, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), inward)
        writing, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), outward
        )
        writer = asyncio.StreamWriter(writing, protocol, None, loop)

        async def send(data: bytes) -> None:
            writer.write(data)
            await writer.drain()

        try:
            yield lambda: reader.read(_CHUNK), send
        finally:
            reading.close()
            writing.close()


@asynccontextmanager
async def _files(source: int, target: int) -> AsyncIterator[tuple[_Receive, _Send]]:
    """Read and write in threads: an event loop cannot wait for a file."""
    with os.fdopen(os.dup(target), "wb", 0) as outward:

        async def send(data: bytes) -> None:
            await anyio.to_thread.run_sync(_write, outward, data)

        yield lambda: anyio.to_thread.run_sync(os.read, source, _CHUNK, abandon_on_cancel=True), send


def _write(file: RawIOBase, data: bytes) -> None:
    """Write all of it: a raw file may take less at a time."""
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]
