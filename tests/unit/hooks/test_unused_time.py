"""A time in the words that no value takes up may be the time to act: it is asked about, never passed over (R-81)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from preflight import Asking, Deferred, Executable
from preflight.results import Checked
from tests.unit.deferral.runs import DAY, HOUR, RULES, Bank

TRIGGERS = RULES + "triggers:\n  salary: {phrases: [payday], event: salary.received}\n"


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def checked(folder: Path, text: str, claims: dict[str, Any], **properties: Any) -> tuple[Bank, Checked]:
    """Check a call with the amount 100 and further claims, given with their schemas, on Tuesday 1 December at 9:00."""
    bank = Bank(folder, TRIGGERS)
    tool = {"name": "transfer", "inputSchema": schema(amount={"type": "integer"}, **properties)}
    bank.tools["bank", "transfer"] = (tool, bank.transfer)
    request = {
        "user_id": "ana",
        "zone": "Asia/Seoul",
        "call_id": "c",
        "instruction": [{"text": text, "trust": "user"}],
        "tool": {**tool, "server": "bank"},
        "claims": {"amount": 100, **claims},
    }  # fmt: skip
    return bank, bank.gate.check(request)


def open_slots(checked: Checked) -> dict[str, str | None]:
    return {slot.name: slot.note for slot in checked.question.slots} if isinstance(checked, Asking) else {}


def answered(bank: Bank, asked: Checked, **answers: object) -> Checked:
    assert isinstance(asked, Asking)
    return bank.gate.answer(asked.question.question_id, answers, person="ana", channel="terminal")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("transfer 100 on 4 December at 18:30", "4 December at 18:30"),
        ("transfer 100 at 6:30 pm on 4 December 2026", "6:30 pm on 4 December 2026"),
        ("transfer 100 on 4 December", "4 December"),
        ("transfer 100 at 18:30", "18:30"),
        ("transfer 100 today at 18:30", "today at 18:30"),
        ("transfer 100, 15th of December", "15th of December"),
        ("transfer 100 Friday", "Friday"),
        ("transfer 100 on payday", "payday"),
        ("transfer 100 for the invoice of 3 March, on 4 December", "4 December"),
        ('transfer 100, the note is "dinner on 4 December", on 5 December', "5 December"),
        ("transfer 100, 12월 4일 오후 6시 30분", "12월 4일 오후 6시 30분"),
    ],
)
def test_a_time_that_no_value_takes_up_is_asked_about(tmp_path: Path, text: str, words: str) -> None:
    _, asked = checked(tmp_path, text, {})
    assert open_slots(asked) == {"when": "time_unused"}
    (state,) = [state for state in asked.record.states if state.name == "when"]
    assert [mention.matched_text for mention in state.mentions] == [words]


@pytest.mark.parametrize(
    "text",
    [
        "transfer 100",
        "transfer 100 now, not on 4 December",
        "transfer 100 today",
        "transfer 100 for the invoice of 3 March 2027",
        "transfer 100 for 4 December at 18:30",
        "transfer 100 for the meeting that was on 4 December",
        "transfer 100 before 18:30",
        "transfer 100 as my 18:30 appointment costs that",
        "transfer 100 for Friday's dinner",
        "transfer 100, as on 3 March 2026",
        'transfer 100 with "4 December at 18:30" as the text',
        "transfer 100\n> pay on 4 December at 18:30",
    ],
)
def test_a_time_of_a_thing_lets_the_call_go_on(tmp_path: Path, text: str) -> None:
    _, passed = checked(tmp_path, text, {})
    assert isinstance(passed, Executable), open_slots(passed)


DATE = {"type": "string", "format": "date"}
MOMENT = {"type": "string", "format": "date-time"}


@pytest.mark.parametrize(
    ("text", "claims", "properties"),
    [
        ("transfer 100 on 4 December 2026", {"date": "2026-12-04"}, {"date": DATE}),
        ("transfer 100 on Friday", {"date": "2026-12-04"}, {"date": DATE}),
        ("transfer 100 on Friday at 18:30", {"at": "2026-12-04T18:30:00+09:00"}, {"at": MOMENT}),
        ("transfer 100 tomorrow", {"day": "tomorrow"}, {"day": {"type": "string"}}),
        ("transfer 100, sell at 15 dollars", {"price": 15}, {"price": {"type": "number"}}),
    ],
)
def test_a_time_that_is_a_value_of_the_call_is_not_the_time_to_act(
    tmp_path: Path, text: str, claims: dict[str, Any], properties: dict[str, Any]
) -> None:
    _, passed = checked(tmp_path, text, claims, **properties)
    assert isinstance(passed, Executable), open_slots(passed)
    assert passed.record.fixed is not None
    assert (passed.record.fixed.c1_when_case, passed.record.phase) == ("immediate", "at_trigger")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("transfer 100 later, for the invoice of 4 December 2026", "when_not_said"),
        ("schedule it: transfer 100 for the invoice of 4 December 2026", "when_not_said"),
        ("transfer 100 tomorrow for the invoice of 4 December 2026", "time_of_day_not_said"),
        ("transfer 100 in  2 hours for the invoice of 4 December 2026", "when_not_said"),
    ],
)
def test_what_still_says_later_beside_a_value_counts(tmp_path: Path, text: str, reason: str) -> None:
    _, asked = checked(tmp_path, text, {"invoice_date": "2026-12-04"}, invoice_date=DATE)
    assert open_slots(asked).get("when") == reason


@pytest.mark.parametrize("label", ["4 December at 18:30", "on 4 December at 18:30"])
def test_a_text_that_repeats_the_time_does_not_take_it_up(tmp_path: Path, label: str) -> None:
    # the model chose to write it there; it may be the time to act all the same
    _, asked = checked(tmp_path, "transfer 100 on 4 December at 18:30", {"label": label}, label={"type": "string"})
    assert open_slots(asked) == {"when": "time_unused"}


@pytest.mark.parametrize("label", ["2026-12-04T18:30", "2026-12-04", "18:30"])
def test_a_text_that_holds_the_time_itself_does_not_take_it_up(tmp_path: Path, label: str) -> None:
    _, asked = checked(tmp_path, "transfer 100 on 4 December at 18:30", {"label": label}, label={"type": "string"})
    assert not isinstance(asked, Executable)


def test_a_day_that_a_value_takes_up_takes_no_hour_with_it(tmp_path: Path) -> None:
    text = "transfer 100 on 4 December 2026 at 18:30"
    _, asked = checked(tmp_path, text, {"date": "2026-12-04"}, date=DATE)
    assert open_slots(asked) == {"when": "time_unused"}
    (state,) = [state for state in asked.record.states if state.name == "when"]
    assert [mention.matched_text for mention in state.mentions] == ["18:30"]


@pytest.mark.parametrize(
    "text", ["from 4 December", "not before 4 December", "as of 4 December", "the date is 4 December"]
)
def test_a_beginning_is_no_time_of_a_thing(tmp_path: Path, text: str) -> None:
    _, asked = checked(tmp_path, f"transfer 100, {text}", {})
    assert open_slots(asked) == {"when": "time_unused"}


def test_the_answer_now_lets_it_run_and_is_told(tmp_path: Path) -> None:
    bank, asked = checked(tmp_path, "transfer 100 on 4 December at 18:30", {})
    passed = answered(bank, asked, when="Now.")
    assert isinstance(passed, Executable)
    assert passed.record.notices == ("it is to be done now, as the user answered",)


def test_the_answer_with_a_time_defers_it(tmp_path: Path) -> None:
    bank, asked = checked(tmp_path, "transfer 100 on 4 December at 18:30", {})
    waits = answered(bank, asked, when="2026-12-04T18:30:00+09:00")
    assert isinstance(waits, Deferred)
    assert waits.record.notices == ("Friday 4 December 2026, 18:30 Asia/Seoul",)
    assert waits.record.fixed is not None
    assert waits.record.fixed.c1_when_case == "scheduled"
    bank.clock.advance(3 * DAY + 9.5 * HOUR)
    bank.worker.run_due()
    assert bank.calls == [{"amount": 100}]


def test_the_answer_with_a_recurrence_recurs(tmp_path: Path) -> None:
    bank, asked = checked(tmp_path, "transfer 100 on 4 December at 18:30", {})
    waits = answered(bank, asked, when="30 18 * * 5 Asia/Seoul until cancelled")
    assert isinstance(waits, Deferred)
    assert waits.record.fixed is not None
    assert waits.record.fixed.c1_when_case == "recurring"


def test_a_run_that_was_to_wait_may_be_answered_with_now(tmp_path: Path) -> None:
    bank, asked = checked(tmp_path, "transfer 100 tomorrow", {})
    assert open_slots(asked) == {"when": "time_of_day_not_said"}
    assert isinstance(answered(bank, asked, when="now"), Executable)


def test_an_open_slot_for_a_time_is_asked_for_first(tmp_path: Path) -> None:
    bank, asked = checked(tmp_path, "transfer 100 on Friday or Saturday", {"date": "2026-12-05"}, date=DATE)
    assert set(open_slots(asked)) == {"date"}
    passed = answered(bank, asked, date="2026-12-04")
    assert open_slots(passed) == {"when": "time_of_day_not_said"}  # Saturday is left


def test_a_value_that_was_answered_takes_up_the_words_that_mean_it(tmp_path: Path) -> None:
    bank, asked = checked(tmp_path, "transfer 100 on 4 December", {}, date=DATE)
    assert set(open_slots(asked)) == {"date"}
    assert isinstance(answered(bank, asked, date="2026-12-04"), Executable)
