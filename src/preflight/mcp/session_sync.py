"""`GatedSession` for programs without an event loop: the session lives on one that runs on a thread of its own."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from functools import partial
from typing import Any, Self

from preflight.api import AsyncPreflight, Preflight
from preflight.errors import CallerError
from preflight.mcp.session import GatedSession

try:
    import mcp_types as types
    from anyio.from_thread import BlockingPortal, start_blocking_portal
    from mcp import Client
except ImportError as absent:
    message = f"`{absent.name}` is not installed; install the extra: pip install 'execution-state-preflight[mcp]'"
    raise ImportError(message, name=absent.name) from absent


class SyncGatedSession:
    """A `GatedSession` for programs without an event loop; use it as a context manager.

    `connection` is what a `Client` takes (parameters of a process, an address, a transport), or a `Client`;
    `options` are those of `GatedSession`. The methods are those of the session, and return when they are done.
    `ask` is called on another thread.
    """

    def __init__(self, connection: Any, preflight: AsyncPreflight | Preflight, **options: Any) -> None:
        """Prepare a session with a server; nothing is started yet."""
        client = connection if isinstance(connection, Client) else Client(connection)
        self._gated = GatedSession(client, preflight, **options)
        self._stack = ExitStack()
        self._portal: BlockingPortal | None = None

    def __enter__(self) -> Self:
        """Open the session."""
        with ExitStack() as stack:
            self._portal = stack.enter_context(start_blocking_portal())
            stack.enter_context(self._portal.wrap_async_context_manager(self._gated))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *raised: object) -> None:
        """Close the session."""
        self._stack.close()
        self._portal = None

    def call_tool(self, name: str, arguments: Mapping[str, Any] | None = None, **named: Any) -> types.CallToolResult:
        """Call a tool through the gate; see `GatedSession.call_tool`."""
        result: types.CallToolResult = self._done(partial(self._gated.call_tool, name, arguments, **named))
        return result

    def __getattr__(self, name: str) -> Any:
        """Return what the session has; what is to be awaited there is waited for."""
        found = getattr(self._gated, name)
        return partial(self._waited, found) if inspect.iscoroutinefunction(found) else found

    def _waited(self, call: Callable[..., Awaitable[Any]], *given: Any, **named: Any) -> Any:
        return self._done(partial(call, *given, **named))

    def _done(self, call: Callable[[], Awaitable[Any]]) -> Any:
        if self._portal is None:
            message = "the session is not open; use it in a `with` statement"
            raise CallerError(message)
        return self._portal.call(call)
