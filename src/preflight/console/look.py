"""Templates into responses: all of it escaped, nothing from elsewhere, no script, nothing kept by the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import jinja2
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

_HERE: Final = Path(__file__).parent / "templates"
_PAGES: Final = jinja2.Environment(
    loader=jinja2.FileSystemLoader(_HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True,
    undefined=jinja2.StrictUndefined,
)  # fmt: skip
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; "
    "base-uri 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def page(name: str, title: str, told: str = "", *, status: int = 200, **values: Any) -> Response:
    """Return a page of a template; `told` is what happened just now, or why nothing did."""
    html = _PAGES.get_template(f"{name}.html").render(title=title, told=told, refused=status >= 400, **values)
    return HTMLResponse(html, status, headers=_HEADERS)


def note(title: str, told: str = "", *, status: int = 200, home: bool = False) -> Response:
    """Return a page that only says something; with `home`, a link to everything that waits."""
    return page("note", title, told, status=status, home=home)


def away(to: str) -> RedirectResponse:
    """Send a browser on to a page of ours."""
    return RedirectResponse(to, status_code=303, headers=_HEADERS)


def style() -> Response:
    """Return the style sheet."""
    return PlainTextResponse((_HERE / "style.css").read_text(encoding="utf-8"), media_type="text/css", headers=_HEADERS)
