"""An answer counts only when its channel is enough for the tool that it is about (R-91)."""

from __future__ import annotations

from typing import Any

import pytest

from preflight import AnswerRefused, Asking, Executable, Preflight, ToolRules, create_preflight, inline
from preflight.model.channel import AskBy, Channel
from preflight.render.explain import explanation
from preflight.render.styled import Table
from preflight.rulebook import FixedRules
from preflight.testing import FakeClock, MemoryStorage
from tests.unit.gates import TOOL, hooks, request

GIVEN = {"amount": 5, "to": "eve"}
FORM = "form (client 1, 3.2 s)"


def asked(made: Any, **parts: Any) -> Any:
    checked = made.check(request(**{"claims": {}, **parts}))
    assert isinstance(checked, Asking), checked
    return checked.question


def gate(rules: Any = None, **replaced: Any) -> Preflight:
    return create_preflight(
        storage=MemoryStorage(),
        clock=FakeClock(),
        hooks=hooks(**{k: inline(v) for k, v in replaced.items()}),
        rules=rules,
    )


def under(least: Channel, effect: Any = "irreversible") -> Any:
    return gate(rules={("bank", "transfer"): ToolRules(effect=effect, ask_by=least)})


@pytest.mark.parametrize(
    ("least", "channel", "where"),
    [
        ("program", FORM, "on the answer page or at a terminal"),
        ("page", FORM, "on the answer page or at a terminal"),
        ("page", "api", "on the answer page or at a terminal"),
        ("page", "script", "on the answer page or at a terminal"),
        ("terminal", "page", "at a terminal"),
        ("terminal", "callback", "at a terminal"),
    ],
)
def test_what_is_not_enough_is_refused_and_the_question_stays_open(least: Channel, channel: str, where: str) -> None:
    made = under(least)
    question = asked(made)
    assert made.ask_by(question) == least
    with pytest.raises(AnswerRefused) as refused:
        made.answer(question.question_id, GIVEN, person="u1", channel=channel)
    assert str(refused.value) == f"an answer by `{channel}` does not count here; answer {where}"
    assert "transfer" not in str(refused.value)  # which tool it is may not be settled
    assert made.pending() == [question]
    assert made.storage.answer_to(question.question_id) is None
    assert isinstance(made.answer(question.question_id, GIVEN, person="u1", channel="terminal"), Executable)


@pytest.mark.parametrize(("effect", "least"), [("reversible", "form"), ("irreversible", "program")])
def test_without_a_rule_the_effect_decides(effect: Any, least: Channel) -> None:
    made = gate(rules={("bank", "transfer"): ToolRules(effect=effect)})
    question = asked(made)
    assert made.ask_by(question) == least
    if least == "form":
        assert isinstance(made.answer(question.question_id, GIVEN, person="u1", channel=FORM), Executable)
    else:
        with pytest.raises(AnswerRefused):
            made.answer(question.question_id, GIVEN, person="u1", channel=FORM)


def test_a_tool_that_no_rule_lists_takes_no_form() -> None:
    made = gate()
    with pytest.raises(AnswerRefused, match="does not count here"):
        made.answer(asked(made).question_id, GIVEN, person="u1", channel=FORM)


def test_the_rules_of_now_hold() -> None:
    now = [ToolRules(effect="reversible")]
    made = gate(lambda: FixedRules({("bank", "transfer"): now[0]}))
    question = asked(made)
    now[0] = ToolRules(effect="reversible", ask_by="page")
    with pytest.raises(AnswerRefused):
        made.answer(question.question_id, GIVEN, person="u1", channel=FORM)


def test_an_answer_about_one_tool_does_not_count_for_another_that_asks_for_more() -> None:
    # the act said again may lead to another tool; what a form said of a mild one is nothing to a grave one
    grave = {**TOOL, "name": "wipe"}
    rules = {("bank", "transfer"): ToolRules(effect="reversible"), ("bank", "wipe"): ToolRules(ask_by="page")}
    seen: list[int] = []

    def names(given: Any) -> str | None:
        seen.append(len(given.segments))
        return "send" if len(given.segments) > 1 else None

    made = gate(rules=rules, extract_user_action_name=names)
    question = asked(made)
    assert question.kind == "restatement"
    made.answer(question.question_id, {"restatement": "send 7 to eve"}, person="u1", channel=FORM)
    assert seen[-1] == 2
    again = made.check(request(claims={}, tool=grave))
    assert seen[-1] == 1  # the words from the form are not there
    assert isinstance(again, Asking)
    assert made.ask_by(again.question) == "page"


def test_explaining_tells_by_which_channel_was_answered() -> None:
    made = under("page")
    question = asked(made)
    done = made.answer(question.question_id, GIVEN, person="u1", channel="page")
    record = made.storage.get(question.decision_id).record
    answer = made.storage.answer_to(question.question_id)
    blocks = explanation([record], question, [answer])
    text = "\n".join("".join(piece.text for piece in block) for block in blocks if not isinstance(block, Table))
    assert "u1 by page at " in text
    assert isinstance(done, Executable)


def test_the_effect_of_a_read_asks_like_what_can_be_undone() -> None:
    rules = ToolRules(effect="read", ask_by_effect=AskBy("page", "terminal"))
    assert rules.channel == "page"
