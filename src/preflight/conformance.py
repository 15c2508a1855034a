"""Runs conformance vectors: scripted hooks over the whole decision path, and what must come out.

The form of a vector is described in `conformance/README.md`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from preflight.api import Preflight, create_preflight
from preflight.errors import InvalidInput, ProviderError
from preflight.hooks.defaults import DEFAULTS
from preflight.hooks.protocol import Hook, inline
from preflight.model.json_value import thaw
from preflight.model.record import UNKEYED, Record
from preflight.model.slot import FieldState, Slot
from preflight.results import ToolCall
from preflight.storage.memory import MemoryStorage

Json = dict[str, object]


class _FixedClock:
    def now(self) -> float:
        return 1_764_500_000.0


class Difference(msgspec.Struct, frozen=True):
    """One key of a vector that came out otherwise."""

    key: str
    expected: object
    actual: object


def load(path: Path) -> Iterator[Json]:
    """Yield the vectors of a JSON Lines file; raises InvalidInput naming the line that is none."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            vector = json.loads(line)
        except ValueError as fault:
            raise InvalidInput(f"{path}:{number}", f"not JSON: {fault}") from None
        if not isinstance(vector, dict) or not {"id", "input", "hooks", "expect"} <= vector.keys():
            raise InvalidInput(f"{path}:{number}", "not a vector", "give `id`, `input`, `hooks` and `expect`")
        yield vector


def differences(vector: Json) -> list[Difference]:
    """Run one vector and return what differs from `expect`; keys that it does not name are not compared."""
    expected, actual = vector["expect"], run_vector(vector)
    assert isinstance(expected, dict)  # noqa: S101  checked by `load`
    return [
        Difference(key, value, actual.get(key)) for key, value in expected.items() if not _same(value, actual.get(key))
    ]


def run_vector(vector: Json) -> Json:
    """Run one vector and return what came out, in the form of its `expect`."""
    hooks = scripted(vector["hooks"])  # type: ignore[arg-type]
    gate = create_preflight(hooks=hooks, storage=MemoryStorage(), strict=False, clock=_FixedClock())
    checked = gate.check(vector["input"])  # type: ignore[arg-type]
    came = _came(checked.record)
    if "call" in vector:
        came["execution"] = _executed(gate, checked.record, vector["call"])  # type: ignore[arg-type]
    return came


def scripted(tables: Mapping[str, object]) -> dict[str, Hook]:
    """Make the hooks that a vector's tables describe."""
    hooks: dict[str, Hook] = {}
    for name in ("classify_when_case", "extract_user_action_name", "confirm_tool_name_matches_intent"):
        hooks[name] = _whole(tables.get(name))
    hooks["build_action_key"] = _whole(tables.get("build_action_key"))
    hooks["extract_from_instruction"] = _by_name(tables.get("extract_from_instruction"), lambda args: args[0].name)
    measured = tables.get("measure_from_environment")
    hooks["measure_from_environment"] = (
        _passthrough if measured == "passthrough" else _by_name(measured, lambda args: args[0].name)
    )
    hooks["validate_field_schema"] = _by_name(tables.get("validate_field_schema"), lambda args: args[0].name)
    items = tables.get("verify_user_checklist_item")
    default = DEFAULTS["verify_user_checklist_item"]
    hooks["verify_user_checklist_item"] = default if items == "default" else _by_name(items, lambda args: args[0].id)
    hooks["apply_field_policy"] = _policy(tables.get("apply_field_policy"))
    return hooks


def _play(entry: object) -> object:
    if isinstance(entry, dict) and "raises" in entry:
        raise RuntimeError(entry["raises"])
    return entry.get("returns") if isinstance(entry, dict) else None


def _whole(entry: object) -> Hook:
    return inline(lambda *_args: _play(entry))


def _by_name(table: object, name_of: Hook) -> Hook:
    entries = table if isinstance(table, dict) else {}
    return inline(lambda *args: _play(entries.get(name_of(args))))


@inline
def _passthrough(slot: Slot, request: object) -> object:
    return request.measured_data.get(slot.name)  # type: ignore[attr-defined]


def _policy(table: object) -> Hook:
    if table == "default":
        return DEFAULTS["apply_field_policy"]
    entries = table if isinstance(table, dict) else {}

    @inline
    def policy(state: FieldState, slot: Slot, *_rest: object) -> object:
        entry = entries.get(slot.name)
        if entry is None:
            return state
        if isinstance(entry, dict) and "patch" in entry:
            return msgspec.structs.asdict(state) | entry["patch"]
        return _play(entry)

    return policy


def _came(record: Record) -> Json:
    came: Json = {
        "decision": record.execution_decision,
        "phase": record.phase,
        "action_key": record.action_key,
        "gate_kind": record.gate.kind if record.gate else None,
        "fields": None if record.fields is None else [_field(state) for state in record.fields],
        "unknown_count": record.unknown_count,
        "unverified_checklist_count": record.unverified_checklist_count,
        "unkeyed": record.key == UNKEYED,
    }
    fixed = record.fixed
    came["fixed"] = (
        None
        if fixed is None
        else {
            "c1_when_case": fixed.c1_when_case,
            "c2_user_action_name": fixed.c2_user_action_name,
            "c3_provider_action_name": fixed.c3_provider_action_name,
            "c2_source": fixed.c2_source,
        }
    )
    if record.user_checklist is not None:
        came["checklist"] = [_item(item) for item in record.user_checklist]
    return came | _gate(record)


def _gate(record: Record) -> Json:
    gate = record.gate
    came: Json = {}
    if gate is None:
        return came
    for key, value in (
        ("next_intent_attempt", gate.next_intent_attempt),
        ("next_tool_attempt", gate.next_tool_attempt),
    ):
        if value is not msgspec.UNSET:
            came[key] = value
    if gate.unknown_fields is not msgspec.UNSET:
        came["unknown_fields"] = [field.name for field in gate.unknown_fields]
        came["unverified_checklist"] = [item.id for item in gate.unverified_checklist or ()]
    return came


def _field(state: FieldState) -> Json:
    shown: Json = {"name": state.name, "status": state.status, "source": state.source}
    if state.status == "known":
        shown |= {"value": thaw(state.value), "origin_source": state.origin_source}
    elif state.status == "unknown":
        shown |= {"pending_at_trigger": state.pending_at_trigger, "route": state.route}
        if state.lookup_failed:
            shown["lookup_failed"] = True
    return shown


def _item(item: object) -> Json:
    shown: Json = {"id": item.id, "status": item.status}  # type: ignore[attr-defined]
    if item.status == "unverified":  # type: ignore[attr-defined]
        shown["route"] = item.route  # type: ignore[attr-defined]
    return shown


def _executed(gate: Preflight, record: Record, call: Mapping[str, object]) -> Json:
    """Execute the record with a tool that returns or raises as scripted."""
    called: list[ToolCall] = []

    def tool(given: ToolCall) -> object:
        called.append(given)
        if "raises" in call:
            raise ProviderError(call["raises"])
        return call.get("returns")

    execution = gate.execute_if_ready(record.decision_id, tool)
    last = gate.storage.steps(record.decision_id)[-1].record
    name_and_args = {"name": called[0].name, "args": called[0].arguments} if called else None
    return {"status": execution.status, "called": name_and_args, "final_decision": last.execution_decision}


def _same(expected: object, actual: object) -> bool:
    """Whether two JSON values are the same, a boolean never being a number (R-47)."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        return expected.keys() == actual.keys() and all(_same(expected[k], actual[k]) for k in expected)
    if isinstance(expected, list) and isinstance(actual, list):
        return len(expected) == len(actual) and all(map(_same, expected, actual))
    return expected == actual and isinstance(expected, bool) == isinstance(actual, bool)
