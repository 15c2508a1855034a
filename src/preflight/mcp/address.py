"""An MCP server at an address, spoken to over streamable HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import httpx2
from mcp.client.streamable_http import streamable_http_client

from preflight.mcp.sdk import Streams

_CONNECT_SECONDS = 30.0


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
