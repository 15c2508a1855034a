"""A client that shows the wire as it is: plain JSON-RPC messages to a process, in either protocol era."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import anyio
from anyio.streams.buffered import BufferedByteReceiveStream

ROOT = Path(__file__).resolve().parents[2]
BANK = ROOT / "examples" / "bank" / "server.py"
BANK_RULES = ROOT / "examples" / "rules" / "bank"
EVERYTHING = Path(__file__).resolve().parent / "upstreams" / "everything.py"
SECONDS = 40
LONGEST = 200_000_000
VERSION = "io.modelcontextprotocol/protocolVersion"
CLIENT = "io.modelcontextprotocol/clientInfo"
ABLE = "io.modelcontextprotocol/clientCapabilities"

Message = dict[str, Any]
Answer = Callable[[str, Message], Awaitable[Message] | Message]
"""Answers what a server asks: with a result, or with an error, which has a `code`."""


def nothing(method: str, params: Message) -> Message:
    raise AssertionError(f"asked `{method}`: {params}")


class Wire:
    """One connection. `last` is the line that came last.

    `told` holds the notifications that came, `asked` the requests of the server.
    """

    def __init__(self, process: Any, era: str, able: Message, answer: Answer) -> None:
        self.process = process
        self.era = era
        self.able = able
        self.answer = answer
        self.told: list[Message] = []
        self.asked: list[Message] = []
        self.stray: list[Message] = []
        self.heard = anyio.Event()
        self.last = b""
        self._waiting: dict[Any, tuple[anyio.Event, list[Message]]] = {}
        self._next = 0

    async def receive(self, tasks: Any) -> None:
        stream = BufferedByteReceiveStream(self.process.stdout)
        with suppress(anyio.EndOfStream, anyio.IncompleteRead, anyio.ClosedResourceError, anyio.BrokenResourceError):
            while True:
                line = await stream.receive_until(b"\n", LONGEST)
                message = json.loads(line)
                self.last = line
                if "method" in message and "id" in message:
                    self.asked.append(message)
                    tasks.start_soon(self._answer, message)
                    self.heard.set()
                    self.heard = anyio.Event()
                elif "method" in message:
                    self.told.append(message)
                    self.heard.set()
                    self.heard = anyio.Event()
                elif message.get("id") in self._waiting:
                    event, got = self._waiting[message["id"]]
                    (self.stray if event.is_set() else got).append(message)
                    event.set()
                else:
                    self.stray.append(message)
                    self.heard.set()
                    self.heard = anyio.Event()
        for event, _ in self._waiting.values():
            event.set()

    async def _answer(self, message: Message) -> None:
        result = self.answer(message["method"], message.get("params") or {})
        if not isinstance(result, dict):
            result = await result
        await self.send({"id": message["id"], "error" if "code" in result else "result": result})

    async def send(self, message: Message) -> None:
        await self.raw(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def raw(self, data: bytes) -> None:
        await self.process.stdin.send(data)

    def enveloped(self, params: Message) -> Message:
        if self.era == "handshake":
            return params
        info = {"name": "wire", "version": "1"}
        meta = {**params.get("_meta", {}), VERSION: "2026-07-28", CLIENT: info, ABLE: self.able}
        return {**params, "_meta": meta}

    async def begin(self, method: str, params: Message | None = None, identifier: Any = None) -> Any:
        """Send a request and return its id."""
        self._next += 1
        identifier = self._next if identifier is None else identifier
        self._waiting[identifier] = (anyio.Event(), [])
        sent = self.enveloped(params or {})
        await self.send({"id": identifier, "method": method, **({"params": sent} if sent else {})})
        return identifier

    async def end(self, identifier: Any) -> Message:
        """Return the answer to a request; an empty object where the connection ended."""
        event, got = self._waiting[identifier]
        await event.wait()
        return got[0] if got else {}

    async def request(self, method: str, params: Message | None = None) -> Message:
        """Send a request and return the answer, without its id."""
        answer = await self.end(await self.begin(method, params))
        return {key: value for key, value in answer.items() if key not in ("id", "jsonrpc")}

    async def call(self, name: str, arguments: Any = None, **more: Any) -> Message:
        """Call a tool, coming back with answers as long as a modern server asks; return the answer."""
        params: Message = {"name": name, "arguments": {} if arguments is None else arguments, **more}
        response = await self.request("tools/call", params)
        while response.get("result", {}).get("resultType") == "input_required":
            params = await self.again(params, response["result"])
            response = await self.request("tools/call", params)
        return response

    async def again(self, params: Message, result: Message) -> Message:
        """Return the same request with the answers that were asked for."""
        answers = {}
        for key, wanted in result["inputRequests"].items():
            self.asked.append(wanted)
            given = self.answer(wanted["method"], wanted.get("params") or {})
            answers[key] = given if isinstance(given, dict) else await given
        kept = {key: value for key, value in params.items() if key not in ("inputResponses", "requestState")}
        return {**kept, "inputResponses": answers, "requestState": result.get("requestState")}

    async def until(self, method: str) -> Message:
        """Return the first notification of this kind."""
        while True:
            for message in self.told:
                if message["method"] == method:
                    return message
            await self.heard.wait()


@asynccontextmanager
async def connected(
    command: Sequence[str],
    *,
    era: str = "handshake",
    able: Message | None = None,
    answer: Answer = nothing,
    environment: Mapping[str, str] | None = None,
    greet: bool = True,
    seconds: float = SECONDS,
    told: Path | None = None,
) -> AsyncIterator[Wire]:
    """Start a server and greet it; what it writes to standard error is kept in the file `told`, where one is named."""
    env = {**os.environ, **(environment or {})}
    with told.open("ab") if told is not None else nullcontext(sys.stderr) as stderr:
        process = await anyio.open_process(list(command), env=env, stderr=stderr, start_new_session=True)
    wire = Wire(process, era, able or {}, answer)
    try:
        with anyio.fail_after(seconds):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(wire.receive, tasks)
                if greet:
                    await greeted(wire)
                yield wire
                tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await stopped(process)


async def greeted(wire: Wire, version: str = "2025-11-25") -> Message:
    """Greet the server as a client of its era does, and return what it says."""
    if wire.era == "modern":
        return (await wire.request("server/discover"))["result"]  # type: ignore[no-any-return]
    params = {"protocolVersion": version, "capabilities": wire.able, "clientInfo": {"name": "wire", "version": "1"}}
    answer = await wire.request("initialize", params)
    await wire.send({"method": "notifications/initialized"})
    return answer["result"]  # type: ignore[no-any-return]


async def stopped(process: Any) -> None:
    """Close a process's input and wait until it ends; what does not is ended with its children."""
    with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await process.stdin.aclose()
    with anyio.move_on_after(5) as patience:
        await process.wait()
    if patience.cancelled_caught:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    await process.aclose()


def proxy(
    db: Path, rules: Path, upstream: Sequence[str], *options: str, user: str = "joonho", name: str = "everything"
) -> list[str]:
    """Return the command of a proxy in front of a command."""
    asked = ["--rules", str(rules), "proxy", "--db", str(db), "--user", user, "--name", name, *options]
    return [sys.executable, "-m", "preflight", *asked, "--", *upstream]


def bank(folder: Path) -> list[str]:
    """Return the command of the bank."""
    return [sys.executable, str(BANK), "--db", str(folder / "bank.db")]


def everything(log: Path | None = None) -> list[str]:
    """Return the command of the server that uses all of the protocol."""
    return [sys.executable, str(EVERYTHING), *(["--log", str(log)] if log else [])]


def logged(log: Path) -> list[list[Any]]:
    """Return what a server wrote down."""
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []


def said(response: Message) -> str:
    """Return the first text of a call's result."""
    return str(response["result"]["content"][0]["text"])
