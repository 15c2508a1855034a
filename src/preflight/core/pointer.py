"""Names of slots as paths, and values found by them (R-33)."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import UNSET

from preflight.model.json_value import is_object

Path = tuple[str | int, ...]


def name_of(path: Path) -> str:
    """Return the name of a slot: the property at the root, its JSON Pointer without the first slash below."""
    if len(path) == 1:
        return str(path[0])
    return "/".join(str(step).replace("~", "~0").replace("/", "~1") for step in path)


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
