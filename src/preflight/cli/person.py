"""Who speaks: what only a person may do comes from a terminal, or from a script that was allowed before (R-93)."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Literal

import typer

from preflight.errors import AnswerRefused

ChannelName = Literal["terminal", "script"]
Channel = Annotated[
    ChannelName,
    typer.Option(
        "--channel",
        help="Where this comes from; it is recorded. `script` counts only where PREFLIGHT_CHANNELS allows it.",
    ),
]
ALLOWED = "PREFLIGHT_CHANNELS"


def require_person(channel: ChannelName) -> None:
    """Refuse what does not come from a person: raises AnswerRefused.

    A model's shell has no terminal, so what it runs is refused here. A program that makes itself a terminal
    is not kept out: whoever runs as this account can also write to its files (docs/threat-model.md).
    """
    if channel == "script":
        if "script" not in os.environ.get(ALLOWED, "").replace(",", " ").split():
            message = f"the channel `script` is not allowed here; who runs this machine allows it in {ALLOWED}"
            raise AnswerRefused(message)
    elif not sys.stdin.isatty():
        message = "this is for a person at a terminal, and standard input is none; run it there"
        raise AnswerRefused(message)
