"""Text that is no valid UTF-8 is refused before anything starts, whichever option or variable brings it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BAD = b"a\x80"
SERVER = [b"--", sys.executable.encode(), b"-c", b""]
PROXY = [b"proxy", b"--name", b"x"]
COMMANDS = {
    "--session": [*PROXY, b"--session", BAD, *SERVER],
    "--user": [*PROXY, b"--user", BAD, *SERVER],
    "--name": [b"proxy", b"--name", BAD, *SERVER],
    "--url": [*PROXY, b"--url", BAD],
    "--db": [b"--rules", b"x", b"pending", b"--db", BAD],
    "--rules": [b"--rules", BAD, b"pending"],
    "argument 2": [b"explain", BAD],
    "argument 3": [b"--rules", b"x", b"--session=" + BAD],
}


def ran(arguments: list[bytes], **variables: bytes) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environb, **{name.encode(): value for name, value in variables.items()}}
    command = [sys.executable.encode(), b"-m", b"preflight", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, check=False, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize("where", COMMANDS)
def test_an_argument_that_is_no_valid_utf8_is_refused(where: str) -> None:
    done = ran(COMMANDS[where])
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: `{where}`: `".encode())
    assert b"a\\udc80` is no valid UTF-8; write it in UTF-8" in done.stderr


@pytest.mark.parametrize("name", ["PREFLIGHT_USER", "PREFLIGHT_DB", "CLAUDE_CODE_SESSION_ID", "LOGNAME", "prompt_id"])
def test_a_variable_that_is_no_valid_utf8_is_refused(tmp_path: Path, name: str) -> None:
    done = ran([*PROXY, b"--db", os.fsencode(tmp_path / "r.db"), *SERVER], **{name: BAD})
    assert done.returncode == 2
    assert done.stderr == b"error: `%s`: `a\\udc80` is no valid UTF-8; write it in UTF-8\n" % name.encode()


def test_the_command_of_a_server_is_handed_on_as_it_is(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    program = b"import os,sys; open(sys.argv[1], 'wb').write(os.fsencode(sys.argv[2]))"
    server = [b"--", sys.executable.encode(), b"-c", program, os.fsencode(seen), BAD]
    ran([b"doctor", b"--name", b"x", b"--db", os.fsencode(tmp_path / "r.db"), *server])  # it waits for the server
    assert seen.read_bytes() == BAD
