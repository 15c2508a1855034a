"""The proxy's front over HTTP: a token, this machine alone unless told otherwise, and no page of another origin."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from preflight.errors import InvalidInput

PATH: Final = "/mcp"
EVERYWHERE: Final = ("0.0.0.0", "::")  # noqa: S104  compared with, not bound to
LOCAL: Final = ("127.0.0.1", "localhost", "[::1]")

_Send = Callable[[Mapping[str, Any]], Awaitable[None]]


def address_of(text: str) -> tuple[str, int]:
    """Read `[HOST]:PORT`; without a host it is this machine alone. Raises InvalidInput for anything else."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > 65_535:
        raise InvalidInput("--http", f"`{text}` is no address", "write :PORT or HOST:PORT")
    return host.strip("[]") or "127.0.0.1", int(port)


def hosts_for(host: str, port: int) -> tuple[list[str] | None, list[str]]:
    """Return which `Host` and `Origin` headers are taken; None: a server on every address goes by any name."""
    named = [*LOCAL] if host in ("127.0.0.1", "localhost", "::1") else [*LOCAL, f"[{host}]" if ":" in host else host]
    hosts = [f"{name}:{port}" for name in named]
    return None if host in EVERYWHERE else hosts, [f"http://{name}" for name in hosts]


class TokenRequired:
    """Lets requests through that carry the token, and come from no page of another origin."""

    def __init__(self, app: Any, token: str, origins: Sequence[str]) -> None:
        """Guard `app`; pages of `origins` may use it."""
        self._app = app
        self._expected = f"Bearer {token}".encode()
        self._origins = {origin.encode() for origin in origins}

    async def __call__(self, scope: Any, receive: Any, send: _Send) -> None:
        """Answer 403 to a page from elsewhere, and 401 to whoever does not know the token."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif not self._origins.issuperset(_given(scope, b"origin")):
            await _refuse(send, 403, b"pages of this origin are not served\n")
        elif not self._knows(scope):
            await _refuse(send, 401, b"the token is missing or wrong\n", (b"www-authenticate", b"Bearer"))
        else:
            await self._app(scope, receive, send)

    def _knows(self, scope: Any) -> bool:
        given = _given(scope, b"authorization")
        return len(given) == 1 and hmac.compare_digest(given[0], self._expected)


def _given(scope: Any, wanted: bytes) -> list[bytes]:
    return [value for name, value in scope["headers"] if name == wanted]


async def _refuse(send: _Send, status: int, text: bytes, *headers: tuple[bytes, bytes]) -> None:
    kind = (b"content-type", b"text/plain; charset=utf-8")
    await send({"type": "http.response.start", "status": status, "headers": [kind, *headers]})
    await send({"type": "http.response.body", "body": text})
