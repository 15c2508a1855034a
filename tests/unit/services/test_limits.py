"""Limits over the record log: what earlier executions used up, and what is judged inside a start (R-66)."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from preflight import Executable, Held, Preflight, ProviderError
from preflight.results import Checked, Executed, Refused
from preflight.testing import FakeClock
from tests.unit.gates import TOOL, request
from tests.unit.ruled import condition, ruled

SUM = {"id": "day", "kind": "sum", "field": "amount", "at_most": 1_200, "window": "24h"}
COUNT = {"id": "hour", "kind": "count", "at_most": 2, "window": "1h"}


def limited(folder: Path, *limits: Any, clock: FakeClock | None = None, **rules: Any) -> Preflight:
    return ruled(folder, {"limits": list(limits), **rules}, clock=clock or FakeClock())


def check(gate: Preflight, number: int, amount: Any = 500, **parts: Any) -> Checked:
    said = [{"text": f"send {amount} to bob", "trust": "user"}]
    return gate.check(request(instruction=said, claims={"amount": amount, "to": "bob"}, call_id=f"c{number}", **parts))


def run(gate: Preflight, number: int, amount: Any = 500, call: Any = lambda _: None, **parts: Any) -> Any:
    checked = check(gate, number, amount, **parts)
    assert isinstance(checked, Executable), checked.record.reason
    return gate.execute_if_ready(checked, call)


def test_what_was_executed_counts_and_this_call_too(tmp_path: Path) -> None:
    gate = limited(tmp_path, SUM)
    assert isinstance(run(gate, 1), Executed)
    second = check(gate, 2)
    assert condition(second, "day").note == "1000 of at most 1200"
    gate.execute_if_ready(second.record, lambda _: None)
    third = check(gate, 3)
    assert isinstance(third, Held)
    assert (condition(third, "day").status, condition(third, "day").note) == ("unmet", "1500 of at most 1200")
    assert isinstance(check(gate, 4, 200), Executable)  # exactly at the limit


def test_a_decision_that_was_not_started_counts_nothing(tmp_path: Path) -> None:
    gate = limited(tmp_path, SUM)
    for number in range(4):
        assert isinstance(check(gate, number), Executable)


def test_a_start_that_the_provider_refused_counts_nothing_and_one_in_doubt_counts(tmp_path: Path) -> None:
    gate = limited(tmp_path, SUM)

    def refused(_: object) -> None:
        raise ProviderError("no such account")

    def lost(_: object) -> None:
        raise TimeoutError

    run(gate, 1, 1_000, refused)
    run(gate, 2, 1_000, lost)
    assert condition(check(gate, 3, 100), "day").note == "1100 of at most 1200"


def test_what_left_the_window_counts_no_more(tmp_path: Path) -> None:
    clock = FakeClock()
    gate = limited(tmp_path, COUNT, clock=clock)
    run(gate, 1)
    clock.advance(1_800)
    run(gate, 2)
    assert isinstance(check(gate, 3), Held)
    clock.advance(1_801)
    assert isinstance(check(gate, 4), Executable)


@pytest.mark.parametrize(("per", "counted"), [("user", 1), ("tenant", 2)])
def test_a_limit_counts_per_user_or_for_all_of_a_tenant(tmp_path: Path, per: str, counted: int) -> None:
    gate = limited(tmp_path, {**COUNT, "per": per})
    run(gate, 1, user_id="u2")
    assert condition(check(gate, 2), "hour").note == f"{counted} of at most 2"


def test_other_tenants_servers_and_tools_count_nothing(tmp_path: Path) -> None:
    gate = limited(tmp_path, {**COUNT, "per": "tenant"})
    run(gate, 1, scope={"tenant": "acme", "conversation": "c"})
    run(gate, 2, tool={**TOOL, "server": "other"})
    run(gate, 3, tool={**TOOL, "name": "wire"})
    assert condition(check(gate, 4), "hour").note == "1 of at most 2"


def test_fractions_add_up_exactly(tmp_path: Path) -> None:
    # three times a tenth in floats is more than three tenths
    gate = limited(tmp_path, {**SUM, "at_most": 0.3})
    for number in range(3):
        run(gate, number, 0.1)
    assert isinstance(check(gate, 4, 0.1), Held)


def test_an_amount_that_is_not_known_makes_the_limit_unknown(tmp_path: Path) -> None:
    checked = limited(tmp_path, SUM).check(request(claims={"to": "bob"}))
    state = condition(checked, "day")
    assert (state.status, state.missing, state.route) == ("unknown", ("args.amount",), "ask_user")


def test_a_secret_amount_is_not_added_up(tmp_path: Path) -> None:
    # it would open every record of the window
    checked = check(limited(tmp_path, SUM, fields={"amount": {"secret": True}}), 1)
    assert isinstance(checked, Held)
    assert condition(checked, "day").route == "definition_repair"
    assert condition(checked, "day").note == "a limit cannot add up a field that is secret"


def test_what_was_used_of_a_limit_may_be_read_in_a_condition(tmp_path: Path) -> None:
    half = {"id": "half", "expression": "measured.day + args.amount <= 600"}
    gate = limited(tmp_path, SUM, conditions=[half])
    first = check(gate, 1)
    assert condition(first, "half").measured["day"]["value"] == 0
    gate.execute_if_ready(first.record, lambda _: None)
    second = check(gate, 2)
    assert (condition(second, "half").status, condition(second, "day").status) == ("unmet", "met")


def test_of_two_decisions_that_fit_only_one_at_a_time_one_starts(tmp_path: Path) -> None:
    gate = limited(tmp_path, {**COUNT, "at_most": 1})
    first, second = check(gate, 1), check(gate, 2)
    assert isinstance(first, Executable)
    assert isinstance(second, Executable)
    assert isinstance(gate.execute_if_ready(first, lambda _: None), Executed)
    late = gate.execute_if_ready(second, lambda _: None)
    assert isinstance(late, Refused)
    assert "hour" in late.why


def test_of_many_starts_at_once_as_many_run_as_the_limit_allows(tmp_path: Path) -> None:
    gate = limited(tmp_path, COUNT, clock=FakeClock())
    ready = [check(gate, number) for number in range(6)]
    called: list[object] = []
    threads = [threading.Thread(target=lambda r=r: gate.execute_if_ready(r.record, called.append)) for r in ready]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert 1 <= len(called) <= 2  # under one action key, a start may also find another one running
