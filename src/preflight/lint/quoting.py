"""Foreign words in a finding: seen as they are, and never longer than a line."""

from __future__ import annotations

from collections.abc import Sequence

from preflight.render.visible import visible

_LONGEST = 160


def name(text: str) -> str:
    """Return a name between backticks, what cannot be seen written out."""
    return f"`{cut(text, 80)}`"


def names(listed: Sequence[str], most: int = 4) -> str:
    """Return several names, the first few of them."""
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(map(name, listed[:most])) + more


def quote(text: str) -> str:
    """Return a sentence in double quotes, on one line."""
    return f'"{cut(" ".join(text.split()))}"'


def cut(text: str, longest: int = _LONGEST) -> str:
    """Return text made visible, cut after `longest` code points."""
    return visible(text if len(text) <= longest else text[: longest - 1] + "…")


__all__ = ["cut", "name", "names", "quote"]
