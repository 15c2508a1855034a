"""The proxy's front over HTTP: a token, this machine alone unless told otherwise, and no page of another origin."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from preflight.errors import InvalidInput
from preflight.mcp.eras import meta_fault
from preflight.mcp.lines import Unreadable, failed, message_of, text_of
from preflight.mcp.posts import POST, Post
from preflight.mcp.sdk import HANDSHAKES, INVALID_PARAMS, INVALID_REQUEST, LONGEST_BODY, SessionMessage, types

PATH: Final = "/mcp"
EVERYWHERE: Final = ("0.0.0.0", "::")  # noqa: S104  compared with, not bound to
LOCAL: Final = ("127.0.0.1", "localhost", "[::1]")

_JSON = (b"content-type", b"application/json")
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


class Read:
    """Reads messages before the package does: strictly, and no two requests under one id at a time in a session.

    The package hands answers on by their id alone: of two requests, one would get none, or the other's.
    """

    def __init__(self, app: Any) -> None:
        """Hand on to `app` what can be read."""
        self._app = app
        self._open: set[tuple[bytes, str]] = set()

    async def __call__(self, scope: Any, receive: Any, send: _Send) -> None:
        """Answer 400 to what is no message, under its own id where that can be told."""
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        body = await _body(receive)
        if body is None:
            await _refuse(send, 413, b"the message is too large\n")
            return
        try:
            message = message_of(body, once=True).message
        except Unreadable as fault:
            heading = fault.heading
            if heading.id is None or heading.asks or not heading.answers:
                code = INVALID_REQUEST if fault.parsed else types.PARSE_ERROR
                await _reject(send, failed(heading.id, code, f"the message cannot be read: {fault.why}"))
                return
            # whoever was asked answered, if not so that it can be read: nobody is to wait for that any longer
            message = failed(
                heading.id, types.INTERNAL_ERROR, f"the client's answer cannot be read: {fault.why}"
            ).message
            body = text_of(message)
        await self._hand_on(message, scope, _again(body, receive), send)

    async def _hand_on(self, message: Any, scope: Any, receive: Any, send: _Send) -> None:
        key = _key(scope, message)
        if (fault := meta_fault(getattr(message, "params", None))) is not None and key is not None:
            await _reject(send, failed(message.id, INVALID_PARAMS, fault))
            return
        if key in self._open:
            told = f"the id `{message.id}` belongs to a request that is not answered yet"
            await _reject(send, failed(None, INVALID_REQUEST, told))
            return
        post = Post(message)
        if key is not None and key[0]:
            self._open.add(key)
            post = Post(message, lambda: self._open.discard(key))
        with post.served():
            await self._app({**scope, POST: post}, receive, send)


def _key(scope: Any, message: Any) -> tuple[bytes, str] | None:
    """Return what a request is known by: its session, none where there are no sessions, and its id as a text."""
    if not isinstance(message, types.JSONRPCRequest):
        return None
    version = b"".join(_given(scope, b"mcp-protocol-version")[:1]).decode("latin-1")  # the package takes the first, too
    modern = version and version not in HANDSHAKES
    return b"" if modern else b"".join(_given(scope, b"mcp-session-id")[:1]), str(message.id)


async def _body(receive: Any) -> bytes | None:
    """Return the whole body; None where it is larger than is taken."""
    parts: list[bytes] = []
    size = 0
    while True:
        part = await receive()
        parts.append(part.get("body", b""))
        size += len(parts[-1])
        if size > LONGEST_BODY:
            return None
        if not part.get("more_body", False):
            return b"".join(parts)


def _again(body: bytes, receive: Any) -> Callable[[], Awaitable[Mapping[str, Any]]]:
    """Return what gives the body once more, and then what comes after it."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Mapping[str, Any]:
        part: Mapping[str, Any] = waiting.pop() if waiting else await receive()
        return part

    return again


async def _reject(send: _Send, answer: SessionMessage) -> None:
    await send({"type": "http.response.start", "status": 400, "headers": [_JSON]})
    await send({"type": "http.response.body", "body": text_of(answer.message)})


def _given(scope: Any, wanted: bytes) -> list[bytes]:
    return [value for name, value in scope["headers"] if name == wanted]


async def _refuse(send: _Send, status: int, text: bytes, *headers: tuple[bytes, bytes]) -> None:
    kind = (b"content-type", b"text/plain; charset=utf-8")
    await send({"type": "http.response.start", "status": status, "headers": [kind, *headers]})
    await send({"type": "http.response.body", "body": text})
