"""A chat-completions endpoint on loopback that answers what a test says, and keeps what it was sent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Reply = Callable[[BaseHTTPRequestHandler, dict[str, Any]], None]


class Chat(ThreadingHTTPServer):
    """The server: `asked` holds each request's body, `headers` its headers."""

    daemon_threads = True

    def __init__(self, reply: Reply) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.reply = reply
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def question(self) -> dict[str, Any]:
        """Return what the model was asked, of the only request that came."""
        [asked] = self.asked
        return json.loads(asked["messages"][1]["content"])


class Handler(BaseHTTPRequestHandler):
    server: Chat

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append({"path": self.path, **body})
        self.server.headers.append(dict(self.headers))
        self.server.reply(self, body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def send(handler: BaseHTTPRequestHandler, body: bytes, status: int = 200, **headers: str) -> None:
    handler.send_response(status)
    for name, value in ({"Content-Length": str(len(body))} | headers).items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


def completion(content: object) -> bytes:
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": content}}]}).encode()


def says(content: str) -> Reply:
    """Answer with this text."""
    return lambda handler, _: send(handler, completion(content))


def points(*places: tuple[object, object, object]) -> Reply:
    """Answer with places: slot, segment, quotation."""
    found = [{"slot": slot, "segment_index": at, "quote": quote} for slot, at, quote in places]
    return says(json.dumps({"found": found}))


@contextmanager
def chat(reply: Reply) -> Iterator[Chat]:
    with Chat(reply) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
