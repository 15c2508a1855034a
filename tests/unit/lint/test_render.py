from __future__ import annotations

import json

import pytest

from preflight.lint import Finding, Level, as_json, counts, exit_code, summary, text

GRAVE = Finding("PF040", "error", "bank", "pay", "/description", "a text gives orders", "rewrite it")
MIDDLE = Finding("PF002", "warning", "bank", "pay", "/description", "there is no description", "say what it does")
SLIGHT = Finding("PF022", "note", "bank", "", "", "1 of 1 tools", "declare the hint")


def alike(tool: str) -> Finding:
    return Finding("PF002", "warning", "bank", tool, "/description", "there is no description", "say what it does")


@pytest.mark.parametrize(
    ("findings", "fail_on", "code"),
    [
        ((), "note", 0),
        ((SLIGHT,), "error", 0),
        ((SLIGHT,), "warning", 0),
        ((SLIGHT,), "note", 1),
        ((MIDDLE,), "error", 0),
        ((MIDDLE,), "warning", 1),
        ((SLIGHT, GRAVE), "error", 1),
        ((GRAVE,), "never", 0),
    ],
)
def test_exit_code(findings: tuple[Finding, ...], fail_on: Level, code: int) -> None:
    assert exit_code(findings, fail_on) == code


def test_exit_code_fails_on_errors_unless_told_otherwise() -> None:
    assert (exit_code((MIDDLE,)), exit_code((GRAVE,))) == (0, 1)


def test_counts_and_summary() -> None:
    assert counts((GRAVE, SLIGHT, SLIGHT)) == {"error": 1, "warning": 0, "note": 2}
    assert summary((GRAVE, SLIGHT, SLIGHT)) == "1 error, 0 warnings, 2 notes"


def test_text() -> None:
    assert text((GRAVE, SLIGHT)) == (
        "bank\n"
        "  error PF040 injection: pay /description\n"
        "    a text gives orders\n"
        "    do: rewrite it\n"
        "  note PF022 hints-missing: the list\n"
        "    1 of 1 tools\n"
        "    do: declare the hint\n"
        "\n"
        "1 error, 0 warnings, 1 note\n"
    )


def test_the_same_finding_on_several_tools_is_told_once() -> None:
    told = text(tuple(alike(f"tool{number}") for number in range(8)))
    assert "PF002 no-description: tool0, tool1, tool2, tool3, tool4, tool5 and 2 more\n" in told
    assert told.count("there is no description") == 1


def test_slighter_findings_are_only_counted() -> None:
    told = text((GRAVE, MIDDLE, SLIGHT), "warning")
    assert "PF002" in told
    assert "PF022" not in told
    assert told.endswith("1 error, 1 warning, 1 note; 1 of them not shown\n")


def test_nothing_found() -> None:
    assert text(()) == "0 errors, 0 warnings, 0 notes\n"


def test_what_cannot_be_seen_is_written_out() -> None:
    told = text((Finding("PF040", "error", "ba\x1bnk", "p\u202eay", "/a\u200b", "m", "d"),))
    assert "\x1b" not in told
    assert "ba\\u{001b}nk" in told
    assert "p\\u{202e}ay /a\\u{200b}" in told
    assert text((Finding("PF040", "error", "", "pay", "", "m", "d"),)).startswith("(no server named)\n")


def test_json() -> None:
    assert json.loads(as_json((GRAVE,))) == {
        "findings": [
            {
                "rule": "PF040",
                "level": "error",
                "server": "bank",
                "tool": "pay",
                "pointer": "/description",
                "message": "a text gives orders",
                "do": "rewrite it",
            }
        ],
        "counts": {"error": 1, "warning": 0, "note": 0},
    }
