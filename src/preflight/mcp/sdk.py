"""The one module that touches names of the MCP package which its authors call provisional (decision 0080).

It turns a connection into plain objects: `Inbound` is a request as a client sent it, `Peer` a server to send
requests to. Nothing is parsed into types on the way, so that nothing is lost.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import anyio
from anyio.abc import TaskStatus

from preflight.mcp.eras import MODERN_VERSION, VERSION_KEY, Era, Object, meta_fault
from preflight.mcp.introduced import Client, introduce, modern_client, plain
from preflight.mcp.listening import Listening
from preflight.mcp.posts import Post, post_of

try:
    import mcp_types as types
    from mcp import MCPError
    from mcp.server import Server
    from mcp.server.request_state import AESGCMRequestStateCodec, InvalidRequestState
    from mcp.server.stdio import stdio_server
    from mcp.server.transport_security import DEFAULT_MAX_REQUEST_BODY_SIZE, TransportSecuritySettings
    from mcp.shared.inbound import (
        InboundLadderRejection,
        classify_inbound_request,
        encode_header_value,
        find_invalid_x_mcp_header,
        mcp_param_headers,
        x_mcp_header_map,
    )
    from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
    from mcp.shared.message import SessionMessage
    from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION, MODERN_PROTOCOL_VERSIONS

    from preflight.mcp.answering import asked
    from preflight.mcp.firstword import NOT_BEGUN, FirstWords, NotBegun
except ImportError as absent:
    message = f"`{absent.name}` is not installed; install the extra: pip install 'execution-state-preflight[proxy]'"
    raise ImportError(message, name=absent.name) from absent

__all__ = [
    "CLOSED", "HANDSHAKES", "INVALID_PARAMS", "INVALID_REQUEST", "LONGEST_BODY", "METHOD_NOT_FOUND", "NOT_BEGUN",
    "TIMED_OUT", "UNSUPPORTED", "AESGCMRequestStateCodec", "Client", "Front", "Inbound", "InvalidRequestState",
    "MCPError", "NotBegun", "Peer", "SessionMessage", "Streams", "encode_header_value", "param_headers", "stdio_server",
    "types",
]  # fmt: skip

CLOSED: Final = types.CONNECTION_CLOSED
TIMED_OUT: Final = types.REQUEST_TIMEOUT
INVALID_PARAMS: Final = types.INVALID_PARAMS
INVALID_REQUEST: Final = types.INVALID_REQUEST
METHOD_NOT_FOUND: Final = types.METHOD_NOT_FOUND
HANDSHAKES: Final = frozenset(HANDSHAKE_PROTOCOL_VERSIONS)
LONGEST_BODY: Final = DEFAULT_MAX_REQUEST_BODY_SIZE
UNSUPPORTED: Final = types.UNSUPPORTED_PROTOCOL_VERSION
_GREETING_SECONDS: Final = 5.0

Streams = tuple[Any, Any]
"""What a transport is: a stream of messages to read, and one to write to."""
OnRequest = Callable[[str, Object], Awaitable[Object]]
OnNotify = Callable[[str, Object], Awaitable[None]]


@dataclass
class Inbound:
    """One message of a client. `id` is None for a notification."""

    method: str
    params: Object
    id: int | str | None
    era: Era
    version: str
    client: Client
    _channel: Any
    _post: Post | None = None

    @property
    def meta(self) -> Object:
        """The request's `_meta`, the envelope included."""
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}

    async def notify(self, method: str, params: Object) -> None:
        """Send a notification that belongs to this request."""
        await self._channel.notify(method, params or None)

    @property
    def can_ask(self) -> bool:
        """Whether requests may be sent to the client while this one is open."""
        return self.era == "handshake" and bool(self._channel.can_send_request)

    async def ask(self, method: str, params: Object, seconds: float = math.inf) -> Object:
        """Send a request to the client and return its result; raises MCPError with what it answers instead."""
        return await asked(self._channel, method, params, seconds, self._post)


Handle = Callable[[Inbound], Awaitable[Object | None]]
"""Answers a request, or takes a notification; None leaves a message to the package's own handling."""
Greet = Callable[[Inbound, Object], Awaitable[Object]]
"""Returns the result of `initialize` or `server/discover`, given the package's own."""


class Front:
    """Serves clients of both eras: hands every message to `handle`, and greetings to `greet`."""

    def __init__(self, name: str, handle: Handle, greet: Greet, schema_of: Callable[[str], Object | None]) -> None:
        """Serve as `name`; `schema_of` gives a tool's input schema, for headers that repeat arguments."""
        self._name = name
        self._handle = handle
        self._greet = greet
        self._schema_of = schema_of
        self._listening = Listening()
        self._connections: dict[str, Any] = {}
        self._joined: anyio.Event | None = None
        self._count = 0

    async def serve(self, streams: Streams) -> None:
        """Serve one client over a pair of streams until it goes away; its first request decides the era."""
        dispatcher: Any = JSONRPCDispatcher(*streams, inline_methods=frozenset({"initialize"}))
        line = _Line(self, dispatcher, self.new_client())
        try:
            await dispatcher.run(line.request, line.notified)
        finally:
            self.leave(line.client)

    def http_app(self, path: str, allowed_hosts: list[str] | None, allowed_origins: list[str]) -> Any:
        """Return an application that serves clients over streamable HTTP, under these names alone (None: any)."""
        server: Server[Any] = Server(self._name, get_tool_input_schema=self._schema_of)
        server.middleware = [self._middle]
        checks = TransportSecuritySettings(
            enable_dns_rebinding_protection=allowed_hosts is not None,
            allowed_hosts=allowed_hosts or [],
            allowed_origins=allowed_origins,
        )
        return server.streamable_http_app(streamable_http_path=path, transport_security=checks)

    async def changed(self, method: str, params: Object) -> None:
        """Tell every client about a change: handshake clients as it came, modern ones where they subscribed."""
        await self.send(method, params)
        self._listening.publish(method, params)

    async def send(self, method: str, params: Object) -> None:
        """Send a notification to every handshake client that is connected."""
        await self._settled()
        for connection in list(self._connections.values()):
            await connection.notify(method, params or None)

    async def ask(self, method: str, params: Object, seconds: float = math.inf) -> Object:
        """Ask the one client that is connected; raises MCPError when there is none, or more than one."""
        await self._settled()
        connections = list(self._connections.values())
        if len(connections) != 1:
            raise MCPError(METHOD_NOT_FOUND, f"no single client is at hand to answer `{method}`")
        return await asked(connections[0], method, params, seconds)

    # what both ways in have in common

    def new_client(self) -> Client:
        """Return a client that has not said who it is."""
        self._count += 1
        return Client(f"c{self._count}")

    def join(self, client: Client, connection: Any) -> None:
        """Have a handshake client hear what belongs to no request."""
        self._connections[client.session] = connection
        if self._joined is not None:
            self._joined.set()

    async def _settled(self) -> None:
        """Wait for a client that is being greeted: its server is ready sooner, and may speak at once."""
        if self._joined is not None and not self._connections:
            with anyio.move_on_after(_GREETING_SECONDS):
                await self._joined.wait()

    def leave(self, client: Client) -> None:
        """Forget a client that went away."""
        self._connections.pop(client.session, None)

    async def greeted(self, inbound: Inbound) -> Object:
        """Return the greeting for a client."""
        if inbound.era == "modern":
            own: Object = {"resultType": "complete", "supportedVersions": list(MODERN_PROTOCOL_VERSIONS)}
            return await self._greet(inbound, {**own, "ttlMs": 0, "cacheScope": "private"})
        wanted = inbound.params.get("protocolVersion")
        inbound.version = wanted if wanted in HANDSHAKE_PROTOCOL_VERSIONS else LATEST_HANDSHAKE_VERSION
        server = {"name": self._name, "version": "0"}
        self._joined = self._joined or anyio.Event()
        return await self._greet(inbound, {"protocolVersion": inbound.version, "serverInfo": server})

    async def answered(self, inbound: Inbound) -> Object:
        """Return the result of a request."""
        if inbound.method == "subscriptions/listen" and inbound.era == "modern":
            return await self._listening.serve(inbound)
        return await self._handle(inbound) or {}

    async def told(self, inbound: Inbound) -> None:
        """Take a notification; a request that came without an id goes nowhere: no gate sees it (R-65)."""
        if inbound.method.startswith("notifications/"):
            await self._handle(inbound)

    # over HTTP, where the package takes connections apart

    async def _middle(self, ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        with post_of(ctx).under_way():
            return await self._taken(ctx, call_next)

    async def _taken(self, ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        connection = ctx.session._connection  # noqa: SLF001
        inbound = self._inbound(ctx, connection)
        if inbound.method in ("initialize", "server/discover"):
            if inbound.era == "handshake":
                await call_next(ctx)  # it takes down the version and what the client can
                introduce(inbound.client, inbound.params)
            return await self.greeted(inbound)
        if inbound.id is None:
            if inbound.method == "notifications/initialized":
                await call_next(ctx)
                self.join(inbound.client, connection)
                connection.exit_stack.callback(self.leave, inbound.client)
            elif connection.initialize_accepted:
                await self.told(inbound)
            return None
        if not connection.initialize_accepted and inbound.method != "ping":
            raise MCPError(INVALID_REQUEST, "the connection is not initialized")
        return await self.answered(inbound)

    def _inbound(self, ctx: Any, connection: Any) -> Inbound:
        post = post_of(ctx)
        params = _params(post.params_of(ctx.method, ctx.request_id, ctx.params))
        era: Era = "modern" if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS else "handshake"
        client = modern_client(params) if era == "modern" else connection.state.setdefault("preflight", None)
        if client is None:
            client = connection.state["preflight"] = self.new_client()
        channel = ctx.session._request_outbound  # noqa: SLF001
        return Inbound(ctx.method, params, ctx.request_id, era, ctx.protocol_version, client, channel, post)


class _Line:
    """A client at the other end of a pair of streams."""

    def __init__(self, front: Front, dispatcher: Any, client: Client) -> None:
        self.client = client
        self._front = front
        self._dispatcher = dispatcher
        self._era: Era | None = None
        self._version = LATEST_HANDSHAKE_VERSION
        self._accepted = False

    async def request(self, channel: Any, method: str, given: Mapping[str, Any] | None) -> Object:
        """Answer a request; raises MCPError for one that does not fit the connection's era."""
        params = _params(given)
        modern = method != "initialize" and VERSION_KEY in plain(params.get("_meta"))
        if self._era is None:
            self._era = "modern" if modern else "handshake"
        if modern != (self._era == "modern"):
            raise _other_era(self._era)
        if modern:
            route = classify_inbound_request({"method": method, "params": params})
            if isinstance(route, InboundLadderRejection):
                raise MCPError(route.code, route.message, route.data)
            inbound = Inbound(
                method, params, channel.request_id, "modern", MODERN_VERSION, modern_client(params), channel
            )
            greets = method == "server/discover"
            return await self._greeted(inbound) if greets else await self._front.answered(inbound)
        return await self._handshake(
            Inbound(method, params, channel.request_id, "handshake", self._version, self.client, channel)
        )

    async def _handshake(self, inbound: Inbound) -> Object:
        if inbound.method == "initialize":
            introduce(self.client, inbound.params)
            result = await self._greeted(inbound)
            self._version, self._accepted = inbound.version, True
            return result
        if not self._accepted and inbound.method != "ping":
            raise MCPError(INVALID_REQUEST, "the connection is not initialized")
        return await self._front.answered(inbound)

    async def _greeted(self, inbound: Inbound) -> Object:
        """Return the greeting; where it failed, the client may try the other era, and is told the same of it there."""
        try:
            return await self._front.greeted(inbound)
        except MCPError:
            self._era = "handshake" if self._accepted else None
            raise

    async def notified(self, channel: Any, method: str, given: Mapping[str, Any] | None) -> None:
        """Take a notification; before the greeting none counts."""
        if method == "notifications/initialized":
            if self._accepted:
                self._front.join(self.client, self._dispatcher)
        elif self._accepted or self._era == "modern":
            era, version = self._era or "handshake", self._version
            await self._front.told(Inbound(method, dict(given or {}), None, era, version, self.client, channel))


def _other_era(era: Era) -> MCPError:
    if era == "modern":
        text = f"this connection speaks {MODERN_VERSION}, and every request carries its envelope"
        return MCPError(UNSUPPORTED, text, {"supported": list(MODERN_PROTOCOL_VERSIONS), "requested": ""})
    return MCPError(INVALID_REQUEST, "this connection was greeted with a handshake; requests carry no envelope on it")


class Peer:
    """A server at the other end of a transport."""

    def __init__(self, streams: Streams) -> None:
        """Speak over `streams`; nothing is sent before `run`."""
        incoming, outgoing = streams
        self._words = FirstWords(incoming)
        self._dispatcher: Any = JSONRPCDispatcher(cast("Any", self._words), outgoing)
        self._ids = itertools.count(1)
        self.closed = anyio.Event()

    @property
    def gone(self) -> bool:
        """Whether the transport closed: nothing can be sent any more."""
        return bool(self._dispatcher._closed)  # noqa: SLF001

    async def run(
        self,
        on_request: OnRequest,
        on_notify: OnNotify,
        *,
        task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Receive until the transport closes; what the server asks and tells is handed on as plain objects."""

        async def request(_context: Any, method: str, params: Mapping[str, Any] | None) -> Object:
            return await on_request(method, _params(params))

        async def notify(_context: Any, method: str, params: Mapping[str, Any] | None) -> None:
            await on_notify(method, dict(params or {}))

        try:
            await self._dispatcher.run(request, notify, task_status=task_status)
        finally:
            self.closed.set()

    async def request(
        self,
        method: str,
        params: Object,
        *,
        headers: dict[str, str] | None = None,
        seconds: float | None = None,
        cancel: bool = True,
    ) -> Object:
        """Send a request and return its result; raises MCPError with the server's own code and data.

        It is NotBegun where the server says that it did not begin. Abandoning the request cancels it at the server,
        unless `cancel` is False.
        """
        identifier = next(self._ids)
        options: Object = {"cancel_on_abandon": cancel, "request_id": identifier}
        if headers:
            options["headers"] = headers
        if seconds is not None:
            options["timeout"] = seconds
        self._words.sends(identifier)
        try:
            result: Object = await self._dispatcher.send_raw_request(method, params, options)
        except MCPError as fault:
            raise self._words.judged(identifier, fault) from None
        finally:
            self._words.over(identifier)
        return result

    async def notify(self, method: str, params: Object, headers: dict[str, str] | None = None) -> None:
        """Send a notification; one that cannot be delivered is dropped."""
        await self._dispatcher.notify(method, params or None, {"headers": headers} if headers else None)


def param_headers(schema: object, arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers that repeat arguments, as a tool's input schema wants them."""
    if not isinstance(schema, dict) or find_invalid_x_mcp_header(schema) is not None:
        return {}
    return mcp_param_headers(x_mcp_header_map(schema), arguments)


def _params(given: Mapping[str, Any] | None) -> Object:
    """Return a request's parameters; raises MCPError where what belongs to the protocol is not of its form."""
    if (fault := meta_fault(given)) is not None:
        raise MCPError(INVALID_PARAMS, fault)
    return dict(given or {})
