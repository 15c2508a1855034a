"""The protocol's own conformance tests, against a server alone and with the proxy in front: the same results."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import ByteReceiveStream, ByteSendStream, SocketAttribute, SocketStream

from tests.integration.test_proxy_http import TOKEN, served
from tests.integration.upstreams.conforming import TOOLS
from tests.integration.upstreams.real import conformance
from tests.integration.wire import proxy

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
SERVER = Path(__file__).resolve().parent / "upstreams" / "conforming.py"
CLIENT = SERVER.with_name("conforming_client.py")
SECONDS = 180
Results = dict[str, list[Any]]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def program() -> list[str]:
    return conformance()


@contextmanager
def alone(*options: str) -> Iterator[str]:
    """Run the server over HTTP without a proxy."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    command = [sys.executable, "-W", "ignore", str(SERVER), "--http", str(port), *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        assert any("running on" in line for line in process.stderr)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.communicate(timeout=20)


@asynccontextmanager
async def with_token(url: str) -> AsyncIterator[str]:
    """Yield an address that leads to `url` with the token, which the conformance tests cannot be given."""
    there = url.split("/")[2]
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as tasks:
        here = f"127.0.0.1:{listener.extra(SocketAttribute.local_port)}"  # noqa: S610  no database is near

        async def forward(client: SocketStream) -> None:
            head = b""
            async with client:
                with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                    while b"\r\n\r\n" not in head:
                        head += await client.receive()
                    lines, _, body = head.partition(b"\r\n\r\n")
                    async with await anyio.connect_tcp(*there.split(":")) as server, anyio.create_task_group() as both:
                        await server.send(changed(lines, here, there) + b"\r\n\r\n" + body)
                        both.start_soon(pump, client, server)
                        await pump(server, client)
                        both.cancel_scope.cancel()

        tasks.start_soon(listener.serve, forward)
        yield url.replace(there, here)
        tasks.cancel_scope.cancel()


def changed(head: bytes, here: str, there: str) -> bytes:
    """Return a request's head with the token, the name of the server behind, and an end of the connection after it."""
    lines = [line for line in head.decode().split("\r\n") if not line.lower().startswith("connection:")]
    lines = [line.replace(here, there) if line.lower().startswith(("host:", "origin:")) else line for line in lines]
    return "\r\n".join([*lines, f"Authorization: Bearer {TOKEN}", "Connection: close"]).encode()


async def pump(source: ByteReceiveStream, target: ByteSendStream) -> None:
    with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
        while True:
            await target.send(await source.receive())


async def results(program: list[str], url: str, folder: Path) -> Results:
    """Run all scenarios against a server and return what each check came to."""
    command = [*program, "server", "--url", url, "--suite", "all", "--output-dir", str(folder)]
    with anyio.fail_after(SECONDS):
        await anyio.run_process(command, check=False)
    return read(folder, url)


def read(folder: Path, url: str) -> Results:
    """Return what was written down of each scenario, without the addresses of this run."""
    found = {}
    for path in folder.glob("server-*/checks.json"):
        scenario = re.sub(r"^server-(.*)-\d{4}-\d\d-\d\dT[\dZ-]+$", r"\1", path.parent.name)
        text = path.read_text(encoding="utf-8")
        checks = json.loads(text.replace(url, "URL").replace(url.split("/")[2], "HOST"))
        found[scenario] = [essence(check) for check in checks]
    return found


def essence(check: dict[str, Any]) -> list[Any]:
    """What of a check must be the same: all of it but times, and what is only told of the way there."""
    told = check["status"] == "INFO" or check["id"] == "localhost-host-rebinding-rejected"  # 403 is as good as 421
    details = None if told else check.get("details")
    return [check["id"], check["status"], check.get("errorMessage"), details]


def verdicts(found: Results) -> dict[str, list[str]]:
    return {name: [f"{check[0]}: {check[1]}" for check in checks] for name, checks in found.items()}


def rules(folder: Path, tools: Iterable[str] = TOOLS) -> Path:
    path = folder / "rules.yaml"
    reads = {tool: {"effect": "read"} for tool in tools}
    path.write_text(json.dumps({"version": 1, "servers": {"conforming": {"tools": reads}}}), encoding="utf-8")
    return path


async def test_a_proxied_server_conforms_as_it_does_alone(program: list[str], tmp_path: Path) -> None:
    with alone() as url:
        expected = await results(program, url, tmp_path / "alone")
    assert len(expected) >= 32
    command = proxy(tmp_path / "records.db", rules(tmp_path), [sys.executable, str(SERVER)], name="conforming")
    with served(command) as url:
        async with with_token(url) as open_url:
            got = await results(program, open_url, tmp_path / "proxied")
    assert verdicts(got) == verdicts(expected)
    assert got == expected
    failed = [check for checks in expected.values() for check in checks if check[1] == "FAILURE"]
    assert failed == []


async def test_a_proxied_server_over_http_conforms_as_it_does_alone(program: list[str], tmp_path: Path) -> None:
    with alone() as url:
        expected = await results(program, url, tmp_path / "alone")
        asked = ["--rules", str(rules(tmp_path)), "proxy", "--db", str(tmp_path / "r.db"), "--name", "conforming"]
        with served([sys.executable, "-m", "preflight", *asked, "--url", url]) as front:
            async with with_token(front) as open_url:
                got = await results(program, open_url, tmp_path / "proxied")
    assert verdicts(got) == verdicts(expected)
    assert got == expected


@pytest.mark.parametrize("scenario", ["initialize", "tools_call", "sse-retry", "elicitation-sep1034-client-defaults"])
async def test_a_proxy_is_as_good_a_client_as_the_one_in_front(
    program: list[str], scenario: str, tmp_path: Path
) -> None:
    tools = ("add_numbers", "test_reconnection", "test_client_elicitation_defaults")
    asked = ["--rules", str(rules(tmp_path, tools)), "proxy", "--db", str(tmp_path / "r.db"), "--name", "conforming"]
    straight = [sys.executable, str(CLIENT)]
    through = [*straight, "--through", sys.executable, "-m", "preflight", *asked]
    found = []
    for number, command in enumerate((straight, through)):
        folder = tmp_path / str(number)
        words = ["client", "--command", " ".join(command), "--scenario", scenario, "--output-dir", str(folder)]
        with anyio.fail_after(SECONDS):
            await anyio.run_process([*program, *words], check=False)
        (path,) = list(folder.glob("**/checks.json"))
        checks = [check for check in json.loads(path.read_text(encoding="utf-8")) if check["status"] != "INFO"]
        assert all(check["status"] != "FAILURE" for check in checks), checks
        found.append({check["id"] for check in checks})
    assert found[0] == found[1] != set()
