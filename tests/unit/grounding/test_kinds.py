"""What becomes known and what does not, by kind of value and rule."""

from __future__ import annotations

import pytest

from preflight.grounding import Context, Target, ground_call, support
from preflight.grounding.locate import located_from
from preflight.model.instruction import Segment
from tests.unit.grounding import cases, cases_of_numbers, cases_of_rows, cases_of_rules, cases_of_times, cases_of_words

EVERY = [
    *cases_of_numbers.NUMBERS,
    *cases_of_times.DATES,
    *cases_of_words.STRINGS,
    *cases_of_words.OPTIONS,
    *cases_of_words.CODES,
    *cases_of_words.LISTS,
    *cases_of_rules.RULES,
    *cases_of_rules.TRUST,
    *cases_of_rows.ROWS,
    *cases_of_rows.OPERANDS,
    *cases_of_rows.RANGES,
    *cases_of_rows.TAKEN_BACK,
    *cases_of_rows.KEYS,
    *cases_of_rows.LOWER,
    *cases_of_rows.NAMED_OTHERWISE,
]


def spoken(*texts: str | Segment) -> list[Segment]:
    return [text if isinstance(text, Segment) else Segment(text, "user") for text in texts]


@pytest.mark.parametrize(
    "case", EVERY, ids=lambda case: f"{case[0][0] if isinstance(case[0][0], str) else case[0][0].text}"
)
def test_each_argument_comes_out_as_expected(case: cases.Case) -> None:
    texts, arguments, locale = case
    targets = [Target(name, schema, claim) for name, (schema, claim, _) in arguments.items()]
    findings = ground_call(spoken(*texts), targets, Context(cases.NOW, cases.ZONE, locale))
    assert {name: findings[name].state for name in arguments} == {
        name: state for name, (_, _, state) in arguments.items()
    }


@pytest.mark.parametrize(
    "case", EVERY, ids=lambda case: f"{case[0][0] if isinstance(case[0][0], str) else case[0][0].text}"
)
def test_known_evidence_quotes_the_text_and_replays(case: cases.Case) -> None:
    texts, arguments, locale = case
    segments, context = spoken(*texts), Context(cases.NOW, cases.ZONE, locale)
    findings = ground_call(
        segments, [Target(name, schema, claim) for name, (schema, claim, _) in arguments.items()], context
    )
    for name, (schema, claim, state) in arguments.items():
        evidence = findings[name].evidence
        assert (evidence is not None) == (state == cases.KNOWN)
        if evidence is not None:
            assert segments[evidence.segment_index].text[evidence.start : evidence.end] == evidence.matched_text
            again = support(segments, located_from(evidence, claim), schema, context, name=name)
            assert again is not None
            assert (again.start, again.end, again.canonical) == (evidence.start, evidence.end, evidence.canonical)
