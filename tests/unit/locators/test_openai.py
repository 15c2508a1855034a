from __future__ import annotations

import json
import socket
from typing import Any

import pytest

from preflight.errors import ConstructionError, HookError
from preflight.locators import OpenAILocator, Pointing, Spoken, Wanted
from tests.unit.locators.chat import Reply, chat, completion, points, says, send

SPOKEN = [Spoken(0, "pay Ana 500, and Ana only"), Spoken(3, "thanks\n\n\n bob@x.org")]
WANTED = [Wanted("name", {"type": "string"}, "Ana"), Wanted("amount", {"type": "number"}, 500)]


def located(reply: Reply, **options: Any) -> dict[str, Pointing]:
    with chat(reply) as server:
        return dict(OpenAILocator(base_url=server.url, model="m", **options)(SPOKEN, WANTED))


def test_a_copied_quotation_becomes_a_span() -> None:
    assert located(points(("amount", 0, "500"), ("name", 0, "pay Ana"))) == {
        "amount": Pointing(0, (8, 11)), "name": Pointing(0, (0, 7)),
    }  # fmt: skip


def test_the_request_holds_the_words_the_slots_and_the_key_and_nothing_else() -> None:
    with chat(points()) as server:
        assert OpenAILocator(base_url=server.url + "/", model="m", api_key="k-1")(SPOKEN, WANTED) == {}
        [asked] = server.asked
        assert server.headers[0]["Authorization"] == "Bearer k-1"
    assert asked["path"] == "/v1/chat/completions"
    assert asked.keys() == {"path", "model", "temperature", "messages", "response_format"}
    assert server.question() == {
        "messages": [
            {"segment_index": 0, "text": "pay Ana 500, and Ana only"},
            {"segment_index": 3, "text": "thanks\n\n\n bob@x.org"},
        ],
        "slots": [
            {"slot": "name", "schema": {"type": "string"}, "value": "Ana"},
            {"slot": "amount", "schema": {"type": "number"}, "value": 500},
        ],
    }


def test_a_server_without_json_mode_and_without_a_key() -> None:
    fence = "```json\n" + json.dumps({"found": [{"slot": "amount", "segment_index": 0, "quote": "500"}]}) + "\n```"
    with chat(says(fence)) as server:
        found = OpenAILocator(base_url=server.url, model="m", json_mode=False)(SPOKEN, WANTED)
        assert "response_format" not in server.asked[0]
        assert "Authorization" not in server.headers[0]
    assert found == {"amount": Pointing(0, (8, 11))}


DROPPED = {
    "no such segment": points(("amount", 1, "500")),
    "a segment that is no number": points(("amount", "0", "500")),
    "a segment that is a boolean": points(("amount", False, "500")),
    "words that are not there": points(("amount", 0, "five hundred")),
    "words of another segment": points(("amount", 3, "500")),
    "a part of a word": points(("amount", 0, "50")),
    "words that stand twice": points(("name", 0, "Ana")),
    "no words": points(("amount", 0, "")),
    "blanks": points(("amount", 3, "\n\n")),
    "a quotation that is none": points(("amount", 0, 500)),
    "a slot that was not asked": points(("iban", 0, "500")),
    "a slot that is no name": points((1, 0, "500")),
    "a slot named twice": points(("amount", 0, "500"), ("amount", 0, "500, and")),
    "a value in place of a place": says('{"found": [{"slot": "amount", "value": 500}]}'),
    "values by name": says('{"amount": 500}'),
    "a list": says("[]"),
    "found that is no list": says('{"found": {"slot": "amount", "segment_index": 0, "quote": "500"}}'),
    "items that are none": says('{"found": [1, "amount", null]}'),
    "prose": says("The amount is 500."),
    "a key twice": says('{"found": [], "found": [{"slot": "amount", "segment_index": 0, "quote": "500"}]}'),
    "JSON with prose round it": says('Sure! {"found": [{"slot": "amount", "segment_index": 0, "quote": "500"}]}'),
}


@pytest.mark.parametrize("reply", DROPPED.values(), ids=DROPPED)
def test_what_points_nowhere_is_dropped(reply: Reply) -> None:
    assert located(reply) == {}


def _cut(handler: Any, _: object) -> None:
    send(handler, b'{"choices"', **{"Content-Length": "999"})


NO_ANSWER: dict[str, tuple[Reply, str]] = {
    "an error": (lambda handler, _: send(handler, b"{}", 500), "gave no answer: 500"),
    "a redirect": (lambda handler, _: send(handler, b"", 302, Location="/v1/chat/completions"), "no answer: 302"),
    "no JSON": (lambda handler, _: send(handler, b"<html>"), "did not answer as a chat completion"),
    "no UTF-8": (lambda handler, _: send(handler, b'"\xff"'), "did not answer as a chat completion"),
    "no choices": (lambda handler, _: send(handler, b'{"choices": []}'), "did not answer as a chat completion"),
    "no text": (lambda handler, _: send(handler, completion(None)), "did not answer as a chat completion"),
    "a message that is none": (
        lambda handler, _: send(handler, b'{"choices": [{"message": 1}]}'), "did not answer as a chat completion",
    ),
    "too much": (lambda handler, _: send(handler, b" " * 300_000), "more than 262144 bytes"),
    "half an answer": (_cut, "did not answer as a chat completion"),
    "no HTTP": (lambda handler, _: handler.wfile.write(b"hello\r\n\r\n"), "gave no answer: BadStatusLine"),
}  # fmt: skip


@pytest.mark.parametrize(("reply", "told"), NO_ANSWER.values(), ids=NO_ANSWER)
def test_an_endpoint_that_does_not_answer_is_an_error_and_asked_once(reply: Reply, told: str) -> None:
    with chat(reply) as server:
        with pytest.raises(HookError, match=told):
            OpenAILocator(base_url=server.url, model="m", api_key="k-1", seconds=2)(SPOKEN, WANTED)
        assert len(server.asked) == 1


def test_a_silent_endpoint_is_left_after_its_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        locator = OpenAILocator(base_url=f"http://127.0.0.1:{silent.getsockname()[1]}/v1", model="m", seconds=0.05)
        with pytest.raises(HookError, match="gave no answer: TimeoutError"):
            locator(SPOKEN, WANTED)


def test_an_endpoint_that_drips_is_left_after_its_time() -> None:
    def drip(handler: Any, _: object) -> None:
        handler.send_response(200)
        handler.end_headers()
        try:
            while True:
                handler.wfile.write(b" ")
        except OSError:
            pass  # the reader went away

    with pytest.raises(HookError, match=r"took too long|more than"):
        located(drip, seconds=0.05)


def test_an_endpoint_that_is_not_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(HookError, match="gave no answer: URLError"):
        OpenAILocator(base_url=f"http://127.0.0.1:{port}/v1", model="m")(SPOKEN, WANTED)


@pytest.mark.parametrize("url", ["", "api.example.org/v1", "file:///etc/passwd", "https:///v1"])
def test_an_address_that_is_none_is_a_construction_error(url: str) -> None:
    with pytest.raises(ConstructionError, match="give the address of an endpoint"):
        OpenAILocator(base_url=url, model="m")


@pytest.mark.parametrize("key", ["a\nHost: b", "k\u00e9y"])
def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(ConstructionError) as raised:
        OpenAILocator(base_url="https://x.example/v1", model="m", api_key=key)
    assert key not in str(raised.value)
