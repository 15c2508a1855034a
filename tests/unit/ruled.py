"""A gate under rules that stand in a file, with a server whose read tools are measured."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from preflight import Preflight
from preflight.model.condition import ConditionState
from preflight.model.record import Record
from preflight.results import Checked
from preflight.testing import FakeClock, MemoryStorage
from tests.unit.gates import gate

CONTACTS = [
    {"name": "Bob Kim", "relation": "bob", "account": "111"},
    {"name": "Ann Lee", "relation": "landlord", "account": "222"},
    {"name": "Cho Yoo", "relation": "landlord's agency", "account": "333"},
]


class Bank:
    """The read tools of a bank: results by tool, a list of what was asked, and faults where it is told to raise."""

    def __init__(self, **results: object) -> None:
        self.results: dict[str, object] = {"balance": {"won": 1_000, "open": True}, "contacts": CONTACTS, **results}
        self.asked: list[tuple[str, dict[str, object]]] = []

    def __call__(self, server: str, tool: str, arguments: dict[str, object]) -> object:
        assert server == "bank"
        self.asked.append((tool, arguments))
        result = self.results[tool]
        if isinstance(result, Exception):
            raise result
        return {"structuredContent": result(**arguments) if callable(result) else result}


MEASURES = {
    "balance": {"mcp": {"server": "bank", "tool": "balance"}, "type": "object"},
    "contacts": {"mcp": {"server": "bank", "tool": "contacts"}, "type": "array"},
}


def rules_of(transfer: Mapping[str, object], **top: object) -> dict[str, object]:
    """The text of rules for the transfer of `tests.unit.gates`."""
    return {"version": 1, "servers": {"bank": {"measures": MEASURES, "tools": {"transfer": transfer}}}, **top}


def write(path: Path, rules: Mapping[str, object]) -> Path:
    path.write_text(json.dumps(rules), encoding="utf-8")
    return path


def ruled(
    folder: Path,
    transfer: Mapping[str, object],
    bank: Bank | None = None,
    *,
    top: Mapping[str, object] = {},
    **hooks: Any,
) -> Preflight:
    """A gate under rules for the transfer; `top` is what else stands at the top of the file."""
    named = {"rules": write(folder / "rules.json", rules_of(transfer, **top)), "read_tool": bank or Bank()}
    storage, clock = hooks.pop("storage", MemoryStorage()), hooks.pop("clock", FakeClock())
    return gate(storage, clock, named=named, **hooks)


def field(checked: Checked, name: str) -> Any:
    states = (*(checked.record.fields or ()), *checked.record.extra_fields)
    return next(state for state in states if state.name == name)


def condition(checked: Checked | Record, name: str) -> ConditionState:
    record = checked if isinstance(checked, Record) else checked.record
    return next(state for state in record.conditions if state.id == name)
