"""Where commands print: colours and tables on a terminal, aligned text or JSON elsewhere."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TextIO

from preflight.model.json_value import thaw
from preflight.render.styled import Block, Line, Table, plain
from preflight.render.visible import visible, visible_json, width

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

_COLOURS = {
    "": "", "strong": "bold", "dim": "dim", "good": "green", "ask": "yellow", "bad": "bold red", "mark": "cyan",
}  # fmt: skip
_GAP = "  "


class Screen:
    """Prints blocks of styled text to a stream; what cannot be seen is written out, whoever wrote it."""

    def __init__(self, stream: TextIO | None = None) -> None:
        """Print to `stream`, or to standard output; a terminal is recognised by itself."""
        self._stream = stream or sys.stdout
        self._console = _console(self._stream) if _colours(self._stream) else None

    def show(self, blocks: Iterable[Block]) -> None:
        """Print lines and tables."""
        for block in blocks:
            if self._console is not None:
                self._print(self._console, block)
                continue
            for text in _aligned(block) if isinstance(block, Table) else [visible(plain(block))]:
                self._stream.write(text.rstrip() + "\n")
        self._stream.flush()

    def _print(self, console: Console, block: Block) -> None:
        if isinstance(block, Table):
            console.print(_rich_table(block))
        else:
            console.print(
                _rich_line(block), soft_wrap=True
            )  # a line is the terminal's to wrap, so that it copies whole

    def json(self, value: object, *, indent: int | None = 2) -> None:
        """Print a JSON value; characters that cannot be seen are escaped, so that a terminal is safe from them."""
        text = json.dumps(thaw(value), ensure_ascii=False, indent=indent)
        self._stream.write(visible_json(text) + "\n")
        self._stream.flush()


def _colours(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _console(stream: TextIO) -> Console:
    from rich.console import Console

    return Console(file=stream, highlight=False, markup=False, emoji=False)


def _rich_line(line: Line) -> Text:
    from rich.text import Text

    return Text.assemble(*((visible(piece.text), _COLOURS[piece.style]) for piece in line))


def _rich_table(table: Table) -> RichTable:
    from rich import box
    from rich.table import Table as RichTable

    made = RichTable(box=box.SIMPLE_HEAD, header_style="dim", pad_edge=False)
    for column in table.columns:
        # what is bound is shown whole: folded, never cut; ids stay in one piece, to be copied
        made.add_column(column, overflow="fold", no_wrap=column in ("id", "decision"))
    for row in table.rows:
        made.add_row(*map(_rich_line, row))
    return made


def _aligned(table: Table) -> list[str]:
    rows: list[Sequence[str]] = [table.columns, *([visible(plain(cell)) for cell in row] for row in table.rows)]
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    return [
        _GAP.join(cell + " " * (wide - width(cell)) for cell, wide in zip(row, widths, strict=True)) for row in rows
    ]
