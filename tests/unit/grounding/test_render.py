"""The user's sentence with the span marked."""

from __future__ import annotations

import pytest

from preflight.grounding.render import render, sentence, visible
from preflight.model.evidence import Evidence


def evidence(text: str, quote: str, **more: object) -> Evidence:
    start = text.index(quote)
    return Evidence(0, start, start + len(quote), quote, "exact", quote, **more)  # type: ignore[arg-type]


def test_the_span_stands_in_brackets_within_its_sentence() -> None:
    text = "Hello there. Send 500 to Ana! Bye."
    assert render(text, evidence(text, "500")) == "Send [500] to Ana!  (stated by exact; read as `500`)".replace(
        "Send", " Send"
    )


def test_far_words_are_cut() -> None:
    text = "a " * 60 + "here" + " b" * 60
    line = sentence(text, evidence(text, "here"))
    assert line.startswith("… ")
    assert line.endswith(" …")
    assert "[here]" in line
    assert len(line) < 140


def test_every_part_is_marked_and_an_anchor_is_not_a_part() -> None:
    text = "lunch tomorrow at 12:00"
    day, hour = evidence(text, "tomorrow"), evidence(text, "12:00")
    assert sentence(text, evidence(text, "tomorrow at 12:00", parts=(day, hour))) == "lunch [tomorrow] at [12:00]"
    overlapping = evidence(text, "tomorrow at 12:00", parts=(day, evidence(text, "tomorrow at")))
    assert sentence(text, overlapping) == "lunch [tomorrow] at 12:00"
    text = "3 to 7 March"
    anchored = evidence(text, text, parts=(evidence(text, "3", pointer="#anchor"),))
    assert sentence(text, anchored) == "[3 to 7 March]"


def test_the_reading_names_rule_alternatives_and_flags() -> None:
    text = "on 4/5"
    shown = render(text, evidence(text, "4/5", rule="coming_year", alternatives=("2027-05-04",), flags=("ambiguous",)))
    assert shown == "on [4/5]  (stated by exact; rule coming_year; read as `4/5`; or `2027-05-04`; ambiguous)"
    bare = Evidence(0, 3, 6, "4/5", "plural", "", rule="plural")
    assert render(text, bare) == "on [4/5]  (stated by plural)"


@pytest.mark.parametrize(("start", "end"), [(5, 5), (4, 2), (-1, 3), (0, 99)])
def test_a_span_outside_the_text_is_said_to_be_missing(start: int, end: int) -> None:
    assert "not in the text" in render("short", Evidence(0, start, end, "", "exact", ""))


def test_characters_that_deceive_are_shown_as_code_points() -> None:
    assert visible("a\u202eb\x1b[1m\nc") == "a<U+202E>b<U+001B>[1m c"
