"""The tools of the servers behind the proxy, as they list them now, under the names that clients see.

What a tool is, is read off the whole list of its server, and a list is believed for as long as whoever asks says
(decision 0130). Times are those of the question, not of the answer.
"""

from __future__ import annotations

import math
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import anyio

from preflight.errors import InvalidInput, ProviderError
from preflight.mcp.eras import Object
from preflight.mcp.greeting import Greeting
from preflight.mcp.sdk import INVALID_PARAMS, TIMED_OUT, Inbound, MCPError
from preflight.mcp.upstream import Upstream
from preflight.model.tool import Tool
from preflight.render.visible import visible
from preflight.standing import listed_twice

SEPARATOR: Final = "__"
RECENT: Final = 5.0
"""For how many seconds after a server was asked its definitions are believed, for reads that are pinned, and to decide
on what is gated. What is started was asked for anew."""
_PAGES: Final = 1_000
_ENTRIES: Final = 10_000
_LIST_SECONDS: Final = 30.0
"""How long a call waits for the list that it depends on."""
_TRIES: Final = 3
"""How often a list is read that changes while it is read."""


class Unclear(ProviderError):
    """It is not known what a tool is now, or it is another: nothing is called."""


@dataclass(frozen=True)
class Listed:
    """A tool of a server: `declared` is the object that the server listed."""

    server: Upstream
    name: str
    declared: Object
    tool: Tool


@dataclass
class _List:
    """What a server listed when it was last asked for everything, over which connection, and after how many changes."""

    tools: dict[str, Object] = field(default_factory=dict)
    twice: frozenset[str] = frozenset()
    built: dict[str, Listed | None] = field(default_factory=dict)
    begun: float = -math.inf
    greeting: Greeting | None = None
    changes: int = 0
    known_changes: int = -1
    lock: anyio.Lock = field(default_factory=anyio.Lock)

    def holds(self, server: Upstream, since: float) -> bool:
        """Whether it was asked for since then, of the server that runs now, and nothing was told of a change after."""
        told = self.known_changes == self.changes
        return told and self.greeting is not None and self.greeting is server.there and self.begun >= since


class Catalogue:
    """The servers by name. With more than one, names of tools and prompts carry the server's name in front."""

    def __init__(self, servers: Sequence[Upstream]) -> None:
        """Take the servers; what they list is asked for when it is needed.

        Raises InvalidInput where two of them could have a name in common.
        """
        self.servers = tuple(servers)
        self.prefixed = len(servers) > 1
        self._lists = {server.name: _List() for server in servers}
        for server in servers if self.prefixed else ():
            check_name(f"servers/{server.name}", server.name)

    def public(self, server: Upstream, name: str) -> str:
        """Return the name under which clients see a server's tool or prompt."""
        return f"{server.name}{SEPARATOR}{name}" if self.prefixed else name

    def owner(self, name: str) -> tuple[Upstream, str]:
        """Return the server of a public name, and its own name; raises MCPError when no server has it."""
        if not self.prefixed:
            return self.servers[0], name
        prefix, separator, own = name.partition(SEPARATOR)  # `check_name` holds that this undoes `public`
        for server in self.servers if separator else ():
            if server.name == prefix:
                return server, own
        raise MCPError(INVALID_PARAMS, f"there is no server for `{name}`; names begin with {self._prefixes()}")

    def _prefixes(self) -> str:
        return ", ".join(f"`{server.name}{SEPARATOR}`" for server in self.servers)

    def changed(self, server: Upstream) -> None:
        """Note that a server's tools are no longer those it listed."""
        self._lists[server.name].changes += 1

    async def find(self, client: Inbound, server: Upstream, name: str, *, within: float | None = None) -> Listed | None:
        """Return a server's tool, as listed at most `within` seconds ago: 0 asks the server anew (R-74).

        Without `within`, a list is believed until something tells that it changed. Raises Unclear where a name stands
        for several definitions, or the list changes while it is read.
        """
        known = self._lists[server.name]
        since = -math.inf if within is None else time.monotonic() - within
        if name not in known.tools:  # a newer list may have it, and one is enough for all who miss it
            since = max(since, math.nextafter(known.begun, math.inf))
        if not known.holds(server, since):
            await self._renewed(client, server, since, strict=within is not None)
        return self._built(server, name)

    async def confirm(self, client: Inbound, listed: Listed) -> None:
        """Raise Unclear where a tool that was found is another now; asks the server where something told of a change.

        Nothing is awaited where nothing did, so that nothing can come between this and what follows.
        """
        server, known = listed.server, self._lists[listed.server.name]
        try:
            if not known.holds(server, -math.inf):
                await self._renewed(client, server, time.monotonic(), strict=True)
        except MCPError as fault:
            message = f"`{server.name}` told of a change, and then did not list its tools: {visible(fault.message)}"
            raise Unclear(message) from fault
        now = self._built(server, listed.name)
        if now is None or now.tool.fingerprint != listed.tool.fingerprint:
            message = f"`{server.name}` changed `{visible(listed.name)}` meanwhile; send the call again"
            raise Unclear(message)

    def twice(self, server: Upstream) -> frozenset[str]:
        """Return the names that stood for several definitions when a server was last asked for all its tools."""
        return self._lists[server.name].twice

    async def all_tools(self, client: Inbound, server: Upstream) -> list[Object]:
        """Return every tool of a server, all pages, and remember them."""
        async with self._lists[server.name].lock:
            return await self._read(client, server)

    def learn(self, server: Upstream, tools: object) -> None:
        """Take one page that a client asked for: what it has and was not known tells of a change."""
        known = self._lists[server.name]
        found = [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
        if any(known.tools.get(name) != tool for name, tool in _named(found).items()):
            known.changes += 1
        known.tools |= _named(found)
        known.built.clear()
        server.learn_schemas(found)

    def schema_of(self, public: str) -> Object | None:
        """Return the input schema of a tool that was listed, by its public name."""
        try:
            server, name = self.owner(public)
        except MCPError:
            return None
        schema = self._lists[server.name].tools.get(name, {}).get("inputSchema")
        return schema if isinstance(schema, dict) else None

    async def _renewed(self, client: Inbound, server: Upstream, since: float, *, strict: bool) -> None:
        """Read a list that does not hold, unless somebody else just did; `strict` wants one that held to its end."""
        known = self._lists[server.name]
        async with known.lock:
            for _ in range(_TRIES):
                if known.holds(server, since):
                    return
                await self._read(client, server)
                if not strict:
                    return
        if not known.holds(server, since):
            message = f"the tools of `{server.name}` change while they are listed, {_TRIES} times in a row; try again"
            raise Unclear(message)

    async def _read(self, client: Inbound, server: Upstream) -> list[Object]:
        known, greeting = self._lists[server.name], await server.greet(client)
        changes, begun = known.changes, time.monotonic()
        tools: list[Object] = []
        with anyio.move_on_after(_LIST_SECONDS) as patience:
            async for page in pages(client, server, "tools/list", "tools"):
                tools += page
        if patience.cancelled_caught:
            text = f"nothing was called: `{server.name}` did not list its tools within {_LIST_SECONDS:g} seconds"
            raise MCPError(TIMED_OUT, text)
        known.tools, known.twice, known.built = _named(tools), listed_twice(tools), {}
        known.greeting, known.known_changes, known.begun = greeting, changes, begun
        server.learn_schemas(tools)
        return tools

    def _built(self, server: Upstream, name: str) -> Listed | None:
        known = self._lists[server.name]
        if name in known.twice:
            what = f"`{server.name}` lists `{visible(name)}` more than once, with different definitions"
            message = f"{what}, and which of them a call would reach is not known; have the server name them apart"
            raise Unclear(message)
        if name not in known.tools:
            return None
        if name not in known.built:
            known.built[name] = _listed(server, name, known.tools[name])
        return known.built[name]


def _listed(server: Upstream, name: str, declared: Object) -> Listed | None:
    try:
        return Listed(server, name, declared, Tool.from_mcp(declared, server=server.name))
    except InvalidInput:  # what cannot be read as a tool cannot be gated: it is unknown, and a call of it is refused
        return None


def _named(tools: Sequence[Object]) -> dict[str, Object]:
    return {tool["name"]: tool for tool in tools if isinstance(tool.get("name"), str)}


def check_name(where: str, name: str) -> None:
    """Raise InvalidInput for a server's name that leaves open where it ends in front of a tool's.

    The first separator in a public name is then the one that was put there.
    """
    if SEPARATOR in name or name.endswith(SEPARATOR[0]):
        what = f"`{visible(name)}` has `{SEPARATOR}` in it, or `{SEPARATOR[0]}` at its end"
        do = f"rename the server, in the rules too: with several, clients see its tools as `NAME{SEPARATOR}TOOL`"
        raise InvalidInput(where, what, do)


async def pages(client: Inbound, server: Upstream, method: str, key: str) -> AsyncIterator[list[Object]]:
    """Yield the entries of each page of a list; raises MCPError for one that does not end."""
    params: Object = {}
    cursors: set[str] = set()
    count = 0
    while len(cursors) < _PAGES and count <= _ENTRIES:
        page = await server.request(client, method, params)
        found = page.get(key)
        entries = [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []
        count += len(entries)
        yield entries
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str) or not cursor:
            return
        if cursor in cursors:
            raise MCPError(INVALID_PARAMS, f"the list `{method}` of `{server.name}` leads back to a page it had")
        cursors.add(cursor)
        params = {"cursor": cursor}
    text = f"the list `{method}` of `{server.name}` does not end after {len(cursors)} pages with {count} entries"
    raise MCPError(INVALID_PARAMS, text)
