"""Putting the proxy together: the gate, its rules, the words, the servers; and serving until the client goes away."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import anyio

from preflight.api import AsyncPreflight, create_async_preflight, create_preflight
from preflight.clock import SystemClock
from preflight.console.web import ServedConsole, serve
from preflight.console.whose import Whose
from preflight.errors import HookError
from preflight.logs import handler_to_stderr, quiet_wire
from preflight.mcp.asking import Asking
from preflight.mcp.catalogue import Catalogue
from preflight.mcp.config import ServerConfig
from preflight.mcp.eras import Object
from preflight.mcp.gating import BUDGET_SECONDS, Gating, Who
from preflight.mcp.greeting import nobody
from preflight.mcp.jsontext import plain
from preflight.mcp.marks import Marks
from preflight.mcp.nopage import NoPage
from preflight.mcp.parking import PATIENCE as ANSWER_PATIENCE
from preflight.mcp.parking import Exchange
from preflight.mcp.proxy import Proxy
from preflight.mcp.standard import standard_streams
from preflight.mcp.together import PATIENCE
from preflight.mcp.upstream import Upstream
from preflight.model.instruction import Segment
from preflight.ports import Storage, Words
from preflight.render.hints import NO_HINTS, Hints
from preflight.rulebook import RulesGiven, rules_source

Vouch = Callable[[Upstream, str], Awaitable[None]]
"""Raises where a server's tool is not known to be the one that was accepted."""
_READ_SECONDS: Final = 30.0
_log = logging.getLogger("preflight")
"""The logger of the whole package: what the rules and the words tell is told, too (R-67)."""


class NoWords:
    """Nothing that the user said is known: every value is asked for."""

    def segments(self, join: Mapping[str, str]) -> tuple[Segment, ...]:  # noqa: ARG002  the form of `Words`
        """Return nothing."""
        return ()


@dataclass(frozen=True)
class Setting:
    """What a proxy is made of.

    `budget` is how many seconds a call waits for a person. `page_port` is that of the pages for the person: 0 takes one
    that is free, None serves none. `hide_forbidden` leaves tools that the rules forbid out of the lists. `patience` is
    how many seconds each of several servers has to be greeted, and to list what it has. `answer_patience` is how many
    seconds a server's own question waits for its client. `hints` make the commands that people are told work where
    they are.
    """

    servers: Sequence[ServerConfig]
    storage: Storage
    rules: RulesGiven
    who: Who
    words: Words = field(default_factory=NoWords)
    budget: float = BUDGET_SECONDS
    page_port: int | None = 0
    store_instruction: bool = True
    hide_forbidden: bool = False
    patience: float = PATIENCE
    answer_patience: float = ANSWER_PATIENCE
    hints: Hints = NO_HINTS


class Reads:
    """Reads for measures, from the threads that hooks run on; works once a client was greeted."""

    def __init__(self) -> None:
        """Reach nothing before `bind`."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._servers: Mapping[str, Upstream] = {}
        self._vouch: Vouch

    def bind(self, servers: Mapping[str, Upstream], vouch: Vouch) -> None:
        """Read from these servers, on the loop that is running, with tools that `vouch` does not raise for."""
        self._loop = asyncio.get_running_loop()
        self._servers = servers
        self._vouch = vouch

    def __call__(self, server: str, tool: str, arguments: dict[str, object]) -> object:
        """Call a read tool; raises HookError when the server is not behind this proxy."""
        found = self._servers.get(server)
        if found is None or self._loop is None:
            message = f"a measure reads the server `{server}`, which is not behind this proxy"
            raise HookError(message)
        return asyncio.run_coroutine_threadsafe(self._read(found, tool, arguments), self._loop).result(_READ_SECONDS)

    async def _read(self, server: Upstream, tool: str, arguments: dict[str, object]) -> object:
        await self._vouch(server, tool)
        params = {"name": tool, "arguments": arguments}
        return plain(await server.request(nobody("handshake"), "tools/call", params))


class Assembled:
    """A proxy with all its parts."""

    def __init__(self, setting: Setting) -> None:
        """Build it; nothing is started."""
        rules = rules_source(setting.rules)
        self.reads = Reads()
        self.gate: AsyncPreflight = create_async_preflight(
            storage=setting.storage, rules=rules, read_tool=self.reads,
            store_instruction=setting.store_instruction, clock=SystemClock(),
        )  # fmt: skip
        reads = create_preflight(storage=setting.storage, rules=rules)  # of a read, the request is not kept
        reporter = _Later()
        self.servers = {each.name: Upstream(each.name, each.transport(), reporter) for each in setting.servers}
        catalogue = Catalogue(tuple(self.servers.values()))
        who, port = setting.who, setting.page_port
        if who.unattended and not port:  # whoever comes to answer finds neither this process nor a port it took
            port = None
        marks = Marks(rules, who.user, who.tenant, hide_forbidden=setting.hide_forbidden)
        self.proxy = reporter.to = Proxy(catalogue, marks, setting.patience, setting.answer_patience)
        self.page = self._page(setting, port)
        asking = Asking(self.gate, self.page, who.user, setting.hints)
        self.proxy.gate(Gating(self.gate, reads, rules, setting.words, who, catalogue, asking, setting.budget))

    def _page(self, setting: Setting, port: int | None) -> NoPage | ServedConsole:
        if port is None:
            return NoPage(setting.hints)
        return ServedConsole(self.gate, Whose(setting.who.user, setting.who.tenant), port, setting.hints)

    async def serve_stdio(self) -> None:
        """Serve the client on standard input and output until it goes away."""
        async with self._running(), standard_streams() as streams:
            await self.proxy.front.serve(streams)

    async def serve_http(self, listener: socket.socket, token: str) -> None:
        """Serve clients that know the token, over HTTP, until cancelled."""
        from preflight.mcp.http import PATH, Read, TokenRequired, hosts_for  # noqa: PLC0415  only this front needs it

        hosts, origins = hosts_for(*listener.getsockname()[:2])
        app = TokenRequired(Read(self.proxy.front.http_app(PATH, hosts, origins)), token, origins)
        async with self._running():
            await serve(app, listener)

    @asynccontextmanager
    async def _running(self) -> AsyncIterator[None]:
        self.reads.bind(self.servers, self.proxy.vouch)
        async with anyio.create_task_group() as tasks, self.proxy.running():
            if isinstance(self.page, ServedConsole):
                tasks.start_soon(self.page.serve)
            yield
            tasks.cancel_scope.cancel()


def run(serve: Callable[[], Awaitable[None]]) -> None:
    """Run until the client goes away; whatever ends it is told on standard error."""
    quiet_wire()
    _log.addHandler(handler_to_stderr("preflight: %(message)s"))
    anyio.run(serve)


class _Later:
    """Reports to a proxy that is made after its servers."""

    to: Proxy

    async def asked(self, server: Upstream, method: str, params: Object) -> Object:
        return await self.to.asked(server, method, params)

    async def put(self, server: Upstream, exchange: Exchange, method: str, params: Object) -> Object:
        return await self.to.put(server, exchange, method, params)

    async def told(self, server: Upstream, method: str, params: Object) -> None:
        await self.to.told(server, method, params)
