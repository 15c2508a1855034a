"""A record as JSON for people and programs outside: everything but the diagnostics (R-25, R-31)."""

from __future__ import annotations

from typing import Any

import msgspec

from preflight import codec
from preflight.model.question import Question
from preflight.model.record import Record
from preflight.render.schema import without_suggestions


def public(record: Record) -> dict[str, Any]:
    """Return a record in its public shape, without what is for the logs only."""
    shape: dict[str, Any] = msgspec.json.decode(codec.encode(record))
    if isinstance(shape.get("gate"), dict):
        shape["gate"].pop("_diag", None)
    _name_sealed(shape)
    return shape


def public_question(question: Question) -> dict[str, Any]:
    """Return a question without the request that is kept to repeat the run: it holds the model's proposals (R-9)."""
    shape: dict[str, Any] = msgspec.json.decode(codec.encode(question))
    shape.pop("request", None)
    _name_sealed(shape)
    for slot in shape.get("slots", ()):
        slot["schema"] = without_suggestions(slot.get("schema"))
    return shape


def _name_sealed(shape: dict[str, Any]) -> None:
    """Say which places are masked; the ciphertext is of no use outside (R-78)."""
    if "sealed" in shape:
        shape["sealed"] = sorted(shape["sealed"])
