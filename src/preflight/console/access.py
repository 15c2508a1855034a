"""Who may see and send what: browsers that were paired, links that open one question once, forms of our own pages.

Everything is refused that comes by another name than this machine's own, or from a page of another origin.
"""

from __future__ import annotations

import hmac
import secrets
from collections import OrderedDict
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from preflight.console.pairing import Pairing

_TOKENS: Final = 1_000
_LONGEST: Final = 1_000_000
_BROWSER: Final = "preflight_browser"
_DAY: Final = 24 * 3600


class Access:
    """Knows browsers and forms again."""

    def __init__(self, pairing: Pairing) -> None:
        """Know the browsers that `pairing` made known; tokens and forms are this process's own."""
        self._pairing = pairing
        self._tokens: OrderedDict[str, str] = OrderedDict()
        self._key = secrets.token_bytes(32)

    # links that open one question once

    def token(self, question_id: str) -> str:
        """Return a token that opens a question once."""
        token = secrets.token_urlsafe(24)
        self._tokens[token] = question_id
        if len(self._tokens) > _TOKENS:
            self._tokens.popitem(last=False)
        return token

    def redeemed(self, request: Request, token: str) -> str | None:
        """Return the question that a token opens, which it then does no more; None for one that opens nothing."""
        return self._tokens.pop(token, None) if is_here(request) else None

    # cookies

    def let_answer(self, response: Response, question_id: str) -> None:
        """Give a browser the cookie of one question."""
        _give(response, _cookie_of(question_id), self._mac(question_id), f"/q/{question_id}", _DAY)

    def pair(self, response: Response) -> None:
        """Make a browser known."""
        _give(response, _BROWSER, self._pairing.cookie(), "/", 30 * _DAY)

    def takes(self, code: str) -> bool:
        """Whether a code from a terminal holds."""
        return self._pairing.takes(code)

    def paired(self, request: Request) -> bool:
        """Whether a browser was paired."""
        return self._pairing.knows(request.cookies.get(_BROWSER))

    def opened(self, request: Request, question_id: str) -> bool:
        """Whether a browser opened a question by its own link."""
        shown = request.cookies.get(_cookie_of(question_id), "")
        return hmac.compare_digest(shown.encode(), self._mac(question_id).encode())

    # forms

    def csrf(self, about: str) -> str:
        """Return what the form about something carries, so that only our own page can send it."""
        return self._mac(f"form {about}")

    def is_ours(self, form: dict[str, str], about: str) -> bool:
        """Whether a form carries it."""
        return hmac.compare_digest(form.get("csrf", "").encode(), self.csrf(about).encode())

    async def form(self, request: Request) -> dict[str, str] | None:
        """Return the fields of a form; None for one from elsewhere, or one that is too long."""
        origin = request.headers.get("origin")
        if not is_here(request) or (origin not in (None, "null") and origin != f"http://{request.headers['host']}"):
            return None
        length = request.headers.get("content-length", "")
        if not (length.isascii() and length.isdigit() and int(length) <= _LONGEST):
            return None
        form = await request.form(max_files=0, max_fields=10_000, max_part_size=_LONGEST)
        return {name: value for name, value in form.items() if isinstance(value, str)}

    def _mac(self, purpose: str) -> str:
        return hmac.new(self._key, purpose.encode(), "sha256").hexdigest()


def is_here(request: Request) -> bool:
    """Whether a browser means this machine: another name that leads here is somebody's trick."""
    host = request.headers.get("host", "").rpartition(":")[0]
    return host in ("127.0.0.1", "localhost", "[::1]")


def _cookie_of(question_id: str) -> str:
    return f"preflight_{question_id.replace('-', '')}"


def _give(response: Response, name: str, value: str, path: str, seconds: int) -> None:
    response.set_cookie(name, value, max_age=seconds, path=path, httponly=True, samesite="lax")
