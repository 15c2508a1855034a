"""The one module that touches names of the MCP package which its authors call provisional (decision 0080).

It turns a connection into plain objects: `Inbound` is a request as a client sent it, `Peer` a server to send
requests to. Nothing is parsed into types on the way, so that nothing is lost.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
from anyio.abc import TaskStatus

from preflight.mcp.eras import CAPABILITIES_KEY, CLIENT_KEY, Era, Object

try:
    import mcp_types as types
    from mcp import MCPError
    from mcp.server import Server
    from mcp.server.request_state import AESGCMRequestStateCodec, InvalidRequestState
    from mcp.server.stdio import stdio_server
    from mcp.server.subscriptions import (
        InMemorySubscriptionBus,
        ListenHandler,
        PromptsListChanged,
        ResourcesListChanged,
        ResourceUpdated,
        ServerEvent,
        ToolsListChanged,
    )
    from mcp.server.transport_security import TransportSecuritySettings
    from mcp.shared.inbound import encode_header_value, find_invalid_x_mcp_header, mcp_param_headers, x_mcp_header_map
    from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
    from mcp.shared.message import SessionMessage
    from mcp_types.version import MODERN_PROTOCOL_VERSIONS
except ImportError as absent:
    message = f"`{absent.name}` is not installed; install the extra: pip install 'execution-state-preflight[proxy]'"
    raise ImportError(message, name=absent.name) from absent

__all__ = [
    "CLOSED", "INVALID_PARAMS", "INVALID_REQUEST", "METHOD_NOT_FOUND", "NOT_BEGUN", "TIMED_OUT", "UNSUPPORTED",
    "AESGCMRequestStateCodec", "Front", "Inbound", "InvalidRequestState", "MCPError", "Peer", "SessionMessage",
    "Streams", "encode_header_value", "param_headers", "stdio_server", "types",
]  # fmt: skip

CLOSED: Final = types.CONNECTION_CLOSED
TIMED_OUT: Final = types.REQUEST_TIMEOUT
INVALID_PARAMS: Final = types.INVALID_PARAMS
INVALID_REQUEST: Final = types.INVALID_REQUEST
METHOD_NOT_FOUND: Final = types.METHOD_NOT_FOUND
UNSUPPORTED: Final = types.UNSUPPORTED_PROTOCOL_VERSION
NOT_BEGUN: Final = (METHOD_NOT_FOUND, INVALID_PARAMS, INVALID_REQUEST, types.PARSE_ERROR)
"""With these a server says that it did not begin (decision 0004)."""

Streams = tuple[Any, Any]
"""What a transport is: a stream of messages to read, and one to write to."""
OnRequest = Callable[[str, Object], Awaitable[Object]]
OnNotify = Callable[[str, Object], Awaitable[None]]


@dataclass
class Client:
    """Who is at the other end of a connection, as it says itself. `session` tells connections apart."""

    session: str
    name: str = ""
    version: str = ""
    capabilities: Object = field(default_factory=dict)


@dataclass
class Inbound:
    """One message of a client. `id` is None for a notification."""

    method: str
    params: Object
    id: int | str | None
    era: Era
    version: str
    client: Client
    headers: Mapping[str, str]
    _context: Any

    @property
    def meta(self) -> Object:
        """The request's `_meta`, the envelope included."""
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}

    async def notify(self, method: str, params: Object) -> None:
        """Send a notification that belongs to this request."""
        await self._context.session._request_outbound.notify(method, params or None)  # noqa: SLF001

    @property
    def can_ask(self) -> bool:
        """Whether requests may be sent to the client while this one is open."""
        return self.era == "handshake" and bool(self._context.session.can_send_request)

    async def ask(self, method: str, params: Object) -> Object:
        """Send a request to the client and return its result; raises MCPError with what it answers instead."""
        result: Object = await self._context.session._request_outbound.send_raw_request(method, params)  # noqa: SLF001
        return result

    async def listen(self, handler: ListenHandler) -> Object:
        """Serve a modern client's subscription until it goes away."""
        params = types.SubscriptionsListenRequestParams.model_validate(self.params, by_name=False)
        result = await handler(self._context, params)
        return result.model_dump(by_alias=True, mode="json", exclude_none=True)


Handle = Callable[[Inbound], Awaitable[Object | None]]
"""Answers a request, or takes a notification; None leaves a message to the package's own handling."""
Greet = Callable[[Inbound, Object], Awaitable[Object]]
"""Returns the result of `initialize` or `server/discover`, given the package's own."""


class Front:
    """Serves clients of both eras: hands every message to `handle`, and greetings to `greet`.

    `bus` carries change notifications to modern subscribers; `send` carries notifications to handshake clients.
    """

    def __init__(self, name: str, handle: Handle, greet: Greet, schema_of: Callable[[str], Object | None]) -> None:
        """Serve as `name`; `schema_of` gives a tool's input schema, for headers that repeat arguments."""
        self.server: Server[Any] = Server(name, get_tool_input_schema=schema_of)
        self.server.middleware = [self._middle]
        self._handle = handle
        self._greet = greet
        self._bus = InMemorySubscriptionBus()
        self._listening = ListenHandler(self._bus)
        self._connections: dict[str, Any] = {}
        self._count = 0

    async def serve_stdio(self) -> None:
        """Serve one client over standard input and output until it goes away."""
        from preflight.mcp.strict import strict  # noqa: PLC0415  only this transport needs it

        async with stdio_server() as (read, write):
            await self.run(*strict(read, write))

    async def run(self, read: Any, write: Any) -> None:
        """Serve one client over a pair of streams until it goes away."""
        await self.server.run(read, write, self.server.create_initialization_options())

    def http_app(self, path: str, allowed_hosts: list[str], allowed_origins: list[str]) -> Any:
        """Return an application that serves clients over streamable HTTP, from these hosts and origins alone."""
        checks = TransportSecuritySettings(allowed_hosts=allowed_hosts, allowed_origins=allowed_origins)
        return self.server.streamable_http_app(streamable_http_path=path, transport_security=checks)

    async def changed(self, method: str, params: Object) -> None:
        """Tell every client about a change: handshake clients as it came, modern ones where they subscribed."""
        await self.send(method, params)
        event = _event(method, params)
        if event is not None:
            await self._bus.publish(event)

    async def send(self, method: str, params: Object) -> None:
        """Send a notification to every handshake client that is connected."""
        for connection in list(self._connections.values()):
            await connection.notify(method, params or None)

    async def ask(self, method: str, params: Object) -> Object:
        """Ask the one client that is connected; raises MCPError when there is none, or more than one."""
        connections = list(self._connections.values())
        if len(connections) != 1:
            raise MCPError(METHOD_NOT_FOUND, f"no single client is at hand to answer `{method}`")
        result: Object = await connections[0].send_raw_request(method, params)
        return result

    async def _middle(self, ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        method = ctx.method
        if method in ("initialize", "server/discover"):
            own = await call_next(ctx)
            return await self._greet(self._inbound(ctx, hello=True), own)
        inbound = self._inbound(ctx)
        if inbound.id is None:
            if method == "notifications/initialized":
                await call_next(ctx)
                self._join(ctx, inbound.client)
            elif ctx.session._connection.initialize_accepted:  # noqa: SLF001
                await self._handle(inbound)
            return None
        if method == "subscriptions/listen" and inbound.era == "modern":
            return await inbound.listen(self._listening)
        if not ctx.session._connection.initialize_accepted and method != "ping":  # noqa: SLF001
            raise MCPError(INVALID_REQUEST, "the connection is not initialized")
        result = await self._handle(inbound)
        return await call_next(ctx) if result is None else result

    def _inbound(self, context: Any, *, hello: bool = False) -> Inbound:
        params = dict(context.params or {})
        era: Era = "modern" if context.protocol_version in MODERN_PROTOCOL_VERSIONS else "handshake"
        request = context.request
        return Inbound(
            method=context.method,
            params=params,
            id=context.request_id,
            era=era,
            version=context.protocol_version,
            client=self._modern_client(params) if era == "modern" else self._handshake_client(context, params, hello),
            headers=request.headers if request is not None else {},
            _context=context,
        )

    def _handshake_client(self, context: Any, params: Object, hello: bool) -> Client:  # noqa: FBT001
        state = context.session._connection.state  # noqa: SLF001
        client: Client | None = state.get("preflight")
        if client is None:
            self._count += 1
            client = state["preflight"] = Client(f"c{self._count}")
        if hello:
            client.name, client.version = _named(params.get("clientInfo"))
            client.capabilities = _object(params.get("capabilities"))
        return client

    def _modern_client(self, params: Object) -> Client:
        meta = _object(params.get("_meta"))
        return Client("", *_named(meta.get(CLIENT_KEY)), _object(meta.get(CAPABILITIES_KEY)))

    def _join(self, context: Any, client: Client) -> None:
        connection = context.session._connection  # noqa: SLF001
        self._connections[client.session] = connection
        connection.exit_stack.callback(self._connections.pop, client.session, None)


class Peer:
    """A server at the other end of a transport."""

    def __init__(self, streams: Streams) -> None:
        """Speak over `streams`; nothing is sent before `run`."""
        self._dispatcher: Any = JSONRPCDispatcher(*streams)
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
            return await on_request(method, dict(params or {}))

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

        Abandoning it cancels it at the server, unless `cancel` is False.
        """
        options: Object = {"cancel_on_abandon": cancel}
        if headers:
            options["headers"] = headers
        if seconds is not None:
            options["timeout"] = seconds
        result: Object = await self._dispatcher.send_raw_request(method, params, options)
        return result

    async def notify(self, method: str, params: Object, headers: dict[str, str] | None = None) -> None:
        """Send a notification; one that cannot be delivered is dropped."""
        await self._dispatcher.notify(method, params or None, {"headers": headers} if headers else None)


def param_headers(schema: object, arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers that repeat arguments, as a tool's input schema wants them."""
    if not isinstance(schema, dict) or find_invalid_x_mcp_header(schema) is not None:
        return {}
    return mcp_param_headers(x_mcp_header_map(schema), arguments)


def _event(method: str, params: Object) -> ServerEvent | None:
    if method == "notifications/tools/list_changed":
        return ToolsListChanged()
    if method == "notifications/prompts/list_changed":
        return PromptsListChanged()
    if method == "notifications/resources/list_changed":
        return ResourcesListChanged()
    uri = params.get("uri")
    return ResourceUpdated(uri) if isinstance(uri, str) else None


def _object(value: object) -> Object:
    return value if isinstance(value, dict) else {}


def _named(info: object) -> tuple[str, str]:
    given = _object(info)
    name, version = given.get("name"), given.get("version")
    return (name if isinstance(name, str) else "", version if isinstance(version, str) else "")
