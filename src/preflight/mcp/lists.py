"""Tools, prompts and resources of several servers as those of one, and which server an entry belongs to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from preflight.mcp.catalogue import Catalogue, pages
from preflight.mcp.eras import Object
from preflight.mcp.marks import Marks
from preflight.mcp.sdk import INVALID_PARAMS, METHOD_NOT_FOUND, Inbound, MCPError
from preflight.mcp.together import Together, noted
from preflight.mcp.upstream import Upstream
from preflight.render.visible import visible

KEYS: Final = {
    "tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}  # fmt: skip
"""The lists, and under which key their entries stand."""
_NAMED: Final = ("tools/list", "prompts/list")
_RESOURCES: Final = "resources/list"
_TEMPLATES: Final = "resources/templates/list"


class Lists:
    """Lists of everything behind the proxy. Resources keep their addresses, so those are remembered by server."""

    def __init__(self, catalogue: Catalogue, marks: Marks, together: Together) -> None:
        """List what the servers of `catalogue` have, asked `together`, with `marks` on the tools that are held."""
        self._catalogue = catalogue
        self._marks = marks
        self._together = together
        self._addresses: dict[tuple[str, str], frozenset[str]] = {}

    async def get(self, client: Inbound, method: str, params: Object) -> Object:
        """Return one page where there is one server; else everything of all servers that answer in time."""
        servers = self._catalogue.servers
        if len(servers) == 1:
            result = await servers[0].request(client, method, params)
            if method == "tools/list":
                self._catalogue.learn(servers[0], result.get("tools"))
                return self._marks.on_page(servers[0].name, result, self._catalogue.twice(servers[0]))
            return result
        answers, faults = await self._together.each(client, method, lambda server: self._of(client, server, method))
        return noted({KEYS[method]: [entry for found in answers.values() for entry in found]}, faults)

    async def _of(self, client: Inbound, server: Upstream, method: str) -> list[Object]:
        try:
            if method == "tools/list":
                tools = await self._catalogue.all_tools(client, server)
                found = self._marks.on(server.name, tools, self._catalogue.twice(server))
            else:
                found = [entry async for page in pages(client, server, method, KEYS[method]) for entry in page]
        except MCPError as fault:
            if fault.code == METHOD_NOT_FOUND:  # it has none
                return []
            raise
        if method not in _NAMED:
            addresses = (entry.get("uri" if method == _RESOURCES else "uriTemplate") for entry in found)
            self._addresses[server.name, method] = frozenset(each for each in addresses if isinstance(each, str))
            return found
        # what has no name cannot be asked for
        named = [entry for entry in found if isinstance(entry.get("name"), str)]
        return [{**entry, "name": self._catalogue.public(server, entry["name"])} for entry in named]

    async def reader(self, client: Inbound, uri: object) -> Upstream:
        """Return the one server that listed an address, or else whose template it fits; raises MCPError for none.

        Also where several did: which of them is meant nobody said.
        """
        servers = self._catalogue.servers
        if len(servers) == 1:
            return servers[0]
        if not isinstance(uri, str):
            raise MCPError(INVALID_PARAMS, "`uri` is missing")
        for method in ("", _RESOURCES, _TEMPLATES):
            if method:
                await self.get(client, method, {})
            if owners := self._owners(uri):
                return self._only(uri, owners)
        raise MCPError(INVALID_PARAMS, f"no server lists the resource `{visible(uri)}`")

    def _only(self, uri: str, owners: set[str]) -> Upstream:
        if len(owners) > 1:
            who = ", ".join(f"`{name}`" for name in sorted(owners))
            text = f"the resource `{visible(uri)}` is one of {who}, and which is meant is not known"
            raise MCPError(INVALID_PARAMS, f"{text}; put each of them behind a proxy of its own")
        return next(server for server in self._catalogue.servers if server.name in owners)

    def _owners(self, uri: str) -> set[str]:
        """Return the servers that list an address; else those whose template fits, the longest beginning first."""
        listed = {name for name, method in self._addresses if uri in self._addresses[name, method]}
        if listed:
            return listed
        fits = {
            name: max(beginnings)
            for (name, method), known in self._addresses.items()
            if method == _TEMPLATES and (beginnings := list(_fitting(uri, known)))
        }
        return {name for name, length in fits.items() if length == max(fits.values())}


def _fitting(uri: str, templates: Iterable[str]) -> Iterable[int]:
    """Yield how far an address is as templates say, which is up to their first variable."""
    for template in templates:
        start, brace, _ = template.partition("{")
        if brace and start and uri.startswith(start):
            yield len(start)
