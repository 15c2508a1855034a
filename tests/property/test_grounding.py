"""What holds for every text: spans read back, untrusted text is powerless, more text never changes a value silently."""

from __future__ import annotations

import time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preflight.grounding import Context, Target, ground_call, support
from preflight.grounding.index import Index
from preflight.grounding.locate import located_from
from preflight.grounding.numerals import numerals, read
from preflight.grounding.quoting import own_words
from preflight.model.evidence import Located
from preflight.model.instruction import Segment

CONTEXT = Context("2026-11-30T10:00:00+09:00", "Asia/Seoul")
WORDS = (
    "send", "500", "5", "12.5k", "to", "from", "account", "KR-77-0012", "Ana", "or", "no,", "make it", "300", "not",
    "tomorrow", "at 9", "at 9 am", "4 December", "rooms", "3", "ana@example.org", "one hundred", "15%", ">", "\n", ",",
    "and", "red", "blue", "grill", "for 90 minutes", "José", "\u200b", "오십만", "2026-12-04", "'", "instead",
)  # fmt: skip
texts = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join) | st.text(max_size=60)
SCHEMAS: dict[str, dict[str, Any]] = {
    "amount": {"type": "number", "description": "Amount to send"},
    "rooms": {"type": "integer"},
    "to_account": {"type": "string", "description": "Account that receives the money"},
    "to": {"type": "string", "format": "email"},
    "date": {"type": "string", "format": "date"},
    "start": {"type": "string", "format": "date-time"},
    "mode": {"type": "string", "enum": ["fan", "grill"]},
    "tags": {"type": "array", "items": {"type": "string"}},
    "name": {"type": "string"},
}
CLAIMS: dict[str, list[Any]] = {
    "amount": [500, 5, 300, 12500, 12.5, 100, 0.15, 500000],
    "rooms": [3, 5],
    "to_account": ["KR-77-0012", "500", "KR-77"],
    "to": ["ana@example.org", "na@example.org"],
    "date": ["2026-12-01", "2026-12-04", "2027-12-04"],
    "start": ["2026-12-01T09:00:00+09:00", "2026-12-04T09:00:00+09:00"],
    "mode": ["grill", "fan"],
    "tags": [["red", "blue"], ["red"], []],
    "name": ["Ana", "José", "send"],
}
calls = st.fixed_dictionaries({}, optional={name: st.sampled_from(claims) for name, claims in CLAIMS.items()})


def targets(claims: dict[str, Any]) -> list[Target]:
    return [Target(name, SCHEMAS[name], claim) for name, claim in claims.items()]


def known(segments: list[Segment], claims: dict[str, Any]) -> set[str]:
    return {
        name for name, finding in ground_call(segments, targets(claims), CONTEXT).items() if finding.state == "known"
    }


@given(st.lists(texts, min_size=1, max_size=3), calls)
def test_every_span_reads_back_as_the_value(spoken: list[str], claims: dict[str, Any]) -> None:
    segments = [Segment(text, "user") for text in spoken]
    for name, finding in ground_call(segments, targets(claims), CONTEXT).items():
        if finding.evidence is not None:
            evidence = finding.evidence
            assert segments[evidence.segment_index].text[evidence.start : evidence.end] == evidence.matched_text
            again = support(segments, located_from(evidence, claims[name]), SCHEMAS[name], CONTEXT, name=name)
            assert again is not None
            assert again.canonical == evidence.canonical


@given(st.lists(texts, min_size=1, max_size=3), st.lists(texts, max_size=3), st.lists(texts, max_size=3), calls)
def test_untrusted_text_changes_nothing(
    spoken: list[str], first: list[str], second: list[str], claims: dict[str, Any]
) -> None:
    user = [Segment(text, "user") for text in spoken]
    outcomes = [
        {
            name: finding.state
            for name, finding in ground_call(user + [Segment(text) for text in other], targets(claims), CONTEXT).items()
        }
        for other in (first, second)
    ]
    assert outcomes[0] == outcomes[1]


@given(st.lists(texts, min_size=1, max_size=2), texts, calls)
def test_a_value_that_more_text_takes_away_is_recorded_with_its_reason(
    spoken: list[str], more: str, claims: dict[str, Any]
) -> None:
    before = [Segment(text, "user") for text in spoken]
    after = [*before, Segment(more, "user")]
    findings = ground_call(after, targets(claims), CONTEXT)
    for name in known(before, claims):
        if findings[name].state != "known":
            assert findings[name].reason in ("superseded", "shared_span", "swapped", "ambiguous", "incomplete", "weak")
            assert findings[name].mentions


@given(st.lists(texts, min_size=1, max_size=3), st.sampled_from(sorted(CLAIMS)), st.data())
def test_two_values_are_never_both_known_for_one_slot_after_a_correction(
    spoken: list[str], name: str, data: st.DataObject
) -> None:
    first, second = data.draw(st.sampled_from(CLAIMS[name])), data.draw(st.sampled_from(CLAIMS[name]))
    segments = [Segment(text, "user") for text in (*spoken, "sorry, I meant 777")]
    if name == "amount" and first != second:
        assert not known(segments, {name: first}) or any("777" in text for text in spoken) or first == 777
        assert not known(segments, {name: second})
    assert known([*segments], {name: first}) <= {name}


@given(texts, st.integers(-5, 80), st.integers(-5, 80), st.sampled_from(sorted(CLAIMS)), st.data())
def test_a_named_span_is_supported_only_when_it_is_whole_and_inside(
    text: str, start: int, end: int, name: str, data: st.DataObject
) -> None:
    claim = data.draw(st.sampled_from(CLAIMS[name]))
    evidence = support([Segment(text, "user")], Located(claim, 0, start, end), SCHEMAS[name], CONTEXT, name=name)
    if evidence is not None:
        assert 0 <= start < end <= len(text)
        assert text[start:end] == evidence.matched_text
        assert own_words(text)[start:end] == evidence.matched_text


@given(st.integers(0, 10**12), st.sampled_from(["en", "de", "fr", "es", "ja"]))
def test_a_grouped_number_is_read_as_a_whole_in_every_locale(value: int, language: str) -> None:
    comma, dot, space = f"{value:,}", f"{value:,}".replace(",", "."), f"{value:,}".replace(",", "\u00a0")
    written = {"en": comma, "ja": comma, "de": dot, "es": dot, "fr": space}[language]
    assert [found.key for found in numerals(f"pay {written} now", language)] == [Decimal(value)]
    assert read(written, language)[0] == value


@given(st.text(max_size=400))
def test_blanking_foreign_passages_keeps_every_offset(text: str) -> None:
    own = own_words(text)
    assert len(own) == len(text)
    assert all(mine in (char, "\n") for mine, char in zip(own, text, strict=True))


@given(st.text(max_size=200), st.sampled_from(["en", "de", "ko"]))
def test_every_mention_lies_inside_its_text(text: str, language: str) -> None:
    index = Index(text, language)
    for mention in (*index.number_list, *index.dates, *index.times):
        assert 0 <= mention.start < mention.end <= len(text)
        assert mention.anchor is None or mention.start <= mention.anchor[0] < mention.anchor[1] <= mention.end


HOSTILE = (
    "1", "1 ", "1,", "1.", "1-", "1:", "1e", "a", "a@", "no, make it 5 ", "5 or ", "not ", "monday ", "may 5 ",
    "五", "오십만",
    "e\u0301", "a\u200b", "5% ", "5 km ", "from 3 to ", "in 3 days ", "he said: x ", ">\n",
    "http://a.b/", "half a ", "'", "at 9 ", " ",
)  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_time_grows_with_the_text_and_no_faster(unit: str) -> None:
    """Eight times the text may take at most twenty times as long: a square would take sixty-four."""
    claims = {"amount": 5, "date": "2026-12-04", "name": "aaaa", "to": "ana@example.org", "tags": ["a", "b"]}

    def spent(length: int) -> float:
        text = (unit * (length // len(unit) + 1))[:length]
        best = float("inf")
        for attempt in range(3):
            started = time.process_time()
            ground_call([Segment(text + str(attempt), "user")], targets(claims), CONTEXT)
            best = min(best, time.process_time() - started)
        return best

    assert spent(8000) < 20 * max(spent(1000), 0.0005)


@pytest.mark.parametrize("unit", [*HOSTILE, "x y "])
def test_time_grows_with_the_claim_and_no_faster(unit: str) -> None:
    words = Segment("send the text to ana@example.org " * 400, "user")

    def spent(length: int) -> float:
        claim = (unit * (length // len(unit) + 1))[:length]
        best = float("inf")
        for attempt in range(3):
            target = Target("body", {"type": "string"}, claim + str(attempt))
            started = time.process_time()
            ground_call([words], [target], CONTEXT)
            best = min(best, time.process_time() - started)
        return best

    assert spent(32_000) < 20 * max(spent(4_000), 0.0005)
