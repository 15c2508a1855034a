"""The published schemas are those of the code, and agree with what the loader takes."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import jsonschema_rs
import pytest
import yaml

from preflight.rules import schema

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples" / "rules"


@pytest.mark.parametrize("name", sorted(schema.FILES))
def test_the_published_file_is_what_the_code_says(name: str) -> None:
    """Write them anew with `python -m preflight.rules.schema docs/schema`."""
    assert (ROOT / "docs" / "schema" / name).read_text(encoding="utf-8") == schema.text_of(name)


@pytest.mark.parametrize("name", sorted(schema.FILES))
def test_each_is_a_schema(name: str) -> None:
    jsonschema_rs.meta.validate(schema.schema_of(name))


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/*.yaml")), ids=lambda path: path.name)
def test_the_examples_fit_the_schema(path: Path) -> None:
    validator = jsonschema_rs.validator_for(schema.schema_of("rules.schema.json"))
    rules = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert [fault.message for fault in validator.iter_errors(rules)] == []


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/tests/*.json")), ids=lambda path: path.name)
def test_the_example_requests_fit_the_schema(path: Path) -> None:
    validator = jsonschema_rs.validator_for(schema.schema_of("cases.schema.json"))
    assert validator.is_valid(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "rules",
    [
        {},
        {"version": 2},
        {"version": 1, "server": {}},
        {"version": 1, "servers": {"s": {"tools": {"t": {"effect": "writes"}}}}},
        {"version": 1, "servers": {"s": {"tools": {"t": {"value_asks": 1.5}}}}},
        {"version": 1, "servers": {"s": {"tools": {"t": {"conditions": [{"id": "a"}]}}}}},
        {"version": 1, "servers": {"s": {"tools": {"t": {"decision_lifetime": "60"}}}}},
        {"version": 1, "measures": {"m": {"given": True, "http": "http://x"}}},
    ],
)
def test_the_schema_refuses_what_the_loader_refuses(rules: object) -> None:
    assert not jsonschema_rs.validator_for(schema.schema_of("rules.schema.json")).is_valid(rules)


def test_the_script_writes_them_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["schema", str(tmp_path / "new")])
    monkeypatch.delitem(sys.modules, "preflight.rules.schema")
    runpy.run_module("preflight.rules.schema", run_name="__main__")
    assert {path.name for path in (tmp_path / "new").iterdir()} == set(schema.FILES)
