"""What stored records say is missing: from users' instructions, and from tools' definitions.

The two names of failure (specification, section 1): an *instruction gap* is what users left out; an *action
definition gap* is what a tool's provider did not declare, or declared so that nobody can check it. Only
decisions are read, not the steps of their execution. No value is read, whatever a record holds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from preflight.core.schema.shape import UNDECLARED
from preflight.model.decision import DECISIONS, Gate
from preflight.model.pointer import starred
from preflight.model.record import Record

Left = Literal["value", "branch", "act"]
DefinitionKind = Literal[
    "schema_unsupported",
    "declarations_unreadable",
    "field_undeclared",
    "condition_unreadable",
    "undeclared_claim",
    "payload_invalid",
    "tool_undetermined",
    "hook_failed",
]
PROVIDERS: frozenset[DefinitionKind] = frozenset(
    (
        "schema_unsupported",
        "declarations_unreadable",
        "field_undeclared",
        "undeclared_claim",
        "payload_invalid",
        "tool_undetermined",
    )
)
"""What a tool's provider can mend; the rest is the adopter's own: rules and hooks."""

_PROVIDER_CHECKLIST = "provider_checklist"


class InstructionGap(msgspec.Struct, frozen=True, gc=False):
    """One thing that users of a tool leave out.

    `left` is `value` (a field), `branch` (which of several alternatives, at the pointer `field`) or `act` (what
    should be done, or when; `field` is empty). List positions in `field` are written `*`. `calls` counts the calls
    in which it was asked for, `asked` the asks, `answered` the calls in which the user then answered, `exhausted`
    those that held because it had been asked often enough (R-94).
    """

    server: str
    tool: str
    left: Left
    field: str
    calls: int
    asked: int
    answered: int
    exhausted: int


class DefinitionGap(msgspec.Struct, frozen=True, gc=False):
    """One thing that a tool's definition, or the adopter's rules for it, leaves undeclared.

    `at` is a field or a pointer, `what` a sentence without values. `decisions` counts the decisions it stands in,
    `users` the users they were made for.
    """

    server: str
    tool: str
    kind: DefinitionKind
    at: str
    what: str
    decisions: int
    users: int


class GapReport(msgspec.Struct, frozen=True, gc=False):
    """The gaps of some records, most frequent first; `since` and `until` are the first and last times in them."""

    decisions: int
    since: str | None
    until: str | None
    instruction: tuple[InstructionGap, ...]
    definition: tuple[DefinitionGap, ...]


class _Tally:
    """What is counted for one instruction gap, by call."""

    def __init__(self) -> None:
        self.asked: dict[object, int] = defaultdict(int)
        self.answered: set[object] = set()
        self.exhausted: set[object] = set()


_InstructionKey = tuple[str, str, Left, str]
_DefinitionKey = tuple[str, str, DefinitionKind, str, str]


def gaps(records: Iterable[Record]) -> GapReport:
    """Group records into instruction gaps and action definition gaps, in whatever order they come."""
    decisions = [r for r in records if r.record_id == r.decision_id and r.execution_decision in DECISIONS]
    times = sorted(record.timestamp for record in decisions)
    return GapReport(
        decisions=len(decisions),
        since=times[0] if times else None,
        until=times[-1] if times else None,
        instruction=_instruction_gaps(decisions),
        definition=_definition_gaps(decisions),
    )


def _instruction_gaps(decisions: list[Record]) -> tuple[InstructionGap, ...]:
    tallies: dict[_InstructionKey, _Tally] = defaultdict(_Tally)
    for record in decisions:
        for key in _left_out(record):
            tallies[key].asked[_call(record)] += 1
    for record in decisions:
        for key in _answered(record):
            if key in tallies and _call(record) in tallies[key].asked:
                tallies[key].answered.add(_call(record))
        for key in _exhausted(record):
            if _call(record) in tallies[key].asked or record.call_id is None:
                tallies[key].exhausted.add(_call(record))
    found = [
        InstructionGap(*key, len(tally.asked), sum(tally.asked.values()), len(tally.answered), len(tally.exhausted))
        for key, tally in tallies.items()
        if tally.asked or tally.exhausted
    ]
    return tuple(sorted(found, key=lambda gap: (-gap.asked, -gap.exhausted, gap.server, gap.tool, gap.left, gap.field)))


def _left_out(record: Record) -> Iterator[_InstructionKey]:
    """What this decision asks the user for."""
    gate = record.gate
    if gate is None or record.execution_decision != "ask_user":
        return
    if gate.kind == "intent_undetermined":
        yield (*_tool(record), "act", "")
    for name in _asked_fields(gate):
        yield (*_tool(record), "value", name)
    for branch in gate.branches:
        yield (*_tool(record), "branch", starred(branch.at))


def _exhausted(record: Record) -> Iterator[_InstructionKey]:
    gate = record.gate
    if gate is not None and gate.kind == "intent_undetermined_exhausted":
        yield (*_tool(record), "act", "")
    if gate is not None and gate.kind == "value_exhausted":
        for name in _asked_fields(gate):
            yield (*_tool(record), "value", name)


def _answered(record: Record) -> Iterator[_InstructionKey]:
    for state in record.states:
        if state.settled and state.source == "user_answer":
            yield (*_tool(record), "value", starred(state.name))


def _asked_fields(gate: Gate) -> list[str]:
    names = [starred(field.name) for field in gate.unknown_fields or () if field.route == "ask_user"]
    return list(dict.fromkeys(names))


def _definition_gaps(decisions: list[Record]) -> tuple[DefinitionGap, ...]:
    counts: dict[_DefinitionKey, int] = defaultdict(int)
    users: dict[_DefinitionKey, set[tuple[str, str]]] = defaultdict(set)
    for record in decisions:
        for kind, at, what in dict.fromkeys(_undeclared(record)):
            key = (*_tool(record), kind, at, what)
            counts[key] += 1
            users[key].add((record.scope.tenant, record.user_id))
    found = [DefinitionGap(*key, count, len(users[key])) for key, count in counts.items()]
    return tuple(sorted(found, key=lambda gap: (-gap.decisions, gap.server, gap.tool, gap.kind, gap.at, gap.what)))


def _undeclared(record: Record) -> Iterator[tuple[DefinitionKind, str, str]]:
    """What this decision found undeclared: its kind, where, and in words."""
    if record.gate is not None:
        yield from _at_the_gate(record.gate)
    for state in record.states:
        if state.route == "definition_repair" and state.lookup_failed:
            yield "hook_failed", starred(state.name), "a lookup of the field failed"
        elif state.route == "definition_repair":
            yield (
                "field_undeclared",
                starred(state.name),
                "nothing says where the value may come from, or how to read it",
            )
    for dropped in record.dropped_claims:
        if dropped.reason == UNDECLARED:
            yield (
                "undeclared_claim",
                starred(dropped.name),
                "models propose an argument that the schema does not declare",
            )
    for condition in record.conditions:
        if condition.status == "unknown" and condition.route == "definition_repair":
            if condition.declared_by == "provider" and condition.id == _PROVIDER_CHECKLIST:
                yield "declarations_unreadable", "", "labels or the declared checklist cannot be read"
            else:
                yield (
                    "condition_unreadable",
                    condition.id,
                    f"a condition of the {condition.declared_by} cannot be evaluated",
                )


def _at_the_gate(gate: Gate) -> Iterator[tuple[DefinitionKind, str, str]]:
    if gate.kind in ("schema_unsupported", "payload_invalid"):
        kind: DefinitionKind = "schema_unsupported" if gate.kind == "schema_unsupported" else "payload_invalid"
        for error in gate.payload_errors or ("``: no reason was recorded",):
            at, _, what = error.removeprefix("`").partition("`: ")
            yield kind, starred(at), what
    elif gate.kind in ("tool_undetermined", "tool_undetermined_exhausted"):
        yield "tool_undetermined", "", "it was not settled that the tool does what the user meant"
    elif gate.kind in ("hook_failed", "action_key_failed"):
        yield (
            "hook_failed",
            gate.diag.hook or "" if gate.diag else "",
            "a hook failed where nothing may stand in for it",
        )


def _tool(record: Record) -> tuple[str, str]:
    return ("", "") if record.tool is None else (record.tool.server, record.tool.name)


def _call(record: Record) -> object:
    return (record.scope.tenant, record.scope.conversation, record.call_id or record.decision_id)


__all__ = ["PROVIDERS", "DefinitionGap", "GapReport", "InstructionGap", "gaps"]
