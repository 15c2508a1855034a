"""Text with meaning instead of colours: what prints it decides what a style looks like."""

from __future__ import annotations

from typing import Literal, NamedTuple

Style = Literal["", "strong", "dim", "good", "ask", "bad", "mark"]


class Piece(NamedTuple):
    """A stretch of text of one style."""

    text: str
    style: Style = ""


Line = tuple[Piece, ...]


class Table(NamedTuple):
    """Rows of cells under headings."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]


Block = Line | Table


def line(text: str = "", style: Style = "") -> Line:
    """Return a line of one style."""
    return (Piece(text, style),) if text else ()


def labelled(label: str, text: str, style: Style = "") -> Line:
    """Return a line with a name in front, in a column of its own."""
    return (Piece(f"{label:<11}", "dim"), Piece(text, style))


def indented(given: Line, by: int = 11) -> Line:
    """Return a line moved to the right."""
    return (Piece(" " * by), *given)


def plain(given: Line) -> str:
    """Return a line without its styles."""
    return "".join(piece.text for piece in given)
