"""A server of the modern era behind the proxy: for a modern client it is as it is, for others it is translated."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.integration.wire import Message, Wire, connected, greeted, logged, proxy, said

HERE = Path(__file__).resolve().parent / "upstreams"
ABLE: Message = {"elicitation": {"form": {}, "url": {}}}

pytestmark = pytest.mark.anyio


def server(log: Path | None = None) -> list[str]:
    return [sys.executable, str(HERE / "modern.py"), *(["--log", str(log)] if log else [])]


def sure(method: str, params: Message) -> Message:
    if "restatement" in params["requestedSchema"]["properties"]:
        return {"action": "accept", "content": {"restatement": 'write "ask" now'}}
    if "line" in params["requestedSchema"]["properties"]:
        return {"action": "accept", "content": {"line": "ask"}}
    return {"action": "accept", "content": {"sure": True}}


@asynccontextmanager
async def proxied(folder: Path, era: str, *, greet: bool = True) -> AsyncIterator[Wire]:
    command = proxy(folder / "records.db", HERE / "modern.yaml", server(folder / "log"), name="modern")
    async with connected(command, era=era, able=ABLE, answer=sure, greet=greet) as wire:
        yield wire


async def test_a_modern_client_sees_the_server_as_it_is(tmp_path: Path) -> None:
    requests: list[tuple[str, Message]] = [
        ("tools/list", {}), ("tools/call", {"name": "look", "arguments": {"line": "a"}}),
        ("tools/call", {"name": "guarded"}), ("prompts/list", {}),
        ("tools/call", {"name": "guarded", "inputResponses": {"ok": {"action": "decline"}}, "requestState": "carried"}),
    ]  # fmt: skip
    async with connected(server(), era="modern", able=ABLE, greet=False) as direct:
        expected = [await greeted(direct), *[await direct.request(*request) for request in requests]]
    async with proxied(tmp_path, "modern", greet=False) as wire:
        assert [await greeted(wire), *[await wire.request(*request) for request in requests]] == expected


async def test_a_handshake_client_is_asked_the_questions_that_the_server_returns(tmp_path: Path) -> None:
    async with proxied(tmp_path, "handshake") as wire:
        response = await wire.call("guarded")
        tools = (await wire.request("tools/list"))["result"]
    assert json.loads(said(response)) == [{"ok": {"action": "accept", "content": {"sure": True}}}, "carried"]
    assert [asked["method"] for asked in wire.asked] == ["elicitation/create"]
    assert not response["result"].keys() & {"resultType", "_meta"}
    assert not tools.keys() & {"resultType", "ttlMs", "cacheScope"}


@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_a_gated_call_is_asked_about_here_and_then_by_the_server(tmp_path: Path, era: str) -> None:
    async with proxied(tmp_path, era) as wire:
        response = await wire.call("write", {"line": "ask"})
    assert json.loads(said(response)) == [{"ok": {"action": "accept", "content": {"sure": True}}}, "carried"]
    first, second = [entry[1] for entry in logged(tmp_path / "log") if entry[0] == "call"]
    assert first["_meta"]["preflight/decision"] == second["_meta"]["preflight/decision"]
    assert second["requestState"] == "carried"
    assert "inputResponses" not in first


@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_changes_that_the_server_tells_its_subscribers_are_handed_on(tmp_path: Path, era: str) -> None:
    async with proxied(tmp_path, era) as wire:
        await wire.call("look", {"line": "greets the server"})
        if era == "modern":
            await wire.begin("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
            await wire.until("notifications/subscriptions/acknowledged")
        await wire.call("grow")
        await wire.until("notifications/tools/list_changed")
