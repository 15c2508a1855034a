"""JSON Pointers and the names of slots made from them (RFC 6901, R-33)."""

from __future__ import annotations

from urllib.parse import quote, unquote


def escape(token: str | int) -> str:
    """One token as it stands inside a pointer: `~` as `~0`, `/` as `~1`."""
    return str(token).replace("~", "~0").replace("/", "~1")


def unescape(token: str) -> str:
    """The reverse of `escape`."""
    return token.replace("~1", "/").replace("~0", "~")


def join(pointer: str, *tokens: str | int) -> str:
    """`pointer` with more tokens, each escaped."""
    return pointer + "".join("/" + escape(token) for token in tokens)


def slot_name(path: tuple[str | int, ...]) -> str:
    """A slot's name: the plain property name at the root, the pointer without its slash below it (R-33)."""
    if len(path) == 1:
        return str(path[0])
    return "/".join(map(escape, path))


def fragment(pointer: str) -> str:
    """A pointer as a URI fragment, percent-encoded."""
    return "#" + quote(pointer)


def from_fragment(reference: str) -> list[str]:
    """The tokens of a `#/...` reference; `#` alone has none."""
    return [unescape(token) for token in unquote(reference[1:]).split("/")[1:]]


__all__ = ["escape", "fragment", "from_fragment", "join", "slot_name", "unescape"]
