"""`preflight console`, and the same pages behind `preflight proxy`: on this machine, the code for people alone."""

from __future__ import annotations

import os
import pty
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import anyio
import pytest

from preflight.console.pairing import Pairing
from preflight.storage import open_storage
from tests.integration.browser import Browser
from tests.integration.test_proxy_asks import at_bank

ADDRESS = re.compile(r"http://127\.0\.0\.1:[0-9]+/")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def command(folder: Path, *options: str) -> list[str]:
    open_storage(folder / "records.db").close()  # as the first call makes it
    return [sys.executable, "-m", "preflight", "console", "--db", str(folder / "records.db"), "--user", "u1", *options]


@contextmanager
def ended(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    """End a process as a person does; what does not end is ended by force."""
    try:
        yield process
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def code(folder: Path) -> str:
    storage = open_storage(folder / "records.db")
    try:
        return Pairing.of(storage).code()
    finally:
        storage.close()


def test_it_serves_until_it_is_interrupted_and_tells_a_pipe_no_code(tmp_path: Path) -> None:
    pipe = subprocess.PIPE
    with ended(subprocess.Popen(command(tmp_path), stdin=pipe, stdout=pipe, stderr=pipe, text=True)) as process:
        assert process.stdout is not None
        first, second = process.stdout.readline(), process.stdout.readline()
        (address,) = ADDRESS.findall(first)
        assert "for u1" in first
        assert not re.search(r"[0-9]{6}", second)
        assert "preflight pair" in second
        browser = Browser().get(address)
        assert browser.status == 403
        assert browser.submit("/pair/", {"code": code(tmp_path)}).status == 200
        assert "Nothing is deferred." in browser.html
        for stream in (process.stdin, process.stdout, process.stderr):
            assert stream is not None
            stream.close()


def test_a_person_at_a_terminal_is_shown_the_code(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    try:
        started = subprocess.Popen(command(tmp_path), stdin=theirs, stdout=theirs, stderr=theirs, text=True)
        with ended(started):
            shown = ""
            while not (found := re.search(r"once is ([0-9]{10})", shown)):
                shown += os.read(ours, 1_000).decode()
            (address,) = ADDRESS.findall(shown)
            browser = Browser().get(address)
            assert browser.submit("/pair/", {"code": found[1]}).status == 200
    finally:
        with suppress(OSError):
            os.close(ours)
        os.close(theirs)


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            command(tmp_path, "--port", port), check=False, capture_output=True, text=True, timeout=60
        )
    assert done.returncode == 2
    assert done.stderr == f"error: `port`: `127.0.0.1:{port}` cannot be had: Address already in use; choose another\n"


@pytest.mark.anyio
async def test_a_proxy_serves_it_at_once_on_a_port_that_was_named(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    browser = Browser()
    async with at_bank(tmp_path, "--page", str(port)):
        await anyio.to_thread.run_sync(browser.get, f"http://127.0.0.1:{port}/")
        assert browser.status == 403
        await anyio.to_thread.run_sync(browser.submit, "/pair/", {"code": code(tmp_path)})
        assert browser.status == 200
        assert "For joonho, on this machine alone." in browser.html
