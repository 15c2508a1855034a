from __future__ import annotations

import pytest

from preflight.grounding import Context, Target, ground_call
from preflight.model.evidence import Evidence
from preflight.model.instruction import Segment
from preflight.render.reading import near, readings

CONTEXT = Context("2026-11-30T09:00:00+00:00", "UTC", "en")
NUMBER = {"type": "number"}
DATE = {"type": "string", "format": "date"}
MOMENT = {"type": "string", "format": "date-time"}
TWO_PLACES = 'derived by relative date from "tomorrow" and "12:00"'
NAMES = {"type": "array", "items": {"type": "string"}}


def found(text: str, schema: dict[str, object], claim: object, name: str = "value", other: str = "") -> Evidence:
    segments = [Segment(text, "user"), *([Segment(other, "untrusted")] if other else [])]
    finding = ground_call(segments, [Target(name, schema, claim)], CONTEXT)[name]
    evidence = finding.evidence or finding.mentions[0]
    assert text[evidence.start : evidence.end] == evidence.matched_text
    return evidence


KNOWN = {
    "as written": ("mail Ana", {"type": "string"}, "Ana", ['"Ana" read as exact (stated)']),
    "another form": ("send 2k", NUMBER, 2000, ['"2k" read as number scaled: 2000 (stated)']),
    "another reading": ("send 1,250", NUMBER, 1250, ['"1,250" read as number: 1250 (stated); may also be 1.250']),
    "derived": ("come tomorrow", DATE, "2026-12-01", [
        '"tomorrow" read as date relative: 2026-12-01 (derived by relative date)',
    ]),
    "derived from two places": ("tomorrow at 12:00", MOMENT, "2026-12-01T12:00:00+00:00", [
        f'"tomorrow at 12:00" read as date time: 2026-12-01T12:00:00+00:00 ({TWO_PLACES})',
    ]),
    "an anchor is no base": ("3 to 7 March 2027", DATE, "2027-03-03", [
        '"3 to 7 March 2027" read as date: 2027-03-03 (stated)',
    ]),
    "part by part": ("invite Ana and Bea", NAMES, ["Ana", "Bea"], [
        '/0: "Ana" read as exact (stated)', '/1: "Bea" read as exact (stated)',
    ]),
    "a rough number": ("send about 250", NUMBER, 250, ['"250" read as number (stated); said roughly']),
}  # fmt: skip


@pytest.mark.parametrize(("text", "schema", "claim", "told"), KNOWN.values(), ids=KNOWN)
def test_what_is_known_names_words_normaliser_result_and_grade(
    text: str, schema: dict[str, object], claim: object, told: list[str]
) -> None:
    assert readings(found(text, schema, claim)) == told


def test_that_a_value_also_stands_elsewhere_is_told() -> None:
    assert readings(found("mail Ana", {"type": "string"}, "Ana", other="to Ana")) == [
        '"Ana" read as exact (stated); also in text the user did not write'
    ]


def test_a_mention_that_does_not_count_shows_no_candidate() -> None:
    weak = found("the first one", NUMBER, 1)
    assert near(weak) == '"first" read as ordinal words, weak'
    assert weak.canonical == "1"


def test_all_readings_of_an_open_mention_are_listed_and_none_is_marked() -> None:
    told = {near(found("next Friday", DATE, day)) for day in ("2026-12-04", "2026-12-11")}
    assert told == {'"next Friday" read as date relative, derived: may be 2026-12-04 or 2026-12-11'}


def test_look_alikes_are_told_by_code_point() -> None:
    mention = Evidence(0, 0, 2, "p\u0430", "exact", "pa", "weak", flags=("confusable", "new_flag"))
    assert near(mention) == '"pа" read as exact, weak; confusable; new flag; U+0430 cyrillic small letter a'


def test_what_a_terminal_would_obey_is_written_out() -> None:
    told = readings(Evidence(0, 0, 1, "\x1b[2J", "exact", "\u202e", alternatives=("\u202d",), pointer="/\u202c"))
    assert told == ['/\\u{202c}: "\\u{001b}[2J" read as exact: \\u{202e} (stated); may also be \\u{202d}']
