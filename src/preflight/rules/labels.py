"""Labels in a tool's description: `[Required]`, `[Verify]`, `[Notice]` at the start of a line (R-63).

    label = "[" ("Required" / "Verify" / "Notice") [":" id] "]" 1*space text

The text ends with the line. A line that looks like a label and is none is unreadable: what it wanted to
require is not known, so nothing may run on it.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from typing import Literal

import msgspec

from preflight.rules.bounds import DEFAULT_BOUNDS, Bounds

Sort = Literal["required", "verify", "notice"]
SORTS: tuple[Sort, ...] = ("required", "verify", "notice")
ID = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}"

_LABEL = re.compile(rf"\[(?P<sort>Required|Verify|Notice)(?::(?P<id>{ID}))?\][ \t]+(?P<text>\S.*)")
_ALMOST = re.compile(r"[\W\d_]{0,20}?[\[【〔〖⟦]\W*(?:required|verify|notice)(?![^\W_])", re.IGNORECASE)
_LINE = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_SLUG = 40


class Label(msgspec.Struct, frozen=True):
    """One label. Its text is text: nothing in it is ever an instruction to this program."""

    sort: Sort
    id: str
    text: str


class Unreadable(msgspec.Struct, frozen=True):
    """Something a provider declared that cannot be read (route `definition_repair`); `why` says what is wrong."""

    id: str
    text: str
    why: str


def labels_of(description: str, bounds: Bounds = DEFAULT_BOUNDS) -> Iterator[Label | Unreadable]:
    """Yield the labels of a description, in order, and the lines that are almost labels."""
    count = 0
    for number, line in enumerate(_LINE.split(description), 1):
        found = _label(number, line, bounds)
        if found is None:
            continue
        count += 1
        if count > bounds.labels:
            yield Unreadable("label:more", "", f"more than {bounds.labels} labels")
            return
        yield found


def prose_of(description: str, bounds: Bounds = DEFAULT_BOUNDS) -> str:
    """Return a description without its labels: context for people and models, never a gate (R-64).

    Lines that are almost labels stay in it.
    """
    lines = enumerate(_LINE.split(description), 1)
    kept = [line for number, line in lines if not isinstance(_label(number, line, bounds), Label)]
    return "\n".join(kept).strip()


def _label(number: int, line: str, bounds: Bounds) -> Label | Unreadable | None:
    found = _LABEL.fullmatch(line.strip(" \t"))
    if found is None:
        if not _ALMOST.match(_looks(line)):
            return None
        return Unreadable(f"label:{number}", line.strip()[: bounds.label_length], "a line that is almost a label")
    text = found["text"].rstrip()
    if len(text) > bounds.label_length:
        why = f"a label of more than {bounds.label_length} characters"
        return Unreadable(f"label:{number}", text[: bounds.label_length], why)
    sort = next(sort for sort in SORTS if sort == found["sort"].lower())
    return Label(sort, f"{sort}:{found['id'] or slug(text)}", text)


def _looks(line: str) -> str:
    """Return the beginning of a line as a person sees it: width folded, nothing invisible."""
    folded = unicodedata.normalize("NFKC", line[:80])
    return "".join(char for char in folded if unicodedata.category(char) != "Cf")


def slug(text: str) -> str:
    """Return a stable id for a text: its words, or a digest where it has no ASCII ones."""
    words = "-".join(re.findall(r"[a-z0-9]+", text.casefold()))[:_SLUG].strip("-")
    return words or hashlib.sha256(text.encode()).hexdigest()[:12]
