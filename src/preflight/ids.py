"""Identifiers that order by time."""

from __future__ import annotations

import uuid_utils


def new_id() -> str:
    """Return a UUIDv7 as text (RFC 9562): ids made later compare greater."""
    return str(uuid_utils.uuid7())
