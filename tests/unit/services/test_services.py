"""What rules need done after a decision: conditions checked again at the start, doubts measured (R-74, R-75)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from preflight import Executable
from preflight.errors import HookError
from preflight.model.condition import ConditionState
from preflight.results import Executed, Refused
from preflight.rules import load_rules
from preflight.services.measuring import Measurer
from preflight.services.service import Services
from preflight.testing import FakeClock, MemoryStorage, sample_decision
from tests.unit.gates import executable, request
from tests.unit.ruled import MEASURES, Bank, ruled, rules_of, write

ENOUGH = {"id": "enough", "expression": "measured.balance.won >= args.amount", "max_age": "10s"}


@pytest.mark.parametrize(
    ("won", "after", "starts"),
    [(1_000, 0, True), (0, 5, True), (0, 11, False), (1_000, 11, True), (OSError("no route"), 11, False)],
)
def test_a_condition_that_grew_old_must_hold_again(tmp_path: Path, won: Any, after: float, starts: bool) -> None:
    bank, clock = Bank(), FakeClock()
    gate = ruled(tmp_path, {"conditions": [ENOUGH]}, bank, clock=clock)
    ready = executable(gate)
    bank.results["balance"] = won if isinstance(won, Exception) else {"won": won, "open": True}
    clock.advance(after)
    ended = gate.execute_if_ready(ready, lambda _: None)
    assert isinstance(ended, Executed) is starts
    if isinstance(ended, Refused):
        assert "enough" in ended.why


@pytest.mark.parametrize("is_open", [True, False])
def test_a_user_s_own_condition_is_checked_again_too(tmp_path: Path, is_open: bool) -> None:
    clock, bank = FakeClock(), Bank()
    open_now = {"id": "open", "expression": "measured.at_home.open", "max_age": "10s"}
    mine = {"measures": {"at_home": MEASURES["balance"]}, "users": {"u1": {"conditions": [open_now]}}}
    gate = ruled(tmp_path, {}, bank, top=mine, clock=clock)
    ready = executable(gate)
    bank.results["balance"] = {"open": is_open}
    clock.advance(11)
    assert isinstance(gate.execute_if_ready(ready, lambda _: None), Executed if is_open else Refused)


def services(folder: Path, transfer: dict[str, Any], bank: Bank | None = None) -> Services:
    rules = load_rules(write(folder / "rules.json", rules_of(transfer)))
    clock = FakeClock()
    return Services(MemoryStorage(), Measurer(bank or Bank(), clock), lambda: rules, clock)


def state(name: str) -> ConditionState:
    return ConditionState(name, "organisation", "met", "2026-03-01T09:00:00Z")


def test_a_condition_that_the_rules_no_longer_have_does_not_hold(tmp_path: Path) -> None:
    record = executable(ruled(tmp_path, {"conditions": [ENOUGH]})).record
    here = services(tmp_path, {"conditions": [ENOUGH]})
    assert here.recheck(record, state("enough"))
    assert not here.recheck(record, state("another"))
    assert not here.recheck(msgspec.structs.replace(record, tool=None), state("enough"))
    with pytest.raises(HookError, match="what it needs is not known"):
        here.recheck(msgspec.structs.replace(record, call_arguments=None), state("enough"))


def test_a_condition_that_cannot_be_measured_again_is_neither_true_nor_false(tmp_path: Path) -> None:
    record = executable(ruled(tmp_path, {"conditions": [ENOUGH]})).record
    clock = FakeClock()
    rules = load_rules(tmp_path / "rules.json")
    unreached = Services(MemoryStorage(), Measurer(None, clock), lambda: rules, clock)
    with pytest.raises(HookError, match="no connection was given; give one: `--connections FILE`"):
        unreached.recheck(record, state("enough"))


def test_a_measure_may_have_dots_in_its_name(tmp_path: Path) -> None:
    enough = {"id": "enough", "expression": 'measured["balance.now"].won >= args.amount', "max_age": "10s"}
    given = {"conditions": [enough], "measures": {"balance.now": MEASURES["balance"]}}
    bank, clock = Bank(), FakeClock()
    gate = ruled(tmp_path, given, bank, clock=clock)
    ready = executable(gate)
    bank.results["balance"] = {"won": 0, "open": True}
    clock.advance(11)
    assert isinstance(gate.execute_if_ready(ready, lambda _: None), Refused)


# a call in doubt, measured

SETTLE = {
    "settle": "went",
    "measures": {"went": {
        "mcp": {"server": "bank", "tool": "sent"}, "pointer": "/done", "type": "boolean",
        "arguments": {"to": {"slot": "to"}, "key": {"slot": "preflight/decision"}},
    }},
}  # fmt: skip


def lost(_: object) -> None:
    raise TimeoutError


@pytest.mark.parametrize(("done", "settled"), [(True, "executed"), (False, "failed")])
def test_a_doubt_is_settled_by_the_declared_measure(tmp_path: Path, done: bool, settled: str) -> None:
    bank, clock = Bank(sent={"done": done}), FakeClock()
    gate = ruled(tmp_path, SETTLE, bank, clock=clock)
    ready = executable(gate)
    gate.execute_if_ready(ready, lost)
    clock.advance(1_000)
    found = gate.recover()
    assert [(each.settled is not None and each.settled.outcome.settled_as) for each in found] == [settled]  # type: ignore[union-attr]
    assert bank.asked == [("sent", {"to": "bob", "key": ready.decision_id})]
    assert f"measure `went` of bank/sent was {str(done).lower()} at " in found[0].why
    assert gate.in_doubt() == []


@pytest.mark.parametrize("done", [None, 1, "true", [True], OSError("no route")])
def test_anything_but_true_or_false_settles_nothing(tmp_path: Path, done: Any) -> None:
    #
    clock = FakeClock()
    gate = ruled(tmp_path, SETTLE, Bank(sent=done if isinstance(done, Exception) else {"done": done}), clock=clock)
    gate.execute_if_ready(executable(gate), lost)
    clock.advance(1_000)
    assert [each.settled for each in gate.recover()] == [None]
    assert len(gate.in_doubt()) == 1


def test_without_a_measure_a_person_has_to_find_out(tmp_path: Path) -> None:
    here = services(tmp_path, {})
    record = executable(ruled(tmp_path, {})).record
    assert here.took_effect(record) is None
    assert here.took_effect(msgspec.structs.replace(record, tool=None)) is None


# limits inside the start


def test_only_a_tool_with_limits_is_judged_at_its_start(tmp_path: Path) -> None:
    record = executable(ruled(tmp_path, {})).record
    assert services(tmp_path, {}).admission(record, []) is None
    assert services(tmp_path, {}).admission(sample_decision("d1", tool=None), []) is None


def test_the_limit_that_is_in_the_way_is_named(tmp_path: Path) -> None:
    limits = [
        {"id": "wide", "kind": "count", "at_most": 9, "window": "24h"},
        {"id": "narrow", "kind": "sum", "field": "amount", "at_most": 900, "window": "1h"},
    ]
    ready = ruled(tmp_path, {"limits": limits}).check(request())
    assert isinstance(ready, Executable)
    named: list[str] = []
    admission = services(tmp_path, {"limits": limits}).admission(ready.record, named)
    assert admission is not None
    assert admission.since < ready.record.timestamp
    assert admission.judge(iter(()))
    assert named == []
    assert not admission.judge(iter([ready.record]))
    assert named == ["narrow"]
