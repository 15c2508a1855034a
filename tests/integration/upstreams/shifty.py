"""A server without an SDK that lists what stands in a file when it is asked, and that may behave badly when it is.

`python shifty.py TOOLS [--log FILE] [--page N] [--how HOW]`: TOOLS is a JSON array of tools, FILE gets what it was
asked, a JSON value a line. Its list comes in pages of N. HOW is one of those below.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

HOWS = {
    "well": "as it should",
    "hang": "is never done listing",
    "break": "answers every list with an internal error",
    "endless": "gives another cursor with every page",
    "loop": "gives the same cursor with every page",
    "mute": "does not answer a greeting",
    "late": "answers a greeting once TOOLS is there",
    "restless": "tells of a change and changes, whenever it is asked for its tools",
}
BROKEN = {"code": -32603, "message": "broken \u001b[31m"}
_changes = itertools.count(1)
_cursors = itertools.count(1)


def say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def note(*what: Any) -> None:
    if options.log:
        with options.log.open("a", encoding="utf-8") as log:
            log.write(json.dumps(what) + "\n")


def tools() -> list[Any]:
    found: list[Any] = json.loads(options.tools.read_text(encoding="utf-8"))
    if options.how == "restless":
        say({"method": "notifications/tools/list_changed"})
        return [{**tool, "description": f"change {next(_changes)}"} for tool in found]
    return found


def listed(params: dict[str, Any]) -> dict[str, Any] | None:
    if options.how == "hang":
        return None
    if options.how == "break":
        return {"error": BROKEN}
    found, at = tools(), int(params.get("cursor", 0))
    if options.how in ("endless", "loop"):
        return {"result": {"tools": found, "nextCursor": str(next(_cursors) if options.how == "endless" else 1)}}
    end = at + (options.page or len(found))
    return {"result": {"tools": found[at:end], **({"nextCursor": str(end)} if end < len(found) else {})}}


def greeted(params: dict[str, Any]) -> dict[str, Any] | None:
    if options.how == "mute":
        return None
    while options.how == "late" and not options.tools.exists():
        time.sleep(0.01)
    able = {"tools": {"listChanged": options.how == "restless"}, "prompts": {}, "resources": {}, "logging": {}}
    info = {"name": "shifty", "version": "1"}
    return {"result": {"protocolVersion": params["protocolVersion"], "capabilities": able, "serverInfo": info}}


def asked() -> Any:
    """Tell of a change and ask the user, and do nothing else until there is an answer."""
    say({"method": "notifications/tools/list_changed"})
    schema = {"type": "object", "properties": {"colour": {"type": "string"}}, "required": []}
    say({"id": "q", "method": "elicitation/create", "params": {"message": "Which?", "requestedSchema": schema}})
    waiting = (json.loads(line) for line in sys.stdin)
    return next(message for message in waiting if message.get("id") == "q" and "method" not in message)["result"]


def called(params: dict[str, Any]) -> dict[str, Any]:
    if params["name"] == "ask":
        return {"result": {"content": [{"type": "text", "text": json.dumps(asked())}]}}
    if params["name"] == "die":
        os._exit(3)
    return {"result": {"content": [{"type": "text", "text": f"{options.tools.stem} did {params['name']}"}]}}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    if method == "initialize":
        return greeted(params)
    if method == "tools/list":
        return listed(params)
    if method == "tools/call":
        return called(params)
    if method == "resources/read":
        return {"result": {"contents": [{"uri": params["uri"], "text": options.tools.stem}]}}
    fixed: dict[str, Any] = {
        "prompts/list": {"prompts": [{"name": "p"}, {"name": 5}]}, "logging/setLevel": {}, "ping": {},
        "resources/list": {"resources": [{"uri": "mem://same"}, {"uri": f"mem://{options.tools.stem}"}]},
        "resources/templates/list": {"resourceTemplates": [{"uriTemplate": "mem://of/{name}"}]},
    }  # fmt: skip
    return {"result": fixed[method]} if method in fixed else {"error": {"code": -32601, "message": "Method not found"}}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("tools", type=Path)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--page", type=int, default=0)
    parser.add_argument("--how", choices=HOWS, default="well")
    options = parser.parse_args()
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            params = message.get("params") or {}
            note(message["method"], params)
            if (answered := answer(message["method"], params)) is not None:
                say({"id": message["id"], **answered})
