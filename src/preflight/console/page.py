"""The pages together, as one application; and how to say where a question is answered."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from preflight.api import AsyncPreflight
from preflight.console import look
from preflight.console.access import Access
from preflight.console.pairing import Pairing
from preflight.console.questions import QuestionPages
from preflight.console.runs import RunPages
from preflight.console.whose import Whose
from preflight.errors import StorageError
from preflight.model.question import Question
from preflight.render.hints import Hints
from preflight.render.visible import visible

_OURS: Final = re.compile(r"(?:[qd]/[^/\\?#]+)?")
"""Where a browser may be sent after it was paired: a page of ours."""


class Console:
    """Questions and deferred runs of one user. `told` is called with the id of each question answered here."""

    def __init__(
        self, gate: AsyncPreflight, pairing: Pairing, whose: Whose, told: Callable[[str], None], hints: Hints
    ) -> None:
        """Serve what is `whose` in the store of `gate`; `hints` make commands that work at a terminal."""
        self._access = Access(pairing)
        asked = QuestionPages(gate, self._access, whose, told, hints)
        pages = [*asked.routes, *RunPages(gate, self._access, whose).routes]
        routes = [Route("/style.css", _style), Route("/pair/{to:path}", self._pair, methods=["POST"]), *pages]
        self.app = Starlette(routes=routes, exception_handlers={HTTPException: _nothing, StorageError: _failed})

    def token(self, question_id: str) -> str:
        """Return a token that opens a question once."""
        return self._access.token(question_id)

    async def _pair(self, request: Request) -> Response:
        to = request.path_params["to"]
        to = to if _OURS.fullmatch(to) else ""
        form = await self._access.form(request)
        if form is None or not self._access.takes(form.get("code", "")):
            told = "That code does not hold; `preflight pair` shows the one that does."
            return look.page("pair", "Who is asking?", told, to=to, status=403)
        response = look.away("/" + quote(to, safe="/"))
        self._access.pair(response)
        return response


def where(question: Question, base: str, hints: Hints) -> str:
    """Say where a question can be answered, in words that a model may read: the link opens nothing for it."""
    return (
        f"The person answers it in a browser at {base}/q/{question.question_id} "
        f"or at a terminal: {visible(hints.answer(question.question_id))}"
    )


async def _style(_request: Request) -> Response:
    return look.style()


async def _nothing(_request: Request, fault: Exception) -> Response:
    status = fault.status_code if isinstance(fault, HTTPException) else 404
    return look.note("There is no such page", status=status)


async def _failed(_request: Request, fault: Exception) -> Response:
    return look.note("The record database did not answer", visible(str(fault)), status=503)
