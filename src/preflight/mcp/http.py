"""The proxy's front over HTTP: a token, this machine alone unless told otherwise, and no page of another origin."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from preflight.errors import InvalidInput

PATH: Final = "/mcp"
LOCAL: Final = ("127.0.0.1", "localhost", "[::1]")

_Send = Callable[[Mapping[str, Any]], Awaitable[None]]


def address_of(text: str) -> tuple[str, int]:
    """Read `[HOST]:PORT`; without a host it is this machine alone. Raises InvalidInput for anything else."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > 65_535:
        raise InvalidInput("--http", f"`{text}` is no address", "write :PORT or HOST:PORT")
    return host.strip("[]") or "127.0.0.1", int(port)


def hosts_for(host: str, port: int) -> tuple[list[str], list[str]]:
    """Return which `Host` and `Origin` headers are taken."""
    named = [*LOCAL] if host in ("127.0.0.1", "localhost", "::1") else [*LOCAL, host]
    hosts = [f"{name}:{port}" for name in named]
    return hosts, [f"http://{name}" for name in hosts]


class TokenRequired:
    """Lets requests through that carry the token, in the `Authorization` header; compared in constant time."""

    def __init__(self, app: Any, token: str) -> None:
        """Guard `app`."""
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Any, receive: Any, send: _Send) -> None:
        """Answer 401 to whoever does not know the token."""
        if scope["type"] != "http" or self._knows(scope):
            await self._app(scope, receive, send)
            return
        headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain; charset=utf-8")]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": b"the token is missing or wrong\n"})

    def _knows(self, scope: Any) -> bool:
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        return len(given) == 1 and hmac.compare_digest(given[0], self._expected)
