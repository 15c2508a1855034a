"""What the proxy costs: CPU and wall time of a call that passes and of one that is gated, beside FastMCP's proxy.

    python benchmarks/proxy.py [--calls N] [--rounds N] [--fastmcp PYTHON]

Everything is a process: a client that speaks plain JSON-RPC, the proxy, and a server without an SDK, over standard
input and output. CPU is what the proxy's own process used, divided by the calls; wall is the median of a call minus
that of the same call without a proxy. `PYTHON` is an interpreter that has `fastmcp`; without it that part is left out.
The rounds take turns, so that a busy machine weighs on all alike. Linux only: CPU is read from /proc.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from preflight.hosts.store import Said, Session, Store
from tests.integration.wire import EVERYTHING, Wire, connected, everything, proxy, said

TICK = os.sysconf("SC_CLK_TCK")
RULES = EVERYTHING.with_suffix(".yaml")
SESSION = "benchmark"
WORDS = 'write "hello" now'
FASTMCP = """
import sys
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy
create_proxy(StdioTransport(command=sys.argv[1], args=sys.argv[2:])).run(show_banner=False, log_level="CRITICAL")
"""
Call = tuple[str, dict[str, Any]]
PASS: Call = ("look", {"text": "hello"})
GATED: Call = ("write", {"line": "hello"})


def cpu(pid: int) -> float:
    """Return the CPU seconds a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


async def measured(wire: Wire, call: Call, calls: int) -> tuple[float, float]:
    """Return CPU of the process and median wall time of a call, in milliseconds."""
    times = []
    before = cpu(wire.process.pid)
    for _ in range(calls):
        began = time.perf_counter()
        response = await wire.call(*call)
        times.append(time.perf_counter() - began)
        assert "hello" in said(response), response
    return (cpu(wire.process.pid) - before) / calls * 1000, statistics.median(times) * 1000


@asynccontextmanager
async def running(command: list[str], folder: Path) -> AsyncIterator[Wire]:
    environment = {"PREFLIGHT_WORDS": str(folder / "words.db"), "CLAUDE_CODE_SESSION_ID": SESSION}
    async with connected(command, environment=environment, seconds=3_600) as wire:
        await wire.request("tools/list")
        yield wire


def say(folder: Path) -> None:
    """Store what the user said, so that a gated call is decided without a question."""
    store = Store(str(folder / "words.db"))
    store.say(Said(session=Session("claude-code", SESSION), text=WORDS, trust="user"))
    store.close()


async def compared(folder: Path, options: argparse.Namespace) -> dict[str, tuple[float, float]]:
    """Measure each way a call can take, in turns; the median of the rounds."""
    ways: dict[str, tuple[list[str], Call]] = {
        "direct": (everything(), PASS),
        "pass": (proxy(folder / "records.db", RULES, everything()), PASS),
        "gated": (proxy(folder / "gated.db", RULES, everything()), GATED),
    }
    if options.fastmcp:
        script = folder / "fastmcp_proxy.py"
        script.write_text(FASTMCP, encoding="utf-8")
        ways["fastmcp"] = ([options.fastmcp, str(script), *everything()], PASS)
    rounds: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(options.rounds):
        for name, (command, call) in ways.items():
            async with running(command, folder) as wire:
                await measured(wire, call, 20)
                rounds[name].append(await measured(wire, call, options.calls))
    return {
        name: (statistics.median(used for used, _ in got), statistics.median(took for _, took in got))
        for name, got in rounds.items()
    }


async def first_answer(folder: Path) -> tuple[float, float]:
    """Return wall and CPU seconds from the start of a proxy to its first list of tools."""
    began = time.perf_counter()
    async with connected(proxy(folder / "start.db", RULES, everything())) as wire:
        await wire.request("tools/list")
        return time.perf_counter() - began, cpu(wire.process.pid)


async def in_flight(folder: Path, count: int) -> tuple[int, float]:
    """Send many calls at once over HTTP, and return how many got their own answer, and in how many seconds."""
    import httpx2

    command = proxy(folder / "http.db", RULES, everything())
    at = command.index("proxy") + 1
    environment = {**os.environ, "PREFLIGHT_PROXY_TOKEN": "benchmark"}
    served = subprocess.Popen(  # noqa: ASYNC220  nothing else runs meanwhile
        [*command[:at], "--http", ":0", *command[at:]], stderr=subprocess.PIPE, text=True, env=environment
    )
    try:
        assert served.stderr is not None
        found = next(filter(None, (re.search(r"serving (http://\S+)", line) for line in served.stderr)))
        return await _all_at_once(httpx2, found[1], count)
    finally:
        served.terminate()
        served.communicate(timeout=20)


async def _all_at_once(httpx2: Any, url: str, count: int) -> tuple[int, float]:
    prefix = "io.modelcontextprotocol/"
    meta = {f"{prefix}protocolVersion": "2026-07-28", f"{prefix}clientCapabilities": {}}
    headers = {
        "Authorization": "Bearer benchmark", "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "look",
    }  # fmt: skip
    right: list[int] = []
    limits = httpx2.Limits(max_connections=None)
    async with httpx2.AsyncClient(headers=headers, timeout=300, limits=limits) as client:

        async def look(number: int) -> None:
            params = {"name": "look", "arguments": {"text": str(number)}, "_meta": meta}
            body = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
            text = (await client.post(url, json=body)).text
            answer = json.loads(text.partition("data: ")[2] if text.startswith("event:") else text)
            right.extend([number] * (answer["result"]["content"][0]["text"] == str(number)))

        await look(-1)
        right.clear()
        began = time.perf_counter()
        async with anyio.create_task_group() as tasks:
            for number in range(count):
                tasks.start_soon(look, number)
        return len(set(right)), time.perf_counter() - began


async def main(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        say(folder)
        wall, used = min([await first_answer(folder) for _ in range(3)])
        print(f"start to the first list of tools: {wall:.2f} s, of it {used:.2f} s CPU of the proxy")
        right, took = await in_flight(folder, options.flight)
        print(f"{options.flight} calls in flight over HTTP: {right} answered rightly in {took:.1f} s")
        results = await compared(folder, options)
    direct = results["direct"][1]
    for way, (spent, median) in results.items():
        print(f"{way:8} {spent:6.2f} ms CPU a call, {median - direct:+6.2f} ms wall beside {direct:.2f} ms direct")
    passing, gated = results["pass"][0], results["gated"][0]
    fastmcp = results["fastmcp"][0] if "fastmcp" in results else None
    other = "none" if fastmcp is None else f"{fastmcp:.2f}"
    ratio = "none" if fastmcp is None else f"{passing / fastmcp:.2f}"
    print(f"a gated call adds {gated - passing:.2f} ms CPU to one that passes, the disk's work included")
    print(f"pass_ms={passing:.2f} gated_ms={gated:.2f} fastmcp_ms={other} ratio={ratio}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--calls", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--flight", type=int, default=1_000)
    parser.add_argument("--fastmcp", metavar="PYTHON", default="", help="an interpreter that has fastmcp")
    anyio.run(main, parser.parse_args())
