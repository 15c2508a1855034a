"""The user's words with the places marked that a slot was read from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from preflight.model.evidence import Evidence
from preflight.model.instruction import Segment
from preflight.model.slot import FieldState
from preflight.render.styled import Line, Piece, line
from preflight.render.visible import shown, width

_WIDE = 100  # cells: longer segments are shown around each mark
_BEFORE, _AFTER = 40, 24  # code points kept around a mark of a longer one


class Mark(NamedTuple):
    """A span of a segment, half open in code points, and what was read from it."""

    start: int
    end: int
    label: str


def said(segments: Sequence[Segment], fields: Sequence[FieldState]) -> list[Line]:
    """Return what was said, segment by segment, marked where slots were read; untrusted text is only named."""
    lines: list[Line] = []
    for at, segment in enumerate(segments):
        if not segment.grounds:
            origin = f" from {''.join(map(shown, segment.origin))}" if segment.origin else ""
            lines.append(
                line(f"[text the user did not write{origin}: {len(segment.text)} characters, not read]", "dim")
            )
            continue
        marks = [mark for field in fields for mark in _marks(field, at)]
        lines += marked(segment.text, marks)
    return lines


def _marks(field: FieldState, segment: int) -> list[Mark]:
    return places(field.evidence, field.name, segment) if field.evidence is not None else []


def places(evidence: Evidence, name: str = "", segment: int | None = None) -> list[Mark]:
    """Return what to mark of a segment for a value, leaf by leaf; of the evidence's own segment unless one is named."""
    at = evidence.segment_index if segment is None else segment
    return [
        Mark(leaf.start, leaf.end, f"{name}{leaf.pointer}") for leaf in leaves(evidence) if leaf.segment_index == at
    ]


def leaves(evidence: Evidence) -> list[Evidence]:
    """Return the places of a value leaf by leaf; a derivation counts as one place, whatever it starts from."""
    if not evidence.parts or any(part.pointer.startswith("#") for part in evidence.parts):
        return [evidence]
    return [leaf for part in evidence.parts for leaf in leaves(part)]


def marked(text: str, marks: Sequence[Mark]) -> list[Line]:
    """Return the text in quotes, the marked spans set off, and below each span what it stands for."""
    marks = sorted(marks)
    if sum(width(shown(char)) for char in text) <= _WIDE or not marks:
        return _excerpt(text, 0, len(text), marks)
    lines: list[Line] = []
    for mark in marks:
        lines += _excerpt(text, max(0, mark.start - _BEFORE), min(len(text), mark.end + _AFTER), [mark])
    return lines


def _excerpt(text: str, start: int, end: int, marks: Sequence[Mark]) -> list[Line]:
    inside = {at for mark in marks for at in range(mark.start, mark.end)}
    pieces = [Piece('"' if start == 0 else '"…')]
    columns, column = {}, width(pieces[0].text)
    for at in range(start, end):
        columns[at] = column
        char = shown(text[at])
        column += width(char)
        pieces.append(Piece(char, "mark" if at in inside else ""))
    columns[end] = column
    pieces.append(Piece('"' if end == len(text) else '…"'))
    return [_joined(pieces), *_underlines(columns, marks)]


def _joined(pieces: Sequence[Piece]) -> Line:
    """Join neighbours of one style."""
    joined: list[Piece] = []
    for piece in pieces:
        if joined and joined[-1].style == piece.style:
            joined[-1] = Piece(joined[-1].text + piece.text, piece.style)
        else:
            joined.append(piece)
    return tuple(joined)


def _underlines(columns: dict[int, int], marks: Sequence[Mark]) -> list[Line]:
    """Put each mark's underline and label on the first row where there is room for it."""
    rows: list[str] = []
    for mark in marks:
        begin = columns[mark.start]
        under = "^" * max(1, columns[mark.end] - begin) + " " + "".join(map(shown, mark.label))
        for i, row in enumerate(rows):
            if width(row) + 2 <= begin:
                rows[i] = row + " " * (begin - width(row)) + under
                break
        else:
            rows.append(" " * begin + under)
    return [line(row, "mark") for row in rows]
