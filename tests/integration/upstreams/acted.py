"""A server that acts at once, then asks or tells, and answers in the end: `python acted.py LOG [--modern]`.

`--asks METHOD` has it ask the client that, `--tells METHOD` send that notification, `--ends JSON` is the outcome that
its call ends with, `--first` ends the first call without acting, the next are fine. `--floods N` asks N times at once.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

LOG = Path(sys.argv[1])
MODERN = "--modern" in sys.argv
SCHEMA = {"type": "object", "properties": {"line": {"type": "string"}}}
TOOLS = [{"name": name, "description": f"Does {name}.", "inputSchema": SCHEMA} for name in ("look", "write")]
NOTE = {"type": "object", "properties": {"note": {"type": "string"}}}
PARAMS: dict[str, Any] = {
    "elicitation/create": {"message": "A note?", "requestedSchema": NOTE},
    "sampling/createMessage": {"messages": [], "maxTokens": 5},
    "notifications/message": {"level": "info", "data": "written"},
}
CACHED = {"ttlMs": 0, "cacheScope": "private"}
FINE = {"result": {"content": [{"type": "text", "text": "fine"}]}}


def option(name: str) -> str:
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else ""


ASKS, TELLS, ENDS = option("--asks"), option("--tells"), json.loads(option("--ends") or json.dumps(FINE))
FLOODS = int(option("--floods") or 0)
FIRST = {"left": 1 if "--first" in sys.argv else 10**9}


def say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def note(*what: Any) -> None:
    with LOG.open("a", encoding="utf-8") as log:
        log.write(json.dumps(what) + "\n")


def answer(identifier: Any, outcome: dict[str, Any]) -> None:
    if MODERN and "result" in outcome:
        outcome = {"result": {"resultType": "complete", **outcome["result"]}}
    say({"id": identifier, **outcome})


def called(identifier: Any, params: dict[str, Any]) -> None:
    note("call", params)
    FIRST["left"] -= params["name"] == "write"
    if params["name"] == "look" or FIRST["left"] < 0:
        answer(identifier, FINE)
        return
    if "requestState" not in params and "--first" not in sys.argv:
        note("acted")
    for number in range(FLOODS):
        say({"id": f"f{number}", "method": ASKS, "params": PARAMS.get(ASKS, {})})
    if TELLS:
        say({"method": TELLS, "params": PARAMS.get(TELLS, {"progressToken": _token(params), "progress": 1})})
    if ASKS and not FLOODS and "requestState" not in params:
        if MODERN:
            wanted = {"k": {"method": ASKS, "params": PARAMS.get(ASKS, {})}}
            answer(
                identifier, {"result": {"resultType": "input_required", "inputRequests": wanted, "requestState": "s"}}
            )
        else:
            say({"id": f"q{identifier}", "method": ASKS, "params": PARAMS.get(ASKS, {})})
        return
    answer(identifier, ENDS)


def _token(params: dict[str, Any]) -> Any:
    return params.get("_meta", {}).get("progressToken")


def greeted(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    if method == "initialize" and not MODERN:
        info = {"name": "acted", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "server/discover" and MODERN:
        return {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, **CACHED}
    return {"tools": TOOLS, **(CACHED if MODERN else {})} if method == "tools/list" else None


def take(message: dict[str, Any]) -> None:
    identifier, method, params = message.get("id"), message.get("method"), message.get("params") or {}
    if method is None:
        note("answer", message)
        if str(identifier).startswith("q"):
            answer(int(str(identifier)[1:]), ENDS)
    elif method == "tools/call":
        called(identifier, params)
    elif identifier is not None:
        result = greeted(method, params)
        code = -32022 if MODERN and method == "initialize" else -32601
        answer(identifier, {"error": {"code": code, "message": "no"}} if result is None else {"result": result})


if __name__ == "__main__":
    for line in sys.stdin:
        if line.strip():
            take(json.loads(line))
