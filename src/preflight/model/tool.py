"""The tool as its server declares it, with the fingerprint that later checks compare."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import msgspec

from preflight.errors import InvalidInput
from preflight.limits import DEFAULT, Limits
from preflight.model.json_value import freeze, thaw

_ENCODER = msgspec.json.Encoder(order="deterministic", decimal_format="number")
_WRITTEN = msgspec.json.Encoder(decimal_format="number")
_PINNED = ("name", "title", "description", "inputSchema", "annotations", "outputSchema")


class Tool(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An MCP tool definition, deeply frozen.

    `input_schema` is whatever the server sent under `inputSchema`, checked later (R-34). `fingerprint`
    is the SHA-256, in hex, of the server's name and the declared parts (R-68): it changes with any of
    name, title, description, schemas or annotations. `order` tells schemas apart that are equal but written
    in another order.
    """

    server: str
    name: str
    description: str
    input_schema: object
    annotations: object
    meta: object
    fingerprint: str
    title: object = None
    output_schema: object = None
    order: bytes = b""

    @classmethod
    def from_mcp(cls, declared: object, *, server: str = "", limits: Limits = DEFAULT) -> Tool:
        """Build a tool from the object an MCP server lists; `server` names the server it came from.

        Raises InvalidInput when it is no object, or its name is empty, too long or has control characters.
        """
        if isinstance(declared, Tool):
            return declared
        if not isinstance(declared, Mapping):
            raise InvalidInput("tool", f"a `{type(declared).__name__}` is not an MCP tool", "send an object")
        tool = freeze(declared, "tool", limits)
        assert isinstance(tool, Mapping)  # noqa: S101  freeze keeps objects objects
        name = _name(tool.get("name"), limits)
        named = tool.get("server")
        server = server or (named if type(named) is str else "")
        description = tool.get("description")
        return cls(
            server=server,
            name=name,
            description=description if type(description) is str else "",
            input_schema=tool.get("inputSchema"),
            annotations=tool.get("annotations"),
            meta=tool.get("_meta"),
            fingerprint=fingerprint(server, tool),
            title=tool.get("title"),
            output_schema=tool.get("outputSchema"),
            order=_order(tool.get("inputSchema")),
        )


def fingerprint(server: str, declared: Mapping[str, object]) -> str:
    """Return the hex SHA-256 over a server's name and a tool's declared parts, in a fixed form (R-68)."""
    pinned = {key: thaw(declared.get(key)) for key in _PINNED}
    pinned["description"] = pinned["description"] or ""  # a tool without one is the tool with an empty one
    return hashlib.sha256(_ENCODER.encode([server, pinned])).hexdigest()


def _order(schema: object) -> bytes:
    """Return a digest of a schema in the order it is written in: slots are listed in that order (R-11)."""
    return hashlib.blake2b(_WRITTEN.encode(thaw(schema)), digest_size=16).digest()


def _name(name: object, limits: Limits) -> str:
    if type(name) is not str or not name:
        raise InvalidInput("tool.name", "missing or empty", "send the tool's name as the server lists it")
    if len(name) > limits.tool_name_length:
        raise InvalidInput("tool.name", f"longer than {limits.tool_name_length} characters")
    if not name.isprintable():
        raise InvalidInput("tool.name", "has control or invisible characters", "rename the tool")
    return name
