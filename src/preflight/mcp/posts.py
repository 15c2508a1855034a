"""One message that a client sent over HTTP, from its arrival to its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

POST: Final = "preflight.post"
"""Where a message is found in the scope of its request."""


class Post:
    """A message as it was read here: the package reads it once more, and rounds numbers."""

    def __init__(self, message: Any, over: Callable[[], object] = lambda: None) -> None:
        """Keep a message; `over` is called once nobody is busy with it any more."""
        self._message = message
        self._over = over
        self._busy = 0
        self._to_tell: list[Callable[[], object]] = []
        self.hung_up = False
        """Whether its client left before it was answered."""

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Be busy with it inside: a client that hung up leaves a call running whose answer is still to come."""
        self._busy += 1
        try:
            yield
        finally:
            self._busy -= 1
            if not self._busy:
                self._over()

    @contextmanager
    def served(self) -> Iterator[None]:
        """Keep the connection it came over inside: where somebody is still busy with it after that, its client left."""
        with self.under_way():
            try:
                yield
            finally:
                self.hung_up = self._busy > 1
                for tell in self._to_tell if self.hung_up else ():
                    tell()

    @contextmanager
    def when_hung_up(self, tell: Callable[[], object]) -> Iterator[None]:
        """Call `tell` if the client leaves, or left, while inside."""
        self._to_tell.append(tell)
        if self.hung_up:
            tell()
        try:
            yield
        finally:
            self._to_tell.remove(tell)

    def params_of(self, method: str, identifier: object, read: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        """Return the parameters of a message with numbers as they were written, if this is the one that was `read`."""
        own = self._message
        same = own is not None and own.method == method and getattr(own, "id", None) == identifier
        params: Mapping[str, Any] | None = own.params if same else read
        return params


def post_of(ctx: Any) -> Post:
    """Return the message that the package is busy with."""
    scope = getattr(ctx.request, "scope", {})
    found = scope.get(POST)
    return found if isinstance(found, Post) else Post(None)
