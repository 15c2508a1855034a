"""Records, questions and explanations as people want to read them: pure functions from values to styled text.

What comes from outside is made visible character by character, so that no text can pretend, hide or command.
"""

from __future__ import annotations

from preflight.render.explain import explanation
from preflight.render.public import public
from preflight.render.question import asked
from preflight.render.record import summary
from preflight.render.styled import Block, Line, Piece, Table, line

__all__ = ["Block", "Line", "Piece", "Table", "asked", "explanation", "line", "public", "summary"]
