"""The client that the protocol's conformance tests drive: straight to a server, or through the proxy.

    conforming_client.py [--through COMMAND... --] URL

The scenario's name is in the environment. `URL` is appended to the command.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import anyio
import mcp_types as types
from mcp import Client, StdioServerParameters

SCENARIO = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "tools_call": ("add_numbers", {"a": 5, "b": 3}),
    "sse-retry": ("test_reconnection", {}),
    "elicitation-sep1034-client-defaults": ("test_client_elicitation_defaults", {}),
}


async def fill_in(_context: Any, params: types.ElicitRequestFormParams) -> types.ElicitResult:
    given = {name: part["default"] for name, part in params.requested_schema["properties"].items() if "default" in part}
    return types.ElicitResult(action="accept", content=given)


async def main(command: list[str], url: str) -> None:
    target: Any = url
    if command:
        target = StdioServerParameters(command=command[0], args=[*command[1:], "--url", url], env=dict(os.environ))
    async with Client(target, mode="legacy", elicitation_callback=fill_in) as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        if SCENARIO in CALLS:
            name, arguments = CALLS[SCENARIO]
            assert name in listed
            await client.call_tool(name, arguments)


if __name__ == "__main__":
    words = sys.argv[1:-1]
    anyio.run(main, words[words.index("--through") + 1 :] if words else [], sys.argv[-1])
