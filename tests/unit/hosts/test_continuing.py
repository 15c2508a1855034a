"""Prompts that only say to go on belong to the request before them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from preflight.hosts.continuing import goes_on
from preflight.hosts.store import Said, Session, Store
from preflight.hosts.words import StoredWords
from preflight.mcp.calls import instruction_of

HERE = Session("claude-code", "s-1")


@pytest.mark.parametrize(
    "text",
    [
        "ok", "OK.", "continue", "go on", "Go ahead!", "yes, go on please", "done, I answered it",
        "I've answered the form", "weiter", "ja, mach bitte weiter", "oui, continue s’il te plaît",
        "sí, sigue por favor", "네, 계속해줘", "はい、続けて",
    ],
)  # fmt: skip
def test_it_only_says_to_go_on(text: str) -> None:
    assert goes_on(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "!", "do it again", "ok, again", "once more", "yes, to Bob", "no", "stop", "ok, stop", "done?", "go to bob",
        "continue with 500", "please", "it", "the form", "ok " * 30, "send it", "ja, noch einmal", "네, 다시",
    ],
)  # fmt: skip
def test_it_says_something_else(text: str) -> None:
    assert not goes_on(text)


def said(path: str, *prompts: tuple[str, str]) -> tuple[list[int | None], str | None]:
    """The numbers of the requests of these prompts, and the instruction that is current after them."""
    with closing(Store(path)) as store:
        for text, trust in prompts:
            store.say(Said(HERE, text, trust, "claude-code"))
    segments = StoredWords(path).segments({"CLAUDE_CODE_SESSION_ID": HERE.id})
    return [segment.request for segment in segments], instruction_of(segments, None)


def test_it_belongs_to_the_request_before_it(tmp_path: Path) -> None:
    path = str(tmp_path / "words.db")
    before = [("pay Ann", "user"), ("a page", "untrusted")]
    (first, page), pays = said(path, *before)
    numbers, now = said(path, ("ok", "user"), ("continue", "user"))
    assert numbers == [first, page, first, first]
    assert now == pays
    numbers, now = said(path, ("pay Ann again", "user"), ("go on", "user"))
    assert numbers[-1] == numbers[-2] != first
    assert now != pays


def test_the_first_prompt_of_a_session_is_a_request_whatever_it_says(tmp_path: Path) -> None:
    numbers, now = said(str(tmp_path / "words.db"), ("ok", "user"), ("yes", "user"), ("pay Ann", "user"))
    assert len(set(numbers)) == 2
    assert now is not None
