"""What the bytes of either side may be: what cannot be read ends what waits for it, and what can passes as it is."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from preflight.mcp.sdk import MCPError
from preflight.mcp.stdio import StdioServer
from preflight.results import ToolCall
from tests.integration.test_proxy_asks import FORM, records, saying, states
from tests.integration.test_proxy_bad_input import SAYS_HELLO, stray
from tests.integration.wire import SECONDS, Message, Wire, connected, logged, proxy, said

HERE = Path(__file__).resolve().parent / "upstreams"
RULES = HERE / "everything.yaml"
FINE = b'"result":{"content":[{"type":"text","text":"%s"}]}'
UNREADABLE = {
    "a lone surrogate": b'{"jsonrpc":"2.0","id":%ID%,' + FINE % b"\\ud800" + b"}",
    "invalid UTF-8": b'{"jsonrpc":"2.0",' + FINE % b"\xff\xfe" + b',"id":%ID%}',
    "too deep": b'{"jsonrpc":"2.0","id":%ID%,"result":{"content":[],"x":' + b"[" * 500 + b"]" * 500 + b"}}",
    "a list": b'{"jsonrpc":"2.0","id":%ID%,"result":[]}',
    "null": b'{"jsonrpc":"2.0","id":%ID%,"result":null}',
    "a text": b'{"jsonrpc":"2.0","id":%ID%,"result":"x"}',
    "no outcome": b'{"jsonrpc":"2.0","id":%ID%}',
    "another version": b'{"jsonrpc":"1.0","id":%ID%,"result":{"content":[]}}',
    "NaN": b'{"jsonrpc":"2.0","id":%ID%,"result":{"content":[],"structuredContent":{"a":NaN}}}',
    "an overflow": b'{"jsonrpc":"2.0","id":%ID%,"result":{"content":[],"structuredContent":{"a":1e999}}}',
    "another id inside": b'{"jsonrpc":"2.0","result":{"id":1,"x":"\\udc00"},"id":%ID%}',
    "an error of another form": b'{"jsonrpc":"2.0","id":%ID%,"error":"no"}',
    "a result and an error": b'{"jsonrpc":"2.0","id":%ID%,"error":{"code":-32602,"message":"no"},' + FINE % b"x" + b"}",
}
UNTOLD = {
    "an object as id": b'{"jsonrpc":"2.0","id":{},"result":[]}',
    "two ids": b'{"jsonrpc":"2.0","id":%ID%,"id":77,"result":[]}',
    "a part of a number": b'{"jsonrpc":"2.0","id":%ID%.5,' + FINE % b"x" + b"}",
    "a batch": b'[{"jsonrpc":"2.0","id":%ID%,' + FINE % b"x" + b"}]",
    "an error that names nobody": b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}',
}
"""Answers of which it cannot be told whose they are."""

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]


def server(folder: Path, *options: str) -> list[str]:
    return [sys.executable, str(HERE / "verbatim.py"), str(folder / "answer"), "--log", str(folder / "log"), *options]


@asynccontextmanager
async def fronted(folder: Path, *options: str, **more: Any) -> AsyncIterator[Wire]:
    """Yield a client of a proxy in front of the server; the options are the server's."""
    command = proxy(folder / "records.db", RULES, server(folder, *options))
    async with connected(command, **{"able": FORM, "answer": SAYS_HELLO, **more}) as wire:
        yield wire


@contextmanager
def web(folder: Path, *options: str) -> Iterator[str]:
    """Run the server over HTTP and yield its address."""
    process = subprocess.Popen(server(folder, "--http", *options), stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.communicate(timeout=20)


@asynccontextmanager
async def far(folder: Path, url: str, **more: Any) -> AsyncIterator[Wire]:
    """Yield a client of a proxy in front of a server at an address."""
    command = [*proxy(folder / "records.db", RULES, ())[:-1], "--url", url]
    async with connected(command, **{"able": FORM, "answer": SAYS_HELLO, **more}) as wire:
        yield wire


def calls(folder: Path) -> list[Message]:
    return [entry[1] for entry in logged(folder / "log") if entry[0] == "tools/call"]


async def the_read_fails_and_the_write_is_in_doubt(folder: Path, wire: Wire, answer: bytes) -> None:
    # the server was asked, so that what it did is not known
    for name in ("look", "write"):
        (folder / "answer").write_bytes(answer)
        response = await wire.call(name, {"line": "hello"})
        assert response["error"]["code"] == -32603
        assert "the server's answer cannot be read" in response["error"]["message"]
        assert "may have taken effect" in response["error"]["message"]
    assert states(folder)[-1] == "in_doubt"
    assert said(await wire.call("look", {"text": "alive"})) == "fine"
    assert said(await wire.call("write", {"line": "hello"})).startswith("Not called again")
    assert [call["name"] for call in calls(folder)] == ["look", "write", "look"]


@pytest.mark.parametrize("era", ["handshake", "modern"])
@pytest.mark.parametrize("what", UNREADABLE)
async def test_an_answer_that_cannot_be_read_ends_the_call_in_doubt(tmp_path: Path, what: str, era: str) -> None:
    async with fronted(tmp_path, era=era) as wire:
        await the_read_fails_and_the_write_is_in_doubt(tmp_path, wire, UNREADABLE[what])


JSON, EVENTS = b"200 application/json\n", b"200 text/event-stream\n"
FAR = {
    **{f"JSON: {what}": JSON + UNREADABLE[what] for what in UNREADABLE if what != "too deep"},
    **{f"events: {what}": EVENTS + b"event: message\ndata: " + UNREADABLE[what] + b"\n\n"
       for what in ("a lone surrogate", "too deep", "a list", "null", "NaN", "an overflow")},
    "no JSON": JSON + b"<html>",
    "a result where nothing is": b"404 application/json\n" + b'{"jsonrpc":"2.0","id":%ID%,' + FINE % b"done" + b"}",
    "an answer to nobody": JSON + b'{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"no"}}',
    "another's answer": JSON + b'{"jsonrpc":"2.0","id":77,"result":{"content":[]}}',
    "a notification": JSON + b'{"jsonrpc":"2.0","method":"notifications/message","params":{}}',
    "accepted": b"202 application/json\n",
    "a page": b"200 text/html\n<html>",
}  # fmt: skip


@pytest.mark.parametrize("what", FAR)
async def test_an_answer_over_http_that_cannot_be_read_ends_the_call_in_doubt(tmp_path: Path, what: str) -> None:
    with web(tmp_path) as url:
        async with far(tmp_path, url) as wire:
            await the_read_fails_and_the_write_is_in_doubt(tmp_path, wire, FAR[what])


async def test_an_error_of_a_server_over_http_that_refuses_is_still_one(tmp_path: Path) -> None:
    with web(tmp_path) as url:
        async with far(tmp_path, url) as wire:
            error = {"code": -32602, "message": "no such line", "data": {"at": 1}}
            text = json.dumps({"jsonrpc": "2.0", "id": "%ID%", "error": error}).replace('"%ID%"', "%ID%")
            (tmp_path / "answer").write_bytes(JSON + text.encode())
            assert (await wire.call("write", {"line": "hello"}))["error"] == error
    assert states(tmp_path)[-1] == "failed"


@pytest.mark.parametrize("what", UNTOLD)
async def test_an_answer_to_nobody_ends_the_only_call_that_waits(tmp_path: Path, what: str) -> None:
    # nothing else would ever end it
    async with fronted(tmp_path) as wire:
        await the_read_fails_and_the_write_is_in_doubt(tmp_path, wire, UNTOLD[what])


@pytest.mark.parametrize("what", UNTOLD)
async def test_an_answer_to_nobody_ends_none_of_several_calls(tmp_path: Path, what: str) -> None:
    fine = b'\n{"jsonrpc":"2.0","id":%ID%,' + FINE % b"in the end" + b"}"
    async with fronted(tmp_path) as wire, anyio.create_task_group() as tasks:
        waited: list[str] = []

        async def wait() -> None:
            waited.append(said(await wire.call("wait")))

        tasks.start_soon(wait)
        while not calls(tmp_path):
            await anyio.lowlevel.checkpoint()
        (tmp_path / "answer").write_bytes(UNTOLD[what] + fine)
        assert said(await wire.call("look")) == "in the end"
        assert waited == []
        await wire.call("look", {"text": "release"})
    assert waited == ["fine"]


async def test_lines_that_answer_nothing_end_nothing(tmp_path: Path) -> None:
    lines = [
        b"\xff", b'{"id":{},"result":[]}', b'{"level":"error","error":"not ours"}',
        b'{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"\\ud800"}}',
        # the id of a request is the server's own, whatever else has the same
        b'{"jsonrpc":"2.0","id":%ID%,"method":"ping","params":{"x":"\\ud800"}}',
        b'{"jsonrpc":"2.0","id":%ID%,' + FINE % b"in the end" + b"}",
    ]  # fmt: skip
    async with fronted(tmp_path) as wire:
        (tmp_path / "answer").write_bytes(b"\n".join(lines))
        assert said(await wire.call("look")) == "in the end"
        assert said(await wire.call("look")) == "fine"
    refused = [entry[1] for entry in logged(tmp_path / "log") if entry[0] == "answer"]
    assert [answer["error"]["code"] for answer in refused] == [-32600]


ENDLESS = b'"result":{"resultType":"input_required","inputRequests":{},"requestState":"more"}}'
NOTHING = b'"result":{"resultType":"input_required"}}'


@pytest.mark.parametrize("era", ["handshake", "modern"])
@pytest.mark.parametrize(("result", "sent"), [(ENDLESS, 11), (NOTHING, 1)])
async def test_a_server_that_asks_for_more_without_end_is_sent_to_no_more(
    tmp_path: Path, result: bytes, sent: int, era: str
) -> None:
    #
    (tmp_path / "answer").write_bytes(b'{"jsonrpc":"2.0","id":%ID%,' + result)
    async with fronted(tmp_path, "--modern", "--always", era=era) as wire:
        response = await wire.call("write", {"line": "hello"})
        assert said(response).startswith("In doubt")
        assert "asks for more without end, or for nothing" in said(response)
    assert len(calls(tmp_path)) == sent
    assert len({call["_meta"]["preflight/decision"] for call in calls(tmp_path)}) == 1
    assert states(tmp_path)[-1] == "in_doubt"


@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_a_handshake_server_is_never_sent_a_call_again(tmp_path: Path, era: str) -> None:
    # in its era `input_required` means nothing, and a client of the other one is not told it
    (tmp_path / "answer").write_bytes(b'{"jsonrpc":"2.0","id":%ID%,' + ENDLESS)
    async with fronted(tmp_path, "--always", era=era) as wire:
        result = (await wire.call("write", {"line": "hello"}))["result"]
        assert result.get("resultType") == (None if era == "handshake" else "complete")
    assert len(calls(tmp_path)) == 1
    assert states(tmp_path)[-1] == "executed"


@pytest.mark.parametrize("era", ["handshake", "modern"])
@pytest.mark.parametrize("identifier", [[], {}, None, 1.5, True, "nobody's"])
async def test_cancelling_what_there_is_not_ends_nothing(tmp_path: Path, identifier: Any, era: str) -> None:
    async with fronted(tmp_path, era=era) as wire:
        await wire.send({"method": "notifications/cancelled", "params": wire.enveloped({"requestId": identifier})})
        assert said(await wire.call("look")) == "fine"
        assert wire.stray == []


@pytest.mark.parametrize(
    ("line", "identifier", "code"),
    [
        (b'{"jsonrpc":"1.0","id":41,"method":"ping"}', 41, -32600),
        (b'{"jsonrpc":"2.0","id":"a","method":"ping","params":[]}', "a", -32600),
        (b'{"jsonrpc":"2.0","id":42,"params":{}}', 42, -32600),
        (b'{"jsonrpc":"2.0","method":"x","params":{"id":7,"x":"\\ud800"},"id":43}', 43, -32700),
        (b'{"jsonrpc":"2.0","id":44,"method":"x","params":{"x":NaN}}', 44, -32700),
        (b'{"jsonrpc":"2.0","id":45,"method":"x","params":{"x":1e999}}', 45, -32700),
        (b'{"jsonrpc":"2.0","id":46,"method":"x","params":{"x":"\xff"}}', 46, -32700),
        (b'{"jsonrpc":"2.0","id":47,"method":"x","params":{"x":' + b"[" * 300 + b"]" * 300 + b"}}", 47, -32700),
        (b'{"jsonrpc":"2.0","id":48,"method":"x","params":{"x":' + b"1" * 5_000 + b"}}", 48, -32700),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"tools/call","params":{"name":"write"}}', None, -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"write"}}', None, -32600),
        (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping","params":[]}', None, -32600),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', None, -32600),
        (
            b'{"jsonrpc":"2.0","id":49,"method":"tools/call","params":{"name":"look","arguments":{"n":900,"n":500}}}',
            49,
            -32600,
        ),
        (
            b'{"jsonrpc":"2.0","id":50,"method":"tools/call","params":{"name":"look"},"params":{"name":"write"}}',
            50,
            -32600,
        ),
        (b'{"jsonrpc":"2.0","id":51,"method":"x","params":{"to":1,"t\\u006f":2}}', 51, -32600),
    ],
)
async def test_a_request_that_cannot_be_read_is_answered_under_its_own_id(
    tmp_path: Path, line: bytes, identifier: Any, code: int
) -> None:
    async with fronted(tmp_path) as wire:
        await wire.raw(line + b"\n")
        answer = await stray(wire)
        assert (answer["id"], answer["error"]["code"]) == (identifier, code)
        assert "cannot be read" in answer["error"]["message"]
        assert said(await wire.call("look")) == "fine"
    assert [call["name"] for call in calls(tmp_path)] == ["look"]


async def test_what_cannot_be_read_ends_no_other_request_of_the_same_id(tmp_path: Path) -> None:
    async with fronted(tmp_path) as wire:
        waits = await wire.begin("tools/call", {"name": "wait"}, 5)
        for sent in (
            b'{"jsonrpc":"2.0","id":5,"method":"ping","params":[]}',
            b'{"jsonrpc":"2.0","id":"5","method":"ping"}',
        ):
            await wire.raw(sent + b"\n")
            assert (await stray(wire))["id"] is None
        await wire.send({"method": "notifications/cancelled", "params": {"requestId": waits}})
        assert said(await wire.call("look")) == "fine"
        await wire.begin("ping", {}, "5")
        assert (await wire.end("5"))["result"] == {}


async def test_an_answer_of_a_client_that_cannot_be_read_is_no_answer(tmp_path: Path) -> None:
    #
    holder: list[Wire] = []

    async def garbled(_method: str, _params: Message) -> Message:
        asked = holder[0].asked[-1]["id"]
        await holder[0].raw(b'{"jsonrpc":"2.0","id":%d,"result":{"action":"accept","x":"\\ud800"}}\n' % asked)
        await anyio.Event().wait()
        raise AssertionError

    async with fronted(tmp_path, answer=garbled) as wire:
        holder.append(wire)
        assert "Nothing was called" in said(await wire.call("write", {"line": "hello"}))
        assert wire.stray == []
    assert states(tmp_path) == ["ask_user"]


@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_a_request_without_an_id_reaches_no_server(tmp_path: Path, era: str) -> None:
    # nobody decided it
    async with fronted(tmp_path, era=era) as wire:
        await wire.call("look")
        await wire.send(
            {"method": "tools/call", "params": wire.enveloped({"name": "write", "arguments": {"line": "x"}})}
        )
        await wire.send({"method": "notifications/vendor", "params": wire.enveloped({})})
        await wire.call("look")
    assert [call["name"] for call in calls(tmp_path)] == ["look", "look"]
    assert [entry[0] for entry in logged(tmp_path / "log") if "vendor" in entry[0]] == ["notifications/vendor"]


NUMBERS = (
    b"[1.10,1e5,1E+2,0.1000000000000000055511151231257827,-0.0,12345678901234567890123456789.5,18446744073709551616]"
)


async def lines_of(wire: Wire, method: str, params: bytes) -> bytes:
    """Return the answer to a request, to the letter."""
    identifier = await wire.begin("ping")
    await wire.end(identifier)
    await wire.raw(b'{"jsonrpc":"2.0","id":"raw","method":"%s","params":%s}\n' % (method.encode(), params))
    await stray(wire)
    return wire.last


@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_numbers_pass_as_they_are_written(tmp_path: Path, era: str) -> None:
    (tmp_path / "answer").write_bytes(b'{"jsonrpc":"2.0","id":%ID%,"result":{"content":[],"x":' + NUMBERS + b"}}")
    async with fronted(tmp_path, era=era) as wire:
        params = json.dumps(wire.enveloped({"name": "look", "_meta": {"n": "HERE"}})).replace(
            '"HERE"', NUMBERS.decode()
        )
        assert NUMBERS in await lines_of(wire, "tools/call", params.encode())
    (sent,) = [entry[2] for entry in logged(tmp_path / "log") if entry[0] == "tools/call"]
    assert NUMBERS.decode() in sent


@pytest.mark.parametrize("name", ["look", "write"])
async def test_an_argument_that_would_be_rounded_is_refused_and_recorded(tmp_path: Path, name: str) -> None:
    #
    async with fronted(tmp_path) as wire:
        params = b'{"name":"%s","arguments":{"text":[0.1000000000000000055511151231257827]}}' % name.encode()
        answer = json.loads(await lines_of(wire, "tools/call", params))
    assert answer["error"]["code"] == -32602
    assert answer["error"]["message"].startswith("`arguments/text/0`: a number that cannot be carried exactly")
    assert calls(tmp_path) == []
    assert states(tmp_path) == ["hold"]


@pytest.mark.parametrize(
    ("written", "value"), [("12.50", 12.5), ("1.25e3", 1250), ("12345678901234567890.0", 12345678901234567890)]
)
async def test_a_gated_argument_is_recorded_and_sent_with_the_value_it_was_written_with(
    tmp_path: Path, written: str, value: float
) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_text(
        RULES.read_text(encoding="utf-8").replace("line: {role", "n: {role: quantity}\n          line: {role")
    )
    command = proxy(tmp_path / "records.db", rules, server(tmp_path))
    answer = saying({"restatement": f"write {value} now"})
    async with connected(command, able=FORM, answer=answer) as wire:
        params = b'{"name":"write","arguments":{"n":%s}}' % written.encode()
        assert b"fine" in await lines_of(wire, "tools/call", params)
    (call,) = calls(tmp_path)
    recorded = records(tmp_path)[-1].call_arguments
    assert recorded == call["arguments"] == {"n": value}
    assert type(recorded["n"]) is type(call["arguments"]["n"])


RATED = """
version: 1
servers:
  everything:
    measures:
      rate: {mcp: {server: everything, tool: look}, pointer: /rate, type: number, max_age: 5m}
    tools:
      look: {effect: read}
      write:
        effect: reversible
        intents: [write]
        changes: [create]
        conditions:
          - {id: rated, declared_by: provider, description: the rate is known, expression: measured.rate == 1.5}
"""


async def test_what_is_measured_is_a_plain_number(tmp_path: Path) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_text(RATED, encoding="utf-8")
    rate = b'"result":{"content":[],"structuredContent":{"rate":1.50}}'
    (tmp_path / "answer").write_bytes(b'{"jsonrpc":"2.0","id":%ID%,' + rate + b"}")
    command = proxy(tmp_path / "records.db", rules, server(tmp_path))
    async with connected(command, able=FORM, answer=SAYS_HELLO) as wire:
        assert said(await wire.call("write", {"line": "hello"})) == "fine"
    assert [call["name"] for call in calls(tmp_path)] == ["look", "write"]


ASKED = "n: {role: quantity, sources: [user_answer]}\n          line: {role"


async def test_a_number_in_a_form_is_taken_as_it_was_written_or_asked_for_again(tmp_path: Path) -> None:
    #
    rules = tmp_path / "rules.yaml"
    rules.write_text(RULES.read_text(encoding="utf-8").replace("line: {role", ASKED), encoding="utf-8")
    holder: list[Wire] = []
    numbers = [b"0.1000000000000000055511151231257827", b"12.50"]

    async def fill(_method: str, params: Message) -> Message:
        names = params["requestedSchema"]["properties"]
        if "n" not in names:
            return {"action": "accept", "content": {"restatement": "write it now"}}
        filled = b'{"jsonrpc":"2.0","id":%d,"result":{"action":"accept","content":{"n":%s}}}\n'
        await holder[0].raw(filled % (holder[0].asked[-1]["id"], numbers.pop(0)))
        await anyio.Event().wait()
        raise AssertionError

    command = proxy(tmp_path / "records.db", rules, server(tmp_path, "--required", "n"))
    async with connected(command, able=FORM, answer=fill) as wire:
        holder.append(wire)
        assert said(await wire.call("write")) == "fine"
    assert numbers == []
    assert any("cannot be carried exactly" in asked["params"]["message"] for asked in wire.asked)
    assert [call["arguments"] for call in calls(tmp_path)] == [{"n": 12.5}]


@pytest.mark.parametrize("era", ["handshake", "modern"])
@pytest.mark.parametrize("meta", [5, "x", [], True])
async def test_a_meta_that_is_no_object_is_refused(tmp_path: Path, meta: Any, era: str) -> None:
    async with fronted(tmp_path, era=era) as wire:
        for method, params in (("tools/call", {"name": "look"}), ("tools/list", {}), ("vendor/special", {})):
            identifier = await wire.begin("ping")
            await wire.end(identifier)
            await wire.send({"id": "raw", "method": method, "params": {**params, "_meta": meta}})
            answer = await stray(wire)
            assert answer["error"] == {"code": -32602, "message": "`_meta` is not an object; send an object or none"}
        assert said(await wire.call("look")) == "fine"


async def test_a_meta_of_a_servers_question_that_is_no_object_is_refused(tmp_path: Path) -> None:
    asks = b'{"jsonrpc":"2.0","id":"s","method":"sampling/createMessage","params":{"_meta":5}}\n'
    (tmp_path / "answer").write_bytes(asks + b'{"jsonrpc":"2.0","id":%ID%,' + FINE % b"asked" + b"}")
    async with fronted(tmp_path) as wire:
        assert said(await wire.call("look")) == "asked"
        assert said(await wire.call("look")) == "fine"
    (answer,) = [entry[1] for entry in logged(tmp_path / "log") if entry[0] == "answer"]
    assert (answer["id"], answer["error"]["code"]) == ("s", -32602)


async def test_files_are_read_and_written_like_pipes(tmp_path: Path) -> None:
    greeting = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "f", "version": "1"}}
    asked = [
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": greeting}).encode(),
        b'{"jsonrpc":"2.0","id":2,"method":"ping","params":[]}', b"{",
        b'{"jsonrpc":"2.0","id":3,"method":"ping","params":{"x":"\\ud800"}}',
    ]  # fmt: skip
    given, got = tmp_path / "given", tmp_path / "got"
    given.write_bytes(b"\n".join(asked) + b"\n")
    with given.open("rb") as stdin, got.open("wb") as stdout:
        command = proxy(tmp_path / "records.db", RULES, server(tmp_path))
        done = await anyio.run_process(command, stdin=stdin, stdout=stdout, check=False)
    assert done.returncode == 0
    answers = [json.loads(line) for line in got.read_bytes().splitlines()]
    assert {answer["id"]: answer.get("error", {}).get("code") for answer in answers} == {
        1: None, 2: -32600, None: -32700, 3: -32700,
    }  # fmt: skip


@pytest.mark.parametrize("what", ["a lone surrogate", "invalid UTF-8", "a list", "too deep"])
def test_a_server_that_is_called_from_the_command_line_is_read_alike(tmp_path: Path, what: str) -> None:
    with StdioServer(server(tmp_path), seconds=SECONDS) as running:
        (tmp_path / "answer").write_bytes(UNREADABLE[what])
        with pytest.raises(MCPError, match="may have taken effect"):
            running.call(ToolCall("everything", "write", {"line": "x"}, "d", {}))
        assert running.read("everything", "look", {}) == {"content": [{"type": "text", "text": "fine"}]}
