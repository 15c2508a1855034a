from __future__ import annotations

import io
import json
import sys
import unicodedata

import pytest

from preflight.cli.screen import Screen
from preflight.render.visible import code_points, quoted, value_text, visible, width

HIDDEN = {
    "escape": "\x1b", "null": "\x00", "delete": "\x7f", "C1": "\x9b", "line separator": "\u2028",
    "no-break space": "\u00a0", "right-to-left override": "\u202e", "isolate": "\u2066", "zero-width space": "\u200b",
    "joiner": "\u200d",
    "soft hyphen": "\u00ad", "tag": "\U000e0041", "variation selector": "\ufe0f", "more selectors": "\U000e0101",
    "Hangul filler": "\u3164", "blank Braille": "\u2800", "private use": "\ue000", "surrogate": "\ud800",
}  # fmt: skip


@pytest.mark.parametrize("char", HIDDEN.values(), ids=HIDDEN)
def test_what_draws_nothing_or_moves_things_is_written_out(char: str) -> None:
    assert visible(f"a{char}b") == f"a\\u{{{ord(char):04x}}}b"


@pytest.mark.parametrize("text", ["plain", "보내줘 오십만 원", "naïve", "日本　語", "a + b = ~c", "😀", "e\u0301"])
def test_what_can_be_seen_stays(text: str) -> None:
    assert visible(text) == text


def test_lines_and_tabs_stay_in_their_line() -> None:
    assert visible("a\nb\tc\r") == "a\\nb\\tc\\r"


def test_no_character_at_all_can_command_a_terminal() -> None:
    for code in range(sys.maxunicode + 1):
        category = unicodedata.category(chr(code))
        if category[0] == "C" and category != "Cn":
            assert visible(chr(code)).isascii()
            assert visible(chr(code)).isprintable()


def test_the_ends_of_a_quoted_text_can_be_seen() -> None:
    assert quoted('a "b" \\ c ') == '"a \\"b\\" \\\\ c "'


def test_a_value_is_shown_whole_in_one_line() -> None:
    value = {"a\n": [1, 2.5, None, True, "x" * 500], "b": {}}
    assert value_text(value) == '{"a\\n": [1, 2.5, null, true, "' + "x" * 500 + '"], "b": {}}'
    assert value_text(12345678901234567891) == "12345678901234567891"


def test_look_alikes_are_told_by_code_point() -> None:
    assert code_points("p\u0430yp\u0430l") == "U+0430 cyrillic small letter a"


@pytest.mark.parametrize(("text", "cells"), [("abc", 3), ("오십", 4), ("e\u0301", 1), ("ａ", 2)])
def test_width_counts_cells(text: str, cells: int) -> None:
    assert width(text) == cells


def test_json_on_a_screen_has_no_hidden_characters_and_reads_back() -> None:
    value = {"a": "".join(char for char in HIDDEN.values() if char != "\ud800"), "b": "오십"}
    out = io.StringIO()
    Screen(out).json(value)
    assert [char for char in HIDDEN.values() if char in out.getvalue()] == []
    assert "오십" in out.getvalue()
    assert json.loads(out.getvalue()) == value
