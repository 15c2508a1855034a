"""By which channel an answer came, and which channel is enough for it (R-91)."""

from __future__ import annotations

from typing import Literal

import msgspec

Channel = Literal["form", "program", "page", "terminal"]
CHANNELS: tuple[Channel, ...] = ("form", "program", "page", "terminal")
"""From the one that says least about a person to the one that says most: a form that an MCP client shows, whatever
else a program asks by, the answer page, a terminal."""


_OURS: dict[str, Channel] = {"page": "page", "terminal": "terminal"}


class AskBy(msgspec.Struct, frozen=True, gc=False):
    """The least channel that is enough, by what the tool does: clients fill in forms by themselves (decision 0082)."""

    reversible: Channel = "form"
    irreversible: Channel = "program"


def kind_of(channel: str) -> Channel:
    """Return the kind of a channel as answers name it; a name of a program's own is that program's.

    A form's name goes on with the client's.
    """
    if channel.partition(" ")[0] == "form":
        return "form"
    return _OURS.get(channel, "program")


def enough(channel: str, least: Channel) -> bool:
    """Whether an answer by a channel counts where `least` is asked for."""
    return CHANNELS.index(kind_of(channel)) >= CHANNELS.index(least)


def signed(name: str, channel: str) -> str:
    """Return a name as it is recorded where there is no field for the channel; only what is no terminal is told."""
    return name if channel == "terminal" else f"{name} ({channel})"
