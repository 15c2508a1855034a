"""Runs `preflight` as a person, a script or a model would: in this process, or in one of its own behind a terminal."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from preflight.cli.app import run

ROOT = Path(__file__).resolve().parents[2]
BANK = ROOT / "examples" / "bank" / "server.py"
REQUESTS = ROOT / "examples" / "requests"
SECONDS = 60
END_OF_INPUT = b"\x04"


class Ran(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Shell:
    """A user's shell: one record database, and standard input that is no terminal."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.db = folder / "records.db"
        self.env = {"PREFLIGHT_DB": str(self.db), "PREFLIGHT_CHANNELS": "script"}

    def __call__(self, *arguments: str | Path, stdin: bytes = b"", **env: str) -> Ran:
        """Run a command in this process."""
        out, err, code = io.StringIO(), io.StringIO(), 0
        given = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
        with (
            mock.patch.dict(os.environ, self.env | env),
            mock.patch.object(sys, "stdin", given),
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            try:
                run([str(argument) for argument in arguments])
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else int(end.code is not None)
        return Ran(code, out.getvalue(), err.getvalue())

    def at_a_terminal(self, *arguments: str | Path, types: str = "") -> Ran:
        """Run a command in a process of its own whose standard input is a terminal at which somebody types."""
        person, program = pty.openpty()
        command = [sys.executable, "-m", "preflight", *map(str, arguments)]
        env = os.environ | self.env | {"PREFLIGHT_CHANNELS": ""}
        with subprocess.Popen(
            command, stdin=program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
        ) as process:
            os.close(program)
            os.write(person, types.encode() + END_OF_INPUT)
            try:
                out, err = process.communicate(timeout=SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
            finally:
                os.close(person)
        return Ran(process.returncode, out, err)

    def request(self, name: str, value: object) -> Path:
        """Write a request file."""
        path = self.folder / name
        path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
        return path

    def learn(self, phrase: str, tool: str, user: str = "minji") -> None:
        assert self("learn", phrase, tool, "--user", user, "--channel", "script").code == 0
