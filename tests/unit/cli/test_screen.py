from __future__ import annotations

import io

import pytest

from preflight.cli.screen import Screen
from preflight.render.styled import Piece, Table, line

LONG = "x" * 150


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


TABLE = Table(("slot", "value"), ((line("지급 계좌", "strong"), line("1", "good")), (line("to"), line(LONG))))


def test_elsewhere_than_on_a_terminal_columns_are_aligned_and_plain() -> None:
    out = io.StringIO()
    Screen(out).show([(Piece("it ", "dim"), Piece("asks", "ask")), TABLE])
    assert out.getvalue() == f"it asks\nslot       value\n지급 계좌  1\nto         {LONG}\n"


def test_on_a_terminal_there_are_colours_and_nothing_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.delenv("NO_COLOR", raising=False)
    out = Terminal()
    Screen(out).show([line(LONG, "ask"), TABLE])
    assert "\x1b[33m" in out.getvalue()
    assert LONG in out.getvalue()  # a line is left to the terminal
    assert out.getvalue().count("x") == 2 * len(LONG)  # a cell is folded
    assert "…" not in out.getvalue()


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_colours_can_be_turned_off(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    out = Terminal()
    Screen(out).show([line("asks", "ask")])
    assert out.getvalue() == "asks\n"


def test_markup_of_others_is_text() -> None:
    out = Terminal()
    Screen(out).show([line("[bold red]x[/] :smile:")])
    assert "[bold red]x[/] :smile:" in out.getvalue()


@pytest.mark.parametrize("stream", [io.StringIO, Terminal], ids=["a file", "a terminal"])
def test_what_a_terminal_obeys_is_never_printed(stream: type[io.StringIO]) -> None:
    out = stream()
    hostile = "a\x1b]0;title\x07\u202e\rb"
    Screen(out).show([line(hostile), Table(("tool",), ((line(hostile),),))])
    assert out.getvalue().count("a\\u{001b}]0;title\\u{0007}\\u{202e}\\rb") == 2
    assert not any(char in out.getvalue() for char in "\x07\u202e\r")
    assert "\x1b]" not in out.getvalue()
