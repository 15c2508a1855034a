"""What a server says about itself when it is greeted, and in whose name it is."""

from __future__ import annotations

from dataclasses import dataclass, field

from preflight.mcp import eras
from preflight.mcp.eras import Era, Object
from preflight.mcp.sdk import Client, Inbound


@dataclass
class Greeting:
    """What a server said about itself, as it said it."""

    era: Era
    version: str
    capabilities: Object
    info: Object
    instructions: object = None
    whole: Object = field(default_factory=dict)


def nobody(era: Era) -> Inbound:
    """Stand in for a client where the program itself speaks; a server that was greeted before never sees it."""
    version = eras.MODERN_VERSION if era == "modern" else eras.NEWEST_HANDSHAKE
    return Inbound("", {}, None, era, version, Client("", "preflight"), None)


def own_info(client: Inbound) -> Object:
    """Return what a server is told of who greets it."""
    return {"name": client.client.name or "preflight", "version": client.client.version or "0"}
