"""What says that a call did not begin: the server's first word on it alone. After that every error leaves a doubt."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.integration.test_proxy_asks import FORM, RULES, states
from tests.integration.test_proxy_bad_input import SAYS_HELLO
from tests.integration.test_proxy_wire import calls, far, web
from tests.integration.wire import Message, Wire, connected, logged, proxy, said

ACTED = Path(__file__).resolve().parent / "upstreams" / "acted.py"
HELLO: Message = {"line": "hello"}
NO = {"code": -32601, "message": "Method not found"}
REFUSES = '{"error": {"code": -32602, "message": "your answer has a wrong field"}}'
ASKED = ("elicitation/create", "sampling/createMessage", "roots/list", "bogus/thing")

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]


def knows_no_questions(method: str, params: Message) -> Message:
    """Answer the gate's own form, and every question of the server with the error of who does not know it."""
    return NO if params.get("message") == "A note?" or method != "elicitation/create" else SAYS_HELLO(method, params)  # type: ignore[return-value]


def agreeable(method: str, params: Message) -> Message:
    if params.get("message") == "A note?":
        return {"action": "accept", "content": {"note": "n"}}
    return SAYS_HELLO(method, params)  # type: ignore[return-value]


def server(folder: Path, *options: str) -> list[str]:
    return [sys.executable, str(ACTED), str(folder / "log"), *options]


@asynccontextmanager
async def fronted(folder: Path, *options: str, **more: Any) -> AsyncIterator[Wire]:
    command = proxy(folder / "records.db", RULES, server(folder, *options))
    async with connected(command, **{"able": FORM, "answer": knows_no_questions, **more}) as wire:
        yield wire


def acts(folder: Path) -> int:
    return sum(entry == ["acted"] for entry in logged(folder / "log"))


async def is_not_sent_again(folder: Path, wire: Wire) -> None:
    """Check that a call in doubt stays one, and that the server acted once."""
    assert states(folder)[-1] == "in_doubt"
    assert said(await wire.call("write", HELLO)).startswith("Not called again")
    assert said(await wire.call("write", HELLO)).startswith("Not called again")
    assert acts(folder) == 1


@pytest.mark.parametrize("asked", ASKED[1:])
async def test_an_error_of_the_client_says_nothing_of_the_server(tmp_path: Path, asked: str) -> None:
    # with these a server says that it did not begin; here the client says them of the question
    async with fronted(tmp_path, "--modern", "--asks", asked) as wire:
        text = said(await wire.call("write", HELLO))
        assert text.startswith("In doubt: the call was sent and its outcome is not known")
        assert f"asked `{asked}` within the call, and the client answered with an error: Method not found" in text
        await is_not_sent_again(tmp_path, wire)


async def test_a_person_who_cannot_be_asked_is_told_to_a_modern_server_as_one_who_did_not_answer(
    tmp_path: Path,
) -> None:
    async with fronted(tmp_path, "--modern", "--asks", "elicitation/create") as wire:
        assert said(await wire.call("write", HELLO)) == "fine"
    assert [entry[1].get("inputResponses") for entry in logged(tmp_path / "log") if entry[0] == "call"] == [
        None, {"k": {"action": "cancel"}},
    ]  # fmt: skip
    assert states(tmp_path)[-1] == "executed"
    assert acts(tmp_path) == 1


@pytest.mark.parametrize("asked", ASKED)
async def test_an_error_of_the_client_reaches_a_handshake_server_as_it_is(tmp_path: Path, asked: str) -> None:
    async with fronted(tmp_path, "--asks", asked) as wire:
        assert said(await wire.call("write", HELLO)) == "fine"
    (answer,) = [entry[1] for entry in logged(tmp_path / "log") if entry[0] == "answer"]
    assert answer["error"]["code"] == -32601
    assert states(tmp_path)[-1] == "executed"


@pytest.mark.parametrize("era", ["handshake", "modern"])
@pytest.mark.parametrize("server_era", ["handshake", "modern"])
async def test_who_asked_has_begun_whatever_it_answers_then(tmp_path: Path, era: str, server_era: str) -> None:
    options = ["--asks", "elicitation/create", "--ends", REFUSES, *(["--modern"] if server_era == "modern" else [])]
    async with fronted(tmp_path, *options, era=era, answer=agreeable) as wire:
        text = said(await wire.call("write", HELLO))
        assert text.startswith("In doubt")
        assert "your answer has a wrong field" in text
        await is_not_sent_again(tmp_path, wire)


@pytest.mark.parametrize("told", ["notifications/message", "notifications/progress"])
async def test_who_told_something_has_begun_whatever_it_answers_then(tmp_path: Path, told: str) -> None:
    async with fronted(tmp_path, "--tells", told, "--ends", REFUSES) as wire:
        text = said(await wire.call("write", HELLO, _meta={"progressToken": "p"}))
        assert text.startswith("In doubt")
        await is_not_sent_again(tmp_path, wire)


@pytest.mark.parametrize("code", [-32600, -32601, -32602, -32700, -32042])
@pytest.mark.parametrize("server_era", ["handshake", "modern"])
async def test_the_first_word_of_a_server_that_did_not_begin_is_believed(
    tmp_path: Path, code: int, server_era: str
) -> None:
    # with the last of these it wants the user to sign in: the client sends the same call again
    error = {"code": code, "message": "not now", "data": {"elicitations": [{"mode": "url"}]}}
    options = ["--first", "--ends", json.dumps({"error": error}), *(["--modern"] if server_era == "modern" else [])]
    async with fronted(tmp_path, *options) as wire:
        assert (await wire.call("write", HELLO))["error"] == error
        assert states(tmp_path)[-1] == "failed"
        assert said(await wire.call("write", HELLO)) == "fine"
    assert states(tmp_path)[-1] == "executed"


def refusal(identifier: str = "%ID%", code: int = -32602) -> bytes:
    return b'{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"no"}}' % (identifier.encode(), code)


PAGE, JSON = b"text/html\n<html>", b"application/json\n"
TURNED_AWAY = {
    **{f"{status}": b"%d " % status + PAGE for status in (401, 403, 404, 405, 413, 415, 429)},
    "401 with a code of its own": b"401 " + JSON + refusal("null", -32001),
    "400 with an error": b"400 " + JSON + refusal(),
    "200 with sign in first": b"200 " + JSON + refusal(code=-32042),
}
DOUBTFUL = {
    **{f"{status}": b"%d " % status + PAGE for status in (400, 408, 500, 502, 503, 504, 302, 303)},
    "500 with an error": b"500 " + JSON + refusal(),
    "504 of a gateway": b"504 " + JSON + refusal("null", -32600),
}


@pytest.mark.parametrize("what", TURNED_AWAY)
async def test_a_status_that_turns_a_call_away_says_that_it_did_not_begin(tmp_path: Path, what: str) -> None:
    with web(tmp_path) as url:
        async with far(tmp_path, url) as wire:
            await wire.call("look", HELLO)
            (tmp_path / "answer").write_bytes(TURNED_AWAY[what])
            error = (await wire.call("write", HELLO))["error"]
            if what in ("401", "429"):
                assert error["message"].startswith(f"the server answered with HTTP {what} ")
            assert states(tmp_path)[-1] == "failed"
            assert said(await wire.call("write", HELLO)) == "fine"
    assert states(tmp_path)[-1] == "executed"


@pytest.mark.parametrize("what", DOUBTFUL)
async def test_another_status_leaves_a_doubt_whatever_code_comes_with_it(tmp_path: Path, what: str) -> None:
    with web(tmp_path) as url:
        async with far(tmp_path, url) as wire:
            await wire.call("look", HELLO)
            (tmp_path / "answer").write_bytes(DOUBTFUL[what])
            await wire.call("write", HELLO)
            assert states(tmp_path)[-1] == "in_doubt"
            assert said(await wire.call("write", HELLO)).startswith("Not called again")
    assert [call["name"] for call in calls(tmp_path)] == ["look", "write"]


async def test_a_stream_that_broke_off_and_is_not_found_again_leaves_a_doubt(tmp_path: Path) -> None:
    with web(tmp_path) as url:
        async with far(tmp_path, url) as wire:
            await wire.call("look", HELLO)
            (tmp_path / "answer.get").write_bytes(b"event: message\ndata: " + refusal("1", -32600) + b"\n\n")
            (tmp_path / "answer").write_bytes(b"200 text/event-stream\nid: 7\nretry: 10\ndata:\n\n")
            text = said(await wire.call("write", HELLO))
    assert text.startswith("In doubt")
    assert states(tmp_path)[-1] == "in_doubt"
    assert ["get", "7"] in logged(tmp_path / "log")


async def test_a_redirect_is_followed_once_and_no_more(tmp_path: Path) -> None:
    with web(tmp_path) as url:
        async with far(tmp_path, url) as wire:
            await wire.call("look", HELLO)
            (tmp_path / "answer").write_bytes(b"307 " + PAGE)
            assert said(await wire.call("write", HELLO)) == "fine"
    assert [call["name"] for call in calls(tmp_path)] == ["look", "write", "write"]


async def test_a_redirect_without_an_end_is_not_followed_further(tmp_path: Path) -> None:
    with web(tmp_path, "--always") as url:
        async with far(tmp_path, url) as wire:
            await wire.call("look", HELLO)
            (tmp_path / "answer").write_bytes(b"307 " + PAGE)
            text = said(await wire.call("write", HELLO))
    assert text.startswith("In doubt")
    assert f"Redirect to {url} not followed; use that URL as the endpoint" in text
    assert [call["name"] for call in calls(tmp_path)] == ["look", "write", "write"]


async def test_a_gated_call_takes_nothing_along_but_what_was_decided(tmp_path: Path) -> None:
    # `task` would have the server accept the call and do it later, which no outcome tells
    more: Message = {"line": "other", "task": {"ttl": 1}, "inputResponses": {"k": {}}, "requestState": "s"}
    async with fronted(tmp_path) as wire:
        await wire.call("look", HELLO, **more)
        await wire.call("write", HELLO, _meta={"trace": "t"}, **more)
    look, write = [entry[1] for entry in logged(tmp_path / "log") if entry[0] == "call"]
    assert look["task"] == {"ttl": 1}  # what reads passes as it came
    assert set(write) == {"name", "arguments", "_meta"}
    assert write["arguments"] == HELLO
    assert write["_meta"].pop("preflight/decision")
    assert write["_meta"] == {"trace": "t"}
