"""The answer page: one question in a browser on this machine, without JavaScript (decision 0084).

A link with a token opens it once: whoever opens it first gets a cookie in its place. A browser that was paired opens
questions by their id. Everything is escaped, nothing is loaded from elsewhere, and an answer is taken only from the
page's own form.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import anyio
import jinja2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from preflight.api import AsyncPreflight
from preflight.clock import iso
from preflight.errors import AnswerRefused, StorageError
from preflight.folding import runs_for
from preflight.mcp.fields import answers_in, fields_of
from preflight.mcp.pairing import Pairing
from preflight.model.question import Question
from preflight.render.question import runs_words
from preflight.render.visible import visible

_HERE: Final = Path(__file__).parent / "templates"
_TOKENS: Final = 1_000
_LONGEST: Final = 1_000_000
_BROWSER: Final = "preflight_browser"
_MONTH: Final = 30 * 24 * 3600
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; "
    "base-uri 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class AnswerPage:
    """The page as an application, and the links to it. `told` is called when a question was answered here."""

    def __init__(self, gate: AsyncPreflight, pairing: Pairing, told: Callable[[str], None]) -> None:
        """Answer questions of `gate`."""
        self._gate = gate
        self._pairing = pairing
        self._told = told
        self._tokens: OrderedDict[str, str] = OrderedDict()
        self._key = secrets.token_bytes(32)
        loader = jinja2.FileSystemLoader(_HERE)
        self._template = jinja2.Environment(loader=loader, autoescape=True).get_template("page.html")
        routes = [
            Route("/style.css", self._style), Route("/t/{token}", self._open),
            Route("/q/{question}", self._show), Route("/q/{question}", self._take, methods=["POST"]),
            Route("/pair/{question}", self._pair, methods=["POST"]),
        ]  # fmt: skip
        self.app = Starlette(routes=routes)

    def token(self, question_id: str) -> str:
        """Return a token that opens a question once."""
        token = secrets.token_urlsafe(24)
        self._tokens[token] = question_id
        if len(self._tokens) > _TOKENS:
            self._tokens.popitem(last=False)
        return token

    async def _style(self, _request: Request) -> Response:
        text = await anyio.Path(_HERE / "style.css").read_text(encoding="utf-8")
        return PlainTextResponse(text, media_type="text/css", headers=_HEADERS)

    async def _open(self, request: Request) -> Response:
        """Take a token, once, and give the browser a cookie for its question."""
        question_id = self._tokens.pop(request.path_params["token"], None) if _is_here(request) else None
        if question_id is None:
            return self._page("This link was opened before, or is not one of ours", status=410)
        response = RedirectResponse(f"/q/{question_id}", status_code=303, headers=_HEADERS)
        _give(response, _cookie_of(question_id), self._mac(question_id), f"/q/{question_id}", 24 * 3600)
        return response

    async def _show(self, request: Request) -> Response:
        question_id = request.path_params["question"]
        if not _is_here(request):
            return self._page("This page is only for this machine", status=421)
        if not self._may(request, question_id):
            return self._page("Who is asking?", pairing=True, action=f"/pair/{question_id}", status=403)
        return await self._question(question_id, {}, "")

    async def _pair(self, request: Request) -> Response:
        question_id = request.path_params["question"]
        form = await self._form(request)
        if form is None or not self._pairing.takes(form.get("code", "")):
            told = "That code does not hold; `preflight pair` shows the one that does."
            return self._page("Who is asking?", told, pairing=True, action=f"/pair/{question_id}", status=403)
        response = RedirectResponse(f"/q/{question_id}", status_code=303, headers=_HEADERS)
        _give(response, _BROWSER, self._pairing.cookie(), "/", _MONTH)
        return response

    async def _take(self, request: Request) -> Response:
        """Take an answer from the page's own form; whoever else sends one gets nothing."""
        question_id = request.path_params["question"]
        form = await self._form(request)
        if form is None or not self._may(request, question_id):
            return self._page("Who is asking?", status=403)
        if not hmac.compare_digest(form.get("csrf", "").encode(), self._mac(f"form {question_id}").encode()):
            return await self._question(question_id, {}, "The page was too old; please answer again.", 403)
        question = await anyio.to_thread.run_sync(self._gate.storage.question, question_id)
        if question is None:
            return self._page("There is no such question", status=404)
        try:
            answers = answers_in(question, form)
            if not answers:
                return await self._question(question_id, form, "Nothing was filled in, so nothing was read from it.")
            await self._gate.answer(question_id, answers, person=question.user_id, channel="page")
        except (AnswerRefused, StorageError) as refused:
            return await self._question(question_id, form, visible(str(refused)), 422)
        self._told(question_id)
        return self._page("Thank you", "The answer is stored; the call can go on. You may close this page.")

    async def _question(self, question_id: str, typed: dict[str, str], told: str, status: int = 200) -> Response:
        question = await anyio.to_thread.run_sync(self._gate.storage.question, question_id)
        if question is None:
            return self._page("There is no such question", status=404)
        if await anyio.to_thread.run_sync(self._gate.storage.answer_to, question_id) is not None:
            return self._page("This question is answered", "The first answer stands.")
        if question.expires_at <= iso(time.time()):
            return self._page("This question has expired", "Nothing was called; the call has to be made again.")
        runs = await anyio.to_thread.run_sync(runs_for, self._gate.storage, question)
        told = "\n".join(filter(None, (told, runs_words(runs))))
        return self._page(
            visible(question.message), told, fields=fields_of(question, typed), action=f"/q/{question_id}",
            csrf=self._mac(f"form {question_id}"), user=visible(question.user_id),
            expires=question.expires_at[:16].replace("T", " "), status=status,
        )  # fmt: skip

    def _page(self, title: str, told: str = "", status: int = 200, **more: Any) -> Response:
        return HTMLResponse(self._template.render(title=title, told=told, **more), status, headers=_HEADERS)

    def _may(self, request: Request, question_id: str) -> bool:
        shown = request.cookies.get(_cookie_of(question_id), "")
        if hmac.compare_digest(shown.encode(), self._mac(question_id).encode()):
            return True
        return self._pairing.knows(request.cookies.get(_BROWSER))

    def _mac(self, purpose: str) -> str:
        return hmac.new(self._key, purpose.encode(), "sha256").hexdigest()

    async def _form(self, request: Request) -> dict[str, str] | None:
        """Return the fields of a form that this page sent; None for one from elsewhere, or one that is too long."""
        origin = request.headers.get("origin")
        if not _is_here(request) or (origin not in (None, "null") and origin != f"http://{request.headers['host']}"):
            return None
        if int(request.headers.get("content-length") or _LONGEST + 1) > _LONGEST:
            return None
        form = await request.form(max_files=0, max_fields=10_000, max_part_size=_LONGEST)
        return {name: value for name, value in form.items() if isinstance(value, str)}


def where(question: Question, base: str) -> str:
    """Say where a question can be answered, in words that a model may read: the link opens nothing for it."""
    return (
        f"The person answers it in a browser at {base}/q/{question.question_id} "
        f"or at a terminal: preflight answer {question.question_id}"
    )


def _is_here(request: Request) -> bool:
    """Whether a browser means this machine: another name that leads here is somebody's trick."""
    host = request.headers.get("host", "").rpartition(":")[0]
    return host in ("127.0.0.1", "localhost", "[::1]")


def _cookie_of(question_id: str) -> str:
    return f"preflight_{question_id.replace('-', '')}"


def _give(response: Response, name: str, value: str, path: str, seconds: int) -> None:
    response.set_cookie(name, value, max_age=seconds, path=path, httponly=True, samesite="lax")
