"""A scripted lookup: claims, offers and a policy in, the slots that were asked for and the result out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from msgspec import UNSET

from preflight.core.schema import Plan, Walked, compile_schema, walk
from preflight.core.schema.shape import Path
from preflight.model.slot import FieldState, Slot, Unsupported

STRING = {"type": "string"}
NULL = object()
"""As a scripted answer: the slot is confirmed to be absent."""

Policy = Literal["drop", "ask", "allow"]


class Script:
    """A `Shape` that answers from tables."""

    def __init__(
        self, claims: object = UNSET, offers: Mapping[Path, object] | None = None, policy: Policy = "drop"
    ) -> None:
        self.claims = claims
        self.offers = offers or {}
        self.policy = policy

    def claim(self, path: Path) -> object:
        return self.claims if path == () else UNSET

    def offered(self, path: Path) -> object:
        return self.offers.get(path, UNSET)

    def optional(self, name: str) -> Policy:
        return self.policy


class Run(NamedTuple):
    slots: tuple[Slot, ...]
    walked: Walked

    @property
    def asked(self) -> list[str]:
        return [slot.name for slot in self.slots]

    @property
    def fields(self) -> dict[str, str]:
        return {state.name: state.status for state in self.walked.fields}

    @property
    def extra(self) -> dict[str, str]:
        return {state.name: state.status for state in self.walked.extra_fields}

    @property
    def dropped(self) -> dict[str, str]:
        return {each.name: each.reason for each in self.walked.dropped}


def state_of(slot: Slot, answer: object) -> FieldState:
    if answer is UNSET:
        return FieldState(slot.name, "unknown", None, None, "", route="ask_user")
    if answer is NULL:
        return FieldState(slot.name, "null", "user_answer", "user_answer", "", value=None)
    return FieldState(slot.name, "known", "instruction", "instruction", "", value=answer)


def plan_for(schema: object) -> Plan:
    plan = compile_schema(schema)
    assert isinstance(plan, Plan), plan
    return plan


def refusal_of(schema: object) -> Unsupported:
    refused = compile_schema(schema)
    assert isinstance(refused, Unsupported)
    return refused


def drive(walking: Any, answer: Callable[[Slot], object]) -> Run:
    """Send each yielded slot the state that `answer` gives for it."""
    slots: list[Slot] = []
    try:
        slot = next(walking)
        while True:
            slots.append(slot)
            slot = walking.send(state_of(slot, answer(slot)))
    except StopIteration as end:
        return Run(tuple(slots), end.value)


def run(
    schema: object,
    known: Mapping[str, object] | None = None,
    claims: object = UNSET,
    offers: Mapping[Path, object] | None = None,
    policy: Policy = "drop",
) -> Run:
    """Walk `schema`, or a plan; `known` gives the lookup's answer by slot name."""
    answers = known or {}
    plan = schema if isinstance(schema, Plan) else plan_for(schema)
    return drive(walk(plan, Script(claims, offers, policy)), lambda slot: answers.get(slot.name, UNSET))


def obj(properties: Mapping[str, object], required: list[str] | None = None, **more: object) -> dict[str, object]:
    """An object schema."""
    return {"type": "object", "properties": dict(properties), "required": required or [], **more}
