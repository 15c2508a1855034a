"""Step 2, the tool gate: does this tool do what the user meant? (R-25 to R-27)."""

from __future__ import annotations

from collections.abc import Generator, Mapping

from preflight.core.needs import Failed, Need
from preflight.model.checklist import Fixed, Match
from preflight.model.request import Request

HOOK = "confirm_tool_name_matches_intent"


def confirm(request: Request, fixed: Fixed) -> Generator[Need, object, tuple[Match, str | None]]:
    """Ask the hook; return what is recorded as `c3_match`, and a fault for the logs.

    Only an object whose `approved` is exactly True approves (R-5).
    """
    answer = yield Need(HOOK, (fixed.c2_user_action_name, request.tool, fixed, request.utterance))
    if type(answer) is Failed:
        return Match(approved=False), answer.fault
    if type(answer) is Match:
        return Match(answer.approved is True, answer.reason), None
    if not isinstance(answer, Mapping):
        return Match(approved=False), f"returned a `{type(answer).__name__}`"
    reason = answer.get("reason")
    return Match(answer.get("approved") is True, reason if type(reason) is str else None), None
