"""A request to a client: it ends with the client's answer, or after its time."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, Final

import anyio
from mcp import MCPError
from mcp_types import REQUEST_TIMEOUT

from preflight.mcp.eras import Object
from preflight.mcp.posts import Post

_GONE: Final = 20
"""Who hung up is waited for that part of the time: it may still answer, and learns no result any more."""


async def asked(channel: Any, method: str, params: Object, seconds: float, post: Post | None = None) -> Object:
    """Send a request to a client and return its result; raises MCPError with what it says instead, or for no answer.

    `post` is the message of the client's that it belongs to, where that came over HTTP.
    """
    try:
        with anyio.fail_after(seconds) as scope:  # sending is bounded too: of a client that vanished nobody reads

            def hurry() -> None:
                scope.deadline = min(scope.deadline, anyio.current_time() + seconds / _GONE)

            with nullcontext() if post is None else post.when_hung_up(hurry):
                result: Object = await channel.send_raw_request(method, params)
    except TimeoutError:
        hung_up = post is not None and post.hung_up
        why = "hung up" if hung_up else f"did not answer `{method}` within {seconds:g} seconds"
        raise MCPError(REQUEST_TIMEOUT, f"the client {why}") from None
    return result
