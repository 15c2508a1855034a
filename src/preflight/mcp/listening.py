"""Modern clients' subscriptions: each is a request that stays open, and carries the changes it asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import anyio

from preflight.mcp.eras import ENVELOPE, Object

if TYPE_CHECKING:
    from preflight.mcp.sdk import Inbound

_KINDS: Final = {
    "notifications/tools/list_changed": "toolsListChanged",
    "notifications/prompts/list_changed": "promptsListChanged",
    "notifications/resources/list_changed": "resourcesListChanged",
}
_ID: Final = f"{ENVELOPE}subscriptionId"
_WAITING: Final = 1_000
"""Changes that may wait for one client; one that does not read loses its subscription, and asks again."""


@dataclass(frozen=True)
class _Subscription:
    wanted: Object
    send: Any

    def takes(self, method: str, params: Mapping[str, Any]) -> bool:
        if method in _KINDS:
            return self.wanted.get(_KINDS[method]) is True
        return params.get("uri") in self.wanted.get("resourceSubscriptions", ())


class Listening:
    """The subscriptions that are open."""

    def __init__(self) -> None:
        """Hold none yet."""
        self._open: dict[object, _Subscription] = {}

    async def serve(self, client: Inbound) -> Object:
        """Tell a client of what it subscribed to, until it goes away."""
        wanted = _honoured(client.params.get("notifications"))
        meta = {_ID: client.id}
        send, receive = anyio.create_memory_object_stream[tuple[str, Object]](_WAITING)
        key = object()
        self._open[key] = _Subscription(wanted, send)
        try:
            acknowledged = {"notifications": wanted, "_meta": meta}
            await client.notify("notifications/subscriptions/acknowledged", acknowledged)
            async for method, params in receive:
                own = params.get("_meta")
                await client.notify(method, {**params, "_meta": {**(own if isinstance(own, dict) else {}), **meta}})
        finally:
            self._open.pop(key, None)
            send.close()
            receive.close()
        return {"resultType": "complete", "_meta": meta}

    def publish(self, method: str, params: Object) -> None:
        """Tell every client that subscribed to such a change."""
        for key, each in list(self._open.items()):
            if each.takes(method, params):
                try:
                    each.send.send_nowait((method, params))
                except anyio.WouldBlock:
                    self._open.pop(key, None)
                    each.send.close()
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    self._open.pop(key, None)


def _honoured(given: object) -> Object:
    """Return what of a request will be told: whatever it names, so far as it is well formed."""
    asked = given if isinstance(given, dict) else {}
    wanted: Object = {name: True for name in _KINDS.values() if asked.get(name) is True}
    uris = asked.get("resourceSubscriptions")
    if isinstance(uris, list) and uris:
        wanted["resourceSubscriptions"] = [uri for uri in uris if isinstance(uri, str)]
    return wanted
