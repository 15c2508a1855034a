"""An MCP server at an address, spoken to over streamable HTTP."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final, Self

import httpx2
from mcp.client.streamable_http import streamable_http_client

from preflight.errors import describe
from preflight.mcp.jsontext import is_finite
from preflight.mcp.lines import Unreadable, failed
from preflight.mcp.process import unreadable
from preflight.mcp.sdk import INVALID_REQUEST, SessionMessage, Streams, types
from preflight.mcp.unread import Heading
from preflight.render.visible import visible

_CONNECT_SECONDS = 30.0
_ASKED = {"jsonrpc": "2.0", "id": 0, "method": "ping"}
_TAKEN = {"accept": "application/json, text/event-stream"}
_READABLE: Final = ("application/json", "text/event-stream")
_NUMBER: Final = "it has a number that JSON cannot say"
_log = logging.getLogger("preflight.mcp")


@asynccontextmanager
async def connected(url: str, headers: Mapping[str, str]) -> AsyncIterator[Streams]:
    """Yield the streams to a server; how long it may think is not bounded here, since a call may take long."""
    timeout = httpx2.Timeout(_CONNECT_SECONDS, read=None)
    limits = httpx2.Limits(max_connections=None)
    unanswered: dict[int | str, str] = {}

    async def look(response: httpx2.Response) -> None:
        why = _unanswered(response)
        if why and (identifier := _asked_by(response.request)) is not None:
            unanswered[identifier] = why

    async with (
        httpx2.AsyncClient(
            headers=dict(headers), timeout=timeout, limits=limits, event_hooks={"response": [look]}
        ) as client,
        streamable_http_client(url, http_client=client) as (incoming, outgoing),
    ):
        yield _Incoming(incoming, outgoing, unanswered), outgoing


def _unanswered(response: httpx2.Response) -> str:
    """Return why a response that is a success holds no answer; empty where it may hold one."""
    kind = response.headers.get("content-type", "").lower()
    if response.status_code == httpx2.codes.ACCEPTED:
        return "it came with HTTP 202, which has none"
    if response.is_success and not kind.startswith(_READABLE):
        return f"it is `{visible(kind[:100])}`, not JSON"
    return ""


def _asked_by(request: httpx2.Request) -> int | str | None:
    """Return the id of the JSON-RPC request that an HTTP request carried."""
    sent = json.loads(request.content) if request.method == "POST" else {}
    identifier: int | str | None = sent.get("id") if "method" in sent else None
    return identifier


class _Incoming:
    """What a server says; where the package makes an error of an answer, it is none that says that nothing was done.

    The package answers for a server that cannot be understood, with codes with which servers refuse (R-76).
    """

    def __init__(self, stream: Any, outgoing: Any, unanswered: dict[int | str, str]) -> None:
        self._stream = stream
        self._outgoing = outgoing
        self._unanswered = unanswered

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        while True:
            item: SessionMessage | Exception = await self._stream.__anext__()
            taken = item if isinstance(item, Exception) else await self._taken(item)
            if taken is not None:
                return taken

    async def _taken(self, item: SessionMessage) -> SessionMessage | None:
        message: Any = item.message
        if isinstance(message, types.JSONRPCRequest | types.JSONRPCNotification):
            if is_finite(message.params):
                return item
            await self._refused(message)
            return None
        why = self._why_not(message)
        return unreadable(Unreadable(why, Heading(message.id))) if why else item

    def _why_not(self, answer: Any) -> str:
        """Return why an answer cannot be read; empty where it can be."""
        why = self._unanswered.pop(answer.id, "")
        if isinstance(answer, types.JSONRPCResponse):
            return "" if is_finite(answer.result) else _NUMBER
        if why or answer.error.code == types.PARSE_ERROR:
            return why or "it is no JSON-RPC 2.0 message"
        return "" if is_finite(answer.error.data) else _NUMBER

    async def _refused(self, message: Any) -> None:
        _log.warning("a server sent `%s`, which cannot be read: %s", message.method, _NUMBER)
        if isinstance(message, types.JSONRPCRequest):
            await self._outgoing.send(failed(message.id, INVALID_REQUEST, f"not read: {_NUMBER}"))

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self._stream.__aexit__(*raised)


async def obstacle(url: str, headers: Mapping[str, str], seconds: float) -> str:
    """Return what keeps a plain request from being answered there; empty where nothing does.

    The transport says of everything that goes wrong that the connection was closed.
    """
    try:
        async with (
            httpx2.AsyncClient(headers=dict(headers) | _TAKEN, timeout=seconds) as client,
            client.stream("POST", url, json=_ASKED) as response,
        ):
            return "" if response.is_success else f"HTTP {response.status_code} {response.reason_phrase}".strip()
    except (httpx2.HTTPError, httpx2.InvalidURL) as fault:
        return describe(fault)
