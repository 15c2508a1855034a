"""Several servers behind one proxy: a bad one takes nothing of the others away, and no name leads to two of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from preflight.errors import InvalidInput, innermost
from preflight.mcp.catalogue import Catalogue
from preflight.mcp.config import of_file
from preflight.mcp.together import LEFT_OUT
from preflight.mcp.upstream import Upstream
from tests.integration.test_proxy_pins import LOOK, SHIFTY
from tests.integration.wire import CLIENT, Message, Wire, connected, greeted, proxy, said

NOWHERE = ["/nowhere/at/all"]
ENDS = [sys.executable, "-c", ""]
SECONDS = 3

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]


def shifty(folder: Path, name: str, *options: str, tools: list[Message] | None = None) -> list[str]:
    """Return the command of a server that lists `tools`; without them nothing is written yet."""
    path = folder / f"{name}.json"
    if tools is not None:
        path.write_text(json.dumps(tools), encoding="utf-8")
    return [sys.executable, str(SHIFTY), str(path), *options]


def listing(folder: Path, **commands: list[str]) -> Path:
    path = folder / "servers.json"
    entries = {name: {"command": command[0], "args": command[1:]} for name, command in commands.items()}
    path.write_text(json.dumps({"mcpServers": entries}), encoding="utf-8")
    return path


def rules(folder: Path, *servers: str) -> Path:
    path = folder / "rules.json"
    declared = {server: {"tools": {"look": {"effect": "read"}}} for server in servers}
    path.write_text(json.dumps({"version": 1, "servers": declared}), encoding="utf-8")
    return path


@asynccontextmanager
async def proxied(
    folder: Path, era: str = "handshake", *, greet: bool = True, **commands: list[str]
) -> AsyncIterator[Wire]:
    command = [
        sys.executable, "-m", "preflight", "--rules", str(rules(folder, *commands)), "proxy", "--page", "-1",
        "--db", str(folder / "r.db"), "--servers", str(listing(folder, **commands)), "--timeout", str(SECONDS),
    ]  # fmt: skip
    async with connected(command, era=era, greet=greet) as wire:
        yield wire


def names(response: Message) -> list[str]:
    return [tool["name"] for tool in response["result"]["tools"]]


BAD = {
    "hang": "it did not answer within 3 seconds",
    "break": r"broken \u{001b}[31m",
    "endless": "the list `tools/list` of `bad` does not end after 1000 pages with 1000 entries",
    "loop": "the list `tools/list` of `bad` leads back to a page it had",
}


@pytest.mark.parametrize("era", ["handshake", "modern"])
@pytest.mark.parametrize("how", BAD)
async def test_a_server_that_cannot_list_is_left_out_and_named_and_the_others_are_listed(
    tmp_path: Path, era: str, how: str
) -> None:
    bad, good = shifty(tmp_path, "bad", "--how", how, tools=[LOOK]), shifty(tmp_path, "good", tools=[LOOK])
    async with proxied(tmp_path, era, greet=False, bad=bad, good=good) as wire:
        greeting = await greeted(wire)
        response = await wire.request("tools/list")
        assert said(await wire.call("good__look")) == "good did look"
        prompts = (await wire.request("prompts/list"))["result"]
    assert LEFT_OUT not in greeting.get("_meta", {})
    assert names(response) == ["good__look"]
    assert response["result"]["_meta"][LEFT_OUT] == {"bad": BAD[how]}
    assert [prompt["name"] for prompt in prompts["prompts"]] == ["bad__p", "good__p"]
    assert LEFT_OUT not in prompts.get("_meta", {})


GONE = {
    "mute": (None, "it did not answer within 3 seconds"),
    "missing": (NOWHERE, "the server `bad` cannot be reached: CannotStart: `/nowhere/at/all` cannot be started"),
    "ends": (ENDS, "the server `bad` did not answer the greeting"),
}


@pytest.mark.parametrize("era", ["handshake", "modern"])
@pytest.mark.parametrize(("command", "why"), GONE.values(), ids=GONE)
async def test_a_server_that_is_not_there_is_left_out_of_the_greeting_and_named(
    tmp_path: Path, era: str, command: list[str] | None, why: str
) -> None:
    bad = command or shifty(tmp_path, "bad", "--how", "mute", tools=[LOOK])
    async with proxied(tmp_path, era, greet=False, bad=bad, good=shifty(tmp_path, "good", tools=[LOOK])) as wire:
        began = time.monotonic()
        greeting = await greeted(wire)
        response = await wire.request("tools/list")
        if era == "handshake":
            assert (await wire.request("logging/setLevel", {"level": "error"})) == {"result": {}}
        assert said(await wire.call("good__look")) == "good did look"
        assert time.monotonic() - began < 3 * SECONDS + 5
    assert greeting["instructions"] == "Left out, since they did not answer the proxy: `bad`."
    assert greeting["capabilities"]["tools"] == {"listChanged": True}
    assert names(response) == ["good__look"]
    for result in (greeting, response["result"]):
        assert result["_meta"][LEFT_OUT]["bad"].startswith(why)


async def test_a_server_that_comes_late_says_so_by_a_change_of_the_list(tmp_path: Path) -> None:
    late, good = shifty(tmp_path, "late", "--how", "late"), shifty(tmp_path, "good", tools=[LOOK])
    async with proxied(tmp_path, greet=False, late=late, good=good) as wire:
        assert list((await greeted(wire))["_meta"][LEFT_OUT]) == ["late"]
        shifty(tmp_path, "late", tools=[LOOK])
        await wire.until("notifications/tools/list_changed")
        response = await wire.request("tools/list")
    assert names(response) == ["late__look", "good__look"]
    assert "_meta" not in response["result"]


@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_where_no_server_is_there_each_is_named_with_its_reason(tmp_path: Path, era: str) -> None:
    async with proxied(tmp_path, era, greet=False, one=NOWHERE, two=ENDS) as wire:
        response = await wire.request("initialize" if era == "handshake" else "server/discover", HELLO)
    told = response["error"]["message"]
    assert "`one`: the server `one` cannot be reached: " in told
    assert "`two`: the server `two` did not answer the greeting" in told
    assert told.endswith("`preflight doctor` with the same options says how each server stands")


HELLO: Message = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "w", "version": "1"}}


async def test_with_one_server_its_error_passes_as_it_came(tmp_path: Path) -> None:
    command = proxy(tmp_path / "r.db", rules(tmp_path, "bad"), shifty(tmp_path, "bad", "--how", "break"), name="bad")
    async with connected(command) as wire:
        assert (await wire.request("tools/list"))["error"] == {"code": -32603, "message": "broken \u001b[31m"}


@pytest.mark.parametrize(("command", "why"), [(NOWHERE, "cannot be started"), (ENDS, "did not answer the greeting")])
async def test_both_eras_are_told_of_a_server_that_cannot_start_and_may_try_again(
    tmp_path: Path, command: list[str], why: str
) -> None:
    # a client that knows both begins with the newer, and goes back to the older on the same connection
    async with connected(proxy(tmp_path / "r.db", rules(tmp_path, "bad"), command, name="bad"), greet=False) as wire:
        for era, method in [("modern", "server/discover"), ("handshake", "initialize")] * 2:
            wire.era = era
            told = (await wire.request(method, HELLO))["error"]["message"]
            assert "the server `bad`" in told
            assert why in told
            assert told.endswith("`preflight doctor` with the same options says how each server stands")


async def test_after_a_greeting_that_failed_either_era_is_taken(tmp_path: Path) -> None:
    start = f"import os, sys; os.path.exists({str(tmp_path / 'good.json')!r}) and os.execv(sys.argv[1], sys.argv[1:])"
    command = [sys.executable, "-c", start, *shifty(tmp_path, "good")]
    for first, then in (("server/discover", "handshake"), ("initialize", "modern")):
        (tmp_path / "good.json").unlink(missing_ok=True)
        run = proxy(tmp_path / "r.db", rules(tmp_path, "good"), command, name="good")
        async with connected(run, greet=False) as wire:
            wire.era = "modern" if then == "handshake" else "handshake"
            assert "error" in await wire.request(first, HELLO)
            shifty(tmp_path, "good", tools=[LOOK])
            wire.era = then
            await greeted(wire)
            assert said(await wire.call("look")) == "good did look"
            wire.era = "modern" if then == "handshake" else "handshake"
            assert "error" in await wire.request("tools/list", {"_meta": {CLIENT: {}}})


# names


@pytest.mark.parametrize("name", ["a__b", "__a", "a_", "a__"])
def test_a_servers_name_that_could_be_part_of_a_tools_is_refused_where_it_stands(tmp_path: Path, name: str) -> None:
    path = listing(tmp_path, **{"fine": ["x"], name: ["y"]})
    with pytest.raises(InvalidInput, match="rename the server, in the rules too") as caught:
        of_file(path, {})
    assert str(caught.value).startswith(f"`{path}: mcpServers/{name}`: `{name}` has `__` in it, or `_` at its end")
    for command in ("proxy", "doctor"):
        given = [sys.executable, "-m", "preflight", command, "--servers", str(path)]
        ran = subprocess.run(given, capture_output=True, text=True, check=False, timeout=60)
        assert (ran.returncode, f"mcpServers/{name}" in ran.stderr) == (2, True)
    with pytest.raises(InvalidInput, match=f"servers/{name}"):
        Catalogue([Upstream(each, lambda: None, None) for each in ("fine", name)])  # type: ignore[arg-type, return-value]
    (alone,) = of_file(listing(tmp_path, **{name: ["y"]}), {})  # its tools keep their names
    assert alone.name == name


@pytest.mark.parametrize(("text", "what"), [
    ('{"mcpServers": {"": {"command": "x"}}}', "a server without a name"),
    ('{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}', "`a` stands twice"),
])  # fmt: skip
def test_a_server_has_a_name_and_a_name_one_server(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "servers.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match=what):
        of_file(path, {})


async def test_names_lead_to_the_server_that_they_begin_with(tmp_path: Path) -> None:
    odd: dict[str, list[Message]] = {
        "a": [{**LOOK, "name": "b__look"}, LOOK, {**LOOK, "name": "_look"}, {**LOOK, "name": 5}], "a_b": [LOOK],
    }  # fmt: skip
    servers = {name: shifty(tmp_path, name, tools=tools) for name, tools in odd.items()}
    async with proxied(tmp_path, **servers) as wire:
        assert names(await wire.request("tools/list")) == ["a__b__look", "a__look", "a___look", "a_b__look"]
        assert said(await wire.call("a__look")) == "a did look"
        assert said(await wire.call("a_b__look")) == "a_b did look"
        for other in ("look", "b__look", "a_", "__look"):
            assert "there is no server for" in (await wire.request("tools/call", {"name": other}))["error"]["message"]
        prompts = (await wire.request("prompts/list"))["result"]["prompts"]
    assert [prompt["name"] for prompt in prompts] == ["a__p", "a_b__p"]


async def test_a_resource_of_several_servers_is_read_from_none(tmp_path: Path) -> None:
    servers = {name: shifty(tmp_path, name, tools=[LOOK]) for name in ("one", "two")}

    async def read(wire: Wire, uri: str) -> Any:
        response = await wire.request("resources/read", {"uri": uri})
        return response["result"]["contents"][0]["text"] if "result" in response else response["error"]["message"]

    async with proxied(tmp_path, **servers) as wire:
        with anyio.fail_after(20):
            same = "the resource `mem://same` is one of `one`, `two`, and which is meant is not known"
            assert await read(wire, "mem://same") == f"{same}; put each of them behind a proxy of its own"
            assert [await read(wire, f"mem://{name}") for name in servers] == list(servers)
            assert "is one of `one`, `two`" in await read(wire, "mem://of/both")
            assert await read(wire, "mem://nobody") == "no server lists the resource `mem://nobody`"


async def test_the_packages_own_client_is_told_why_a_server_cannot_start(tmp_path: Path) -> None:
    command, *arguments = proxy(tmp_path / "r.db", rules(tmp_path, "bad"), NOWHERE, name="bad")
    server = StdioServerParameters(command=command, args=arguments, env=dict(os.environ))
    with anyio.fail_after(30), pytest.raises(ExceptionGroup) as caught:
        async with Client(server):
            pass
    assert "the server `bad` cannot be reached: CannotStart: `/nowhere/at/all`" in str(innermost(caught.value))
