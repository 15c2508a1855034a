"""A look at servers without a client: each is started or reached, greeted, and asked for its tools. None is called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import anyio
import msgspec

from preflight.errors import describe, innermost
from preflight.logs import quiet_wire
from preflight.mcp.catalogue import pages
from preflight.mcp.config import ServerConfig
from preflight.mcp.eras import Era, Object
from preflight.mcp.greeting import Greeting, nobody
from preflight.mcp.parking import Exchange
from preflight.mcp.sdk import METHOD_NOT_FOUND, MCPError
from preflight.mcp.upstream import Upstream

_ERAS: Final[tuple[Era, ...]] = ("modern", "handshake")
PATIENCE: Final = 20.0
"""Seconds that a server has to start, be greeted and list its tools."""


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What a server showed: who it says it is, how it speaks, its tools as it listed them; or why it did not.

    `fault` may be about the list alone: then the greeting is there.
    """

    name: str
    fault: str | None = None
    era: Era | None = None
    version: str | None = None
    calls_itself: str = ""
    own_version: str = ""
    tools: tuple[Object, ...] | None = None


def look(configs: Sequence[ServerConfig], seconds: float = PATIENCE) -> tuple[Seen, ...]:
    """Look at all of them side by side, each for so many seconds at most; none keeps another from being seen."""
    quiet_wire()
    return anyio.run(_look, configs, seconds)


async def _look(configs: Sequence[ServerConfig], seconds: float) -> tuple[Seen, ...]:
    found: dict[int, Seen] = {}

    async def one(number: int, config: ServerConfig) -> None:
        found[number] = await _seen(config, seconds)

    async with anyio.create_task_group() as tasks:
        for number, config in enumerate(configs):
            tasks.start_soon(one, number, config)
    return tuple(found[number] for number in sorted(found))


async def _seen(config: ServerConfig, seconds: float) -> Seen:
    """Greet a server as a modern client, and one that ends at that as a handshake client (decision 0081)."""
    with anyio.move_on_after(seconds):
        for era in _ERAS:
            seen = await _greeted(config, era)
            if seen.era is not None:
                return seen
        return await _explained(config, seen, seconds)
    return Seen(name=config.name, fault=f"the server `{config.name}` did not answer within {seconds:g} seconds")


async def _explained(config: ServerConfig, seen: Seen, seconds: float) -> Seen:
    """Add what a plain request to its address meets, which says more than a connection that was closed."""
    if not config.url:
        return seen
    from preflight.mcp.address import obstacle  # noqa: PLC0415  an HTTP client only where one is needed

    why = await obstacle(config.url, config.headers, seconds)
    return msgspec.structs.replace(seen, fault=f"{seen.fault} ({why})") if why else seen


async def _greeted(config: ServerConfig, era: Era) -> Seen:
    client = nobody(era)
    try:
        async with anyio.create_task_group() as tasks:
            server = Upstream(config.name, config.transport(), _Deaf())
            server.belongs_to(tasks)
            try:
                greeting = await server.greet(client)
                return await _with_tools(server, greeting, era)
            except MCPError as fault:
                return Seen(name=config.name, fault=fault.message)
            finally:
                await server.close()
                tasks.cancel_scope.cancel()
    except Exception as fault:  # noqa: BLE001  whatever it is, the other servers are still shown
        return Seen(name=config.name, fault=describe(innermost(fault)))
    return Seen(name=config.name, fault="it ended")


async def _with_tools(server: Upstream, greeting: Greeting, era: Era) -> Seen:
    info = greeting.info
    seen = Seen(
        name=server.name,
        era=greeting.era,
        version=greeting.version,
        calls_itself=str(info.get("name") or ""),
        own_version=str(info.get("version") or ""),
    )
    try:
        tools = [tool async for page in pages(nobody(era), server, "tools/list", "tools") for tool in page]
    except MCPError as fault:
        if fault.code == METHOD_NOT_FOUND:  # it has none
            return msgspec.structs.replace(seen, tools=())
        return msgspec.structs.replace(seen, fault=f"the server `{server.name}` lists no tools: {fault.message}")
    return msgspec.structs.replace(seen, tools=tuple(tools))


class _Deaf:
    """Hears nothing that servers say by themselves, and answers none of their questions: there is no client."""

    async def asked(self, server: Upstream, method: str, params: Object) -> Object:  # noqa: ARG002  the form of `Reporter`
        raise MCPError(METHOD_NOT_FOUND, f"there is no client to answer `{method}`")

    async def put(self, server: Upstream, exchange: Exchange, method: str, params: Object) -> Object:  # noqa: ARG002  same
        return await self.asked(server, method, params)

    async def told(self, server: Upstream, method: str, params: Object) -> None:
        """Pass over it."""
