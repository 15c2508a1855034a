"""Words that are handed over in another form are refused, and a label that may be misspelt is told (R-13)."""

from __future__ import annotations

import re
from typing import Any

import pytest

from preflight.errors import InvalidInput
from preflight.mcp import said
from preflight.mcp.said import check_words, segments_in
from preflight.model.instruction import Segment

WRONG: dict[str, tuple[Any, str]] = {
    "texts": (["send 500"], "`words.0`: a `str`, and no segment; give segments, each with its trust"),
    "objects": (
        [Segment("a", "user"), {"text": "send 500", "trust": "user"}],
        "`words.1`: a `dict`, and no segment; give segments, each with its trust",
    ),
    "a text": ("send 500", "`words`: a text, which says not whose it is; give segments"),
}


@pytest.mark.parametrize(("words", "told"), WRONG.values(), ids=WRONG)
def test_what_is_no_list_of_segments_is_refused_with_its_place(words: Any, told: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(told)):
        check_words(words)


@pytest.mark.parametrize("words", [None, "send", {"text": "send"}, 5])
def test_a_function_returns_segments_too(words: Any) -> None:
    with pytest.raises(InvalidInput, match="and no list of segments"):
        segments_in(words)


def test_what_is_looked_at_with_each_call_is_taken_as_it_is() -> None:
    check_words(list)
    given = (Segment("send 500", "user"), Segment("a mail"))
    assert segments_in(given) is given


def test_an_unknown_label_is_told_once(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(said, "_told", set())
    words = [Segment("a", "usr"), Segment("b", "usr"), Segment("c", "user"), Segment("d")]
    segments_in(words)
    segments_in(words)
    assert [record.getMessage() for record in caplog.records] == [
        "the trust label `usr` is not known and counts as `untrusted`; the user's is `user`"
    ]
    assert not words[0].grounds
