"""An MCP server as a child process, spoken to synchronously over its standard input and output.

Tools and results stay the JSON objects that the server sent: a typed copy would drop what it does not know,
and a tool's fingerprint is taken over all of it (R-68).
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Self, TextIO, cast

from preflight.errors import InvalidInput, ProviderError
from preflight.logs import quiet_wire
from preflight.results import ToolCall
from preflight.standing import listed_twice

try:
    import mcp_types as types
    from anyio.from_thread import BlockingPortal, start_blocking_portal
    from mcp import Client, MCPError
    from mcp.client.stdio import get_default_environment
    from pydantic import TypeAdapter

    from preflight.mcp.firstword import NOT_BEGUN, FirstWords
    from preflight.mcp.jsontext import plain
    from preflight.mcp.process import started
except ImportError as absent:
    message = f"`{absent.name}` is not installed; install the extra: pip install 'execution-state-preflight[mcp]'"
    raise ImportError(message, name=absent.name) from absent

_OBJECT: Any = TypeAdapter(dict[str, Any])  # a plain object, which `send_request` takes and does not declare
_PAGES = 1_000


class StdioServer:
    """A running MCP server; use it as a context manager. `seconds` bounds each request.

    Starting it raises InvalidInput when the command cannot be run or does not speak MCP.
    """

    def __init__(self, command: Sequence[str], *, seconds: float = 60.0, env: Mapping[str, str] | None = None) -> None:
        """Take the command that starts the server."""
        if not command:
            raise InvalidInput("server", "an empty command", "give the command that starts the MCP server")
        self._command = list(command)
        self._seconds = seconds
        self._env = None if env is None else dict(env)
        self._stack = ExitStack()
        self._portal: BlockingPortal
        self._client: Client
        self._words: FirstWords

    def __enter__(self) -> Self:
        """Start the server and greet it."""
        quiet_wire()
        with ExitStack() as stack:
            self._portal = stack.enter_context(start_blocking_portal())
            errors = stack.enter_context(_error_log())
            environment = {**get_default_environment(), **(self._env or {})}
            # not the package's own: it drops what it cannot read, and of invalid UTF-8 it dies (decision 0135)
            process = started(self._command, environment, errors=errors)
            client = Client(self._heard(process), read_timeout_seconds=self._seconds)
            try:
                self._client = stack.enter_context(self._portal.wrap_async_context_manager(client))
            except Exception as fault:
                shown = " ".join(self._command)
                raise InvalidInput("server", f"`{shown}` does not answer as an MCP server: {_said(fault)}") from fault
            self._stack = stack.pop_all()
        return self

    @asynccontextmanager
    async def _heard(self, process: AbstractAsyncContextManager[Any]) -> AsyncIterator[Any]:
        async with process as (incoming, outgoing):
            self._words = FirstWords(incoming)
            yield self._words, outgoing

    def __exit__(self, *raised: object) -> None:
        """Stop the server."""
        self._stack.close()

    def tools(self) -> list[dict[str, Any]]:
        """Return the tools as the server lists them now, all pages."""
        found: list[dict[str, Any]] = []
        cursor: str | None = None
        for _ in range(_PAGES):
            params = types.PaginatedRequestParams(cursor=cursor) if cursor else None
            page = self._send(types.ListToolsRequest(params=params))
            found += [tool for tool in page.get("tools", ()) if isinstance(tool, dict)]
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str) or not cursor:
                return found
        raise InvalidInput("server", f"its tool list does not end after {_PAGES} pages")

    def tool(self, name: str) -> dict[str, Any]:
        """Return one tool as the server lists it now; raises InvalidInput for none of that name, or several."""
        tools = self.tools()
        if name in listed_twice(tools):
            raise InvalidInput("server", f"it lists `{name}` more than once, with different definitions")
        for tool in tools:
            if tool.get("name") == name:
                return tool
        raise InvalidInput("server", f"it lists no tool `{name}`")

    def call(self, call: ToolCall) -> dict[str, Any]:
        """Call a tool once with the arguments and the idempotency key of its record (R-74).

        Raises ProviderError only where the server says that it did not begin; whatever else goes wrong
        leaves open what happened there (R-76).
        """
        return self.read(call.server, call.name, call.arguments, dict(call.meta))

    def read(
        self, server: str, name: str, arguments: dict[str, object], meta: Mapping[str, object] | None = None
    ) -> dict[str, Any]:
        """Call a tool by name; `server` is for callers that hold several. The form that `ShippedHooks` reads with."""
        del server
        params = types.CallToolRequestParams(name=name, arguments=arguments, _meta=cast("Any", meta))
        before = self._words.spoken
        try:
            result = self._send(types.CallToolRequest(params=params))
        except MCPError as fault:
            if fault.code in NOT_BEGUN and self._words.spoken == before:  # its first word on the call
                raise ProviderError(f"the server refused the call: {fault.message}") from fault
            raise
        if result.get("resultType", "complete") != "complete":
            raise RuntimeError("the server answered with a question of its own, which is not supported")
        return result

    def _send(self, request: types.Request[Any, Any]) -> dict[str, Any]:
        async def send() -> dict[str, Any]:
            answer: dict[str, Any] = await self._client.session.send_request(request, _OBJECT)
            return answer

        result: dict[str, Any] = plain(self._portal.call(send))
        return result


@contextmanager
def _error_log() -> Iterator[TextIO]:
    """Give the server this program's standard error, where it has one that a process can be given."""
    try:
        sys.stderr.fileno()
    except (AttributeError, OSError, ValueError):
        with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
            yield nowhere
    else:
        yield sys.stderr


def _said(fault: BaseException) -> str:
    """Return the innermost message; task groups wrap it."""
    while isinstance(fault, BaseExceptionGroup):
        fault = fault.exceptions[0]
    return str(fault) or type(fault).__name__
