"""Newline-delimited JSON-RPC as the streams that a connection reads and writes: no task and no thread in between."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final, Self

import anyio

from preflight.mcp.sdk import SessionMessage, types

LONGEST_LINE: Final = 96 * 1024 * 1024
"""Bytes of one message at the most: 50 MB of text still fit where much of it is escaped."""
GONE: Final = (
    anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream, ConnectionError, OSError, RuntimeError,
)  # fmt: skip
"""What reading from or writing to the other end raises when it went away."""
_HEAD: Final = 4_096
_ID = re.compile(rb'"id"\s*:\s*([0-9]{1,18}|"[^"\\]{1,200}")')


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


def message_of(line: bytes) -> SessionMessage:
    """Read a line; raises ValueError for what is no JSON-RPC message."""
    return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))


class Incoming:
    """Messages as they arrive. `read` makes one of a line, or None for what is to be passed over."""

    def __init__(
        self,
        receive: Callable[[], Awaitable[bytes]],
        read: Callable[[bytes | Oversized], Awaitable[SessionMessage | None]],
        longest: int = LONGEST_LINE,
    ) -> None:
        """Take bytes from `receive`, which returns none, or raises one of `GONE`, at the end."""
        self._receive = receive
        self._read = read
        self._lines = Lines(longest)
        self._waiting: Iterator[bytes | Oversized] = iter(())

    def __aiter__(self) -> Self:
        """Iterate over the messages."""
        return self

    async def __anext__(self) -> SessionMessage:
        """Return the next message."""
        while True:
            for line in self._waiting:
                message = await self._read(line)
                if message is not None:
                    return message
            try:
                chunk = await self._receive()
            except GONE:
                raise StopAsyncIteration from None
            if not chunk:
                raise StopAsyncIteration
            self._waiting = self._lines.feed(chunk)

    async def receive(self) -> SessionMessage:
        """Return the next message; raises EndOfStream when there is none any more."""
        try:
            return await self.__anext__()
        except StopAsyncIteration:
            raise anyio.EndOfStream from None

    async def aclose(self) -> None:
        """Leave closing to whoever opened the source."""

    async def __aenter__(self) -> Self:
        """Do nothing."""
        return self

    async def __aexit__(self, *raised: object) -> None:
        """Do nothing: whoever opened the source closes it."""


class Outgoing:
    """Messages to the other end, one a line."""

    def __init__(self, send: Callable[[bytes], Awaitable[object]]) -> None:
        """Write bytes with `send`."""
        self._send = send
        self._gone = False

    async def send(self, item: SessionMessage) -> None:
        """Write a message; raises BrokenResourceError when the other end went away."""
        text: Any = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        if self._gone:
            raise anyio.BrokenResourceError
        try:
            await self._send(text.encode() + b"\n")
        except GONE as fault:
            self._gone = True
            raise anyio.BrokenResourceError from fault

    async def aclose(self) -> None:
        """Leave closing to whoever opened the target."""

    async def __aenter__(self) -> Self:
        """Do nothing."""
        return self

    async def __aexit__(self, *raised: object) -> None:
        """Do nothing: whoever opened the target closes it."""
