"""Whatever a client or a server does, it ends in a clear error or a hold, with a record, and the proxy lives on."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.integration.test_proxy_asks import FORM, records, saying, states, writing
from tests.integration.wire import Message, Wire, connected, everything, logged, proxy, said

RULES = Path(__file__).resolve().parent / "upstreams" / "everything.yaml"
SAYS_HELLO = saying({"restatement": 'write "hello" now'})

pytestmark = pytest.mark.anyio


async def lives_on(wire: Wire) -> None:
    assert said(await wire.call("look", {"text": "alive"})) == "alive"


async def stray(wire: Wire) -> Message:
    """Return the next answer that belongs to no request."""
    while not wire.stray:
        await wire.heard.wait()
    return wire.stray.pop(0)


async def test_a_server_that_dies_is_an_error_and_is_started_again(tmp_path: Path) -> None:
    async with writing(tmp_path) as wire:
        for _ in range(2):
            response = await wire.request("tools/call", {"name": "die", "arguments": {}})
            assert response["error"]["message"] == "Connection closed"
            await lives_on(wire)
    assert len([entry for entry in logged(tmp_path / "log") if entry[0] == "died"]) == 2


async def test_a_server_that_dies_under_a_gated_call_leaves_it_in_doubt(tmp_path: Path) -> None:
    rules = tmp_path / "gated.yaml"
    rules.write_text(RULES.read_text(encoding="utf-8").replace("die: {effect: read}", DIE), encoding="utf-8")
    command = proxy(tmp_path / "records.db", rules, everything(tmp_path / "log"))
    async with connected(command, able=FORM, answer=saying({"restatement": "die now"})) as wire:
        response = await wire.call("die")
        again = await wire.call("die")
        await lives_on(wire)
    assert said(response).startswith("In doubt")
    assert said(again).startswith("Not called again")
    assert [state for state in states(tmp_path) if state == "in_doubt"] == ["in_doubt"]
    assert len([entry for entry in logged(tmp_path / "log") if entry[0] == "died"]) == 1


DIE = "die: {effect: reversible, intents: [die], changes: [delete]}"


async def test_a_server_that_cannot_be_started_says_so(tmp_path: Path) -> None:
    command = proxy(tmp_path / "records.db", RULES, ["/nowhere/at/all"])
    async with connected(command, greet=False) as wire:
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "w", "version": "1"}}
        for _ in range(2):
            response = await wire.request("initialize", params)
            assert "`everything` cannot be reached" in response["error"]["message"]


async def test_what_is_no_json_rpc_is_refused_and_nothing_else(tmp_path: Path) -> None:
    junk = {b"{": -32700, b"\xff\xfe": -32700, b"[]": -32600, b"7": -32600, b'"x"': -32600}
    async with writing(tmp_path) as wire:
        for line, code in junk.items():
            await wire.raw(line + b"\n")
            answer = await stray(wire)
            assert (answer["id"], answer["error"]["code"]) == (None, code)
        await lives_on(wire)


async def test_an_id_that_is_in_use_is_refused(tmp_path: Path) -> None:
    async with writing(tmp_path) as wire:
        await wire.begin("tools/call", {"name": "wait", "arguments": {}}, "one")
        await wire.send({"id": "one", "method": "tools/call", "params": {"name": "look", "arguments": {"text": "x"}}})
        answer = await stray(wire)
        await lives_on(wire)
    assert answer["id"] is None
    assert "`one`" in answer["error"]["message"]
    assert [entry[1] for entry in logged(tmp_path / "log") if entry[0] == "look"] == [{"text": "alive"}]


@pytest.mark.parametrize("arguments", [[], "text", 5, True])
async def test_arguments_that_are_no_object_are_refused_and_recorded(tmp_path: Path, arguments: Any) -> None:
    async with writing(tmp_path) as wire:
        response = await wire.request("tools/call", {"name": "write", "arguments": arguments})
        await lives_on(wire)
    assert response["error"]["code"] == -32602
    assert "arguments" in response["error"]["message"]
    assert [record.gate.kind for record in records(tmp_path) if record.gate] == ["request_invalid", "read_passes"]


async def test_a_tool_that_nobody_lists_is_refused_and_recorded(tmp_path: Path) -> None:
    async with writing(tmp_path) as wire:
        for params in ({"name": "nowhere"}, {"name": 5}, {}):
            response = await wire.request("tools/call", params)
            assert response["error"]["code"] == -32602
        await lives_on(wire)
    assert [record.gate.kind for record in records(tmp_path) if record.gate][:3] == ["request_invalid"] * 3


async def test_a_server_that_garbles_floods_or_answers_twice_is_borne(tmp_path: Path) -> None:
    async with writing(tmp_path) as wire:
        assert said(await wire.call("garble")) == "garbled"
        assert said(await wire.call("twice")) == "first"
        assert said(await wire.call("flood", {"count": 5_000})) == "flooded"
        await lives_on(wire)
        assert wire.stray == []
        assert 0 < len(wire.told) <= 5_000


async def test_fifty_megabytes_pass_and_more_than_can_be_held_is_an_error(tmp_path: Path) -> None:
    async with writing(tmp_path) as wire:
        assert len(said(await wire.call("big", {"bytes": 50_000_000}))) == 50_000_000
        response = await wire.request("tools/call", {"name": "big", "arguments": {"bytes": 110_000_000}})
        assert "bytes" in response["error"]["message"]
        await lives_on(wire)


async def test_a_tool_that_changed_between_the_question_and_the_call_is_not_called(tmp_path: Path) -> None:
    holder: list[Wire] = []

    async def change(_method: str, _params: Message) -> Message:
        await holder[0].call("morph")
        return {"action": "accept", "content": {"restatement": 'write "hello" now'}}

    async with writing(tmp_path, answer=change) as wire:
        holder.append(wire)
        response = await wire.call("write", {"line": "hello"})
        await lives_on(wire)
    assert "the tool is not the one" in said(response)
    assert not [entry for entry in logged(tmp_path / "log") if entry[0] == "write"]


async def test_a_form_that_asks_for_a_secret_is_not_shown(tmp_path: Path) -> None:
    async with writing(tmp_path) as wire:
        assert json.loads(said(await wire.call("pry"))) == {"action": "decline"}
        assert wire.asked == []


async def test_a_version_that_nobody_speaks_is_answered_with_one_that_is(tmp_path: Path) -> None:
    async with writing(tmp_path, greet=False) as wire:
        params = {"protocolVersion": "1999-01-01", "capabilities": {}, "clientInfo": {"name": "w", "version": "1"}}
        assert (await wire.request("initialize", params))["result"]["protocolVersion"] == "2025-11-25"
    async with writing(tmp_path, greet=False) as wire:
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2099-01-01",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        response = await wire.request("tools/list", {"_meta": meta})
    assert response["error"]["code"] == -32022


@pytest.mark.skipif(sys.platform != "linux", reason="looks processes up in /proc")
async def test_a_client_that_goes_away_takes_its_servers_along(tmp_path: Path) -> None:
    async with writing(tmp_path, answer=SAYS_HELLO) as wire:
        await lives_on(wire)
        (child,) = children(wire.process.pid)
        await wire.process.stdin.aclose()
        with anyio.fail_after(20):
            await wire.process.wait()
    assert not await anyio.Path(f"/proc/{child}").exists()


def children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [int(each) for each in text.split()]
