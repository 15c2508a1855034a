"""What JSON-RPC asks of a server and the MCP package leaves out: an answer to what cannot be read, one id at a time."""

from __future__ import annotations

from typing import Any, Self

import anyio

from preflight.mcp.sdk import INVALID_REQUEST, SessionMessage, Streams, types


def strict(read: Any, write: Any) -> Streams:
    """Return a client's streams such that unreadable messages and ids already in use are answered with an error."""
    checked = _Written(write)
    return _Read(read, checked), checked


class _Written:
    """The stream to the client; it sees which requests are answered."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.open: set[int | str] = set()

    async def send(self, item: SessionMessage) -> None:
        message = item.message
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError) and message.id is not None:
            self.open.discard(message.id)
        await self._inner.send(item)

    async def refuse(self, code: int, text: str) -> None:
        """Answer without an id: the one that was sent is unreadable, or is somebody else's."""
        error = types.ErrorData(code=code, message=text)
        await self._inner.send(SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=None, error=error)))

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.aclose()


class _Read:
    """The stream from the client, without what was refused."""

    def __init__(self, inner: Any, written: _Written) -> None:
        self._inner = inner
        self._written = written

    @property
    def last_context(self) -> Any:
        """The context the last message was sent in, where the stream keeps it."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> Any:
        while True:
            item = await self._inner.receive()
            if isinstance(item, Exception):
                text = "parse error: the message is no JSON-RPC 2.0 object"
                await self._written.refuse(types.PARSE_ERROR, text)
            elif not self._taken(item.message):
                return item
            else:
                text = f"the id `{item.message.id}` belongs to a request that is not answered yet"
                await self._written.refuse(INVALID_REQUEST, text)

    def _taken(self, message: Any) -> bool:
        """Whether a request has the id of an open one; a cancelled one is open no more, and never answered."""
        if isinstance(message, types.JSONRPCRequest):
            if message.id in self._written.open:
                return True
            self._written.open.add(message.id)
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            self._written.open.discard((message.params or {}).get("requestId", ""))
        return False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:

        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.aclose()
