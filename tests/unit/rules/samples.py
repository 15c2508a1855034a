"""Small rules and tools for the tests, and a way to load rules from texts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent

import pytest

from preflight.model.rules import ConditionRule
from preflight.model.tool import Tool
from preflight.rules import RulesError, RuleSet, load_rules

SCHEMA = {
    "type": "object",
    "properties": {
        "to": {"type": "string"},
        "amount": {"type": "number"},
        "count": {"type": "integer"},
        "urgent": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "note": {"type": ["string", "null"]},
        "recipient": {"type": "object", "properties": {"iban": {"type": "string"}}},
    },
    "required": ["to", "amount"],
}
TOOL = Tool.from_mcp({"name": "transfer", "description": "", "inputSchema": SCHEMA}, server="bank")

TRANSFER = """
version: 1
servers:
  bank:
    tools:
      transfer:
"""


def put(folder: Path, files: Mapping[str, str]) -> Path:
    """Write files into a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")
    return folder


def load(text: str, name: str = "rules.yaml") -> RuleSet:
    """Load one text."""
    with TemporaryDirectory() as folder:
        put(Path(folder), {name: text})
        return load_rules(Path(folder) / name)


def transfer(body: str) -> str:
    """Return rules whose tool `bank/transfer` has this body."""
    return TRANSFER + "".join(f"        {line}\n" for line in dedent(body).strip("\n").splitlines())


def faults(text: str, name: str = "rules.yaml") -> list[str]:
    """Return what is wrong with a text, as `line:column: what; do`."""
    with pytest.raises(RulesError) as caught:
        load(text, name)
    return [str(fault).partition(f"{name}:")[2] for fault in caught.value.faults]


def only_fault(text: str, name: str = "rules.yaml") -> str:
    """Return the only thing that is wrong with a text."""
    found = faults(text, name)
    assert len(found) == 1, found
    return found[0]


def condition(expression: str) -> ConditionRule:
    """Return a condition of the organisation."""
    return ConditionRule("c", "organisation", "expression", expression)
