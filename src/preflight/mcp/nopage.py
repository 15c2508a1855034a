"""Where no answer page is served: a person answers at a terminal."""

from __future__ import annotations

import anyio

from preflight.model.question import Question
from preflight.render.hints import NO_HINTS, Hints
from preflight.render.visible import visible


def at_a_terminal(question: Question, hints: Hints) -> str:
    """Say how a question is answered at a terminal, which refuses whoever is not at one (R-93)."""
    return f"The person answers it at a terminal: {visible(hints.answer(question.question_id))}"


class NoPage:
    """No page."""

    def __init__(self, hints: Hints = NO_HINTS) -> None:
        """Say with `hints` how a question is answered at a terminal."""
        self._hints = hints

    async def link(self, question: Question) -> str | None:  # noqa: ARG002  the form of `Page`
        """Return nothing: there is no page."""
        return None

    def where(self, question: Question) -> str:
        """Say how it is answered at a terminal."""
        return at_a_terminal(question, self._hints)

    async def answered(self, question_id: str, seconds: float) -> bool:  # noqa: ARG002  same
        """Wait; nothing is answered here."""
        await anyio.sleep(seconds)
        return False
