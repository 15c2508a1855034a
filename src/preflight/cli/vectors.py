"""`preflight conformance`: whether this implementation decides as the vectors say."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from preflight.cli.codes import DONE, ERROR
from preflight.cli.screen import Screen
from preflight.errors import InvalidInput
from preflight.render.styled import line
from preflight.render.visible import value_text, visible


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command()(conformance)


def conformance(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Vectors as JSON Lines.")],
) -> None:
    """Run conformance vectors.

    Prints each that comes out otherwise with what differs, and how many passed.

    \b
    Example:
      preflight conformance conformance/core.jsonl conformance/hand.jsonl

    Exit code: 0 when all passed, 1 when one failed, 2 when a file holds no vectors.
    """
    screen = Screen()
    passed = failed = 0
    for path in files:
        for identifier, lines in _results(path):
            passed, failed = passed + (not lines), failed + bool(lines)
            screen.show([line(visible(text), "bad") for text in [identifier, *lines] if lines])
    screen.show([line(f"{passed} passed, {failed} failed")])
    raise typer.Exit(ERROR if failed else DONE)


def _results(path: Path) -> list[tuple[str, list[str]]]:
    from preflight.conformance import load

    try:
        vectors = list(load(path))
    except (OSError, UnicodeDecodeError) as fault:
        raise InvalidInput(str(path), f"cannot be read: {fault}", "name a file of vectors") from None
    return [(str(vector["id"]), _differences(vector)) for vector in vectors]


def _differences(vector: dict[str, object]) -> list[str]:
    from preflight.conformance import differences

    try:
        found = differences(vector)
    except Exception as fault:  # noqa: BLE001  a vector that cannot be run has failed, and the others go on
        return [f"  cannot be run: {type(fault).__name__}: {fault}"]
    return [f"  {each.key}: expected {value_text(each.expected)}, came {value_text(each.actual)}" for each in found]
