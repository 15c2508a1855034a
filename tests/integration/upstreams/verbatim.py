"""A server that answers calls with the bytes in a file, `%ID%` being the id: `python verbatim.py FILE --log FILE`.

`--modern` speaks the modern era alone. `--http` serves over HTTP and prints the address: there the file begins with a
line of the status and the content type; redirects lead to where they came from. Once a call was answered so, the next
are answered as they should be, unless with `--always`. Calls of `wait` are answered when `look` is called with the text
`release`.
"""

from __future__ import annotations

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ANSWER = Path(sys.argv[1])
LOG = Path(sys.argv[sys.argv.index("--log") + 1])
MODERN = "--modern" in sys.argv
ALWAYS = "--always" in sys.argv
REQUIRED = {"required": ["n"]} if "--required" in sys.argv else {}
LINE = {"type": "object", **REQUIRED, "properties": {"line": {"type": "string"}, "text": {}, "n": {"type": "number"}}}
TOOLS = [{"name": name, "description": f"Does {name}.", "inputSchema": LINE} for name in ("look", "write", "wait")]
INFO = {"name": "verbatim", "version": "1"}
FINE = {"content": [{"type": "text", "text": "fine"}]}
_out = threading.Lock()
_waiting: list[Any] = []


def note(*what: Any) -> None:
    with _out, LOG.open("a", encoding="utf-8") as log:
        log.write(json.dumps(what) + "\n")


def result_of(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    if method == "initialize" and not MODERN:
        version = params["protocolVersion"]
        return {"protocolVersion": version, "capabilities": {"tools": {}, "logging": {}}, "serverInfo": INFO}
    if method == "server/discover" and MODERN:
        return {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
    complete = {"resultType": "complete"} if MODERN else {}
    if method == "tools/list":
        return {"tools": TOOLS, **complete}
    return {**FINE, **complete} if method == "tools/call" else None


def answered(message: dict[str, Any], raw: bytes) -> bytes | None:
    """Return the answer to a message; None for what needs none."""
    method, params, identifier = message.get("method", ""), message.get("params") or {}, message.get("id")
    if method:
        note(method, params, raw.decode())
    else:
        note("answer", message)
    if params.get("name") == "wait":
        _waiting.append(identifier)
    if identifier is None or not method or params.get("name") == "wait":
        return None
    if method == "tools/call" and ANSWER.exists():
        body = ANSWER.read_bytes().replace(b"%ID%", json.dumps(identifier).encode())
        if not ALWAYS:
            ANSWER.replace(ANSWER.with_suffix(".used"))
        return body
    result = result_of(method, params)
    code = -32022 if MODERN and method == "initialize" else -32601
    said = {"error": {"code": code, "message": "Method not found"}} if result is None else {"result": result}
    return json.dumps({"jsonrpc": "2.0", "id": identifier, **said}).encode()


class Web(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["content-length"]))
        message = json.loads(raw)
        called = message.get("method") == "tools/call" and ANSWER.exists()
        body = answered(message, raw)
        if body is None:
            body = b"202 text/plain\n"
        elif not called:
            body = b"200 application/json\n" + body
        head, _, text = body.partition(b"\n")
        status, kind = head.decode().split(" ", 1)
        self.send_response(int(status))
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(text)))
        if status.startswith("3"):
            self.send_header("location", self.path)
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self) -> None:
        """Go on with a stream that broke off: with the bytes in `FILE.get`."""
        note("get", self.headers["last-event-id"])
        text = ANSWER.with_suffix(".get").read_bytes() if self.headers["last-event-id"] else b""
        self.send_response(200 if text else 405)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *what: Any) -> None:
        """Say nothing."""


if __name__ == "__main__":
    if "--http" in sys.argv:
        server = ThreadingHTTPServer(("127.0.0.1", 0), Web)
        print(f"http://127.0.0.1:{server.server_port}/mcp", flush=True)
        server.serve_forever()
    for line in sys.stdin.buffer:
        if line.strip() and (body := answered(json.loads(line), line)) is not None:
            if b'"release"' in line:
                for each in _waiting:
                    complete = {"resultType": "complete"} if MODERN else {}
                    waited = {"jsonrpc": "2.0", "id": each, "result": {**FINE, **complete}}
                    sys.stdout.buffer.write(json.dumps(waited).encode() + b"\n")
                _waiting.clear()
            sys.stdout.buffer.write(body + b"\n")
            sys.stdout.buffer.flush()
