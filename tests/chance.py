"""Texts that carry what was drawn at random, made fit to be searched for a value that must not be in them."""

from __future__ import annotations

import re

_DRAWN = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<=127\.0\.0\.1:)\d+")


def without_chance(text: str | bytes) -> str:
    """The text with each UUID and port written `DRAWN`: a short number occurs in one of 200 of them by chance."""
    return _DRAWN.sub("DRAWN", text if isinstance(text, str) else text.decode())
