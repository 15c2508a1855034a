"""`preflight demo`: the scripted bank story of `examples/demo`, played for real."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Annotated

import typer

from preflight.cli.person import require_person
from preflight.cli.screen import Screen
from preflight.errors import ConstructionError


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command()(demo)


def demo(
    interactive: Annotated[bool, typer.Option("--interactive", help="Answer the questions yourself.")] = False,
) -> None:
    """Play seven scenes against a real MCP server.

    No model and no network take part. A small bank is started over standard input and output, and a scripted
    agent proposes calls to it. Everything happens in a temporary folder.
    """
    if interactive:
        require_person("terminal")
    play = _play()
    play.main(Screen(), interactive=interactive)


def _play() -> ModuleType:
    path = Path(__file__).resolve().parents[3] / "examples" / "demo" / "play.py"
    if not path.is_file():
        message = "the demo lies in the project's `examples`, which are not installed; run it from a checkout"
        raise ConstructionError(message)
    spec = importlib.util.spec_from_file_location("preflight_demo", path)
    assert spec is not None  # noqa: S101  the file is there, and Python
    assert spec.loader is not None  # noqa: S101  same
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
