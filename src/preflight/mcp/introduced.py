"""Who is at the other end of a connection, as it says itself: nothing of it counts for anything but being told."""

from __future__ import annotations

from dataclasses import dataclass, field

from preflight.mcp.eras import CAPABILITIES_KEY, CLIENT_KEY, Object


@dataclass
class Client:
    """Who is at the other end of a connection, as it says itself. `session` tells connections apart."""

    session: str
    name: str = ""
    version: str = ""
    capabilities: Object = field(default_factory=dict)


def introduce(client: Client, params: Object) -> None:
    """Take down who a handshake client says it is."""
    client.name, client.version = _named(params.get("clientInfo"))
    client.capabilities = plain(params.get("capabilities"))


def modern_client(params: Object) -> Client:
    """Return who a modern client says it is, in each of its requests."""
    meta = plain(params.get("_meta"))
    return Client("", *_named(meta.get(CLIENT_KEY)), plain(meta.get(CAPABILITIES_KEY)))


def plain(value: object) -> Object:
    """Return an object as it is, and an empty one for whatever else it is."""
    return value if isinstance(value, dict) else {}


def _named(info: object) -> tuple[str, str]:
    given = plain(info)
    name, version = given.get("name"), given.get("version")
    return (name if isinstance(name, str) else "", version if isinstance(version, str) else "")
