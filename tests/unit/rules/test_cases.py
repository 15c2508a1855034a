"""Example requests beside the rules."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from preflight.rules import RulesError, load_cases
from preflight.rules.cases import Expect
from tests.unit.rules.samples import put

CASE = {"name": "a", "request": {"user_id": "u"}, "expect": {"decision": "hold", "unmet": ["x"], "kind": "value_gate"}}


def text(*cases: object) -> str:
    return json.dumps({"version": 1, "cases": list(cases)})


def faults(path: Path) -> list[str]:
    with pytest.raises(RulesError) as caught:
        load_cases(path)
    return [str(fault).partition(path.name + ":")[2] for fault in caught.value.faults]


def test_cases_are_found_in_the_folders_called_tests(tmp_path: Path) -> None:
    put(
        tmp_path,
        {
            "bank/tests/a.json": text(CASE),
            "bank/rules.yaml": "x",
            "shop/tests/b.json": text(CASE, CASE | {"name": "b"}),
        },
    )
    assert [case.name for case in load_cases(tmp_path)] == ["a", "a", "b"]
    assert [case.name for case in load_cases(tmp_path / "bank" / "tests")] == ["a"]
    first = load_cases(tmp_path / "bank" / "tests" / "a.json")[0]
    assert dict(first.request) == {"user_id": "u"}
    assert first.expect == Expect("hold", kind="value_gate", unmet=("x",))
    assert (Path(first.place.file).name, first.place.line) == ("a.json", 1)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("[", "2:1: not JSON: a value is missing here"),
        ("[]", "1:1: a list, not a file of cases as a mapping; write a file of cases as a mapping"),
        ('{"version": 1}', "1:1: a file of cases has no `cases`; add it: the cases"),
        (text(), "1:25: an empty list; write an item, or leave the key out"),
        (text(CASE, CASE), "1:169: the name `a` stands twice; rename one"),
        (
            text(CASE | {"expect": {"decision": "allow"}}),
            ("1:91: `allow` is not known here; known: `ask_user`, `deferred`, `execute`, `hold`"),
        ),
    ],
)
def test_a_file_that_is_no_cases_is_named(tmp_path: Path, body: str, message: str) -> None:
    found = faults(put(tmp_path, {"a.json": body + "\n"}) / "a.json")
    assert [fault.partition(": ")[2] for fault in found] == [message.partition(": ")[2]]


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert faults(tmp_path / "no.json") == ["1:1: there is no such file"]
