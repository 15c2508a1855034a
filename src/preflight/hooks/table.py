"""The hooks of one `Preflight`, checked at construction (R-100)."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from preflight.errors import ConstructionError
from preflight.hooks.defaults import DEFAULTS
from preflight.hooks.protocol import ALL, DEFAULTED, REQUIRED, SIGNATURES, Hook

_NEAR = 0.9
"""How like a hook's name another name of the same object must be to be taken for a slip, from 0 to 1."""


def collect(hooks: object, *, strict: bool) -> tuple[dict[str, Hook], tuple[str, ...]]:
    """Return the hooks by name, and the names of those that fell back to a default that verifies nothing.

    `hooks` is a mapping of names to callables, or an object that has them as attributes. Raises
    ConstructionError for a missing, misspelt or non-callable hook, and under `strict` for every default.
    """
    given = _by_name(hooks)
    for name, hook in given.items():
        if name not in ALL:
            near = difflib.get_close_matches(name, ALL, 1)
            hint = f"did you mean `{near[0]}`?" if near else f"the hooks are {', '.join(ALL)}"
            message = f"`{name}` is not a hook; {hint}"
            raise ConstructionError(message)
        if not callable(hook):
            message = f"hook `{name}` is a `{type(hook).__name__}`, not callable; give {SIGNATURES[name]}"
            raise ConstructionError(message)
    if missing := [name for name in REQUIRED if name not in given]:
        wanted = "; ".join(f"`{name}`{SIGNATURES[name]}" for name in missing)
        message = f"required hooks are missing: {wanted}"
        raise ConstructionError(message)
    unsafe = tuple(name for name in DEFAULTED if name not in given)
    if unsafe and strict:
        message = (
            f"no hook for {', '.join(f'`{n}`' for n in unsafe)}: their defaults verify nothing; "
            "give them, use the shipped hooks, or pass `strict=False`"
        )
        raise ConstructionError(message)
    table = {name: hook for name, hook in given.items() if callable(hook)}
    return {**{name: DEFAULTS[name] for name in unsafe}, **table}, unsafe


def _by_name(hooks: object) -> dict[str, object]:
    if isinstance(hooks, Mapping):
        return {str(name): hook for name, hook in hooks.items()}
    found = {name: getattr(hooks, name, None) for name in ALL}
    found |= {name: getattr(hooks, name, None) for name in _misspelt(hooks)}
    named = {name: hook for name, hook in found.items() if hook is not None}
    if not named:
        message = f"`hooks` is a `{type(hooks).__name__}` without any hook; give a mapping of names to callables"
        raise ConstructionError(message)
    return named


def _misspelt(hooks: object) -> list[str]:
    """Return the public names of an object's class that nearly are a hook's: they would never be called (R-100)."""
    names = [name for name in dir(type(hooks)) if not name.startswith("_") and name not in ALL]
    return [name for name in names if difflib.get_close_matches(name, ALL, 1, _NEAR)]
