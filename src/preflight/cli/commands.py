"""Which file has which command: a command's file is loaded when the command is run, or the list of all is shown."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

import typer
from typer.core import TyperGroup

_SINGLE: Final = {
    "checking": "check",
    "executing": "execute in-doubt settle",
    "deferring": "resume event",
    "working": "worker",
    "recovering": "recover",
    "answering": "pending answer",
    "auditing": "explain",
    "retaining": "retain",
    "keys": "reveal",
    "meanings": "learn forget learned",
    "ruling": "replay",
    "grounding": "ground",
    "tools": "lint init gaps",
    "vectors": "conformance",
    "playing": "demo",
    "hosting": "hook",
    "proxying": "proxy",
    "consoling": "console pair",
    "doctoring": "doctor",
}
_GROUPS: Final = {
    "deferring": "deferred",
    "auditing": "audit",
    "keys": "keys",
    "ruling": "rules",
    "hosting": "host",
}
HOMES: Final = {name: home for table in (_SINGLE, _GROUPS) for home, names in table.items() for name in names.split()}
"""The file of each command, in the order in which they are listed."""


class Commands(TyperGroup):
    """The commands, each loaded when it is asked for (decision 0096)."""

    def __init__(self, **settings: Any) -> None:
        """Take what the base takes; nothing is loaded."""
        super().__init__(**settings)
        self._loaded: set[str] = set()

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002  the form of the base
        """Return all names, loading nothing."""
        return list(HOMES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command; for a name that is none, None, with all loaded: the one that was meant is suggested."""
        for home in {HOMES[cmd_name]} if cmd_name in HOMES else set(HOMES.values()):
            if home not in self._loaded:
                self._loaded.add(home)
                self.commands.update(commands_in(home, self.rich_markup_mode))
        return super().get_command(ctx, cmd_name)


def commands_in(home: str, markup: Any = None) -> dict[str, Any]:
    """Return what a file registers, by name."""
    part = typer.Typer(rich_markup_mode=markup)
    import_module(f"preflight.cli.{home}").register(part)
    return dict(typer.main.get_group(part).commands)
