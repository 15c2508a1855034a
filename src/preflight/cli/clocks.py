"""How the user counts days and writes dates: the time zone and the locale of what is said."""

from __future__ import annotations

from typing import Annotated
from zoneinfo import ZoneInfo

import typer

from preflight.errors import InvalidInput

Zone = Annotated[
    str | None,
    typer.Option(
        "--zone", envvar="PREFLIGHT_ZONE", metavar="ZONE", help="The time zone: Europe/Berlin.", show_default=False
    ),
]
Locale = Annotated[
    str, typer.Option("--locale", envvar="PREFLIGHT_LOCALE", metavar="TAG", help="How 1.250 and 03/04 are read: en-GB.")
]


def zone_named(name: str) -> str:
    """Return the name of a time zone that there is; raises InvalidInput for another."""
    try:
        return ZoneInfo(name).key
    except (ValueError, OSError, LookupError):
        raise InvalidInput("zone", f"`{name}` is no time zone", "name one, such as Europe/Berlin") from None


def zone_here() -> str | None:
    """Return the zone that this machine's clock shows, None where it has no name: then days are counted in UTC."""
    try:
        from tzlocal import get_localzone_name

        return zone_named(get_localzone_name())
    except (ImportError, InvalidInput, LookupError, ValueError, OSError):
        return None
