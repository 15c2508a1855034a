"""An MCP server at an address, spoken to over streamable HTTP."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, Self

import httpx2
import msgspec
from mcp.client.streamable_http import streamable_http_client

from preflight.errors import describe
from preflight.mcp.firstword import Telling
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
_NO_ANSWER: Final = "application/octet-stream"
_REDIRECTS: Final = 1
"""How often a message is sent on to where the server points, on its own origin: once, for a slash at the end, say."""
_TURNED_AWAY: Final = frozenset({401, 403, 404, 405, 413, 415, 429})
"""With these a server says that it took nothing up, whatever else it says (R-76)."""
_UNSURE: Final = (3, 5)
"""The hundreds of statuses with which no error of whatever code says that nothing began."""
_STAND_IN: Final = "Server returned an error response"
"""What the package says of every status that it has no other words for."""
_NUMBER: Final = "it has a number that JSON cannot say"
_log = logging.getLogger("preflight.mcp")


@asynccontextmanager
async def connected(url: str, headers: Mapping[str, str]) -> AsyncIterator[Streams]:
    """Yield the streams to a server; how long it may think is not bounded here, since a call may take long."""
    timeout = httpx2.Timeout(_CONNECT_SECONDS, read=None)
    limits = httpx2.Limits(max_connections=None)
    ways = _Ways()
    async with (
        httpx2.AsyncClient(
            headers=dict(headers), timeout=timeout, limits=limits, max_redirects=_REDIRECTS,
            event_hooks={"response": [ways.look]},
        ) as client,
        streamable_http_client(url, http_client=client) as (incoming, outgoing),
    ):  # fmt: skip
        yield _Incoming(incoming, outgoing, ways), outgoing


@dataclass
class _Way:
    """How the answer to a request comes: `unanswered` says why it is none, `resumed` that its stream broke off."""

    status: int
    said: str
    unanswered: str
    resumed: bool = False


class _Ways:
    """How answers came over HTTP, by the ids of their requests."""

    def __init__(self) -> None:
        self._open: dict[int | str, _Way] = {}

    async def look(self, response: httpx2.Response) -> None:
        if (identifier := await _asked_by(response.request)) is not None:
            said = f"HTTP {response.status_code} {response.reason_phrase}".strip()
            unanswered = _unanswered(response) or await _astray(response, identifier)
            if unanswered:
                response.headers["content-type"] = _NO_ANSWER  # the package would wait for what does not come
            self._open[identifier] = _Way(response.status_code, visible(said[:100]), unanswered)
        elif "last-event-id" in response.request.headers:  # whose stream it takes up is not said
            for way in self._open.values():
                way.resumed = True

    def over(self, identifier: Any) -> _Way | None:
        """Return how an answer came, and forget it."""
        return self._open.pop(identifier, None)


def _unanswered(response: httpx2.Response) -> str:
    """Return why a response that is a success holds no answer; empty where it may hold one."""
    kind = response.headers.get("content-type", "").lower()
    if response.status_code == httpx2.codes.ACCEPTED:
        return "it came with HTTP 202, which has none"
    if response.is_success and not kind.startswith(_READABLE):
        return f"it is `{visible(kind[:100])}`, not JSON"
    return ""


async def _astray(response: httpx2.Response, identifier: int | str) -> str:
    """Return why the message that came as JSON does not answer the request that it came for; empty where it may."""
    if not response.headers.get("content-type", "").lower().startswith(_READABLE[0]):
        return ""
    if not (response.is_success or response.status_code in _TURNED_AWAY):
        return ""
    try:
        answer = msgspec.json.decode(await response.aread(), type=_Outcome)
    except (httpx2.HTTPError, msgspec.MsgspecError, UnicodeError):
        return ""  # the package says so
    if not response.is_success:
        return "" if answer.result is msgspec.UNSET else "it is a `result`, and its HTTP status says that there is none"
    if answer.method is not msgspec.UNSET:
        return "a message of the server's came in its place"
    if msgspec.UNSET not in (answer.result, answer.error):
        return "it has a `result` and an `error`"
    if answer.result is answer.error is msgspec.UNSET or str(answer.id) == str(identifier):
        return ""
    return "it does not name the request that it came for"


class _Outcome(msgspec.Struct):
    """What tells whose answer a message is."""

    id: int | str | None = None
    method: object = msgspec.UNSET
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


async def _asked_by(request: httpx2.Request) -> int | str | None:
    """Return the id of the JSON-RPC request that an HTTP request carried."""
    # one that was sent on to another place was not read yet
    sent = json.loads(await request.aread()) if request.method == "POST" else {}
    identifier: int | str | None = sent.get("id") if "method" in sent else None
    return identifier


class _Incoming:
    """What a server says; where the package makes an error of an answer, it is none that says that nothing was done.

    The package answers for a server that cannot be understood, with codes with which servers refuse (R-76).
    """

    def __init__(self, stream: Any, outgoing: Any, ways: _Ways) -> None:
        self._stream = stream
        self._outgoing = outgoing
        self._ways = ways

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
        way = self._ways.over(message.id)
        if why := _why_not(message, way):
            return unreadable(Unreadable(why, Heading(message.id)))
        return _told(item, way) if way is not None and isinstance(message, types.JSONRPCError) else item

    async def _refused(self, message: Any) -> None:
        _log.warning("a server sent `%s`, which cannot be read: %s", message.method, _NUMBER)
        if isinstance(message, types.JSONRPCRequest):
            await self._outgoing.send(failed(message.id, INVALID_REQUEST, f"not read: {_NUMBER}"))

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self._stream.__aexit__(*raised)


def _why_not(answer: Any, way: _Way | None) -> str:
    """Return why an answer cannot be read; empty where it can be."""
    if isinstance(answer, types.JSONRPCResponse):
        return "" if is_finite(answer.result) else _NUMBER
    why = way.unanswered if way is not None else ""
    if why or answer.error.code == types.PARSE_ERROR:
        return why or "it is no JSON-RPC 2.0 message"
    return "" if is_finite(answer.error.data) else _NUMBER


def _told(item: SessionMessage, way: _Way) -> SessionMessage:
    """Return an error with what the way it came says of whether anything began (R-76)."""
    message: Any = item.message
    if message.error.message == _STAND_IN:
        message.error.message = f"the server answered with {way.said}"
    if way.status in _TURNED_AWAY:
        return Telling(message, item.metadata, began=False)
    # what stands between says its own errors, a redirect may follow an act, and a stream that broke off had begun
    return Telling(message, item.metadata) if way.resumed or way.status // 100 in _UNSURE else item


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
