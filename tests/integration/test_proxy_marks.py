"""Lists of tools through the proxy: what is not as it was accepted says so, what is forbidden may be left out."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from preflight.mcp.marks import HELD, NOTE
from preflight.model.tool import Tool
from tests.integration.wire import Message, Wire, connected, everything, proxy, said

HERE = Path(__file__).resolve().parent / "upstreams"
ERAS = ["handshake", "modern"]
WRONG = "0" * 64

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def listed() -> list[Message]:
    """The tools as the server itself lists them."""
    return await tools_of(everything())


async def tools_of(command: list[str], era: str = "handshake") -> list[Message]:
    async with connected(command, era=era) as wire:
        return await every(wire)


async def every(wire: Wire) -> list[Message]:
    """Return the tools of all pages."""
    found: list[Message] = []
    params: Message = {}
    while True:
        page = (await wire.request("tools/list", params))["result"]
        found += page["tools"]
        if "nextCursor" not in page:
            return found
        params = {"cursor": page["nextCursor"]}


def rules(folder: Path, **servers: Mapping[str, Mapping[str, Any]]) -> Path:
    path = folder / "rules.json"
    declared = {server: {"tools": tools} for server, tools in servers.items()}
    path.write_text(json.dumps({"version": 1, "servers": declared}), encoding="utf-8")
    return path


def pin_of(tools: list[Message], name: str, server: str = "everything") -> str:
    return Tool.from_mcp(named(tools, name), server=server).fingerprint


def named(tools: list[Message], name: str) -> Message:
    return next(tool for tool in tools if tool["name"] == name)


@asynccontextmanager
async def proxied(
    folder: Path, era: str, path: Path, *options: str, upstream: list[str] | None = None
) -> AsyncIterator[Wire]:
    command = proxy(folder / "records.db", path, upstream or everything(), "--page", "-1", *options)
    async with connected(command, era=era) as wire:
        yield wire


@pytest.mark.parametrize("era", ERAS)
async def test_a_tool_that_changes_is_marked_from_then_on_and_the_others_pass_as_they_are(
    tmp_path: Path, era: str, listed: list[Message]
) -> None:
    #
    tools = {"look": {"effect": "read", "pin": pin_of(listed, "look")}, "morph": {"effect": "read"}}
    path = rules(tmp_path, everything={**tools, "write": {"effect": "reversible", "pin": pin_of(listed, "write")}})
    async with proxied(tmp_path, era, path) as wire:
        assert await every(wire) == listed
        if era == "modern":
            await wire.begin("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
            await wire.until("notifications/subscriptions/acknowledged")
        await wire.call("morph")
        await wire.until("notifications/tools/list_changed")
        after = await every(wire)
        held = await wire.call("write", {"line": "a"})
    assert [tool for tool in after if tool["name"] != "write"] == [tool for tool in listed if tool["name"] != "write"]
    changed = {**named(listed, "write"), "description": "Writes a line to everybody."}
    why = {"kind": "tool_changed", "pinned": pin_of(listed, "write"), "listed": pin_of([changed], "write")}
    marked = {**changed, "description": f"{NOTE}\n\nWrites a line to everybody.", "_meta": {HELD: why}}
    assert named(after, "write") == marked
    assert "not the one that was accepted" in said(held)


@pytest.mark.parametrize("era", ERAS)
async def test_accepting_the_fingerprint_that_the_mark_names_takes_the_mark_away(
    tmp_path: Path, era: str, listed: list[Message]
) -> None:
    path = rules(tmp_path, everything={"look": {"effect": "read", "pin": WRONG}})
    async with proxied(tmp_path, era, path) as wire:
        marked = named(await every(wire), "look")
        held = await wire.call("look", {"text": "a"})
    assert marked["_meta"]["vendor/tool"] == 1
    assert "not the one that was accepted" in said(held)
    path = rules(tmp_path, everything={"look": {"effect": "read", "pin": marked["_meta"][HELD]["listed"]}})
    async with proxied(tmp_path, era, path) as wire:
        assert await every(wire) == listed
        assert said(await wire.call("look", {"text": "a"})) == "a"


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("effect", ["read", "reversible"])
async def test_what_the_rules_forbid_is_left_out_where_that_is_wanted_and_held_in_any_case(
    tmp_path: Path, era: str, effect: str, listed: list[Message]
) -> None:
    path = rules(tmp_path, everything={"look": {"effect": effect, "forbidden": True}})
    async with proxied(tmp_path, era, path) as wire:
        assert await every(wire) == listed
        shown = await wire.call("look", {"text": "a"})
    async with proxied(tmp_path, era, path, "--hide-forbidden") as wire:
        assert await every(wire) == [tool for tool in listed if tool["name"] != "look"]
        hidden = await wire.call("look", {"text": "a"})
    for response in (shown, hidden):
        assert response["result"]["isError"] is True
        assert said(response) == "Held, nothing was called: the rules forbid this tool."
        assert response["result"]["_meta"]["preflight/decision"]


async def test_every_page_is_looked_at(tmp_path: Path, listed: list[Message]) -> None:
    tools = {"steps": {"pin": WRONG}, "look": {"forbidden": True}, "write": {"forbidden": True}}
    path = rules(tmp_path, everything=tools)
    upstream = [*everything(), "--page", "2"]
    async with proxied(tmp_path, "handshake", path, "--hide-forbidden", upstream=upstream) as wire:
        first = (await wire.request("tools/list"))["result"]
        found = await every(wire)
    assert first == {"tools": [], "nextCursor": "2"}
    assert [tool["name"] for tool in found] == [tool["name"] for tool in listed[2:]]
    assert [tool["name"] for tool in found if HELD in tool.get("_meta", {})] == ["steps"]
    assert [tool for tool in found if tool["name"] != "steps"] == listed[3:]


@pytest.mark.parametrize("era", ERAS)
async def test_tools_of_several_servers_are_marked_under_their_own_names(
    tmp_path: Path, era: str, listed: list[Message]
) -> None:
    entries = {name: {"command": sys.executable, "args": everything()[1:]} for name in ("one", "two")}
    servers = tmp_path / "servers.json"
    servers.write_text(json.dumps({"mcpServers": entries}), encoding="utf-8")
    write = {"effect": "reversible", "pin": pin_of(listed, "write", "one")}
    path = rules(tmp_path, one={"write": write, "look": {"forbidden": True}}, two={"write": write})
    command = [sys.executable, "-m", "preflight", "--rules", str(path), "proxy", "--db", str(tmp_path / "r.db"),
               "--servers", str(servers), "--hide-forbidden", "--page", "-1"]  # fmt: skip
    async with connected(command, era=era) as wire:
        found = await every(wire)
        held = await wire.call("two__write", {"line": "a"})
        hidden = await wire.call("one__look", {"text": "a"})
    kept = [
        *[f"one__{tool['name']}" for tool in listed if tool["name"] != "look"],
        *[f"two__{t['name']}" for t in listed],
    ]
    assert [tool["name"] for tool in found] == kept
    # the same tool of another server is another tool, so the pin of one does not fit the other
    assert [tool["name"] for tool in found if HELD in tool.get("_meta", {})] == ["two__write"]
    assert "not the one that was accepted" in said(held)
    assert "the rules forbid this tool" in said(hidden)


async def test_a_marked_list_is_nothing_that_others_may_share(tmp_path: Path) -> None:
    upstream = [sys.executable, str(HERE / "modern.py")]
    direct = await tools_of(upstream, "modern")
    path = rules(tmp_path, everything={"look": {"pin": pin_of(direct, "look")}})
    async with proxied(tmp_path, "modern", path, upstream=upstream) as wire:
        assert (await wire.request("tools/list"))["result"]["cacheScope"] == "public"
    path = rules(tmp_path, everything={"look": {"pin": WRONG}})
    async with proxied(tmp_path, "modern", path, upstream=upstream) as wire:
        result = (await wire.request("tools/list"))["result"]
    assert (result["cacheScope"], result["ttlMs"]) == ("private", 5)
    assert result["tools"][1:] == direct[1:]
    assert result["tools"][0]["description"] == f"{NOTE}\n\nRepeats."
