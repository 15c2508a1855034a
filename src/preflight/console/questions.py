"""One question in a browser, without JavaScript (decision 0084).

A link with a token opens it once: whoever opens it first gets a cookie in its place. A browser that was paired opens
questions of its user by their id. An answer is taken only from the page's own form.
"""

from __future__ import annotations

from collections.abc import Callable

import anyio
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from preflight.api import AsyncPreflight
from preflight.clock import iso
from preflight.console import look
from preflight.console.access import Access, is_here
from preflight.console.fields import answers_in, fields_of
from preflight.console.view import act_of
from preflight.console.whose import Whose
from preflight.errors import AnswerRefused, StorageError
from preflight.folding import runs_for
from preflight.model.channel import enough
from preflight.model.question import Question
from preflight.render.hints import Hints
from preflight.render.question import call_words, runs_words
from preflight.render.visible import visible

CHANNEL = "page"


class QuestionPages:
    """The pages of single questions; `told` is called with the id of each that was answered here."""

    def __init__(
        self, gate: AsyncPreflight, access: Access, whose: Whose, told: Callable[[str], None], hints: Hints
    ) -> None:
        """Answer questions of `gate`; a paired browser sees those that are `whose`.

        `hints` make commands that work at a terminal.
        """
        self._hints = hints
        self._gate = gate
        self._access = access
        self._whose = whose
        self._told = told
        self.routes = [
            Route("/t/{token}", self._open),
            Route("/q/{question}", self._show),
            Route("/q/{question}", self._take, methods=["POST"]),
        ]

    async def _open(self, request: Request) -> Response:
        """Take a token, once, and give the browser a cookie for its question."""
        if request.method == "HEAD":  # what previews links opens none
            return look.note("A link to a question")
        question_id = self._access.redeemed(request, request.path_params["token"])
        if question_id is None:
            return look.note("This link was opened before, or is not one of ours", status=410)
        response = look.away(f"/q/{question_id}")
        self._access.let_answer(response, question_id)
        return response

    async def _show(self, request: Request) -> Response:
        question_id = request.path_params["question"]
        if not is_here(request):
            return look.note("This page is only for this machine", status=421)
        if not self._access.opened(request, question_id) and not self._access.paired(request):
            return look.page("pair", "Who is asking?", to=f"q/{question_id}", status=403)
        return await self._question(request, question_id, {}, "")

    async def _take(self, request: Request) -> Response:
        """Take an answer from the page's own form; whoever else sends one gets nothing."""
        question_id = request.path_params["question"]
        form = await self._access.form(request)
        if form is None or not (self._access.opened(request, question_id) or self._access.paired(request)):
            return look.note("Who is asking?", status=403)
        if not self._access.is_ours(form, question_id):
            return await self._question(request, question_id, {}, "The page was too old; please answer again.", 403)
        question = await self._asked(request, question_id)
        if question is None:
            return look.note("There is no such question", status=404)
        try:
            answers = answers_in(question, form)
            if not answers:
                nothing = "Nothing was filled in, so nothing was read from it."
                return await self._question(request, question_id, form, nothing)
            await self._gate.answer(question_id, answers, person=question.user_id, channel=CHANNEL)
        except (AnswerRefused, StorageError) as refused:
            return await self._question(request, question_id, form, visible(str(refused)), 422)
        self._told(question_id)
        done = (
            "The answer is stored; you may close this page. A call that is still held goes on by itself. Where the "
            "client was told that nothing was called, have it send exactly the same call again."
        )
        return look.note("Thank you", done, home=self._access.paired(request))

    async def _asked(self, request: Request, question_id: str) -> Question | None:
        """Return a question, if this browser may see it: opened by its own link, or one of the user's."""
        question = await anyio.to_thread.run_sync(self._gate.storage.question, question_id)
        if question is None or self._access.opened(request, question_id):
            return question
        return question if self._whose.is_of(question.user_id, question.scope) else None

    async def _question(
        self, request: Request, question_id: str, typed: dict[str, str], told: str, status: int = 200
    ) -> Response:
        question, home = await self._asked(request, question_id), self._access.paired(request)
        if question is None:
            return look.note("There is no such question", status=404, home=home)
        if await anyio.to_thread.run_sync(self._gate.storage.answer_to, question_id) is not None:
            return look.note("This question is answered", "The first answer stands.", home=home)
        if question.expires_at <= iso(self._gate.clock.now()):
            expired = "Nothing was called; the call has to be made again."
            return look.note("This question has expired", expired, home=home)
        if not enough(CHANNEL, await anyio.to_thread.run_sync(self._gate.ask_by, question)):
            command = visible(self._hints.answer(question_id))
            return look.page("terminal", visible(question.message), command=command, home=home)
        stored = await anyio.to_thread.run_sync(self._gate.storage.get, question.decision_id)
        record = stored.record if stored else None
        runs = await anyio.to_thread.run_sync(runs_for, self._gate.storage, question)
        return look.page(
            "question", visible(question.message), told, status=status, fields=fields_of(question, typed),
            act=act_of(record), call=call_words(record), runs=runs_words(runs),
            action=f"/q/{question_id}", csrf=self._access.csrf(question_id), user=visible(question.user_id),
            expires=question.expires_at[:16].replace("T", " "), home=home,
        )  # fmt: skip
