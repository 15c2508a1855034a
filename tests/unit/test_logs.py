"""What is logged to standard error: foreign text in it cannot move a terminal, and cannot look like another record."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest

from preflight.logs import VisibleFormatter, handler_to_stderr, make_visible, quiet_wire

HOSTILE = "\x1b[31mred\x1b]0;title\x07 \u202e\x9b2J"
WRITTEN_OUT = "\\u{001b}[31mred\\u{001b}]0;title\\u{0007} \\u{202e}\\u{009b}2J"


def record(message: str, *values: object) -> logging.LogRecord:
    return logging.LogRecord("preflight.mcp", logging.WARNING, "", 0, message, values, None)


def test_what_a_terminal_obeys_is_written_out() -> None:
    assert VisibleFormatter().format(record("`%s` broke", HOSTILE)) == f"`{WRITTEN_OUT}` broke"
    assert VisibleFormatter("preflight: %(message)s").format(record("한 건")) == "preflight: 한 건"


def test_a_line_within_a_record_does_not_look_like_one() -> None:
    told = VisibleFormatter("preflight: %(message)s").format(
        record("%s", "gone\npreflight: all is well\rpreflight: ok")
    )
    assert told == "preflight: gone\n  preflight: all is well\\rpreflight: ok"


def test_a_traceback_is_written_out_too() -> None:
    made = record("it failed")
    made.exc_info = (OSError, OSError(HOSTILE), None)
    assert VisibleFormatter().format(made) == f"it failed\n  OSError: {WRITTEN_OUT}"


def test_the_handler_writes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    handler_to_stderr("preflight: %(message)s").emit(record("%s", HOSTILE))
    assert capsys.readouterr() == ("", f"preflight: {WRITTEN_OUT}\n")


def test_records_that_no_handler_takes_are_written_out_in_every_command() -> None:
    # libraries log what they got: Python writes it to standard error where nobody else does
    code = f"""
import logging
from preflight.cli.app import run
try:
    run(["--version"])
except SystemExit:
    logging.getLogger("some.library").warning({HOSTILE!r})
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stderr == f"{WRITTEN_OUT}\n"


def test_a_program_without_a_last_resort_has_nothing_to_make_visible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging, "lastResort", None)
    make_visible()
    assert logging.lastResort is None


def test_the_mcp_package_says_nothing_of_what_it_could_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger("mcp"), "level", logging.NOTSET)
    quiet_wire()
    assert not logging.getLogger("mcp.client.streamable_http").isEnabledFor(logging.ERROR)
