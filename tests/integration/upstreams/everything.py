"""A server without any SDK that uses all of the handshake protocol, unknown fields included.

`python everything.py --log FILE` writes what it was sent and did to FILE, a JSON value a line. With `--page N` its
list of tools comes in pages of N.
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any

LOG = Path(sys.argv[sys.argv.index("--log") + 1]) if "--log" in sys.argv else None
PAGE = int(sys.argv[sys.argv.index("--page") + 1]) if "--page" in sys.argv else 0
_out = threading.Lock()
_cancelled: set[Any] = set()
_waiting: dict[Any, tuple[threading.Event, list[Any]]] = {}

TOOLS: list[dict[str, Any]] = [
    {
        "name": "look",
        "title": "Look at it",
        "description": "Repeats what it is given.",
        "inputSchema": {
            "type": "object",
            "properties": {"text": {"type": "string"}, "times": {"type": "integer", "default": 1}},
            "required": ["text"],
            "x-vendor": {"keep": True},
        },
        "outputSchema": {"type": "object", "properties": {"text": {"type": "string"}, "meta": {}}},
        "annotations": {"readOnlyHint": True, "x-hint": "kept"},
        "icons": [{"src": "data:image/png;base64,AA==", "sizes": ["48x48"]}],
        "x-tool": {"a": [1, None]},
        "_meta": {"vendor/tool": 1},
    },
    {
        "name": "write",
        "description": "Writes a line.",
        "inputSchema": {
            "type": "object",
            "properties": {"line": {"type": "string"}, "mode": {"type": "string"}, "urgent": {"type": "boolean"}},
            "required": ["line"],
        },
    },
    {"name": "steps", "description": "Reports progress.", "inputSchema": {"type": "object"}},
    {"name": "wait", "description": "Never ends by itself.", "inputSchema": {"type": "object"}},
    {"name": "grow", "description": "Adds a tool.", "inputSchema": {"type": "object"}},
    {"name": "morph", "description": "Changes what `write` takes.", "inputSchema": {"type": "object"}},
    {"name": "ask", "description": "Asks the user.", "inputSchema": {"type": "object"}},
    {"name": "pry", "description": "Asks for a secret.", "inputSchema": {"type": "object"}},
    {"name": "sample", "description": "Has the client's model speak.", "inputSchema": {"type": "object"}},
    {"name": "fail", "description": "Returns an error result.", "inputSchema": {"type": "object"}},
    {"name": "break", "description": "Answers with an error.", "inputSchema": {"type": "object"}},
    {"name": "big", "description": "Answers at length.", "inputSchema": {
        "type": "object", "properties": {"bytes": {"type": "integer"}}, "required": ["bytes"]}},
    {"name": "garble", "description": "Writes what is no JSON-RPC.", "inputSchema": {"type": "object"}},
    {"name": "flood", "description": "Says a lot.", "inputSchema": {
        "type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}},
    {"name": "twice", "description": "Answers twice.", "inputSchema": {"type": "object"}},
    {"name": "die", "description": "Ends at once.", "inputSchema": {"type": "object"}},
]  # fmt: skip


def say(message: dict[str, Any]) -> None:
    with _out:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def note(*what: Any) -> None:
    if LOG is not None:
        with _out, LOG.open("a", encoding="utf-8") as log:
            log.write(json.dumps(what) + "\n")


def text(value: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": value}], **more}


def ask(method: str, params: dict[str, Any]) -> Any:
    identifier = f"s-{method}"
    event, answer = threading.Event(), []
    _waiting[identifier] = (event, answer)
    say({"id": identifier, "method": method, "params": params})
    event.wait(20)
    return answer[0] if answer else None


def call(identifier: Any, name: str, arguments: dict[str, Any], meta: dict[str, Any]) -> None:
    act = globals().get(f"do_{name}")
    if act is None:
        say({"id": identifier, "error": {"code": -32602, "message": f"Unknown tool: {name}"}})
    else:
        act(identifier, arguments, meta)


def do_look(identifier: Any, arguments: dict[str, Any], meta: dict[str, Any]) -> None:
    note("look", arguments, meta)
    said = arguments.get("text", "")
    part = {"type": "text", "text": said, "annotations": {"audience": ["user"]}, "_meta": {"c": 1}, "x-part": 2}
    say({"id": identifier, "result": {
        "content": [part], "structuredContent": {"text": said, "meta": meta}, "_meta": {"vendor/r": "R"},
        "x-result": [7, 1.0, None],
    }})  # fmt: skip


def do_write(identifier: Any, arguments: dict[str, Any], meta: dict[str, Any]) -> None:
    note("write", arguments, meta)
    say({"id": identifier, "result": text(json.dumps(arguments), **{"x-result": 1})})


def do_steps(identifier: Any, _arguments: dict[str, Any], meta: dict[str, Any]) -> None:
    for step in (1, 2, 3):
        params = {"progressToken": meta.get("progressToken"), "progress": step, "total": 3, "message": f"step {step}"}
        say({"method": "notifications/progress", "params": {**params, "x-progress": step}})
    say({"id": identifier, "result": text("done")})


def do_wait(identifier: Any, _arguments: dict[str, Any], _meta: dict[str, Any]) -> None:
    note("waiting", identifier)


def do_grow(identifier: Any, _arguments: dict[str, Any], _meta: dict[str, Any]) -> None:
    TOOLS.append({"name": "late", "description": "Came late.", "inputSchema": {"type": "object"}})
    say({"method": "notifications/tools/list_changed", "params": {"_meta": {"vendor/n": 1}}})
    say({"method": "notifications/message", "params": {"level": "info", "data": {"added": "late"}}})
    say({"id": identifier, "result": text("grown")})


def do_morph(identifier: Any, _arguments: dict[str, Any], _meta: dict[str, Any]) -> None:
    TOOLS[1]["description"] = "Writes a line to everybody."
    say({"method": "notifications/tools/list_changed"})
    say({"id": identifier, "result": text("morphed")})


def do_ask(identifier: Any, _arguments: dict[str, Any], _meta: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": {"colour": {"type": "string", "enum": ["red", "blue"]}}, "required": []}
    answer = ask("elicitation/create", {"message": "Which colour?", "requestedSchema": schema})
    say({"id": identifier, "result": text(json.dumps(answer))})


def do_pry(identifier: Any, _arguments: dict[str, Any], _meta: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": {"apiKey": {"type": "string"}}, "required": ["apiKey"]}
    answer = ask("elicitation/create", {"message": "Your key?", "requestedSchema": schema})
    say({"id": identifier, "result": text(json.dumps(answer))})


def do_sample(identifier: Any, _arguments: dict[str, Any], _meta: dict[str, Any]) -> None:
    messages = [{"role": "user", "content": {"type": "text", "text": "hi"}}]
    answer = ask("sampling/createMessage", {"messages": messages, "maxTokens": 5, "x-sampling": True})
    say({"id": identifier, "result": text(json.dumps(answer))})


def do_fail(identifier: Any, _arguments: dict[str, Any], _meta: dict[str, Any]) -> None:
    say({"id": identifier, "result": text("no", isError=True, structuredContent={"why": "x"})})


def do_break(identifier: Any, _arguments: dict[str, Any], _meta: dict[str, Any]) -> None:
    say({"id": identifier, "error": {"code": -32050, "message": "its own code", "data": {"k": [1]}}})


def do_big(identifier: Any, arguments: dict[str, Any], _meta: dict[str, Any]) -> None:
    say({"id": identifier, "result": text("x" * arguments["bytes"])})


def do_garble(identifier: Any, _arguments: dict[str, Any], _meta: dict[str, Any]) -> None:
    with _out:
        sys.stdout.write('not json\n{"jsonrpc":"1.0","id":1}\n[]\n{"id":{},"result":3}\n\n')
    say({"id": "nobody-asked", "result": {}})
    say({"id": identifier, "result": text("garbled")})


def do_flood(identifier: Any, arguments: dict[str, Any], _meta: dict[str, Any]) -> None:
    for number in range(arguments["count"]):
        say({"method": "notifications/message", "params": {"level": "debug", "data": number}})
    say({"id": identifier, "result": text("flooded")})


def do_twice(identifier: Any, _arguments: dict[str, Any], _meta: dict[str, Any]) -> None:
    say({"id": identifier, "result": text("first")})
    say({"id": identifier, "result": text("second")})


def do_die(_identifier: Any, _arguments: dict[str, Any], _meta: dict[str, Any]) -> None:
    note("died")
    sys.stdout.flush()
    import os

    os._exit(3)


CAPABILITIES = {
    "tools": {"listChanged": True}, "resources": {"subscribe": True, "listChanged": True}, "prompts": {},
    "logging": {}, "completions": {}, "experimental": {"x/feature": {"on": True}},
}  # fmt: skip


FIXED: dict[str, dict[str, Any]] = {
    "resources/list": {"resources": [{"uri": "mem://a", "name": "a", "size": 3, "_meta": {"z": 1}, "x-resource": 1}]},
    "resources/templates/list": {"resourceTemplates": [{"uriTemplate": "mem://{key}", "name": "key"}]},
    "prompts/list": {"prompts": [{"name": "p", "arguments": [{"name": "x", "required": True, "title": "Ex"}]}]},
    "completion/complete": {"completion": {"values": ["aa", "ab"], "total": 2}},
    "ping": {},
    "logging/setLevel": {},
    "initialize": {
        "protocolVersion": "2025-11-25", "capabilities": CAPABILITIES, "x-initialize": 1,
        "serverInfo": {"name": "everything", "version": "9", "title": "All of it"}, "instructions": "be careful",
    },
    "tools/list": {"tools": TOOLS, "_meta": {"vendor/l": 1}},
}  # fmt: skip


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """Return the result of every request but calls."""
    note(method, params)
    if method == "resources/read":
        return {"contents": [{"uri": params["uri"], "mimeType": "text/plain", "text": "hi"}], "_meta": {"rr": 1}}
    if method == "resources/subscribe":
        say({"method": "notifications/resources/updated", "params": {"uri": params["uri"]}})
        return {}
    if method == "prompts/get":
        said = "hello " + (params.get("arguments") or {}).get("x", "")
        return {"messages": [{"role": "user", "content": {"type": "text", "text": said}}], "x-prompt": 1}
    if method == "tools/list" and PAGE:
        at = int(params.get("cursor", 0))
        more = {"nextCursor": str(at + PAGE)} if at + PAGE < len(TOOLS) else {}
        return {"tools": TOOLS[at : at + PAGE], **more}
    if method == "vendor/special":
        return {"special": params}
    return FIXED.get(method)


def take(message: dict[str, Any]) -> None:
    method, identifier = message.get("method"), message.get("id")
    params = message.get("params") or {}
    if method is None:
        if identifier in _waiting:
            event, got = _waiting.pop(identifier)
            got.append(message.get("result") or message.get("error"))
            event.set()
    elif identifier is None:
        note("notification", method, params)
    elif method == "tools/call":
        given = (identifier, params.get("name"), params.get("arguments") or {}, params.get("_meta") or {})
        if params.get("name") in ("ask", "pry", "sample"):
            threading.Thread(target=call, args=given, daemon=True).start()
        else:
            call(*given)
    elif (result := answer(method, params)) is not None:
        say({"id": identifier, "result": result})
    else:
        say({"id": identifier, "error": {"code": -32601, "message": "Method not found"}})


if __name__ == "__main__":
    for line in sys.stdin:
        if line.strip():
            take(json.loads(line))
