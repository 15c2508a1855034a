"""How the compiler and the walker stop: one internal exception, turned into `Unsupported` at the surface."""

from __future__ import annotations

from typing import NoReturn

from preflight.model.slot import Unsupported


class Refusal(Exception):
    """Carries the `Unsupported` that explains it (R-34); never leaves `preflight.core.schema`."""

    def __init__(self, unsupported: Unsupported) -> None:
        """Keep the value that the caller will be given."""
        self.unsupported = unsupported
        super().__init__(unsupported.what)


def refuse(at: str, what: str) -> NoReturn:
    """Stop: the schema at the JSON Pointer `at` cannot be turned into slots, because of `what`."""
    raise Refusal(Unsupported(at=at, what=what))


__all__ = ["Refusal", "refuse"]
