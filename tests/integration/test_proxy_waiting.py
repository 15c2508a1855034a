"""What waits has an end: for a turn, for a client's answer to a server; and a server has only so much open at once."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.integration.test_proxy_asks import FORM, RULES, records, states
from tests.integration.test_proxy_first_word import HELLO, server
from tests.integration.wire import SECONDS, Answer, Message, Wire, connected, logged, said

HURRIED = Path(__file__).resolve().parent / "upstreams" / "hurried.py"
ASKS = ("--asks", "elicitation/create")
OTHER: Message = {"line": "other"}

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]


def hurried(folder: Path, *options: str, budget: float, patience: float, front: str = "") -> list[str]:
    limits = [str(budget), str(patience), *([front] if front else [])]
    command = server(folder, *options)
    return [sys.executable, str(HURRIED), str(folder / "records.db"), str(RULES), *limits, "--", *command]


def silent(*lines: str) -> Answer:
    """Answer the gate's own forms, one after the other, with words for these lines; and no question of the server."""
    left = list(lines)

    async def answer(_method: str, params: Message) -> Message:
        if "restatement" not in json.dumps(params):
            await anyio.sleep_forever()
        return {"action": "accept", "content": {"restatement": f'write "{left.pop(0)}" now'}}

    return answer


@asynccontextmanager
async def fronted(
    folder: Path, *options: str, budget: float = 50, patience: float = 600, **more: Any
) -> AsyncIterator[Wire]:
    command = hurried(folder, *options, budget=budget, patience=patience)
    async with connected(command, **{"able": FORM, "answer": silent("hello", "other"), **more}) as wire:
        yield wire


async def asked_by_the_server(wire: Wire) -> None:
    """Wait until a question of the server arrived."""
    while not any(each.get("params", {}).get("message") == "A note?" for each in wire.asked):
        await wire.heard.wait()


@pytest.mark.parametrize("options", [ASKS, ("--modern", *ASKS)])
async def test_a_question_of_a_server_that_nobody_answers_ends_after_its_time(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    ends = ("--ends", '{"error": {"code": -32602, "message": "no note"}}')
    async with fronted(tmp_path, *options, *ends, patience=0.5) as wire:
        text = said(await wire.call("write", HELLO))
    assert text.startswith("In doubt")
    assert states(tmp_path)[-1] == "in_doubt"
    if "--modern" in options:
        assert "the client did not answer `elicitation/create` within 0.5 seconds" in text
    else:  # who asked is told, and answers as it likes
        (answer,) = [entry[1] for entry in logged(tmp_path / "log") if entry[0] == "answer"]
        assert "did not answer" in answer["error"]["message"]


async def test_a_call_that_a_modern_client_does_not_come_back_to_ends_in_doubt(tmp_path: Path) -> None:
    async with fronted(tmp_path, "--modern", *ASKS, patience=0.5, era="modern") as wire:
        params: Message = {"name": "write", "arguments": HELLO}
        asked = (await wire.request("tools/call", params))["result"]
        parked = await wire.request("tools/call", await wire.again(params, asked))
        assert parked["result"]["resultType"] == "input_required"
        again = await wire.call("write", HELLO)  # it waits for its turn, which comes when the first one ended
        assert said(again).startswith("Not called again")
    assert states(tmp_path).count("in_doubt") == 1


@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_who_waits_for_a_turn_is_told_in_time_whose_it_is(tmp_path: Path, era: str) -> None:
    async with fronted(tmp_path, *ASKS, budget=4, era=era) as wire:
        params: Message = {"name": "write", "arguments": HELLO}
        if era == "handshake":
            await wire.begin("tools/call", params)
            await asked_by_the_server(wire)
        else:
            asked = (await wire.request("tools/call", params))["result"]
            await wire.request("tools/call", await wire.again(params, asked))
        (running,) = [each for each in records(tmp_path) if each.execution_decision == "executing"]
        text = said(await wire.call("write", OTHER))
        assert text.startswith(
            f"Nothing was called: another call of this kind is under way, decision `{running.decision_id}`. "
            "Send this call again later; if it does not end by itself, `preflight in-doubt` lists it;"
        )
        assert f"`preflight settle {running.decision_id}`" in text
        assert [entry[1]["arguments"] for entry in logged(tmp_path / "log") if entry[0] == "call"] == [HELLO]


@pytest.mark.parametrize("asks", ["elicitation/create", "roots/list"])
async def test_a_server_has_so_many_requests_open_and_the_rest_are_refused(
    tmp_path: Path, asks: str, capfd: pytest.CaptureFixture[str]
) -> None:
    many = 500
    async with fronted(tmp_path, "--asks", asks, "--floods", str(many)) as wire:
        assert said(await wire.call("write", HELLO)) == "fine"
        assert (await wire.request("ping"))["result"] == {}
        await wire.call("look", HELLO)  # once this is answered, the server has read what came before
        asked = [each for each in wire.asked if "restatement" not in json.dumps(each)]
        assert len(asked) == 100
    refusals = [entry[1]["error"]["message"] for entry in logged(tmp_path / "log") if entry[0] == "answer"]
    assert refusals[: many - 100] == ["100 requests of yours are open; wait for their answers"] * (many - 100)
    assert capfd.readouterr().err.count("has 100 requests open; more are refused") == 1


async def test_after_a_crash_the_run_that_keeps_others_waiting_is_named(tmp_path: Path) -> None:
    async with fronted(tmp_path, *ASKS) as wire:
        await wire.begin("tools/call", {"name": "write", "arguments": HELLO})
        await asked_by_the_server(wire)
        wire.process.kill()
        await wire.process.wait()
    (left,) = [each for each in records(tmp_path) if each.execution_decision == "executing"]
    async with fronted(tmp_path, *ASKS, answer=silent("other")) as wire:
        text = said(await wire.call("write", OTHER))
    assert text.startswith("Nothing was called: another run of `")
    assert f"it is decision `{left.decision_id}`; if it does not end by itself, `preflight in-doubt` lists it" in text
    assert f"`preflight settle {left.decision_id}`" in text


class Far:
    """A handshake client over HTTP that reads the stream of its call, and may hang up in the middle."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.headers: dict[str, str] = {}
        greeting = {
            "protocolVersion": "2025-11-25",
            "capabilities": FORM,
            "clientInfo": {"name": "far", "version": "1"},
        }
        response = self.post({"id": 0, "method": "initialize", "params": greeting})
        self.headers = {"mcp-session-id": response.headers["mcp-session-id"], "mcp-protocol-version": "2025-11-25"}
        response.read()
        self.post({"method": "notifications/initialized"}).read()

    def post(self, message: Message) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        headers = {
            "authorization": "Bearer hurried", "connection": "close", "content-type": "application/json",
            "accept": "application/json, text/event-stream", **self.headers,
        }  # fmt: skip
        connection.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", **message}), headers)
        return connection.getresponse()

    def call(self, line: str) -> Iterator[Message]:
        """Call `write`, answer the gate's own form, and yield what else comes."""
        response = self.post(
            {"id": 1, "method": "tools/call", "params": {"name": "write", "arguments": {"line": line}}}
        )
        with response:
            for text in response:
                message = json.loads(text[5:]) if text.startswith(b"data: {") else {}
                if "restatement" in json.dumps(message.get("params")):
                    content = {"restatement": f'write "{line}" now'}
                    self.post({"id": message["id"], "result": {"action": "accept", "content": content}}).read()
                elif message:
                    yield message


@pytest.mark.parametrize("era", [(), ("--modern",)])
def test_a_client_that_hung_up_keeps_the_others_waiting_for_a_short_while(tmp_path: Path, era: tuple[str, ...]) -> None:
    ends = ("--ends", '{"error": {"code": -32602, "message": "no note"}}')
    command = hurried(tmp_path, *ASKS, *ends, *era, budget=20, patience=40, front="--http")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        asked = Far(port).call("hello")
        assert next(asked)["params"]["message"] == "A note?"
        asked.close()  # type: ignore[attr-defined]
        (answer,) = Far(port).call("hello")
    finally:
        process.terminate()
        process.communicate(timeout=20)
    # it waited for its turn, and that came when the first call ended
    assert said(answer).startswith("Not called again")
    assert states(tmp_path).count("in_doubt") == 1


async def test_who_was_told_to_wait_runs_when_the_call_is_sent_again(tmp_path: Path) -> None:
    async with fronted(tmp_path, *ASKS, budget=4) as wire:
        first = await wire.begin("tools/call", {"name": "write", "arguments": HELLO})
        await asked_by_the_server(wire)
        assert "another call of this kind is under way" in said(await wire.call("write", OTHER))
        for call in (first, None):
            if call is None:
                call = await wire.begin("tools/call", {"name": "write", "arguments": OTHER})  # noqa: PLW2901
                await asked_by_the_server(wire)
            (question,) = [each for each in wire.asked if "restatement" not in json.dumps(each)]
            await wire.send({"id": question["id"], "result": {"action": "decline"}})
            assert said(await wire.end(call)) == "fine"
            wire.asked.clear()
    assert states(tmp_path).count("executed") == 2
