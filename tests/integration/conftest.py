"""The backend of every asynchronous test here: the one that the MCP SDK's servers and clients run on."""

from __future__ import annotations

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
