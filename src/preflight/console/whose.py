"""Whose questions and runs the pages show."""

from __future__ import annotations

from dataclasses import dataclass

from preflight.model.request import Scope


@dataclass(frozen=True)
class Whose:
    """The user whose questions and runs are shown, as requests name them, and the tenant."""

    user: str
    tenant: str = ""

    def is_of(self, user: str, scope: Scope) -> bool:
        """Whether something is this user's."""
        return (user, scope.tenant) == (self.user, self.tenant)
