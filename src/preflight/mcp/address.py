"""An MCP server at an address, spoken to over streamable HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import httpx2
from mcp.client.streamable_http import streamable_http_client

from preflight.errors import describe
from preflight.mcp.sdk import Streams

_CONNECT_SECONDS = 30.0
_ASKED = {"jsonrpc": "2.0", "id": 0, "method": "ping"}
_TAKEN = {"accept": "application/json, text/event-stream"}


@asynccontextmanager
async def connected(url: str, headers: Mapping[str, str]) -> AsyncIterator[Streams]:
    """Yield the streams to a server; how long it may think is not bounded here, since a call may take long."""
    timeout = httpx2.Timeout(_CONNECT_SECONDS, read=None)
    limits = httpx2.Limits(max_connections=None)
    async with (
        httpx2.AsyncClient(headers=dict(headers), timeout=timeout, limits=limits) as client,
        streamable_http_client(url, http_client=client) as streams,
    ):
        yield streams


async def obstacle(url: str, headers: Mapping[str, str], seconds: float) -> str:
    """Return what keeps a plain request from being answered there; empty where nothing does.

    The transport says of everything that goes wrong that the connection was closed.
    """
    try:
        async with (
            httpx2.AsyncClient(headers=dict(headers) | _TAKEN, timeout=seconds) as client,
            client.stream("POST", url, json=_ASKED) as response,
        ):
            return "" if response.is_success else f"HTTP {response.status_code} {response.reason_phrase}".strip()
    except (httpx2.HTTPError, httpx2.InvalidURL) as fault:
        return describe(fault)
