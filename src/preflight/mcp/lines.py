"""Newline-delimited JSON-RPC as the streams that a connection reads and writes: no task and no thread in between."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final, Self

import anyio
from pydantic import BaseModel, ValidationError

from preflight.mcp import jsontext
from preflight.mcp.sdk import SessionMessage, types
from preflight.mcp.unread import Heading, heading_of, heading_of_ends

LONGEST_LINE: Final = 96 * 1024 * 1024
"""Bytes of one message at the most: 50 MB of text still fit where much of it is escaped."""
GONE: Final = (
    anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream, ConnectionError, OSError, RuntimeError,
)  # fmt: skip
"""What reading from or writing to the other end raises when it went away."""
_HEAD: Final = 4_096
_log = logging.getLogger("preflight.mcp")


class Oversized:
    """A line that was longer than allowed; `heading` is what can be told of it."""

    def __init__(self, head: bytes, tail: bytes, longest: int) -> None:
        """Look for the id at either end."""
        self.heading = heading_of_ends(head, tail)
        self.why = f"it has more than {longest} bytes and was dropped"


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


class Unreadable(ValueError):
    """A line that is no message. `parsed` says that it is JSON all the same."""

    def __init__(self, why: str, heading: Heading, *, parsed: bool = False) -> None:
        """Keep what can be told of it."""
        self.why = why
        self.heading = heading
        self.parsed = parsed
        super().__init__(why)


def message_of(line: bytes | Oversized, *, once: bool = False) -> SessionMessage:
    """Read a line; raises Unreadable for what is no message, with `once` also for a member that stands twice."""
    if isinstance(line, Oversized):
        raise Unreadable(line.why, line.heading)
    try:
        value = jsontext.read(line)
    except ValueError as fault:
        raise Unreadable(str(fault), heading_of(line)) from None
    if once and jsontext.names_twice(line, value):
        raise Unreadable("an object in it has a member twice", _heading(value, line), parsed=True)
    if isinstance(value, dict) and "result" in value and "error" in value:
        raise Unreadable("it has a `result` and an `error`", _heading(value, line), parsed=True)
    try:
        message = types.jsonrpc_message_adapter.validate_python(value, by_name=False)
    except ValidationError:
        raise Unreadable("it is no JSON-RPC 2.0 message", _heading(value, line), parsed=True) from None
    if isinstance(message, types.JSONRPCNotification) and isinstance(value, dict) and "id" in value:
        # the package passes over an id that is none; whoever sent it waits for an answer
        why = "its `id` is neither a text nor a whole number"
        raise Unreadable(why, Heading(None, asks=True), parsed=True)
    return SessionMessage(message)


def _heading(value: object, line: bytes) -> Heading:
    """What can be told of JSON that is no message. Without an id, only what claims to be JSON-RPC is an answer."""
    many = value if isinstance(value, list) else [value]
    heading = heading_of(line)
    if heading.id is not None or not any(isinstance(each, dict) and each.get("jsonrpc") == "2.0" for each in many):
        return heading if heading.id is not None or heading.asks else Heading()
    answers = any(isinstance(each, dict) and ("result" in each or "error" in each) for each in many)
    return Heading(None, heading.asks, answers)


def text_of(message: Any) -> bytes:
    """Return the JSON text of a message: of the members that were set, and numbers as they were read."""
    return jsontext.write(_members(message))


def _members(model: BaseModel) -> dict[str, Any]:
    return {
        name: _members(value) if isinstance(value, BaseModel) else value
        for name, value in model
        if name in model.model_fields_set
    }


def failed(identifier: int | str | None, code: int, text: str) -> SessionMessage:
    """Return the message that answers a request with an error."""
    error = types.ErrorData(code=code, message=text)
    return SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=identifier, error=error))


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
        text = self._text(item.message)
        if self._gone:
            raise anyio.BrokenResourceError
        try:
            await self._send(text + b"\n")
        except GONE as fault:
            self._gone = True
            raise anyio.BrokenResourceError from fault

    def _text(self, message: Any) -> bytes:
        """Return what is written; of an answer that has no JSON text, that it has none: somebody waits for it."""
        try:
            return text_of(message)
        except (ValueError, TypeError, RecursionError) as fault:
            if not isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
                raise
            _log.warning("an answer cannot be written as JSON: %s", fault)
            text = f"the answer cannot be written as JSON: {type(fault).__name__}"
            return text_of(failed(message.id, types.INTERNAL_ERROR, text).message)

    async def aclose(self) -> None:
        """Leave closing to whoever opened the target."""

    async def __aenter__(self) -> Self:
        """Do nothing."""
        return self

    async def __aexit__(self, *raised: object) -> None:
        """Do nothing: whoever opened the target closes it."""
