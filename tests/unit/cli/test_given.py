"""What a person types at a prompt: no word of the prompt becomes a value, and every text can be typed as one."""

from __future__ import annotations

import pytest

from preflight.cli.given import given_values, prompted_values
from preflight.errors import AnswerRefused
from preflight.model.question import AskedItem, AskedSlot, Question
from preflight.model.request import Scope
from preflight.render.question import asked
from preflight.render.styled import Table, plain

TEXT = {"type": "string"}
SHOWN = AskedSlot("body", TEXT, note="needs_confirmation", shown="Dear Ana", confirm="confirm/body=1a")
MEMO = AskedSlot("memo", TEXT, nullable=True)
COUNT = AskedSlot("count", {"type": "integer"}, nullable=True)
NOTE = AskedSlot("note", TEXT, nullable=True, shown="at the door", confirm="confirm/note=2b")
NAME = AskedSlot("name", TEXT)


def question(*slots: AskedSlot, items: tuple[AskedItem, ...] = ()) -> Question:
    return Question(
        question_id="q", kind="value", decision_id="d", scope=Scope("", ""), user_id="minji", message="m",
        created_at="2026-01-01T00:00:00Z", expires_at="2026-01-02T00:00:00Z", slots=slots, items=items,
    )  # fmt: skip


def said(asked_for: Question, *lines: str) -> tuple[dict[str, object], list[str]]:
    prompts: list[str] = []
    left = iter([*lines, *[""] * 9])

    def ask(prompt: str) -> str:
        prompts.append(prompt)
        return next(left)

    return prompted_values(asked_for, ask), prompts


ANSWERS: dict[str, tuple[AskedSlot, list[str], dict[str, object]]] = {
    "there is none": (MEMO, ["2"], {"memo": None}),
    "a value": (MEMO, ["1", "rent"], {"memo": "rent"}),
    "the text none": (MEMO, ["1", "none"], {"memo": "none"}),
    "the text of a number of the prompt": (MEMO, ["1", "2"], {"memo": "2"}),
    "none as a choice is no value": (MEMO, ["none"], {}),
    "a word for a choice, then the choice": (MEMO, ["none", "there is none", "2"], {"memo": None}),
    "a value in place of a choice is none": (MEMO, ["rent"], {}),
    "none of a whole number": (COUNT, ["2"], {"count": None}),
    "a whole number": (COUNT, ["1", "2"], {"count": 2}),
    "a word for a whole number, then one": (COUNT, ["1", "none", "7"], {"count": 7}),
    "approved": (SHOWN, ["1"], {"confirm/body=1a": True}),
    "another text": (SHOWN, ["2", "Dear Bo"], {"body": "Dear Bo"}),
    "the text true": (SHOWN, ["2", "true"], {"body": "true"}),
    "true is no choice": (SHOWN, ["true", "y", "confirm/body=1a=true"], {}),
    "true, then the choice": (SHOWN, ["true", "1"], {"confirm/body=1a": True}),
    "approved where it may be absent": (NOTE, ["1"], {"confirm/note=2b": True}),
    "absent where it may be approved": (NOTE, ["3"], {"note": None}),
    "left open at the choice": (NOTE, [""], {}),
    "left open at the value": (NOTE, ["2", ""], {}),
    "required, asked for at once": (NAME, ["1"], {"name": "1"}),
}


@pytest.mark.parametrize(("slot", "lines", "values"), ANSWERS.values(), ids=ANSWERS)
def test_what_is_typed_says_exactly_one_thing(slot: AskedSlot, lines: list[str], values: dict[str, object]) -> None:
    assert said(question(slot), *lines)[0] == values


def test_the_prompt_names_each_way_by_its_number() -> None:
    assert said(question(NOTE), "2", "x")[1] == [
        "   note (1 approve it as it is shown, 2 type a value, 3 there is none): ",
        "   note: ",
    ]
    assert said(question(NAME), "x")[1] == ["   name: "]


def test_an_item_is_asked_for_again_until_it_is_exactly_true(capsys: pytest.CaptureFixture[str]) -> None:
    values, prompts = said(question(NAME, items=(AskedItem("rent", "rent is due"),)), "Ana", "yes", "true")
    assert values == {"name": "Ana", "rent": True}
    assert prompts == ["   name: ", *["   rent (`true` confirms): "] * 2]
    assert "`rent` is confirmed by exactly `true`" in capsys.readouterr().out


MEANT = {
    "none": (MEMO, "memo=none", 'write `--none memo`, or `memo:="none"`'),
    "none in capitals": (MEMO, "memo=None", 'write `--none memo`, or `memo:="None"`'),
    "true": (SHOWN, "body=true", 'write `confirm/body=1a=true`, or `body:="true"`'),
    "yes": (SHOWN, "body=yes", 'write `confirm/body=1a=true`, or `body:="yes"`'),
}


@pytest.mark.parametrize(("slot", "text", "told"), MEANT.values(), ids=MEANT)
def test_an_argument_that_may_mean_two_things_is_refused(slot: AskedSlot, text: str, told: str) -> None:
    with pytest.raises(AnswerRefused) as refused:
        given_values(question(slot), [text], [])
    assert told in str(refused.value)


def test_the_same_words_are_taken_where_they_mean_one_thing() -> None:
    assert given_values(question(MEMO), ['memo:="none"'], []) == {"memo": "none"}
    assert given_values(question(MEMO), [], ["memo"]) == {"memo": None}
    assert given_values(question(NAME), ["name=none"], []) == {"name": "none"}
    assert given_values(question(SHOWN), ["confirm/body=1a=true"], []) == {"confirm/body=1a": True}
    members = AskedSlot("x", {"type": "string", "enum": ["none", "all"]}, nullable=True)
    assert given_values(question(members), ["x=none"], []) == {"x": "none"}


def test_what_is_shown_before_a_prompt_has_no_word_that_the_prompt_takes_otherwise() -> None:
    def lines(*, prompted: bool) -> str:
        blocks = asked(question(NOTE), prompted=prompted)
        return "\n".join(plain(block) for block in blocks if not isinstance(block, Table))

    assert "=true" not in lines(prompted=True)
    assert "exactly `confirm/note=2b=true` approves it" in lines(prompted=False)
    assert "`--none note` says that there is none" in lines(prompted=False)
    assert "or none" not in lines(prompted=True)
