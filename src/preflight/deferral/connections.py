"""How a worker reaches tools when nobody is there: connections that the adopter declared beforehand.

`Callables` are Python functions; `ServerFile` starts MCP servers by the `mcpServers` file that clients use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Protocol, Self

import msgspec

from preflight.errors import ConstructionError, InvalidInput
from preflight.results import ToolCall
from preflight.standing import listed_twice


class ToolRemoved(InvalidInput):
    """The server does not list the tool any more."""

    def __init__(self, server: str, name: str) -> None:
        """Name what is missing."""
        super().__init__("tool", f"server `{server}` lists no tool `{name}`")


class Connections(Protocol):
    """Reaches tools by server and name."""

    def tool(self, server: str, name: str) -> Mapping[str, object]:
        """Return the tool as its server lists it now; raises ToolRemoved, or whatever else keeps it from answering."""
        ...

    def call(self, call: ToolCall) -> object:
        """Call a tool once and return the provider's result; raises as `execute_if_ready` expects (R-76)."""
        ...


class Callables:
    """Tools that are functions of this program: `{(server, name): (definition, function)}`.

    A function is given the `ToolCall` and returns the result.
    """

    def __init__(
        self, tools: Mapping[tuple[str, str], tuple[Mapping[str, object], Callable[[ToolCall], object]]]
    ) -> None:
        """Take the tools; the mapping is looked at anew for each call."""
        self._tools = tools

    def tool(self, server: str, name: str) -> Mapping[str, object]:
        """Return the definition that is given now."""
        if (server, name) not in self._tools:
            raise ToolRemoved(server, name)
        return self._tools[server, name][0]

    def call(self, call: ToolCall) -> object:
        """Call the function."""
        return self._tools[call.server, call.name][1](call)


class _Server(msgspec.Struct, forbid_unknown_fields=True):
    command: str
    args: list[str] = []
    env: dict[str, str] | None = None
    timeout: float = 60.0


class _File(msgspec.Struct):
    servers: dict[str, _Server] = msgspec.field(name="mcpServers")


class ServerFile:
    """MCP servers over standard input and output, started when they are first needed; use it as a context manager.

    The file is JSON: `{"mcpServers": {NAME: {"command", "args", "env", "timeout"}}}`, `timeout` in seconds. A server
    that fails is started again the next time. Raises InvalidInput for a file that cannot be read so.
    """

    def __init__(self, path: str | Path) -> None:
        """Read the file."""
        try:
            self._declared = msgspec.json.decode(Path(path).read_bytes(), type=_File).servers
        except OSError as fault:
            raise InvalidInput("connections", f"`{path}` cannot be read: {fault.strerror}") from fault
        except msgspec.MsgspecError as fault:
            what = f"`{path}` declares no servers: {fault}"
            raise InvalidInput("connections", what, 'write `{"mcpServers": {NAME: {"command": ...}}}`') from fault
        self._running: dict[str, Any] = {}
        self._lock = Lock()

    def __enter__(self) -> Self:
        """Start nothing yet."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, where: TracebackType | None
    ) -> None:
        """Stop what was started."""
        for name in list(self._running):
            self._stop(name)

    def tool(self, server: str, name: str) -> Mapping[str, object]:
        """Ask the server for its list."""
        listed = self._using(server, lambda running: running.tools())
        found = next((tool for tool in listed if tool.get("name") == name), None)
        if found is None:
            raise ToolRemoved(server, name)
        if name in listed_twice(listed):
            raise InvalidInput("tool", f"server `{server}` lists `{name}` more than once, with different definitions")
        return found  # type: ignore[no-any-return]  # a JSON object of the server's

    def call(self, call: ToolCall) -> object:
        """Call the tool."""
        return self._using(call.server, lambda running: running.call(call))

    def read(self, server: str, name: str, arguments: dict[str, object]) -> object:
        """Call a read tool: what `create_preflight` takes as `read_tool`."""
        return self._using(server, lambda running: running.read(server, name, arguments))

    def _using(self, server: str, work: Callable[[Any], Any]) -> Any:
        running = self._started(server)
        try:
            return work(running)
        except Exception:
            self._stop(server)
            raise

    def _started(self, server: str) -> Any:
        with self._lock:
            if server not in self._running:
                declared = self._declared.get(server)
                if declared is None:
                    known = ", ".join(f"`{name}`" for name in sorted(self._declared)) or "none"
                    raise InvalidInput("server", f"no connection is declared for `{server}`; declared are: {known}")
                self._running[server] = stdio_server()(
                    [declared.command, *declared.args], seconds=declared.timeout, env=declared.env
                ).__enter__()
            return self._running[server]

    def _stop(self, server: str) -> None:
        with self._lock:
            running = self._running.pop(server, None)
        if running is not None:
            running.__exit__(None, None, None)


def stdio_server() -> Any:
    """Return `preflight.mcp.stdio.StdioServer`; raises ConstructionError where the extra is not installed."""
    try:
        from preflight.mcp.stdio import StdioServer  # noqa: PLC0415  only where MCP servers are reached
    except ImportError as absent:
        raise ConstructionError(str(absent)) from absent
    return StdioServer
