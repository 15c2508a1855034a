"""Requests as files: read strictly, bounded, with the place of every fault."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from preflight.core import strict_json
from preflight.errors import InvalidInput
from preflight.limits import DEFAULT

STDIN = "-"


def read_bytes(name: str) -> bytes:
    """Return what a file holds, or standard input for `-`; never more than one byte beyond the limit."""
    most = DEFAULT.request_bytes + 1
    if name == STDIN:
        return sys.stdin.buffer.read(most)
    try:
        with Path(name).open("rb") as file:
            return file.read(most)
    except OSError as fault:
        raise InvalidInput(
            name, f"cannot be read: {fault.strerror or fault}", "name a file, or `-` for input"
        ) from None


def read_object(name: str, body: bytes) -> Mapping[str, object]:
    """Return the JSON object in a request's bytes; raises InvalidInput with file and place."""
    where = "standard input" if name == STDIN else name
    value = strict_json.parse(body, where)
    if not isinstance(value, Mapping):
        raise InvalidInput(where, "not a JSON object", "send a request, with `user_id`, `instruction` and `tool`")
    return value
