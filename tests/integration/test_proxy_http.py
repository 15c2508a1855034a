"""Clients that speak to the proxy over HTTP, and servers that it reaches that way."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Literal

import anyio
import httpx2
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.integration.wire import BANK_RULES, SECONDS, bank, connected, everything, logged, proxy, said

RULES = Path(__file__).resolve().parent / "upstreams" / "everything.yaml"
TOKEN = "a token of the test"
ERAS: list[Literal["legacy", "2026-07-28"]] = ["legacy", "2026-07-28"]

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]


@contextmanager
def served(command: list[str]) -> Iterator[str]:
    """Run a proxy that serves HTTP and yield its address."""
    at = command.index("proxy") + 1
    command = [*command[:at], "--http", ":0", *command[at:]]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env={**os.environ, "PREFLIGHT_PROXY_TOKEN": TOKEN}
    )
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if found := re.search(r"serving (http://\S+)", line):
                break
        else:
            raise AssertionError("the proxy ended")
        yield found[1]
    finally:
        process.terminate()
        process.communicate(timeout=20)


@asynccontextmanager
async def client(url: str, era: Any, **more: Any) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with anyio.fail_after(SECONDS):
        async with (
            httpx2.AsyncClient(headers=headers, timeout=SECONDS) as http,
            Client(streamable_http_client(url, http_client=http), mode=era, **more) as made,
        ):
            yield made


async def say(_context: Any, params: types.ElicitRequestFormParams) -> types.ElicitResult:
    if "colour" in params.requested_schema["properties"]:
        return types.ElicitResult(action="accept", content={"colour": "red"})
    return types.ElicitResult(action="accept", content={"restatement": 'write "hello" now'})


def text(result: types.CallToolResult) -> str:
    assert isinstance(result.content[0], types.TextContent)
    return result.content[0].text


@pytest.mark.parametrize("era", ERAS)
async def test_calls_pass_and_are_asked_about_over_http(tmp_path: Path, era: Any) -> None:
    with served(proxy(tmp_path / "r.db", RULES, everything(tmp_path / "log"))) as url:
        async with client(url, era, elicitation_callback=say) as one:
            steps: list[float] = []

            async def step(done: float, _total: float | None, _message: str | None) -> None:
                steps.append(done)

            assert len((await one.list_tools()).tools) > 10
            assert text(await one.call_tool("steps", {}, progress_callback=step)) == "done"
            assert text(await one.call_tool("write", {"line": "hello"})) == '{"line": "hello"}'
            assert "red" in text(await one.call_tool("ask", {}))
    assert steps == [1, 2, 3]
    assert len([entry for entry in logged(tmp_path / "log") if entry[0] == "write"]) == 1


async def test_many_calls_at_once_are_all_answered_each_with_its_own(tmp_path: Path) -> None:
    with served(proxy(tmp_path / "r.db", RULES, everything())) as url:
        async with client(url, "2026-07-28") as one:
            got: dict[int, str] = {}

            async def look(number: int) -> None:
                got[number] = text(await one.call_tool("look", {"text": str(number)}))

            async with anyio.create_task_group() as tasks:
                for number in range(100):
                    tasks.start_soon(look, number)
    assert got == {number: str(number) for number in range(100)}


async def test_whoever_has_no_token_or_comes_from_elsewhere_gets_nothing(tmp_path: Path) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    accept = {"Accept": "application/json, text/event-stream"}
    with served(proxy(tmp_path / "r.db", RULES, everything(tmp_path / "log"))) as url:
        async with httpx2.AsyncClient() as http:
            plain = await http.post(url, json=body, headers=accept)
            wrong = await http.post(url, json=body, headers={**accept, "Authorization": "Bearer guess"})
            known = {**accept, "Authorization": f"Bearer {TOKEN}"}
            origin = await http.post(url, json=body, headers={**known, "Origin": "http://evil.example"})
            host = await http.post(url, json=body, headers={**known, "Host": "evil.example"})
            junk = await http.post(url, content=b"{", headers={**known, "Content-Type": "application/json"})
            still = await http.get(url, headers=known)
    assert (plain.status_code, wrong.status_code) == (401, 401)
    assert (origin.status_code, host.status_code) == (403, 421)
    assert junk.status_code == 400
    assert still.status_code < 500
    assert logged(tmp_path / "log") == []


@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_a_server_is_reached_over_http_and_several_stand_side_by_side(tmp_path: Path, era: str) -> None:
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "bank.yaml").write_text((BANK_RULES / "bank.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    (rules / "everything.yaml").write_text(RULES.read_text(encoding="utf-8"), encoding="utf-8")
    with served(proxy(tmp_path / "inner.db", RULES, everything(tmp_path / "log"))) as url:
        start, *arguments = bank(tmp_path)
        headers = {"Authorization": f"Bearer {TOKEN}"}
        entries = {"bank": {"command": start, "args": arguments}, "everything": {"url": url, "headers": headers}}
        (tmp_path / "servers.json").write_text(json.dumps({"mcpServers": entries}), encoding="utf-8")
        command = [
            sys.executable, "-m", "preflight", "--rules", str(rules), "proxy", "--db", str(tmp_path / "r.db"),
            "--servers", str(tmp_path / "servers.json"),
        ]  # fmt: skip
        async with connected(command, era=era) as wire:
            names = [tool["name"] for tool in (await wire.request("tools/list"))["result"]["tools"]]
            accounts = await wire.call("bank__accounts_list")
            look = await wire.call("everything__look", {"text": "far"}, _meta={"app/x": 1})
            held = await wire.call("bank__records_delete_all")
            prompt = await wire.request("prompts/get", {"name": "everything__p", "arguments": {"x": "you"}})
            resource = await wire.request("resources/read", {"uri": "mem://a"})
            unknown = await wire.request("tools/call", {"name": "nowhere__x", "arguments": {}})
            failed = await wire.request("tools/call", {"name": "everything__break", "arguments": {}})
    assert {"bank__transfer", "everything__write"} <= set(names)
    assert len(accounts["result"]["structuredContent"]["accounts"]) == 3
    assert (said(look), look["result"]["structuredContent"]["meta"]) == ("far", {"app/x": 1})
    assert held["result"]["isError"] is True
    assert prompt["result"]["messages"][0]["content"]["text"] == "hello you"
    assert resource["result"]["contents"][0]["text"] == "hi"
    assert unknown["error"]["code"] == -32602
    assert failed["error"] == {"code": -32050, "message": "its own code", "data": {"k": [1]}}
