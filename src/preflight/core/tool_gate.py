"""Step 2, the tool gate: does this tool do what the user meant? (R-25 to R-27)."""

from __future__ import annotations

from preflight.core.needs import Failed
from preflight.model.checklist import Match
from preflight.model.json_value import is_object


def read(answer: object) -> tuple[Match, str | None]:
    """Return what is recorded as `c3_match`, and a fault for the logs.

    Only an object whose `approved` is exactly True approves (R-5).
    """
    if type(answer) is Failed:
        return Match(approved=False), answer.fault
    if type(answer) is Match:
        return Match(answer.approved is True, _text(answer.reason)), None
    if not is_object(answer):
        return Match(approved=False), f"returned a `{type(answer).__name__}`"
    return Match(answer.get("approved") is True, _text(answer.get("reason"))), None


def _text(reason: object) -> str | None:
    return reason if type(reason) is str else None
