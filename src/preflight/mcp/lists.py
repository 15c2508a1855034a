"""Tools, prompts and resources of several servers as those of one, and which server an entry belongs to."""

from __future__ import annotations

from typing import Final

from preflight.mcp.catalogue import Catalogue, pages
from preflight.mcp.eras import Object
from preflight.mcp.marks import Marks
from preflight.mcp.sdk import CLOSED, INVALID_PARAMS, METHOD_NOT_FOUND, Inbound, MCPError
from preflight.mcp.upstream import Upstream

KEYS: Final = {
    "tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}  # fmt: skip
"""The lists, and under which key their entries stand."""
_NAMED: Final = ("tools/list", "prompts/list")


class Lists:
    """Lists of everything behind the proxy. Resources keep their addresses, so those are remembered by server."""

    def __init__(self, catalogue: Catalogue, marks: Marks) -> None:
        """List what the servers of `catalogue` have, with `marks` on the tools that are held."""
        self._catalogue = catalogue
        self._marks = marks
        self._owners: dict[str, Upstream] = {}

    async def get(self, client: Inbound, method: str, params: Object) -> Object:
        """Return one page where there is one server; else everything of all servers that are there."""
        servers = self._catalogue.servers
        if len(servers) == 1:
            result = await servers[0].request(client, method, params)
            if method == "tools/list":
                self._catalogue.learn(servers[0], result.get("tools"))
                return self._marks.on_page(servers[0].name, result)
            return result
        return {KEYS[method]: [entry for server in servers for entry in await self._of(client, server, method)]}

    async def _of(self, client: Inbound, server: Upstream, method: str) -> list[Object]:
        key = KEYS[method]
        try:
            if method == "tools/list":
                found = self._marks.on(server.name, await self._catalogue.all_tools(client, server))
            else:
                found = [entry async for page in pages(client, server, method, key) for entry in page]
        except MCPError as fault:
            if fault.code in (METHOD_NOT_FOUND, CLOSED):  # it has none, or is not there: the others still count
                return []
            raise
        if method not in _NAMED:
            self._owners |= {str(entry.get("uri") or entry.get("uriTemplate")): server for entry in found}
            return found
        return [{**entry, "name": self._catalogue.public(server, str(entry.get("name")))} for entry in found]

    async def reader(self, client: Inbound, uri: object) -> Upstream:
        """Return the server that listed an address, or whose template it fits; raises MCPError when none did."""
        servers = self._catalogue.servers
        if len(servers) == 1:
            return servers[0]
        if not isinstance(uri, str):
            raise MCPError(INVALID_PARAMS, "`uri` is missing")
        for method in ("", "resources/list", "resources/templates/list"):
            if method:
                await self.get(client, method, {})
            if owner := self._owner(uri):
                return owner
        raise MCPError(INVALID_PARAMS, f"no server lists the resource `{uri}`")

    def _owner(self, uri: str) -> Upstream | None:
        fits = [known for known in self._owners if uri == known or _fits(uri, known)]
        return self._owners[max(fits, key=len)] if fits else None


def _fits(uri: str, template: str) -> bool:
    """Whether an address begins as a template does before its first variable."""
    start, brace, _ = template.partition("{")
    return bool(brace and start) and uri.startswith(start)
