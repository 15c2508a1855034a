"""Noting that a question was put and nobody answered (R-92): it is kept, and nothing is read from it."""

from __future__ import annotations

import logging
from typing import Final

from preflight.api import AsyncPreflight, Preflight
from preflight.clock import iso
from preflight.errors import StorageError
from preflight.model.question import NoAnswer, Question, Silent

INSTANT_SECONDS: Final = 1.0
"""A refusal that comes sooner was not given by a person (R-92)."""
_log = logging.getLogger("preflight.mcp")


def note_silence(
    gate: AsyncPreflight | Preflight, question: Question, channel: str, how: Silent, seconds: float, client: str = ""
) -> None:
    """Keep that nobody answered; where that cannot be stored, it is logged, and the question is as open as before."""
    note = NoAnswer(
        question_id=question.question_id,
        channel=channel,
        how=how,
        at=iso(gate.clock.now()),
        seconds=round(max(seconds, 0.0), 3),
        at_once=how != "time_out" and seconds < INSTANT_SECONDS,
        client=client,
    )
    try:
        gate.storage.no_answer(note)
    except StorageError as fault:
        _log.warning("no answer to %s (%s by %s), not stored: %s", question.question_id, how, client, fault)
