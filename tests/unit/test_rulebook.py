"""The rules in force, however they are given (R-65, R-67)."""

from __future__ import annotations

from pathlib import Path

import pytest

from preflight.errors import PreflightError
from preflight.model.rules import UNLISTED, ConditionRule, MeasureRule, ToolRules, UserRules
from preflight.rulebook import FixedRules, rules_source, with_user
from preflight.rules import LiveRules, RuleSet, load_rules
from tests.unit.ruled import rules_of, write

READ = ToolRules(effect="read")
TABLE = {("bank", "balance"): READ}


def test_values_by_tool_hold_for_everybody_and_have_no_digest() -> None:
    rules = rules_source(TABLE)()
    assert rules.digest is None
    assert rules.tools == TABLE
    assert rules.for_tool("bank", "balance", "u1", "acme") is READ
    assert rules.for_user("u1") == UserRules()


@pytest.mark.parametrize("name", [("bank", "transfer"), ("shop", "balance"), ("", "balance")])
def test_a_tool_that_nobody_listed_is_irreversible(name: tuple[str, str]) -> None:
    #
    assert rules_source(TABLE)().for_tool(*name) is UNLISTED
    assert UNLISTED.effect == "irreversible"


def test_without_rules_every_tool_is_unlisted() -> None:
    rules = rules_source(None)()
    assert (rules.digest, dict(rules.tools)) == (None, {})
    assert rules.for_tool("bank", "transfer") is UNLISTED


def test_a_table_that_is_changed_afterwards_changes_no_rules() -> None:
    given = dict(TABLE)
    rules = rules_source(given)()
    given["bank", "transfer"] = READ
    assert rules.for_tool("bank", "transfer") is UNLISTED


def test_a_path_is_read_and_a_set_stays_as_it_is(tmp_path: Path) -> None:
    path = write(tmp_path / "rules.json", rules_of({"effect": "reversible"}))
    for given in (path, str(path)):
        rules = rules_source(given)()
        assert isinstance(rules, RuleSet)
        assert rules.for_tool("bank", "transfer").effect == "reversible"
    loaded = load_rules(path)
    assert rules_source(loaded)() is loaded
    assert rules_source(LiveRules(path).current)().digest == loaded.digest


def test_a_callable_is_asked_each_time() -> None:
    turns = iter([FixedRules(TABLE), FixedRules()])
    source = rules_source(lambda: next(turns))
    assert source().for_tool("bank", "balance") is READ
    assert source().for_tool("bank", "balance") is UNLISTED


def test_a_path_without_rules_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PreflightError):
        rules_source(tmp_path / "nothing")


OWN = ConditionRule("mine", "user", "measure", "at_home")
HOME, OTHER = MeasureRule("at_home", "given"), MeasureRule("at_home", "python", entry="a:b")


def test_a_user_s_conditions_come_with_the_measures_they_read() -> None:
    user = UserRules(conditions=(OWN,), measures={"at_home": HOME})
    joined = with_user(ToolRules(conditions=(ConditionRule("theirs", "organisation", "expression", "true"),)), user)
    assert [rule.id for rule in joined.conditions] == ["theirs", "mine"]
    assert joined.measures == {"at_home": HOME}


def test_a_name_the_tool_s_rules_use_keeps_its_meaning() -> None:
    user = UserRules(conditions=(OWN,), measures={"at_home": HOME})
    assert with_user(ToolRules(measures={"at_home": OTHER}), user).measures == {"at_home": OTHER}


def test_a_user_without_conditions_changes_nothing() -> None:
    assert with_user(READ, UserRules(measures={"at_home": HOME})) is READ
