"""A server of the modern era alone, without any SDK: it returns its questions, and tells of changes to subscribers."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

LOG = Path(sys.argv[sys.argv.index("--log") + 1]) if "--log" in sys.argv else None
META = {"io.modelcontextprotocol/serverInfo": {"name": "modern", "version": "1"}}
SURE = {"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}
TOOLS = [
    {"name": name, "description": text, "inputSchema": {"type": "object", "properties": {"line": {"type": "string"}}}}
    for name, text in (("look", "Repeats."), ("write", "Writes."), ("guarded", "Asks."), ("grow", "Changes."))
]
_listening: list[Any] = []


def say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def note(*what: Any) -> None:
    if LOG is not None:
        with LOG.open("a", encoding="utf-8") as log:
            log.write(json.dumps(what) + "\n")


def complete(**more: Any) -> dict[str, Any]:
    return {"resultType": "complete", "_meta": META, **more}


def text(value: str) -> dict[str, Any]:
    return complete(content=[{"type": "text", "text": value}])


def call(params: dict[str, Any]) -> dict[str, Any]:
    note("call", params)
    name, arguments = params["name"], params.get("arguments") or {}
    if name in ("guarded", "write") and not (name == "write" and "ask" not in arguments.get("line", "")):
        responses = params.get("inputResponses")
        if responses is None:
            wanted = {"message": "Sure?", "mode": "form", "requestedSchema": SURE}
            requests = {"ok": {"method": "elicitation/create", "params": wanted}}
            return {"resultType": "input_required", "inputRequests": requests, "requestState": "carried"}
        return text(json.dumps([responses, params.get("requestState")]))
    if name == "grow":
        for identifier in _listening:
            meta = {"io.modelcontextprotocol/subscriptionId": identifier}
            say({"method": "notifications/tools/list_changed", "params": {"_meta": meta}})
    return text(json.dumps(arguments))


def answer(identifier: Any, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    if method == "server/discover":
        capabilities = {"tools": {"listChanged": True}}
        return complete(supportedVersions=["2026-07-28"], capabilities=capabilities, **{"x-discover": 1})
    if method == "tools/list":
        return complete(tools=TOOLS, ttlMs=5, cacheScope="public")
    if method == "tools/call":
        return call(params)
    if method == "subscriptions/listen":
        _listening.append(identifier)
        meta = {"io.modelcontextprotocol/subscriptionId": identifier}
        acknowledged = {"notifications": params["notifications"], "_meta": meta}
        say({"method": "notifications/subscriptions/acknowledged", "params": acknowledged})
        return {}
    return None


def take(message: dict[str, Any]) -> None:
    identifier, params = message.get("id"), message.get("params") or {}
    if identifier is None:
        note("notification", message["method"], params)
        return
    if "io.modelcontextprotocol/protocolVersion" not in params.get("_meta", {}):
        error = {"code": -32022, "message": "no envelope", "data": {"supported": ["2026-07-28"], "requested": ""}}
        say({"id": identifier, "error": error})
        return
    result = answer(identifier, message["method"], params)
    if result is None:
        say({"id": identifier, "error": {"code": -32601, "message": "Method not found"}})
    elif result:
        say({"id": identifier, "result": result})


if __name__ == "__main__":
    for line in sys.stdin:
        if line.strip():
            take(json.loads(line))
