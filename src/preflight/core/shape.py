"""What the walk over a schema may ask about structure: what is claimed, answered or set (R-33, R-36)."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET

from preflight.model.instruction import approved
from preflight.model.pointer import Path, descend, nearest
from preflight.model.request import Request


class RequestShape:
    """The structure a request proposes. It decides which slots there are, never what is in them."""

    __slots__ = ("_request",)

    def __init__(self, request: Request) -> None:
        """Read the structure of `request` under its rules."""
        self._request = request

    def claim(self, path: Path) -> object:
        """Return what the model proposes at `path`, or UNSET."""
        return descend(self._request.claims, path)

    def offered(self, path: Path) -> object:
        """Return what the user's answers or approved settings hold at `path`, or UNSET."""
        answered = descend(*nearest(self._request.user_answers, path))
        if answered is not UNSET:
            return answered
        wrapper, inner = nearest(self._request.pre_set_data, path)
        if approved(wrapper):
            return descend(wrapper.get("value", UNSET), inner)
        return UNSET

    def optional(self, name: str) -> Literal["drop", "ask", "allow"]:
        """Return what becomes of an optional claim that no source confirms."""
        return self._request.rules.optional(name)
