"""JSON Pointers as URI fragments, as `$ref` writes them (RFC 6901)."""

from __future__ import annotations

from urllib.parse import quote, unquote

from preflight.model.pointer import tokens


def fragment(pointer: str) -> str:
    """Return a pointer as a URI fragment, percent-encoded."""
    return "#" + quote(pointer)


def from_fragment(reference: str) -> list[str]:
    """Return the tokens of a `#/...` reference; `#` alone has none."""
    return tokens(unquote(reference[1:]))
