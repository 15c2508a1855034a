"""The hooks by name: which must be there, which have a default, how each is called (specification, section 12)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

Hook = Callable[..., Any]
F = TypeVar("F", bound=Hook)

REQUIRED: Final = (
    "classify_when_case",
    "extract_user_action_name",
    "confirm_tool_name_matches_intent",
    "extract_from_instruction",
    "measure_from_environment",
    "build_action_key",
)
"""Construction refuses without these."""

DEFAULTED: Final = ("apply_field_policy", "validate_field_schema", "verify_user_checklist_item")
"""These have a default that verifies nothing; `strict=True` refuses it."""

OPTIONAL: Final = (
    "get_advisory_notes",
    "build_deferred_input",
    "format_reason",
    "extract_trigger",
    "extract_unused_time",
)

ALL: Final = (*REQUIRED, *DEFAULTED, *OPTIONAL)

SIGNATURES: Final = {
    "classify_when_case": "(utterance) -> 'immediate' | 'scheduled' | 'conditional' | 'recurring' | None",
    "extract_user_action_name": "(utterance) -> str | None",
    "confirm_tool_name_matches_intent": "(c2, tool, fixed, utterance) -> {approved, reason}",
    "extract_from_instruction": "(slot, request) -> {value, segment_index, span: [start, end]} | None",
    "measure_from_environment": "(slot, request) -> {valid, value, observed_at?, by?} | None",
    "build_action_key": "(request, fixed) -> str",
    "apply_field_policy": "(state, slot, request) -> state",
    "validate_field_schema": "(slot, value, request) -> None | str",
    "verify_user_checklist_item": "(item, request) -> {status: 'verified', source?, note?} | None",
    "get_advisory_notes": "(tool) -> str",
    "build_deferred_input": "(request, fixed, fields) -> JSON value",
    "format_reason": "(decision) -> str",
    "extract_trigger": "(utterance) -> {value, segment_index, span: [start, end]} | None",
    "extract_unused_time": "(request, fixed, fields) -> {value, segment_index, span: [start, end]} | None",
}
"""What each hook is given and may return, for error texts and the reference."""

_INLINE = "__preflight_inline__"


def inline(hook: F) -> F:
    """Declare that a hook computes and never waits: it is called in place, without a thread of its own.

    A hook that is not declared so runs on a worker thread, where the time limit holds even if it blocks
    (R-101). An inline hook that comes back late is still dropped, but nothing can stop it before.
    """
    setattr(hook, _INLINE, True)
    return hook


def is_inline(hook: Hook) -> bool:
    """Whether a hook was declared with `inline`."""
    return getattr(hook, _INLINE, False) is True
