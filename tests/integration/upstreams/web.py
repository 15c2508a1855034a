"""A small server over streamable HTTP, for whoever comes: `python web.py` prints the address on standard output."""

from __future__ import annotations

import anyio
from mcp.server.mcpserver import MCPServer

from preflight.console.web import bound, serve

shop = MCPServer("shop", version="3")


@shop.tool()
def order(item: str) -> str:
    """Order something."""
    return f"ordered {item}"


def main() -> None:
    listener = bound("127.0.0.1", 0)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    anyio.run(serve, shop.streamable_http_app(), listener)


if __name__ == "__main__":
    main()
