"""One server behind the proxy: started when it is needed, greeted in either era, started again when it died."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from typing import Final, Protocol

import anyio
from anyio.abc import TaskGroup, TaskStatus

from preflight.errors import describe, innermost
from preflight.mcp import eras
from preflight.mcp.deliveries import Deliveries
from preflight.mcp.eras import Object
from preflight.mcp.greeting import Greeting, own_info
from preflight.mcp.parking import Exchange
from preflight.mcp.rounds import answered
from preflight.mcp.sdk import (
    CLOSED,
    UNSUPPORTED,
    Inbound,
    MCPError,
    Peer,
    Streams,
    encode_header_value,
    param_headers,
    types,
)

Progress = Callable[[Object], Awaitable[None]]
Transport = Callable[[], AbstractAsyncContextManager[Streams]]
_NAMED: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_GREETING_SECONDS: Final = 30.0
_PROBE_SECONDS: Final = 10.0
_WAITING_NOTICES: Final = 1_000
"""Notifications that may wait to be handed on; what a flooding server sends beyond is dropped."""
_CONSUMED: Final = ("notifications/cancelled", "notifications/subscriptions/acknowledged")
"""What is dealt with here: cancelling the server's own request already reached whoever is asked."""
_OPEN_QUESTIONS: Final = 100
"""Requests of a server that may be open at a time; what a flooding server asks beyond is answered with an error."""
_log = logging.getLogger("preflight.mcp")


class Reporter(Protocol):
    """Who hears what a server says by itself."""

    async def asked(self, server: Upstream, method: str, params: Object) -> Object:
        """Answer a request of the server's."""
        ...

    async def put(self, server: Upstream, exchange: Exchange, method: str, params: Object) -> Object:
        """Put a question of the server's about one call to that call's client."""
        ...

    async def told(self, server: Upstream, method: str, params: Object) -> None:
        """Take a notification of the server's."""
        ...


class Upstream:
    """A server that requests are sent to. `name` is the one that rules know it by."""

    def __init__(self, name: str, transport: Transport, reporter: Reporter) -> None:
        """Reach it over `transport`, a context manager that yields a pair of streams."""
        self.name = name
        self.greeting: Greeting | None = None
        self.subscribed: set[str] = set()
        self.log_level: str | None = None
        self._transport = transport
        self._reporter = reporter
        self._tasks: TaskGroup
        self._peer: Peer | None = None
        self._closing: anyio.Event | None = None
        self._lock = anyio.Lock()
        self._client: Inbound | None = None
        self._listening: anyio.CancelScope | None = None
        self.exchanges: list[Exchange] = []
        self._progress: dict[str, Progress] = {}
        self._tokens = itertools.count(1)
        self._deliveries = Deliveries()
        self._notices = 0
        self._questions = 0
        self._flooded = False
        self._schemas: dict[str, object] = {}

    def belongs_to(self, tasks: TaskGroup) -> None:
        """Run in these tasks."""
        self._tasks = tasks

    async def prepare(self) -> None:
        """Start it before anybody asks, so that the first client waits less; whether it can be is told then."""
        async with self._lock:
            if self._peer is None:
                with suppress(MCPError):
                    await self._start()

    async def greet(self, client: Inbound) -> Greeting:
        """Make sure that the server runs and was greeted on behalf of `client`; raises MCPError when it cannot be.

        The first client's era is tried first, so that least has to be translated; what that client can do
        is what the server is told.
        """
        if (there := self.there) is not None:
            return there
        async with self._lock:
            if self._peer is not None and self._peer.gone:
                self._stop()
            if self._peer is None or self.greeting is None:
                self._client = self._client or client
                if self._peer is None:
                    await self._start()
                try:
                    self.greeting = await self._greeted(self._client)
                except BaseException:
                    self._stop()
                    raise
                if self.greeting.era == "modern":
                    self._listen(self.greeting)
            return self.greeting

    @property
    def there(self) -> Greeting | None:
        """The greeting of the connection that is open now; another connection may lead to another server."""
        return None if self._peer is None or self._peer.gone else self.greeting

    async def subscribe(self, uri: str, *, wanted: bool) -> None:
        """Ask a modern server to tell when a resource changes, or no more."""
        (self.subscribed.add if wanted else self.subscribed.discard)(uri)
        if self.greeting is not None:
            self._listen(self.greeting)

    async def request(
        self,
        client: Inbound,
        method: str,
        params: Object,
        exchange: Exchange | None = None,
        progress: Progress | None = None,
    ) -> Object:
        """Send a request on and return the result as it came; raises MCPError as it came.

        What the server asks meanwhile is put to `exchange`; without one, a modern server's questions are the
        result. `progress` is given each progress notification. Cancelling it cancels it at the server.
        """
        greeting = await self.greet(client)
        if exchange is not None:
            self.exchanges.append(exchange)
        token = None if progress is None else f"preflight-{next(self._tokens)}"
        if token is not None and progress is not None:
            self._progress[token] = progress
            params = {**params, "_meta": {**_object(params.get("_meta")), "progressToken": token}}
        try:
            result = await self._send(greeting, method, params)
            if exchange is not None and greeting.era == "modern" and eras.asks(result):
                put = partial(self._reporter.put, self, exchange)
                result = await answered(self.name, params, result, put, partial(self._send, greeting, method))
            for owner in (token, exchange):
                await self._deliveries.delivered(owner)
            return result
        finally:
            if exchange is not None:
                self.exchanges.remove(exchange)
            if token is not None:
                self._progress.pop(token, None)

    async def _send(self, greeting: Greeting, method: str, params: Object) -> Object:
        params = dict(params)
        headers = self._stamp(greeting, method, params)
        if self._peer is None:
            raise MCPError(CLOSED, f"the server `{self.name}` went away")
        result = await self._peer.request(method, params, headers=headers)
        if greeting.era == "handshake":  # there the word means nothing, and a modern client would be misled by it
            result.pop("resultType", None)
        return result

    async def notify(self, method: str, params: Object) -> None:
        """Send a notification on; a server that is not there misses it."""
        if self._peer is not None and self.greeting is not None:
            params = dict(params)
            await self._peer.notify(method, params, self._stamp(self.greeting, method, params))

    def learn_schemas(self, tools: list[Object]) -> None:
        """Remember the input schemas: some want arguments repeated in headers."""
        self._schemas |= {tool["name"]: tool.get("inputSchema") for tool in tools if isinstance(tool.get("name"), str)}

    async def close(self) -> None:
        """End the connection; its process is ended with it."""
        self._stop()

    # the connection

    async def _start(self) -> None:
        self.greeting = None
        try:
            await self._tasks.start(self._run)
        except Exception as fault:
            text = f"the server `{self.name}` cannot be reached: {describe(innermost(fault))}"
            raise MCPError(CLOSED, text) from fault

    async def _run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        begun = False
        closing = anyio.Event()
        try:
            async with self._transport() as streams, anyio.create_task_group() as tasks:
                peer = Peer(streams)
                await tasks.start(peer.run, self._asked, self._told)
                tasks.start_soon(_when_set, closing, tasks)
                self._peer, self._closing, begun = peer, closing, True
                task_status.started()
                await _until_closed(peer, tasks)
        except Exception as fault:
            if not begun:
                raise
            _log.warning("the connection to `%s` broke: %s", self.name, describe(innermost(fault)))
        finally:
            if self._closing is closing:
                self._peer, self.greeting = None, None

    def _stop(self) -> None:
        if self._closing is not None:
            self._closing.set()
        self._peer, self.greeting, self._closing = None, None, None

    def _listen(self, greeting: Greeting) -> None:
        """Open a modern server's stream of changes anew: it is the only way it tells of them."""
        if self._listening is not None:
            self._listening.cancel()
        self._listening = anyio.CancelScope()
        self._tasks.start_soon(self._changes, greeting, self._listening)

    async def _changes(self, greeting: Greeting, scope: anyio.CancelScope) -> None:
        wanted: Object = {
            name: True
            for name, kind in (("toolsListChanged", "tools"), ("promptsListChanged", "prompts"),
                               ("resourcesListChanged", "resources"))
            if _object(greeting.capabilities.get(kind)).get("listChanged")
        }  # fmt: skip
        if self.subscribed:
            wanted["resourceSubscriptions"] = sorted(self.subscribed)
        if not wanted:
            return
        with scope:
            try:
                await self._send(greeting, "subscriptions/listen", {"notifications": wanted})
            except MCPError as fault:
                _log.warning("`%s` does not tell of changes: %s", self.name, fault.message)

    # greetings

    async def _greeted(self, client: Inbound) -> Greeting:
        first, second = (self._discover, self._initialize) if client.era == "modern" else (
            self._initialize, self._discover
        )  # fmt: skip
        try:
            return await first(client)
        except MCPError as fault:
            if fault.code == CLOSED or (first == self._initialize and fault.code != UNSUPPORTED):
                raise self._unfriendly(fault) from fault
        try:
            return await second(client)
        except MCPError as fault:
            raise self._unfriendly(fault) from fault

    def _unfriendly(self, fault: MCPError) -> MCPError:
        return MCPError(CLOSED, f"the server `{self.name}` did not answer the greeting: {fault.message}")

    async def _initialize(self, client: Inbound) -> Greeting:
        assert self._peer is not None  # noqa: S101  it was just started
        version = client.version if client.era == "handshake" else eras.NEWEST_HANDSHAKE
        params = {
            "protocolVersion": version,
            "capabilities": client.client.capabilities,
            "clientInfo": own_info(client),
        }
        result = await self._peer.request("initialize", params, seconds=_GREETING_SECONDS, cancel=False)
        agreed = result.get("protocolVersion")
        greeting = Greeting(
            "handshake", agreed if isinstance(agreed, str) else version, _object(result.get("capabilities")),
            _object(result.get("serverInfo")), result.get("instructions"), result,
        )  # fmt: skip
        await self._peer.notify("notifications/initialized", {}, {"mcp-protocol-version": greeting.version})
        return greeting

    async def _discover(self, client: Inbound) -> Greeting:
        assert self._peer is not None  # noqa: S101  it was just started
        params: Object = {}
        headers = self._envelope(client, "server/discover", params)
        result = await self._peer.request(
            "server/discover", params, headers=headers, seconds=_PROBE_SECONDS, cancel=False
        )
        versions = result.get("supportedVersions")
        if not isinstance(versions, list) or eras.MODERN_VERSION not in versions:
            raise MCPError(UNSUPPORTED, f"it names no version that is spoken here: {versions!r:.200}")
        info = _object(_object(result.get("_meta")).get(eras.SERVER_KEY))
        return Greeting(
            "modern", eras.MODERN_VERSION, _object(result.get("capabilities")), info, result.get("instructions"), result
        )

    # what every message carries

    def _stamp(self, greeting: Greeting, method: str, params: Object) -> dict[str, str]:
        if greeting.era == "handshake":
            return {"mcp-protocol-version": greeting.version}
        assert self._client is not None  # noqa: S101  somebody greeted it
        headers = self._envelope(self._client, method, params)
        if self.log_level is not None:
            params["_meta"].setdefault(eras.LOG_LEVEL_KEY, self.log_level)
        return headers

    def _envelope(self, client: Inbound, method: str, params: Object) -> dict[str, str]:
        """Put the envelope into `params`, and return the headers that repeat it."""
        params["_meta"] = {
            **_object(params.get("_meta")),
            eras.VERSION_KEY: eras.MODERN_VERSION,
            eras.CLIENT_KEY: own_info(client),
            eras.CAPABILITIES_KEY: client.client.capabilities,
        }
        headers = {"mcp-protocol-version": eras.MODERN_VERSION, "mcp-method": method}
        name = params.get(_NAMED.get(method, ""))
        if isinstance(name, str):
            headers["mcp-name"] = encode_header_value(name)
            if method == "tools/call":  # arguments may have been changed here: their headers are made anew
                headers |= param_headers(self._schemas.get(name), _object(params.get("arguments")))
        return headers

    # what the server says by itself

    async def _asked(self, method: str, params: Object) -> Object:
        if method == "ping":
            return {}
        if self._questions >= _OPEN_QUESTIONS:
            if not self._flooded:
                self._flooded = True
                _log.warning("`%s` has %d requests open; more are refused", self.name, self._questions)
            raise MCPError(
                types.INTERNAL_ERROR, f"{_OPEN_QUESTIONS} requests of yours are open; wait for their answers"
            )
        self._questions += 1
        try:
            return await self._reporter.asked(self, method, params)
        finally:
            self._questions -= 1

    async def _told(self, method: str, params: Object) -> None:
        if self._notices >= _WAITING_NOTICES:
            return
        self._notices += 1
        try:
            await self._handed_on(method, params)
        finally:
            self._notices -= 1

    async def _handed_on(self, method: str, params: Object) -> None:
        if method == "notifications/progress":
            token = str(params.get("progressToken"))
            progress = self._progress.get(token)
            if progress is not None:
                with self._deliveries.one(token):
                    await progress(params)
        elif method not in _CONSUMED:
            with self._deliveries.one(self.exchanges[-1] if self.exchanges else self):
                await self._reporter.told(self, method, params)


async def _when_set(closing: anyio.Event, tasks: TaskGroup) -> None:
    await closing.wait()
    tasks.cancel_scope.cancel()


async def _until_closed(peer: Peer, tasks: TaskGroup) -> None:
    await peer.closed.wait()
    tasks.cancel_scope.cancel()


def _object(value: object) -> Object:
    return value if isinstance(value, dict) else {}
