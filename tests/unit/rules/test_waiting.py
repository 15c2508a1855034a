"""What rules say about deferred runs: what they may wait for, and what becomes of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from preflight.model.rules import DeferralRules, ToolRules, TriggerRule
from preflight.rules import RulesError, load_rules

HEAD = "version: 1\nmeasures: {paid: {given: true}, other: {given: true}}\n"


def loaded(folder: Path, text: str) -> object:
    (folder / "rules.yaml").write_text(HEAD + text, encoding="utf-8")
    return load_rules(folder / "rules.yaml")


def triggers(folder: Path, text: str) -> dict[str, TriggerRule]:
    return dict(loaded(folder, f"triggers: {{{text}}}\n").triggers)  # type: ignore[attr-defined]


def test_an_event_and_a_condition(tmp_path: Path) -> None:
    found = triggers(
        tmp_path,
        "salary: {phrases: [I get paid], event: salary.received, match: {employer: acme}, deadline: 2d}, "
        "funded: {expression: measured.paid == true, poll: 5m}",
    )
    salary, funded = found["salary"], found["funded"]
    assert (salary.phrases, salary.event, dict(salary.match), salary.deadline_seconds) == (
        ("I get paid",), "salary.received", {"employer": "acme"}, 172_800,
    )  # fmt: skip
    assert salary.condition is None
    assert funded.condition is not None
    assert (funded.condition.text, list(funded.measures), funded.poll_seconds, funded.deadline_seconds) == (
        "measured.paid == true", ["paid"], 300, 2_592_000,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("x: {}", "a trigger has none of them"),
        ("x: {event: a, expression: measured.paid == true}", "a trigger has `event` and `expression`"),
        ("x: {expression: measured.nothing == true}", "no measure or limit is called `nothing`"),
        ("x: {expression: measured.paid == true, match: {a: 1}}", "`match` of a condition"),
        ("x: {event: a, poll: often}", "not a length of time"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(RulesError, match=fault):
        triggers(tmp_path, text)


def test_what_becomes_of_deferred_runs(tmp_path: Path) -> None:
    rules = loaded(
        tmp_path,
        "servers: {bank: {tools: {pay: {deferral: {misfire: skip, missed_after: 1h, unresolved: skip}}, "
        "see: {effect: reversible}}}}\n",
    )
    pay, see = (rules.for_tool("bank", name) for name in ("pay", "see"))  # type: ignore[attr-defined]
    assert pay.deferral == DeferralRules("skip", 3600, "skip")
    assert (pay.misfire, see.misfire, ToolRules().misfire) == ("skip", "run_once", "hold")


def test_it_is_not_overridden(tmp_path: Path) -> None:
    with pytest.raises(RulesError, match="`deferral` cannot be overridden"):
        loaded(
            tmp_path,
            "servers: {bank: {tools: {pay: {}}}}\n"
            "users: {minji: {servers: {bank: {tools: {pay: {deferral: {misfire: skip}}}}}}}\n",
        )


def test_files_share_the_triggers(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("version: 1\ntriggers: {a: {event: x}}\n", encoding="utf-8")
    (tmp_path / "b.yaml").write_text("version: 1\ntriggers: {b: {event: why}}\n", encoding="utf-8")
    assert sorted(load_rules(tmp_path).triggers) == ["a", "b"]
    (tmp_path / "b.yaml").write_text("version: 1\ntriggers: {a: {event: why}}\n", encoding="utf-8")
    with pytest.raises(RulesError, match="`a` is declared twice"):
        load_rules(tmp_path)
