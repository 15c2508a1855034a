"""The tools of the servers behind the proxy, as they list them now, under the names that clients see."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from preflight.errors import InvalidInput
from preflight.mcp.eras import Object
from preflight.mcp.sdk import INVALID_PARAMS, Inbound, MCPError
from preflight.mcp.upstream import Upstream
from preflight.model.tool import Tool

SEPARATOR: Final = "__"
_PAGES: Final = 1_000
_FRESH_SECONDS: Final = 30.0
"""How long a list is believed before a call that is gated; a server that says it changed is asked at once."""


@dataclass(frozen=True)
class Listed:
    """A tool of a server: `declared` is the object that the server listed."""

    server: Upstream
    name: str
    declared: Object
    tool: Tool


@dataclass
class _List:
    tools: dict[str, Listed] = field(default_factory=dict)
    at: float = 0.0
    stale: bool = True


class Catalogue:
    """The servers by name. With more than one, names of tools and prompts carry the server's name in front."""

    def __init__(self, servers: Sequence[Upstream]) -> None:
        """Take the servers; what they list is asked for when it is needed."""
        self.servers = tuple(servers)
        self.prefixed = len(servers) > 1
        self._lists = {server.name: _List() for server in servers}

    def public(self, server: Upstream, name: str) -> str:
        """Return the name under which clients see a server's tool or prompt."""
        return f"{server.name}{SEPARATOR}{name}" if self.prefixed else name

    def owner(self, name: str) -> tuple[Upstream, str]:
        """Return the server of a public name, and its own name; raises MCPError when no server has it."""
        if not self.prefixed:
            return self.servers[0], name
        for server in sorted(self.servers, key=lambda each: -len(each.name)):
            if name.startswith(server.name + SEPARATOR):
                return server, name[len(server.name) + len(SEPARATOR) :]
        raise MCPError(INVALID_PARAMS, f"there is no server for `{name}`; names begin with {self._prefixes()}")

    def _prefixes(self) -> str:
        return ", ".join(f"`{server.name}{SEPARATOR}`" for server in self.servers)

    def changed(self, server: Upstream) -> None:
        """Note that a server's tools are no longer those it listed."""
        self._lists[server.name].stale = True

    async def find(self, client: Inbound, server: Upstream, name: str, *, fresh: bool = False) -> Listed | None:
        """Return a server's tool; with `fresh`, as it is listed now, give or take half a minute."""
        known = self._lists[server.name]
        age = time.monotonic() - known.at
        if known.stale or (fresh and age > _FRESH_SECONDS) or name not in known.tools:
            await self.all_tools(client, server)
        return known.tools.get(name)

    async def all_tools(self, client: Inbound, server: Upstream) -> list[Object]:
        """Return every tool of a server, all pages, and remember them."""
        known = self._lists[server.name]
        known.stale = False  # a change that is told while the list is read makes it stale again
        tools = [tool async for page in pages(client, server, "tools/list", "tools") for tool in page]
        known.tools = dict(_listed(server, tools))
        known.at = time.monotonic()
        server.learn_schemas(tools)
        return tools

    def learn(self, server: Upstream, tools: object) -> None:
        """Remember the tools of one page that a client asked for."""
        found = [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
        self._lists[server.name].tools |= dict(_listed(server, found))
        server.learn_schemas(found)

    def schema_of(self, public: str) -> Object | None:
        """Return the input schema of a tool that was listed, by its public name."""
        try:
            server, name = self.owner(public)
        except MCPError:
            return None
        listed = self._lists[server.name].tools.get(name)
        schema = listed.declared.get("inputSchema") if listed else None
        return schema if isinstance(schema, dict) else None


def _listed(server: Upstream, tools: list[Object]) -> Iterator[tuple[str, Listed]]:
    for declared in tools:
        name = declared.get("name")
        if isinstance(name, str):
            # what cannot be read as a tool cannot be gated: it is unknown here, and a call of it is refused
            with suppress(InvalidInput):
                yield name, Listed(server, name, declared, Tool.from_mcp(declared, server=server.name))


async def pages(client: Inbound, server: Upstream, method: str, key: str) -> AsyncIterator[list[Object]]:
    """Yield the entries of each page of a list; raises MCPError for one that does not end."""
    params: Object = {}
    for _ in range(_PAGES):
        page = await server.request(client, method, params)
        found = page.get(key)
        yield [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str) or not cursor:
            return
        params = {"cursor": cursor}
    raise MCPError(INVALID_PARAMS, f"the list `{method}` of `{server.name}` does not end after {_PAGES} pages")
