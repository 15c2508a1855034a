"""JSON Pointers, names of slots as paths, and values found by them (RFC 6901, R-33)."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import UNSET

from preflight.model.json_value import is_object

Path = tuple[str | int, ...]


def escape(token: str | int) -> str:
    """Return one token as it stands inside a pointer: `~` as `~0`, `/` as `~1`."""
    return str(token).replace("~", "~0").replace("/", "~1")


def unescape(token: str) -> str:
    """Return what a token of a pointer means: the reverse of `escape`."""
    return token.replace("~1", "/").replace("~0", "~")


def join(pointer: str, *tokens: str | int) -> str:
    """Return a pointer with more tokens, each escaped."""
    return pointer + "".join("/" + escape(token) for token in tokens)


def tokens(pointer: str) -> list[str]:
    """Return the tokens of a pointer, each unescaped; the empty pointer has none."""
    return [unescape(token) for token in pointer.split("/")[1:]]


def steps(pointer: str) -> Path:
    """Return the steps of a pointer; a token of digits is an index."""
    return tuple(int(token) if token.isascii() and token.isdigit() else token for token in tokens(pointer))


def name_of(path: Path) -> str:
    """Return the name of a slot: the property at the root, its JSON Pointer without the first slash below."""
    if len(path) == 1:
        return str(path[0])
    return "/".join(map(escape, path))


def nearest(table: Mapping[str, object], path: Path) -> tuple[object, Path]:
    """Return the entry that speaks for a path, and the way on inside it.

    The slot's own name comes before a container's: with `recipient` in the table, `recipient/iban` finds
    it and the way on is `("iban",)`. `(UNSET, ())` when nothing speaks for the path.
    """
    for end in range(len(path), 0, -1):
        entry = table.get(name_of(path[:end]), UNSET)
        if entry is not UNSET:
            return entry, path[end:]
    return UNSET, ()


def descend(value: object, path: Path) -> object:
    """Return what stands at `path` inside a JSON value, or UNSET."""
    for step in path:
        if isinstance(step, str):
            value = value.get(step, UNSET) if is_object(value) else UNSET
        elif isinstance(value, tuple | list) and 0 <= step < len(value):
            value = value[step]
        else:
            return UNSET
    return value


def starred(name: str) -> str:
    """Return a slot's name or a pointer with list positions written `*`, so that they count together."""
    return "/".join("*" if token.isascii() and token.isdigit() else token for token in name.split("/"))
