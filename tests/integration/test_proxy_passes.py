"""What passes the proxy passes as it is: put beside the same server without it, in both eras of the client."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.integration.wire import Message, Wire, connected, everything, greeted, logged, proxy, said

RULES = Path(__file__).resolve().parent / "upstreams" / "everything.yaml"
ABLE: Message = {"elicitation": {"form": {}}, "sampling": {}, "roots": {"listChanged": True}, "x/able": {"keep": 1}}
ERAS = ["handshake", "modern"]

pytestmark = pytest.mark.anyio


def colour(method: str, params: Message) -> Message:
    if method == "sampling/createMessage":
        assert params["x-sampling"] is True
        return {"role": "assistant", "content": {"type": "text", "text": "yo"}, "model": "m", "x-sampled": [1]}
    return {"action": "accept", "content": {"colour": "blue"}, "x-answer": 1}


@asynccontextmanager
async def proxied(folder: Path, era: str, **more: Any) -> AsyncIterator[Wire]:
    command = proxy(folder / "records.db", RULES, everything(folder / "log"))
    async with connected(command, era=era, able=ABLE, answer=colour, **more) as wire:
        yield wire


REQUESTS: list[tuple[str, Message]] = [
    ("tools/list", {}),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("resources/read", {"uri": "mem://a"}),
    ("prompts/list", {}),
    ("prompts/get", {"name": "p", "arguments": {"x": "there"}}),
    ("completion/complete", {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "x", "value": "a"}}),
    ("vendor/special", {"deep": [{"a": None}, 1.0], "_meta": {"vendor/q": 2}}),
    ("vendor/unknown", {}),
    ("tools/call", {"name": "look", "arguments": {"text": "hi"}, "_meta": {"traceparent": "00-ab", "app/x": 5}}),
    ("tools/call", {"name": "fail", "arguments": {}}),
    ("tools/call", {"name": "break", "arguments": {}}),
]


def without_hints(response: Message) -> Message:
    """Leave out what a modern result must have and a handshake server cannot say."""
    result = response.get("result")
    if not isinstance(result, dict):
        return response
    kept = {key: value for key, value in result.items() if key not in ("resultType", "ttlMs", "cacheScope")}
    return {**response, "result": kept}


@pytest.mark.parametrize("era", ERAS)
async def test_results_and_errors_are_those_of_the_server(tmp_path: Path, era: str) -> None:
    async with connected(everything(), able=ABLE) as direct:
        expected = [await direct.request(method, params) for method, params in REQUESTS]
    async with proxied(tmp_path, era) as wire:
        got = [await wire.request(method, params) for method, params in REQUESTS]
    shaped = got if era == "handshake" else [without_hints(response) for response in got]
    assert shaped == expected
    if era == "modern":
        assert all(response["result"]["resultType"] == "complete" for response in got if "result" in response)
        assert got[0]["result"]["cacheScope"] == "private"


async def test_a_handshake_client_is_greeted_by_the_server_itself(tmp_path: Path) -> None:
    async with connected(everything(), able=ABLE, greet=False) as direct:
        expected = await greeted(direct)
    async with proxied(tmp_path, "handshake", greet=False) as wire:
        assert await greeted(wire) == expected
        assert await wire.request("ping") == {"result": {}}
    ((_, params),) = [entry for entry in logged(tmp_path / "log") if entry[0] == "initialize"]
    assert params["capabilities"] == ABLE
    assert params["clientInfo"] == {"name": "wire", "version": "1"}


async def test_a_modern_client_is_told_what_the_handshake_server_can(tmp_path: Path) -> None:
    async with proxied(tmp_path, "modern", greet=False) as wire:
        greeting = await greeted(wire)
    assert greeting["capabilities"]["experimental"] == {"x/feature": {"on": True}}
    assert "logging" not in greeting["capabilities"]
    assert greeting["instructions"] == "be careful"
    assert greeting["_meta"]["io.modelcontextprotocol/serverInfo"]["title"] == "All of it"


@pytest.mark.parametrize("era", ERAS)
async def test_progress_arrives_whole_and_before_the_result(tmp_path: Path, era: str) -> None:
    async with proxied(tmp_path, era) as wire:
        params = {"name": "steps", "arguments": {}, "_meta": {"progressToken": "mine"}}
        assert said(await wire.request("tools/call", params)) == "done"
        told = [message["params"] for message in wire.told]
    assert [params["progress"] for params in told] == [1, 2, 3]
    assert told[0] == {"progressToken": "mine", "progress": 1, "total": 3, "message": "step 1", "x-progress": 1}


@pytest.mark.parametrize("era", ERAS)
async def test_cancelling_reaches_the_server(tmp_path: Path, era: str) -> None:
    async with proxied(tmp_path, era) as wire:
        waiting = await wire.begin("tools/call", {"name": "wait", "arguments": {}})
        await wire.call("look", {"text": "the call before has arrived"})
        await wire.send({"method": "notifications/cancelled", "params": {"requestId": waiting, "reason": "enough"}})
        assert said(await wire.call("look", {"text": "still here"})) == "still here"
        await wire.request("completion/complete", {"ref": {"type": "ref/prompt", "name": "p"}})
    log = logged(tmp_path / "log")
    (started,) = [entry[1] for entry in log if entry[0] == "waiting"]
    cancelled = [entry[2] for entry in log if entry[:2] == ["notification", "notifications/cancelled"]]
    assert [params["requestId"] for params in cancelled] == [started]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("tool", ["ask", "sample"])
async def test_the_servers_own_questions_reach_the_client(tmp_path: Path, era: str, tool: str) -> None:
    async with proxied(tmp_path, era) as wire:
        response = await wire.call(tool)
    expected = {"ask": '{"action": "accept", "content": {"colour": "blue"}, "x-answer": 1}'}
    assert said(response) == expected.get(tool) or '"x-sampled": [1]' in said(response)
    assert wire.asked[0]["params"].get("message") == ("Which colour?" if tool == "ask" else None)


async def test_changes_are_told_to_a_handshake_client(tmp_path: Path) -> None:
    async with proxied(tmp_path, "handshake") as wire:
        await wire.call("grow")
        change = await wire.until("notifications/tools/list_changed")
        log = await wire.until("notifications/message")
        await wire.request("resources/subscribe", {"uri": "mem://a"})
        updated = await wire.until("notifications/resources/updated")
        names = [tool["name"] for tool in (await wire.request("tools/list"))["result"]["tools"]]
    assert change["params"] == {"_meta": {"vendor/n": 1}}
    assert log["params"] == {"level": "info", "data": {"added": "late"}}
    assert updated["params"] == {"uri": "mem://a"}
    assert names[-1] == "late"


async def test_changes_are_told_to_a_modern_client_that_subscribed(tmp_path: Path) -> None:
    async with proxied(tmp_path, "modern") as wire:
        listening = await wire.begin("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
        await wire.until("notifications/subscriptions/acknowledged")
        await wire.call("grow")
        change = await wire.until("notifications/tools/list_changed")
    assert change["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == listening


async def test_notifications_of_the_client_reach_the_server(tmp_path: Path) -> None:
    async with proxied(tmp_path, "handshake") as wire:
        await wire.send({"method": "notifications/roots/list_changed"})
        await wire.request("logging/setLevel", {"level": "debug"})
        await wire.call("look", {"text": "x"})
    log = logged(tmp_path / "log")
    assert ["notification", "notifications/roots/list_changed", {}] in log
    assert ["logging/setLevel", {"level": "debug"}] in log
