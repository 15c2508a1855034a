"""The pages about rules: their examples load, and their code runs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema_rs
import pytest

from preflight.rules import load_rules
from preflight.rules.layout import ASK_BY, BY_EFFECT, CONDITION, DEFERRAL, FIELD, LIMIT, MEASURE, ROOT, TOOL, TRIGGER
from preflight.rules.provider import CHECKLIST, declare
from preflight.rules.schema import schema_of

DOCS = Path(__file__).resolve().parents[3] / "docs"
RULES = (DOCS / "rules.md").read_text(encoding="utf-8")
PROVIDER = (DOCS / "provider-checklist.md").read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    found = re.findall(rf"^```{language}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert found
    return found


@pytest.mark.parametrize("text", blocks(RULES, "yaml"), ids=["first", "channels", "triggers", "people"])
def test_the_rules_on_the_page_load(text: str, tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text(text, encoding="utf-8")
    rules = load_rules(tmp_path)
    assert rules.tools or rules.people.users or rules.triggers


@pytest.mark.parametrize(
    "keys",
    [part.keys for part in (ROOT, TOOL, FIELD, MEASURE, CONDITION, LIMIT, TRIGGER, DEFERRAL, BY_EFFECT, ASK_BY)],
)
def test_the_page_names_every_key(keys: dict[str, object]) -> None:
    assert [key for key in keys if not re.search(rf"`[^`\n]*\b{key}\b", RULES)] == []


def test_the_cases_on_the_page_fit_their_schema() -> None:
    (text,) = blocks(RULES, "json")
    assert jsonschema_rs.validator_for(schema_of("cases.schema.json")).is_valid(json.loads(text))


def test_the_checklist_on_the_page_can_be_declared() -> None:
    (text,) = blocks(PROVIDER, "json")
    checklist = json.loads(text)
    assert jsonschema_rs.validator_for(schema_of("checklist.schema.json")).is_valid(checklist)
    assert declare(None, checklist) == {"preflight/checklist": checklist}
    assert CHECKLIST.keys.keys() >= checklist.keys()


def test_the_code_on_the_page_runs() -> None:
    (code,) = blocks(PROVIDER, "python")
    exec(compile(code, "provider-checklist.md", "exec"), {})  # noqa: S102  it is this project's own page
