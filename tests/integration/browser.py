"""A browser without JavaScript, as far as the answer page needs one: pages, forms, cookies, redirects."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html.parser import HTMLParser
from http.cookiejar import CookieJar
from types import MappingProxyType
from urllib.error import HTTPError
from urllib.parse import urlencode, urljoin
from urllib.request import HTTPCookieProcessor, ProxyHandler, Request, build_opener

LINK = re.compile(r"http://127\.0\.0\.1:[0-9]+/q/[0-9a-f-]+")


class Form(HTMLParser):
    """The form of a page: where it goes, and the names it has."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.action = ""
        self.values: dict[str, str] = {}
        self.names: list[str] = []
        self.options: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.action = given["action"]
        elif tag in ("input", "select", "textarea"):
            self.names.append(given["name"])
            if given.get("type") == "hidden":
                self.values[given["name"]] = given["value"]
        elif tag == "option":
            self.options.append(given["value"])


class Forms(HTMLParser):
    """All forms of a page: where each goes, and its hidden values."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.values: dict[str, dict[str, str]] = {}
        self.tags: set[str] = set()
        self._inside: dict[str, str] | None = None
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.tags.add(tag)
        if tag == "form":
            self._inside = self.values.setdefault(given["action"], {})
        elif tag == "input" and self._inside is not None:
            self._inside[given["name"]] = given.get("value", "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._inside = None


class Browser:
    """Remembers cookies, the page it shows and its status."""

    def __init__(self) -> None:
        self._opener = build_opener(HTTPCookieProcessor(CookieJar()), ProxyHandler({}))
        self.url = self.html = ""
        self.status = 0
        self.headers: dict[str, str] = {}

    def get(self, url: str, **headers: str) -> Browser:
        return self._send(Request(url, headers=headers))  # noqa: S310  a page of this machine

    def head(self, url: str) -> Browser:
        return self._send(Request(url, method="HEAD"))  # noqa: S310  a page of this machine

    def post(self, values: dict[str, str], **headers: str) -> Browser:
        form = Form(self.html)
        data = urlencode({**form.values, **values}).encode()
        return self._send(Request(urljoin(self.url, form.action), data, headers))  # noqa: S310  same

    def submit(self, ending: str, values: Mapping[str, str] = MappingProxyType({}), **headers: str) -> Browser:
        """Send the form of the page whose address ends so, filled in as it stands but for `values`."""
        (action,) = [action for action in Forms(self.html).values if action.endswith(ending)]
        return self.send(action, {**Forms(self.html).values[action], **values}, **headers)

    def send(self, path: str, values: Mapping[str, str], **headers: str) -> Browser:
        """Send values as a form would, whatever the page shows."""
        data = urlencode(values).encode()
        return self._send(Request(urljoin(self.url, path), data, headers))  # noqa: S310  same

    def _send(self, request: Request) -> Browser:
        try:
            response = self._opener.open(request, timeout=20)
        except HTTPError as fault:
            response = fault
        with response:
            self.url, self.status, self.html = response.url, response.status, response.read().decode()
            self.headers = {name.lower(): value for name, value in response.headers.items()}
        return self
