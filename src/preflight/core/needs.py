"""What the core asks the shell for, and how the shell answers.

The core calls nothing. Where it needs a fact it hands out a `Need` that names the hook and what the
hook is to be given; the shell sends back what the hook returned, or a `Failed`.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Need(msgspec.Struct, frozen=True, gc=False):
    """One hook to be called. `key` tells calls of one hook apart: the slot's name or the item's id."""

    hook: str
    args: tuple[object, ...]
    key: str | None = None

    @property
    def id(self) -> tuple[str, str | None]:
        """The key under which the answer stands in a mapping of facts."""
        return (self.hook, self.key)


class Failed(msgspec.Struct, frozen=True, gc=False):
    """A hook that raised, hung or returned what it may not. `fault` is for diagnostics only."""

    fault: str


Facts = Mapping[tuple[str, str | None], object]
"""Answers to needs: what each hook returned, or `Failed`."""
