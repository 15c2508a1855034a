"""What is wrong with rules, with its place, and the error that carries every fault at once (R-67)."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

import msgspec

from preflight.errors import CallerError

_SHOWN = 60


class Fault(msgspec.Struct, frozen=True, order=True):
    """One thing that is wrong: the place (line and column from 1), what it is, and what to do about it."""

    file: str
    line: int
    column: int
    what: str
    do: str = ""

    def __str__(self) -> str:
        """Return one line, as compilers write them: editors jump to it."""
        return f"{self.file}:{self.line}:{self.column}: {self.what}" + (f"; {self.do}" if self.do else "")


class RulesError(CallerError):
    """Rules cannot be used; `faults` lists everything that is wrong with them, in the order of the text."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        """Carry the faults; the text names each on its own line."""
        self.faults = tuple(sorted(set(faults)))
        super().__init__("\n".join(str(fault) for fault in self.faults))


class Refused(Exception):
    """One text cannot be read at all. Never leaves this package: the loader collects it."""

    def __init__(self, fault: Fault) -> None:
        """Carry the fault."""
        self.fault = fault
        super().__init__(str(fault))


def nearest(word: str, known: Iterable[str]) -> str:
    """Return a hint that names the known word most like this one, or the known words when none is like it."""
    names = sorted(set(known))
    folded = {name.replace("_", "").casefold(): name for name in names}
    near = difflib.get_close_matches(word.replace("_", "").casefold(), folded, n=1, cutoff=0.6)
    if near:
        return f"did you mean `{folded[near[0]]}`?"
    return "known: " + ", ".join(f"`{name}`" for name in names[:20]) if names else ""


def shown(text: str) -> str:
    """Return text from a file as a fault may quote it: one line, not too long, nothing invisible."""
    cut = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
    return "".join(char if char.isprintable() else "�" for char in cut)
