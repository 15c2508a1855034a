"""The proxy: everything passes as it came, but for calls of tools, which go through the gate."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import anyio

from preflight.errors import HookError, InvalidInput, describe
from preflight.mcp import eras, texts
from preflight.mcp.catalogue import RECENT, Catalogue, Listed, Unclear
from preflight.mcp.eras import Object
from preflight.mcp.gating import Gating, Held, Ready
from preflight.mcp.greeting import Greeting, nobody
from preflight.mcp.jsontext import exact
from preflight.mcp.lists import KEYS, Lists
from preflight.mcp.marks import Marks
from preflight.mcp.parking import PATIENCE as ANSWER_PATIENCE
from preflight.mcp.parking import Exchange, Parking
from preflight.mcp.prying import pries
from preflight.mcp.sdk import METHOD_NOT_FOUND, Front, Inbound, MCPError, types
from preflight.mcp.together import PATIENCE, WHAT_TO_DO, Together, instructed, noted
from preflight.mcp.upstream import Progress, Upstream
from preflight.render.visible import visible

_log = logging.getLogger("preflight.mcp")
_OWN: Final = ("notifications/initialized", "notifications/cancelled")
"""Notifications of a client that end here: its greeting is not the servers', and cancelling works call by call."""


class Proxy:
    """Clients in front, servers behind."""

    def __init__(
        self,
        catalogue: Catalogue,
        marks: Marks,
        patience: float = PATIENCE,
        answer_patience: float = ANSWER_PATIENCE,
        name: str = "preflight",
    ) -> None:
        """Serve what is in `catalogue`, listed with `marks`; `gate` it before anything is served.

        Each of several servers is waited for so long; see `Together`. A server's question waits for its client's
        answer as long as `answer_patience` says.
        """
        self.front = Front(name, self._handle, self._greet, catalogue.schema_of)
        self.parking = Parking(answer_patience)
        self._answer_patience = answer_patience
        self._catalogue = catalogue
        self._marks = marks
        self._together = Together(catalogue.servers, patience)
        self._lists = Lists(catalogue, marks, self._together)
        self._gating: Gating

    def gate(self, gating: Gating) -> None:
        """Have calls of tools decided by `gating`."""
        self._gating = gating

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep the servers, and the calls that wait for their clients, while inside."""
        async with anyio.create_task_group() as tasks:
            self.parking.belongs_to(tasks)
            self._together.belongs_to(tasks, self._late)
            for server in self._catalogue.servers:
                server.belongs_to(tasks)
                tasks.start_soon(server.prepare)
            try:
                yield
            finally:
                for server in self._catalogue.servers:
                    await server.close()
                tasks.cancel_scope.cancel()

    # what servers say by themselves

    async def asked(self, server: Upstream, method: str, params: Object) -> Object:
        """Put a server's question to the client whose call it is most likely about: the one made last."""
        if server.exchanges:
            return await self.put(server, server.exchanges[-1], method, params)
        return self._unasked(server, method) or await self.front.ask(method, params, self._answer_patience)

    async def put(self, server: Upstream, exchange: Exchange, method: str, params: Object) -> Object:
        """Put a server's question to a call's client; a form that asks for a secret is declined for it."""
        if (field := pries(method, params)) is not None:
            _log.warning("`%s` asked for a secret in a form (`%s`); it was not shown", server.name, visible(field))
            return {"action": "decline"}
        return self._unasked(server, method) or await exchange.ask(method, params)

    def _unasked(self, server: Upstream, method: str) -> Object | None:
        """Return what a server is told that asks a person where none attends: what a client would say is nobody's."""
        if not (self._gating.unattended and method == eras.ASKS_A_PERSON):
            return None
        _log.warning("`%s` asked a person, and nobody attends; it was told that nobody answered", server.name)
        return {"action": "cancel"}

    async def told(self, server: Upstream, method: str, params: Object) -> None:
        """Hand a server's notification on."""
        if method == "notifications/tools/list_changed":
            self._catalogue.changed(server)
        if method in eras.CHANGES:
            await self.front.changed(method, params)
        elif server.exchanges:
            await server.exchanges[-1].client.notify(method, params)
        else:
            await self.front.send(method, params)

    async def vouch(self, server: Upstream, name: str) -> None:
        """Raise where a tool that a measure reads is not the one that was accepted, or stands for several (R-68)."""
        recent = RECENT if self._marks.watches(server.name, name) else None
        found = await self._catalogue.find(nobody("handshake"), server, name, within=recent)
        if found is not None and self._marks.differs(server.name, found.tool):
            message = f"`{server.name}` lists a `{visible(name)}` that is not the one that was accepted"
            raise HookError(message)

    # what clients say

    async def _greet(self, client: Inbound, base: Object) -> Object:
        """Introduce the servers as they introduce themselves."""
        if len(self._catalogue.servers) == 1:
            return self._introduced(client, base, await self._greeting(client))
        greetings, left_out = await self._together.each(client, client.method, lambda server: server.greet(client))
        # who is left out may come later, and says so by the list of tools
        capabilities: Object = {"tools": {"listChanged": True}} if left_out else {}
        for greeting in greetings.values():
            capabilities = _merged(capabilities, greeting.capabilities)
        said = [str(greeting.instructions) for greeting in greetings.values() if greeting.instructions]
        said += [instructed(left_out)] if left_out else []
        together = Greeting("handshake", "", capabilities, base.get("serverInfo", {}), "\n\n".join(said) or None)
        return noted(self._introduced(client, base, together), left_out)

    async def _greeting(self, client: Inbound) -> Greeting:
        """Greet the one server there is; raises MCPError as it came, with what to do about it."""
        try:
            return await self._catalogue.servers[0].greet(client)
        except MCPError as fault:
            _log.error("%s", visible(fault.message))
            raise MCPError(fault.code, f"{fault.message}; {WHAT_TO_DO}", fault.data) from fault

    async def _late(self, server: Upstream) -> None:
        """Tell clients of a server that was greeted after it had been left out."""
        _log.warning("`%s` is there now", server.name)
        has = server.greeting.capabilities if server.greeting else {}
        for kind in ("tools", "prompts", "resources"):
            if kind in has:
                await self.front.changed(f"notifications/{kind}/list_changed", {})

    def _introduced(self, client: Inbound, base: Object, greeting: Greeting) -> Object:
        modern = client.era == "modern"
        whole = greeting.whole if greeting.era == client.era else {}
        capabilities = greeting.capabilities
        if modern and greeting.era != "modern":
            capabilities = eras.modern_capabilities(capabilities)
        fixed = "supportedVersions" if modern else "protocolVersion"
        result = {**(whole or base), fixed: base[fixed], "capabilities": capabilities}
        if greeting.instructions is not None:
            result["instructions"] = greeting.instructions
        if greeting.info:
            if modern:
                meta = result.get("_meta")
                result["_meta"] = {**(meta if isinstance(meta, dict) else {}), eras.SERVER_KEY: greeting.info}
            else:
                result["serverInfo"] = greeting.info
        return result

    async def _handle(self, client: Inbound) -> Object | None:
        """Answer a request, or pass a notification on."""
        if client.id is None:
            if client.method not in _OWN:
                await self._tell_servers(client)
            return None
        try:
            result = await self._answered(client)
        except Held as held:
            result = held.result
        except MCPError:
            raise
        except Exception as fault:
            _log.exception("`%s` failed", client.method)
            raise MCPError(types.INTERNAL_ERROR, f"unforeseen in the proxy: {describe(fault)}") from fault
        return eras.result_for(client.era, client.method, result)

    async def _tell_servers(self, client: Inbound) -> None:
        servers = self._catalogue.servers
        if len(servers) == 1:
            await servers[0].notify(client.method, eras.bare_params(client.params))
        else:
            await self._together.tell(lambda server: server.notify(client.method, eras.bare_params(client.params)))

    async def _answered(self, client: Inbound) -> Object:
        method, params = client.method, client.params
        if method == "ping":
            return {}
        if method == "tools/call":
            return await self._call(client)
        if method in KEYS:
            return await self._lists.get(client, method, eras.bare_params(params))
        if method == "logging/setLevel":
            return await self._log_level(client)
        if method in ("resources/subscribe", "resources/unsubscribe"):
            return await self._subscribe(client)
        server, params = await self._addressed(client)
        return await self._passed(client, server, params)

    async def _addressed(self, client: Inbound) -> tuple[Upstream, Object]:
        """Return the server that a request is for, and the request with that server's own names."""
        params = client.params
        if client.method == "prompts/get" and isinstance(params.get("name"), str):
            server, name = self._catalogue.owner(params["name"])
            return server, {**params, "name": name}
        if client.method == "completion/complete" and isinstance(params.get("ref"), dict):
            ref = params["ref"]
            if isinstance(ref.get("name"), str):
                server, name = self._catalogue.owner(ref["name"])
                return server, {**params, "ref": {**ref, "name": name}}
            return await self._lists.reader(client, ref.get("uri")), params
        if client.method.startswith("resources/"):
            return await self._lists.reader(client, params.get("uri")), params
        if self._catalogue.prefixed:
            raise MCPError(METHOD_NOT_FOUND, f"`{client.method}` names no server, and there are several")
        return self._catalogue.servers[0], params

    async def _log_level(self, client: Inbound) -> Object:
        if len(self._catalogue.servers) == 1:
            return await self._levelled(client, self._catalogue.servers[0])
        await self._together.each(client, client.method, lambda server: self._levelled(client, server))
        return {}

    async def _levelled(self, client: Inbound, server: Upstream) -> Object:
        level, greeting = client.params.get("level"), await server.greet(client)
        if greeting.era == "modern":
            server.log_level = level if isinstance(level, str) else None
        elif "logging" in greeting.capabilities:
            await server.request(client, client.method, eras.bare_params(client.params))
        return {}

    async def _subscribe(self, client: Inbound) -> Object:
        uri = client.params.get("uri")
        server = await self._lists.reader(client, uri)
        if (await server.greet(client)).era == "handshake" or not isinstance(uri, str):
            return await server.request(client, client.method, eras.bare_params(client.params))
        await server.subscribe(uri, wanted=client.method == "resources/subscribe")
        return {}

    # calls

    async def _call(self, client: Inbound) -> Object:
        # a call that is under way was decided; its server, which waits for an answer, may not list anything meanwhile
        if (held := self._held(client)) is not None:
            return self._surfaced(client, *await self.parking.resume(client, held))
        listed, public, arguments = await self._proposed(client)
        server = listed.server
        if self._gating.effect(listed) == "read":
            sent = await self._gating.read(listed, arguments)
            await self._as_found(client, listed)
            params = {**client.params, "name": listed.name}
            if sent is not arguments:
                params["arguments"] = sent
            return await self._passed(client, server, params)
        ready = await self._gating.decide(client, listed, public, arguments)
        if not isinstance(ready, Ready):
            return ready
        if client.era == "handshake":
            exchange = Exchange(client, self._answer_patience)
            return await self._gating.execute(ready, exchange, _progress(exchange))
        work = _Execution(self._gating, ready)
        return self._surfaced(client, *await self.parking.run(client, work))

    async def _proposed(self, client: Inbound) -> tuple[Listed, str, Object]:
        """Return the tool that a call names and its arguments; raises MCPError, after it was recorded, for others."""
        name, arguments = client.params.get("name"), client.params.get("arguments")
        if not isinstance(name, str):
            raise await self._gating.refused(client.params, InvalidInput("name", "missing", "name the tool to call"))
        if not isinstance(arguments, dict | None):
            what = InvalidInput("arguments", f"a `{type(arguments).__name__}`", "send an object")
            raise await self._gating.refused(client.params, what)
        try:
            proposed = {key: exact(value, f"arguments/{key}") for key, value in (arguments or {}).items()}
        except InvalidInput as fault:  # R-47
            raise await self._gating.refused(client.params, fault) from None
        server, own = self._catalogue.owner(name)
        try:
            # R-68: what is pinned was accepted as it is, and a read of it does without the question at its start
            recent = RECENT if self._marks.watches(server.name, own) else None
            listed = await self._catalogue.find(client, server, own, within=recent)
        except Unclear as fault:
            await self._gating.refused(client.params, InvalidInput("name", str(fault)))
            raise Held(texts.failure(f"Held, nothing was called: {fault}.")) from fault
        if listed is None:
            what = InvalidInput("name", f"`{server.name}` lists no tool `{own}`", "`tools/list` names those there are")
            raise await self._gating.refused(client.params, what)
        return listed, name, proposed

    async def _as_found(self, client: Inbound, listed: Listed) -> None:
        """Raise Held where a pinned tool changed while its read was decided (R-68)."""
        if self._marks.watches(listed.server.name, listed.name):
            try:
                await self._catalogue.confirm(client, listed)
            except Unclear as fault:
                raise Held(texts.failure(f"Held, nothing was called: {fault}.")) from fault

    async def _passed(self, client: Inbound, server: Upstream, params: Object) -> Object:
        """Pass a request on, and its server's questions back, in whatever eras the two are."""
        greeting = await server.greet(client)
        if client.era == "handshake":
            exchange = Exchange(client, self._answer_patience)
            return await server.request(client, client.method, eras.bare_params(params), exchange, _progress(exchange))
        if greeting.era == "modern":
            # its questions are its own affair: they pass, and so does what it has the client carry
            sent = eras.bare_params(params) | {name: params[name] for name in eras.CARRIED if name in params}
            asked = await server.request(client, client.method, sent, None, _progress(Exchange(client)))
            return self._put_through(server, asked)
        if client.method not in eras.ASKING:
            return await server.request(client, client.method, eras.bare_params(params), None, None)
        if (held := self._held(client)) is not None:
            return self._surfaced(client, *await self.parking.resume(client, held))
        work = _Passing(server, client.method, eras.bare_params(params))
        return self._surfaced(client, *await self.parking.run(client, work))

    def _put_through(self, server: Upstream, result: Object) -> Object:
        """Return a modern server's result, unless it is a form that asks for a secret, or a person where none is."""
        for _, method, params in eras.input_requests(result) if eras.asks(result) else ():
            if (field := pries(method, params)) is not None:
                _log.warning("`%s` asked for a secret in a form (`%s`); it was not shown", server.name, visible(field))
                raise Held(texts.failure(f"Stopped: `{server.name}` asks for a secret in a form, which is not shown."))
            if self._unasked(server, method) is not None:
                raise Held(texts.failure(f"Stopped: `{server.name}` asks a person, and nobody attends this run."))
        return result

    def _held(self, client: Inbound) -> str | None:
        state = self._gating.sealing.opened(client.params) if client.era == "modern" else None
        held = (state or {}).get("held")
        return held if isinstance(held, str) else None

    def _surfaced(self, client: Inbound, result: Object, held: str | None) -> Object:
        """Let a client come back to a call that waits for it."""
        if held is None:
            return result
        return {**result, "requestState": self._gating.sealing.seal(client.params, {"held": held})}


class _Passing:
    """A request that is passed on while its client comes and goes."""

    def __init__(self, server: Upstream, method: str, params: Object) -> None:
        self._server = server
        self._method = method
        self._params = params

    async def __call__(self, exchange: Exchange) -> Object:
        return await self._server.request(exchange.client, self._method, self._params, exchange, _progress(exchange))


class _Execution:
    """A started call whose client comes and goes."""

    def __init__(self, gating: Gating, ready: Ready) -> None:
        self._gating = gating
        self._ready = ready

    async def __call__(self, exchange: Exchange) -> Object:
        return await self._gating.execute(self._ready, exchange, _progress(exchange))


def _progress(exchange: Exchange) -> Progress | None:
    """Return what hands progress to a client that wants it, under the token of its present request."""
    if "progressToken" not in exchange.client.meta:
        return None

    async def progress(params: Object) -> None:
        client = exchange.client
        if "progressToken" in client.meta:
            await client.notify("notifications/progress", {**params, "progressToken": client.meta["progressToken"]})

    return progress


def _merged(first: Object, second: Object) -> Object:
    """Return what either can."""
    merged = dict(first)
    for name, value in second.items():
        known = merged.get(name)
        if isinstance(known, dict) and isinstance(value, dict):
            merged[name] = known | {key: each for key, each in value.items() if each or key not in known}
        else:
            merged[name] = value
    return merged
