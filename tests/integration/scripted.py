"""A model that does what a script says, behind the interfaces of three makers, on this machine alone.

Programs that people work in talk to it as to their own: it proposes one call of a tool, and then says that it is done.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from uuid import uuid4

Body = dict[str, Any]
_LONGEST_WAIT = 50  # turns in which a tool is not offered yet


class Script:
    """One call to propose, and what came back of it."""

    def __init__(self, tool: str, arguments: Body) -> None:
        """Propose `tool`, by whatever name a program gives it, with these arguments."""
        self._before: int | None = None
        self.tool = tool
        self.arguments = arguments
        self.results: list[str] = []
        self.asked = 0
        self._call = uuid4().hex  # programs name calls so that no two are called alike

    def answer(self, path: str, given: Body) -> tuple[str, bytes]:
        """Return the media type and the body of the answer to a request."""
        self.asked += 1
        if "/messages" in path:
            return "text/event-stream", _events(self._anthropic(given))
        if "/responses" in path:
            return "text/event-stream", _events(self._openai(given))
        if "GenerateContent" in path:
            return "text/event-stream", b"data: " + json.dumps(self._gemini(given)).encode() + b"\r\n\r\n"
        return "application/json", b'{"data": [], "models": [], "input_tokens": 1, "totalTokens": 1}'

    def _got(self, offered: str | None, results: list[Any]) -> None:
        """Keep what came back; what stands there when the tool is first offered, is of a conversation that goes on."""
        if self._before is None and offered is not None:
            self._before = len(results)
        self.results = [json.dumps(result) for result in results[self._before or 0 :]]

    def _offered(self, names: list[str]) -> str | None:
        return next((name for name in names if name.endswith(self.tool)), None)

    def _anthropic(self, given: Body) -> Iterator[Body]:
        parts = [part for turn in given["messages"] for part in _parts(turn["content"])]
        name = self._offered([tool["name"] for tool in given.get("tools", ())])
        self._got(name, [part["content"] for part in parts if part.get("type") == "tool_result"])
        block: Body = {"type": "text", "text": ""}
        delta: Body = {"type": "text_delta", "text": "done"}
        stop = "end_turn"
        if name is not None and not self.results:
            block = {"type": "tool_use", "id": f"toolu_{self._call}", "name": name, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(self.arguments)}
            stop = "tool_use"
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": given["model"], "content": []}
        usage = {"input_tokens": 1, "output_tokens": 1}
        yield {
            "type": "message_start",
            "message": {**message, "stop_reason": None, "stop_sequence": None, "usage": usage},
        }
        yield {"type": "content_block_start", "index": 0, "content_block": block}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
        yield {"type": "content_block_stop", "index": 0}
        yield {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage}
        yield {"type": "message_stop"}

    def _openai(self, given: Body) -> Iterator[Body]:
        outputs = [item for item in given["input"] if item.get("type") == "function_call_output"]
        mine = [item for item in outputs if item["call_id"] == self._call]
        self.results = [json.dumps(item["output"]) for item in mine]
        spaces = {
            tool["name"]: [each["name"] for each in tool.get("tools", ())] for tool in given["tools"] if "name" in tool
        }
        space = next((space for space, names in spaces.items() if self._offered(names)), None)
        item: Body = {"type": "message", "role": "assistant", "id": "m_1"}
        if space is not None and not mine:
            arguments = json.dumps(self.arguments)
            item = {"id": "fc_1", "call_id": self._call, "namespace": space, "name": self.tool, "arguments": arguments}
        elif not mine and len(outputs) < _LONGEST_WAIT:  # its servers start while it talks; this waits for them
            number = len(outputs)
            item = {"id": f"fc_{number}", "call_id": f"call_{number}", "name": "list_mcp_resources", "arguments": "{}"}
        else:
            item["content"] = [{"type": "output_text", "text": "done"}]
        yield {"type": "response.created", "response": {"id": "r_1"}}
        yield {"type": "response.output_item.done", "output_index": 0, "item": {"type": "function_call", **item}}
        usage = {"input_tokens": 1, "input_tokens_details": None, "output_tokens": 1, "output_tokens_details": None}
        yield {"type": "response.completed", "response": {"id": "r_1", "usage": {**usage, "total_tokens": 2}}}

    def _gemini(self, given: Body) -> Body:
        parts = [part for turn in given["contents"] for part in turn["parts"]]
        declared = [each["name"] for tool in given.get("tools", ()) for each in tool.get("functionDeclarations", ())]
        name = self._offered(declared)
        self._got(name, [part["functionResponse"] for part in parts if "functionResponse" in part])
        calls = name is not None and not self.results
        part = {"functionCall": {"name": name, "args": self.arguments}} if calls else {"text": "done"}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        content = {"role": "model", "parts": [part]}
        return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}


def _parts(content: Any) -> list[Body]:
    return content if isinstance(content, list) else []


def _events(events: Iterator[Body]) -> bytes:
    return b"".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n".encode() for each in events)


@contextmanager
def served(script: Script) -> Iterator[str]:
    """Yield the address at which a script is a model."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            self._send(*script.answer(self.path, json.loads(body or b"{}")))

        def do_GET(self) -> None:
            self._send(*script.answer("", {}))

        def _send(self, kind: str, body: bytes) -> None:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_given: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
