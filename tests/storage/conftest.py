from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import preflight
from tests.storage.postgres_server import Server

# the package as this process found it, wherever the script runs
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(preflight.__file__).parents[1])}
Script = Callable[..., str]


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """Run a few lines in a Python of their own and return what they print; their `sys.argv[1:]` is given."""

    def run(source: str, *arguments: object) -> str:
        command = [sys.executable, "-W", "error", "-c", textwrap.dedent(source), *map(str, arguments)]
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=60, cwd=tmp_path, env=ENVIRONMENT
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """A PostgreSQL server, up for the whole run."""
    server = Server()
    yield server
    server.close()


@pytest.fixture
def postgres(postgres_server: Server) -> Iterator[Server]:
    """The same server; stores that this test opens are closed at its end."""
    yield postgres_server
    postgres_server.release()
