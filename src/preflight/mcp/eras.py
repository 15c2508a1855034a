"""What differs on the wire between the two protocol eras, and how one is put in the other's form.

*Handshake* is every version up to 2025-11-25: `initialize`, a session, and requests from server to client.
*Modern* is 2026-07-28: every request carries an envelope in `_meta`, and a server that needs something
returns `input_required` instead of asking. All values are plain JSON objects; what is not known here stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

Object = dict[str, Any]
Era = Literal["handshake", "modern"]

MODERN_VERSION: Final = "2026-07-28"
NEWEST_HANDSHAKE: Final = "2025-11-25"
ENVELOPE: Final = "io.modelcontextprotocol/"
VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
CLIENT_KEY: Final = "io.modelcontextprotocol/clientInfo"
CAPABILITIES_KEY: Final = "io.modelcontextprotocol/clientCapabilities"
SERVER_KEY: Final = "io.modelcontextprotocol/serverInfo"
LOG_LEVEL_KEY: Final = "io.modelcontextprotocol/logLevel"

CACHEABLE: Final = frozenset(
    {"tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read"}
)
"""Results that a modern client expects to say how long they hold."""
ASKS_A_PERSON: Final = "elicitation/create"
"""With this a server asks the user."""
ASKING: Final = frozenset({"tools/call", "prompts/get", "resources/read"})
"""Methods whose modern result may be `input_required`."""
CHANGES: Final = frozenset(
    {
        "notifications/tools/list_changed", "notifications/prompts/list_changed",
        "notifications/resources/list_changed", "notifications/resources/updated",
    }
)  # fmt: skip
"""Notifications that a modern client gets only where it subscribed to them."""


CARRIED: Final = ("inputResponses", "requestState")
"""What a modern client comes back with: answers, and what the server had it carry."""


def meta_fault(params: object) -> str | None:
    """Return what is wrong with a message's `_meta`, or None: whatever reads it takes it for an object."""
    meta = params.get("_meta") if isinstance(params, Mapping) else None
    return None if meta is None or isinstance(meta, Mapping) else "`_meta` is not an object; send an object or none"


def bare_params(params: Mapping[str, Any] | None) -> Object:
    """Return a request's parameters without the envelope of the connection it came over, and what else is hop by hop.

    A progress token belongs to one connection; so do the answers to questions that were asked over it.
    """
    bare = {name: value for name, value in (params or {}).items() if name not in CARRIED}
    meta = bare.get("_meta")
    if isinstance(meta, dict):
        kept = {name: value for name, value in meta.items() if not _of_connection(name)}
        bare["_meta"] = kept
        if not kept:
            del bare["_meta"]
    return bare


def _of_connection(name: str) -> bool:
    return name.startswith(ENVELOPE) or name == "progressToken"


def result_for(era: Era, method: str, result: Mapping[str, Any]) -> Object:
    """Return a result as a client of this era expects it."""
    if era == "modern":
        shaped = {"resultType": "complete", **result}
        if method in CACHEABLE and shaped["resultType"] == "complete":
            shaped.setdefault("ttlMs", 0)
            shaped.setdefault("cacheScope", "private")
        return shaped
    shaped = {name: value for name, value in result.items() if name not in ("resultType", "ttlMs", "cacheScope")}
    meta = shaped.get("_meta")
    if isinstance(meta, dict) and SERVER_KEY in meta:
        shaped["_meta"] = {name: value for name, value in meta.items() if name != SERVER_KEY}
        if not shaped["_meta"]:
            del shaped["_meta"]
    return shaped


def asks(result: Mapping[str, Any]) -> bool:
    """Whether a modern server wants something before it answers."""
    return result.get("resultType") == "input_required"


def input_requests(result: Mapping[str, Any]) -> Iterator[tuple[str, str, Object]]:
    """Yield key, method and parameters of what a modern server asks for."""
    wanted = result.get("inputRequests")
    for key, request in (wanted if isinstance(wanted, dict) else {}).items():
        if isinstance(request, dict) and isinstance(request.get("method"), str):
            params = request.get("params")
            yield key, request["method"], params if isinstance(params, dict) else {}


def modern_capabilities(capabilities: Mapping[str, Any]) -> Object:
    """Return those capabilities of a handshake server that exist in the modern protocol."""
    return {name: value for name, value in capabilities.items() if name not in ("logging", "tasks")}
