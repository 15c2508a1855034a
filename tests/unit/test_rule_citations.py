"""Every rule of the specification is cited where the code keeps it, or is named here as later work, with the reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Rules that no code in src/ keeps yet, each with the reason. An entry whose rule is cited in src/ fails: take it out.
LATER: dict[str, str] = {}

RULE = re.compile(r"^- (R-\d+[a-z]?)\b", re.MULTILINE)
CITATION = re.compile(r"\bR-\d+[a-z]?\b")
# "R-52 to R-56" says that something is near those rules, not that it keeps each of them.
RANGE = re.compile(r"\bR-\d+[a-z]?\s*(?:to|through|until|-|–|—|\.\.\.?)\s*R-\d+[a-z]?\b")


def rules_of(text: str) -> list[str]:
    """The rules that a specification defines, in order."""
    return RULE.findall(text)


def cited_in(text: str) -> set[str]:
    """The rules that a source text cites one by one."""
    return set(CITATION.findall(RANGE.sub(" ", text)))


def defined() -> list[str]:
    return rules_of((ROOT / "docs" / "spec.md").read_text(encoding="utf-8"))


def cited() -> set[str]:
    sources = sorted(path for path in (ROOT / "src").rglob("*") if path.suffix in {".py", ".sql"})
    return set().union(*(cited_in(path.read_text(encoding="utf-8")) for path in sources))


def test_the_specification_defines_each_rule_once() -> None:
    rules = defined()
    assert len(rules) > 80
    assert sorted({rule for rule in rules if rules.count(rule) > 1}) == []


def test_every_rule_is_cited_or_named_as_later_work() -> None:
    have = cited() | LATER.keys()
    assert [rule for rule in defined() if rule not in have] == []


def test_no_rule_named_as_later_work_is_cited() -> None:
    assert sorted(LATER.keys() & cited()) == []


def test_later_work_names_rules_that_exist_and_says_why() -> None:
    assert sorted(LATER.keys() - set(defined())) == []
    assert [rule for rule, reason in LATER.items() if len(reason.split()) < 3] == []


def test_every_citation_names_a_rule_that_exists() -> None:
    assert sorted(cited() - set(defined())) == []


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("x = 1  # R-12", {"R-12"}),
        ('"""Kept apart (R-4, R-42)."""', {"R-4", "R-42"}),
        ("# R-52 to R-56", set()),
        ("# R-52-R-56 and R-57", {"R-57"}),
        ("# R-52\N{EN DASH}R-56", set()),
        ("# AR-12, R-, R-x", set()),
    ],
)
def test_a_citation_is_one_rule_and_no_range(text: str, rules: set[str]) -> None:
    assert cited_in(text) == rules


def test_a_rule_is_a_list_item() -> None:
    assert rules_of("- R-1 values\n  see R-2\n# R-3\n- R-10 failures\n") == ["R-1", "R-10"]
