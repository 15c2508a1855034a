"""What clients send over HTTP, to the letter: what cannot be read is told, and each request gets its own answer."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from tests.integration.test_proxy_asks import states
from tests.integration.test_proxy_http import TOKEN, served
from tests.integration.test_proxy_wire import NUMBERS, RULES, calls, server
from tests.integration.wire import ABLE, CLIENT, SECONDS, VERSION, Message, proxy

TAKEN = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
KNOWN = {**TAKEN, "Authorization": f"Bearer {TOKEN}"}
MODERN = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call"}
ENVELOPE = {VERSION: "2026-07-28", CLIENT: {"name": "post", "version": "1"}, ABLE: {}}

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]


class Posting:
    """A client that posts what it is given, in a session or, in the modern era, in none."""

    def __init__(self, http: httpx2.AsyncClient, url: str, era: str) -> None:
        self._http = http
        self._url = url
        self.modern = era == "modern"
        self.headers: dict[str, str] = {}

    async def greet(self, able: Message) -> None:
        if self.modern:
            return
        params = {"protocolVersion": "2025-11-25", "capabilities": able, "clientInfo": {"name": "p", "version": "1"}}
        response = await self.post({"id": 0, "method": "initialize", "params": params})
        self.headers = {
            "mcp-session-id": response.headers["mcp-session-id"], "mcp-protocol-version": "2025-11-25",
        }  # fmt: skip
        await self.post({"method": "notifications/initialized"})

    def _named(self, name: str) -> dict[str, str]:
        return {**MODERN, "mcp-name": name} if self.modern else self.headers

    async def post(self, message: Message | bytes, name: str = "look") -> httpx2.Response:
        body = message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode()
        return await self._http.post(self._url, content=body, headers=self._named(name))

    def called(self, identifier: Any, name: str, arguments: Message) -> Message:
        params: Message = {"name": name, "arguments": arguments, **({"_meta": ENVELOPE} if self.modern else {})}
        return {"id": identifier, "method": "tools/call", "params": params}

    async def call(self, identifier: Any, name: str, **arguments: Any) -> Message:
        """Call a tool and return the answer."""
        return answer_in(await self.post(self.called(identifier, name, arguments), name))

    @asynccontextmanager
    async def stream(self, message: Message) -> AsyncIterator[AsyncIterator[Message]]:
        """Post a message and yield what comes back, as it comes."""
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        async with self._http.stream("POST", self._url, content=body, headers=self._named("write")) as response:

            async def messages() -> AsyncIterator[Message]:
                async for line in response.aiter_lines():
                    if line.startswith("data:") and line[5:].strip():
                        yield json.loads(line[5:])

            yield messages()


def answer_in(response: httpx2.Response) -> Message:
    data = [line[5:] for line in response.text.splitlines() if line.startswith("data:") and line[5:].strip()]
    answer: Message = json.loads(data[-1] if data else response.text)
    return answer


@asynccontextmanager
async def posting(folder: Path, era: str, able: Message | None = None) -> AsyncIterator[Posting]:
    with served(proxy(folder / "records.db", RULES, server(folder))) as url:
        async with httpx2.AsyncClient(headers=KNOWN, timeout=SECONDS) as http:
            made = Posting(http, url, era)
            with anyio.fail_after(SECONDS):
                await made.greet(able or {})
                yield made


def text_of(answer: Message) -> str:
    return str(answer["result"]["content"][0]["text"])


async def until_it_waits(client: Posting, folder: Path, identifier: str) -> None:
    """Return once the server was asked to wait: what is sent later is answered later."""
    while not any(call["name"] == "wait" for call in calls(folder)):
        await client.call(identifier, "look")


@pytest.mark.parametrize("second", [7, "7"])
async def test_a_second_request_under_an_open_id_is_refused_and_the_first_is_answered(
    tmp_path: Path, second: Any
) -> None:
    async with posting(tmp_path, "handshake") as one:
        got: list[Message] = []

        async def wait() -> None:
            got.append(await one.call(7, "wait"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await until_it_waits(one, tmp_path, "first")
            refused = await one.post(one.called(second, "look", {}))
            told = refused.json()
            assert (refused.status_code, told["id"], told["error"]["code"]) == (400, None, -32600)
            assert "belongs to a request that is not answered yet" in told["error"]["message"]
            assert got == []
            await one.call("last", "look", text="release")
        assert [(answer["id"], text_of(answer)) for answer in got] == [(7, "fine")]
        assert text_of(await one.call(7, "look")) == "fine"


async def test_an_id_stays_open_while_the_call_of_a_client_that_hung_up_goes_on(tmp_path: Path) -> None:
    async with posting(tmp_path, "handshake") as one:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one.call, 7, "wait")
            await until_it_waits(one, tmp_path, "first")
            tasks.cancel_scope.cancel()
        assert (await one.call(7, "look", text="early"))["error"]["code"] == -32600
        await one.call("last", "look", text="release")
        assert text_of(await one.call(7, "look", text="late")) == "fine"
    assert "early" not in [call["arguments"].get("text") for call in calls(tmp_path)]


async def test_without_sessions_ids_are_each_clients_own(tmp_path: Path) -> None:
    async with posting(tmp_path, "modern") as one:
        got: list[Message] = []

        async def wait() -> None:
            got.append(await one.call(7, "wait"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await until_it_waits(one, tmp_path, "first")
            assert text_of(await one.call(7, "look")) == "fine"
            await one.call(7, "look", text="release")
        assert [(answer["id"], text_of(answer)) for answer in got] == [(7, "fine")]


@pytest.mark.parametrize("era", ["handshake", "modern"])
@pytest.mark.parametrize(
    ("body", "identifier", "code"),
    [
        (b"{", None, -32700),
        (b"[]", None, -32600),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', None, -32600),
        (b'{"jsonrpc":"2.0","id":41,"method":"ping","params":[]}', 41, -32600),
        (b'{"jsonrpc":"1.0","id":"a","method":"ping"}', "a", -32600),
        (b'{"jsonrpc":"2.0","id":42,"method":"x","params":{"x":"\\ud800"}}', 42, -32700),
        (b'{"jsonrpc":"2.0","id":43,"method":"x","params":{"x":"\xff"}}', 43, -32700),
        (b'{"jsonrpc":"2.0","id":44,"method":"x","params":{"x":NaN}}', 44, -32700),
        (b'{"jsonrpc":"2.0","id":45,"method":"x","params":{"x":1e999}}', 45, -32700),
        (b'{"jsonrpc":"2.0","id":46,"method":"x","params":{"x":' + b"[" * 5_000 + b"]" * 5_000 + b"}}", 46, -32700),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"tools/call","params":{"name":"look"}}', None, -32600),
        (b'{"jsonrpc":"2.0","id":47,"method":"tools/call","params":{"name":"look","_meta":5}}', 47, -32602),
    ],
)
async def test_what_cannot_be_read_is_answered_under_its_own_id(
    tmp_path: Path, body: bytes, identifier: Any, code: int, era: str
) -> None:
    async with posting(tmp_path, era) as one:
        response = await one.post(body)
        assert response.status_code == 400
        assert (response.json()["id"], response.json()["error"]["code"]) == (identifier, code)
        assert text_of(await one.call(1, "look")) == "fine"
    assert len(calls(tmp_path)) == 1


@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_an_argument_that_would_be_rounded_is_refused_over_http_too(tmp_path: Path, era: str) -> None:
    #
    async with posting(tmp_path, era) as one:
        body = json.dumps({"jsonrpc": "2.0", **one.called(1, "look", {"text": "HERE"})})
        answer = answer_in(await one.post(body.replace('"HERE"', "0.1000000000000000055511151231257827").encode()))
    assert (answer["id"], answer["error"]["code"]) == (1, -32602)
    assert "a number that cannot be carried exactly" in answer["error"]["message"]
    assert calls(tmp_path) == []


async def test_a_message_that_is_too_large_is_refused(tmp_path: Path) -> None:
    async with posting(tmp_path, "handshake") as one:
        response = await one.post({"id": 1, "method": "ping", "params": {"x": "x" * 5_000_000}})
        assert response.status_code == 413
        assert text_of(await one.call(1, "look")) == "fine"


async def test_an_answer_over_http_that_cannot_be_read_is_no_answer(tmp_path: Path) -> None:
    #
    async with posting(tmp_path, "handshake", {"elicitation": {"form": {}}}) as one:
        async with one.stream(one.called(1, "write", {"line": "hello"})) as messages:
            asked = await anext(messages)
            assert asked["method"] == "elicitation/create"
            garbled = b'{"jsonrpc":"2.0","id":%d,"result":{"action":"accept","x":"\\ud800"}}' % asked["id"]
            assert (await one.post(garbled)).status_code == 202
            answer = await anext(messages)
        assert "Nothing was called" in text_of(answer)
    assert states(tmp_path) == ["ask_user"]


@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_numbers_over_http_are_doubles(tmp_path: Path, era: str) -> None:
    async with posting(tmp_path, era) as one:
        (tmp_path / "answer").write_bytes(b'{"jsonrpc":"2.0","id":%ID%,"result":{"content":[],"x":' + NUMBERS + b"}}")
        assert (await one.call(1, "look"))["result"]["x"] == json.loads(NUMBERS)
