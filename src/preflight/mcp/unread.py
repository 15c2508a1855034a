"""What can still be told of a message that cannot be read: whose it is, and whether somebody waits for its answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import msgspec

_TOKEN: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\]:,"]|[^\s"{}\[\]:,]++', re.DOTALL)
_END: Final = re.compile(
    rb',\s*("(?:id|method|jsonrpc)"\s*:\s*(?:"[^"\\]*"|-?[0-9]+)\s*(?:,\s*"(?:id|method|jsonrpc)"\s*:'
    rb'\s*(?:"[^"\\]*"|-?[0-9]+)\s*)*\}\s*)$'
)
_WHOLE: Final = re.compile(rb"-?(?:0|[1-9][0-9]{0,17})")
_LONGEST_ID: Final = 1_000
_WHOLE_TEXT: Final = 1_048_576
"""Bytes of a text that is read from end to end; of a longer one, only its ends are, so that nothing else waits."""
_HEAD: Final = 65_536


@dataclass(frozen=True)
class Heading:
    """A message's `id`, where there is one that can be told; with a `method` it asks, with an outcome it answers."""

    id: int | str | None = None
    asks: bool = False
    answers: bool = False


def heading_of(text: bytes) -> Heading:
    """Read the outermost object of a text that is no message, so far as it goes.

    An `id` further in belongs to something else, and of two nobody knows which one counts.
    """
    if len(text) > _WHOLE_TEXT:
        return heading_of_ends(text[:_HEAD], text[-_HEAD:])
    ids, names = [], set()
    for name, value in _members(text):
        names.add(name)
        if name == b'"id"':
            ids.append(_id(value))
    answers = b'"result"' in names or b'"error"' in names
    return Heading(ids[0] if len(ids) == 1 else None, b'"method"' in names, answers)


def heading_of_ends(head: bytes, tail: bytes) -> Heading:
    """Read the two ends of a text that is too long: that is where programs write the `id`."""
    first, last = heading_of(head), _END.search(tail)
    then = heading_of(b"{" + last[1]) if last else Heading()
    identifier = then.id if first.id is None else first.id
    return Heading(identifier, first.asks or then.asks, first.answers)


def _members(text: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the names of the outermost object, each with the first piece of its value."""
    depth, name, named = 0, b"", False
    for found in _TOKEN.finditer(text):
        piece = found[0]
        if depth == 0 and piece != b"{":
            return  # no object
        cut = piece == b'"' or (found.end() == len(text) and piece[-1:] not in b'"}]')
        if depth == 1 and named:
            yield name, b"" if cut else piece
            named = False
        elif depth == 1 and piece == b":":
            named = True
        elif depth == 1 and piece.startswith(b'"'):
            name = piece
        if cut:
            return  # the text ends within a piece
        if piece in (b"{", b"["):
            depth += 1
        elif piece in (b"}", b"]"):
            depth -= 1
            if depth == 0:
                return


def _id(value: bytes) -> int | str | None:
    if _WHOLE.fullmatch(value):
        return int(value)
    if not value.startswith(b'"') or len(value) > _LONGEST_ID:
        return None
    try:
        return msgspec.json.decode(value, type=str)
    except ValueError:
        return None
