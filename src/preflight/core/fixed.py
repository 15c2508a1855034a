"""Step 1, the fixed checklist: when, what the user called it, which tool (R-21 to R-24)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TypeGuard

import msgspec

from preflight.core.needs import Failed
from preflight.model.checklist import WHEN_CASES, Fixed, Phase, WhenCase
from preflight.model.instruction import approved
from preflight.model.request import Request, Utterance
from preflight.model.trigger import Trigger


class BrokenHook(msgspec.Struct, frozen=True):
    """A hook that must not be answered for by anything else (R-23)."""

    hook: str
    fault: str


def settle(request: Request, when: object, said: object) -> Fixed | BrokenHook:
    """Read what the two hooks of the fixed checklist returned; nothing is substituted for a slot they leave open."""
    if type(when) is Failed:
        return BrokenHook("classify_when_case", when.fault)
    if when is not None and (type(when) is not str or when not in WHEN_CASES):
        return BrokenHook("classify_when_case", "returned none of the four words")  # never a fallback
    if type(said) is Failed:
        return BrokenHook("extract_user_action_name", said.fault)
    if said is not None and type(said) is not str:
        return BrokenHook("extract_user_action_name", f"returned a `{type(said).__name__}`")
    tool = request.tool.name
    case: WhenCase | None = when
    if usable(said):
        return Fixed(case, said, tool, "instruction")
    named = _settled_before(request.fixed_pre_set)
    return Fixed(case, named, tool, "pre_set_data") if usable(named) else Fixed(case, None, tool, None)


def usable(name: object) -> TypeGuard[str]:
    """Whether a name has a character that is not space (R-21)."""
    return type(name) is str and bool(name.strip())


def _settled_before(fixed_pre_set: Mapping[str, object]) -> object:
    """Return what the settings call the act, if they say so in the wrapper a user approved (R-14)."""
    wrapper = fixed_pre_set.get("c2_user_action_name")
    return wrapper.get("value") if approved(wrapper) else None


def phase_of(request: Request, when: WhenCase) -> Phase:
    """Immediate runs, and runs whose trigger fired, are at the trigger (R-24)."""
    return "at_trigger" if when == "immediate" or type(request.trigger) is Trigger else "at_instruction"


def intent_fingerprint(utterance: Utterance) -> str:
    """Identify an utterance: the same words of the same user in the same scope give the same text (R-22)."""
    whole = hashlib.sha256()
    scope = utterance.scope
    said = [s.text for s in utterance.segments or () if s.grounds]
    for part in (scope.tenant, scope.conversation, utterance.user_id, *said):
        whole.update(len(part).to_bytes(8) + part.encode())
    return whole.hexdigest()
