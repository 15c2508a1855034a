"""What the unit tests of the shell share: one request about a bank, and hooks that look things up in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import UNSET

from preflight import AsyncPreflight, Executable, Preflight, create_async_preflight, create_preflight, inline
from preflight.model.record import Record
from preflight.model.request import Request
from preflight.model.slot import FieldState, Slot
from preflight.testing import FakeClock, MemoryStorage

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"amount": {"type": "number"}, "to": {"type": "string"}},
    "required": ["amount", "to"],
}
TOOL: dict[str, Any] = {"server": "bank", "name": "transfer", "inputSchema": SCHEMA}
ABSENT: Any = object()


def request(**parts: Any) -> dict[str, Any]:
    """A request that executes; a part given as ABSENT is left out."""
    whole = {
        "user_id": "u1",
        "tool": TOOL,
        "instruction": [{"text": "send 500 to bob", "trust": "user"}],
        "claims": {"amount": 500, "to": "bob"},
        "call_id": "c1",
    }
    return {key: part for key, part in {**whole, **parts}.items() if part is not ABSENT}


def tool(**properties: Any) -> dict[str, Any]:
    """A tool of which every property is required."""
    return {**TOOL, "inputSchema": {"type": "object", "properties": properties, "required": list(properties)}}


def located(slot: Slot, given: Request) -> dict[str, Any] | None:
    """Name the first place of a user segment where the claim stands as written."""
    said = "" if slot.claim is UNSET else str(slot.claim)
    for index, segment in enumerate(given.segments or ()):
        start = segment.text.find(said) if said and segment.grounds else -1
        if start >= 0:
            return {"value": slot.claim, "segment_index": index, "span": [start, start + len(said)]}
    return None


def confirmed(item: Any, given: Request) -> dict[str, str] | None:
    return {"status": "verified"} if given.checklist_answers.get(item.id) is True else None


def same(state: FieldState, *_given: object) -> FieldState:
    return state


HOOKS: dict[str, Callable[..., Any]] = {
    "classify_when_case": lambda *_: "immediate",
    "extract_user_action_name": lambda *_: "send",
    "confirm_tool_name_matches_intent": lambda *_: {"approved": True, "reason": "said so"},
    "extract_from_instruction": located,
    "measure_from_environment": lambda slot, given: given.measured_data.get(slot.name),
    "build_action_key": lambda *_: "u1:transfer",
    "apply_field_policy": same,
    "validate_field_schema": lambda *_: None,
    "verify_user_checklist_item": confirmed,
}


def hooks(**replaced: Any) -> dict[str, Any]:
    """The hooks by name, all of them inline but those that are given."""
    return {**{name: inline(lambda *args, hook=hook: hook(*args)) for name, hook in HOOKS.items()}, **replaced}


def gate(
    storage: Any = None, clock: Any = None, *, named: Mapping[str, Any] = {}, **replaced: Any
) -> Preflight:  # every replaced hook is inline
    """A gate whose replaced hooks are inline; `named` are other arguments of `create_preflight`."""
    made = hooks(**{name: inline(lambda *args, hook=hook: hook(*args)) for name, hook in replaced.items()})
    return create_preflight(
        **{"hooks": made, "storage": storage or MemoryStorage(), "clock": clock or FakeClock(), **named}
    )


def async_gate(storage: Any = None, *, named: Mapping[str, Any] = {}, **replaced: Any) -> AsyncPreflight:
    """A gate for an event loop; replaced hooks are as they are given."""
    return create_async_preflight(
        **{"hooks": hooks(**replaced), "storage": storage or MemoryStorage(), "clock": FakeClock(), **named}
    )


def executable(made: Preflight, **parts: Any) -> Executable:
    """A decision of this gate that may run."""
    checked = made.check(request(**parts))
    assert isinstance(checked, Executable), checked
    return checked


def raiser(fault: BaseException) -> Callable[..., Any]:
    def hook(*_given: object, **_named: object) -> Any:
        raise fault

    return hook


def states(storage: MemoryStorage) -> list[str]:
    """The states of all records, oldest first."""
    return [stored.record.execution_decision for stored in storage._log]


def records(storage: MemoryStorage) -> list[Record]:
    return [stored.record for stored in storage._log]
