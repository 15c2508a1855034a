"""How much a set of rules may be: each bound with its unit and reason."""

from __future__ import annotations

import msgspec


class Bounds(msgspec.Struct, frozen=True, gc=False):
    """What the loader reads at most."""

    file_bytes: int = 262_144
    """Size of one file: the reader needs about 2 us a byte, so the largest takes half a second."""
    files: int = 1_000
    """Files of one set, included ones counted."""
    nodes: int = 50_000
    """Keys and values of one file."""
    depth: int = 32
    """Nesting of one file: the format itself needs 13."""
    text_length: int = 8_000
    """Code points of one text."""
    expression_length: int = 2_000
    """Code points of one expression: compiling takes about 1 us each."""
    expression_reads: int = 32
    """Different inputs of one expression."""
    labels: int = 64
    """Labels, or items of a declared checklist, of one tool."""
    label_length: int = 500
    """Code points of one label's text: longer ones are no sentence for a person."""


DEFAULT_BOUNDS = Bounds()
