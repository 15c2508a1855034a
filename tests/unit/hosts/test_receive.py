"""The receiver: each host's events in, its answers out, and a documented exit code for whatever else comes."""

from __future__ import annotations

import io
import json
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from preflight.hosts import receive
from preflight.hosts.events import CALL, EVENTS, PROMPT
from preflight.hosts.receive import NOT_KEPT, STOPPED, TAKEN, main
from preflight.hosts.store import Said, Session, Store
from preflight.hosts.words import StoredWords
from tests.unit.hosts.samples import ARGUMENTS, CALL_EVENT, CALLS, PROMPT_EVENT, PROMPTS, TEXT, body

HOSTS = sorted(EVENTS)


class Ran(NamedTuple):
    code: int
    out: str
    err: str


def run(*arguments: str, stdin: bytes, capsys: pytest.CaptureFixture[str] | None = None) -> Ran:
    out = io.StringIO()
    code = main(arguments, io.BytesIO(stdin), out)
    return Ran(code, out.getvalue(), capsys.readouterr().err if capsys else "")


def kept() -> list[Said]:
    with closing(Store()) as store:
        newest = store.newest()
        return [] if newest is None else store.said_in(newest.session)


@pytest.mark.parametrize("host", HOSTS)
def test_a_prompt_is_kept_as_the_user_s_words(host: str, words_db: Path) -> None:
    ran = run(PROMPT_EVENT[host], "--host", host, stdin=body(PROMPTS[host]))
    assert ran.code == TAKEN
    assert ran.out in {"", "{}\n", '{"continue": true}\n'}
    (said,) = kept()
    # what Gemini CLI hands over may hold a file or a command: its transcript says what was typed
    assert (said.text, said.trust, said.session.host) == (TEXT, "untrusted" if host == "gemini" else "user", host)
    assert said.folder == "/home/minji/books"


@pytest.mark.parametrize("host", HOSTS)
def test_a_call_that_nothing_is_known_against_is_left_to_the_host(host: str, words_db: Path) -> None:
    ran = run(CALL_EVENT[host], f"--host={host}", stdin=body(CALLS[host]))
    assert ran.code == TAKEN
    shown = json.loads(ran.out) if ran.out else {}
    assert "ask" not in ran.out
    assert shown == ({"permission": "allow"} if host == "cursor" else {})


@pytest.mark.parametrize("host", HOSTS)
def test_a_denied_call_is_stopped_in_the_host_s_own_format(host: str, words_db: Path) -> None:
    run(PROMPT_EVENT[host], "--host", host, stdin=body(PROMPTS[host]))
    run(CALL_EVENT[host], "--host", host, stdin=body(CALLS[host]))
    join = {"preflight/tool": "transfer", "preflight/arguments": json.dumps(ARGUMENTS)}
    assert StoredWords().deny(join, "transfer", ARGUMENTS, "the house limit is reached")
    ran = run(CALL_EVENT[host], "--host", host, stdin=body(CALLS[host]))
    assert ran.code == TAKEN
    shown = json.loads(ran.out)
    assert "the house limit is reached" in ran.out
    decision = shown.get("hookSpecificOutput", {}).get("permissionDecision")
    assert decision == "deny" or shown.get("decision") == "deny" or shown.get("permission") == "deny"
    other = body(CALLS[host], tool_input={**ARGUMENTS, "amount": 1})
    assert "deny" not in run(CALL_EVENT[host], "--host", host, stdin=other).out


def test_a_tool_that_is_named_without_its_server_is_denied_for_its_arguments_alone(words_db: Path) -> None:
    run("beforeSubmitPrompt", "--host", "cursor", stdin=body(PROMPTS["cursor"]))
    run("beforeMCPExecution", "--host", "cursor", stdin=body(CALLS["cursor"]))
    join = {"preflight/tool": "transfer", "preflight/arguments": json.dumps(ARGUMENTS)}
    assert StoredWords().deny(join, "transfer", None, "held")
    assert "deny" in run("beforeMCPExecution", "--host", "cursor", stdin=body(CALLS["cursor"])).out
    other = body(CALLS["cursor"], tool_input="{}")
    assert "deny" not in run("beforeMCPExecution", "--host", "cursor", stdin=other).out


def test_a_call_that_no_hook_announced_is_not_denied(words_db: Path) -> None:
    run("UserPromptSubmit", "--host", "codex", stdin=body(PROMPTS["codex"]))
    assert StoredWords().deny({"session_id": "0199-0002"}, "transfer", ARGUMENTS, "held") is False


def test_the_user_s_next_words_end_a_denial(words_db: Path) -> None:
    said, call = ("UserPromptSubmit", "--host", "codex"), ("PreToolUse", "--host", "codex")
    run(*said, stdin=body(PROMPTS["codex"]))
    run(*call, stdin=body(CALLS["codex"]))
    assert StoredWords().deny({"toolCallId": "call_01"}, "transfer", None, "held")
    assert "deny" in run(*call, stdin=body(CALLS["codex"], tool_input={"amount": 1})).out
    assert run(*call, stdin=body(CALLS["codex"], tool_name="mcp__shop__transfer")).out == ""  # another server's
    run(*said, stdin=body(PROMPTS["codex"], prompt="and what did you do?", agent_id="a-1"))
    assert "deny" in run(*call, stdin=body(CALLS["codex"])).out  # an agent's words end nothing
    run(*said, stdin=body(PROMPTS["codex"], prompt="please send it now", turn_id="turn-2"))
    assert run(*call, stdin=body(CALLS["codex"])).out == ""


@pytest.mark.parametrize(
    ("host", "changes", "trust"),
    [
        ("claude-code", {"source": "user"}, "user"),
        ("claude-code", {"source": "sdk"}, "user"),
        ("claude-code", {"source": ...}, "untrusted"),
        ("claude-code", {"source": None}, "untrusted"),
        ("claude-code", {"source": "system"}, "untrusted"),
        ("claude-code", {"source": "loop_wakeup"}, "untrusted"),
        ("claude-code", {"source": "schedule_wakeup"}, "untrusted"),
        ("claude-code", {"source": "poll_event"}, "untrusted"),
        ("claude-code", {"source": "USER"}, "untrusted"),
        ("claude-code", {"source": ["user"]}, "untrusted"),
        ("claude-code", {"source": True}, "untrusted"),
        ("claude-code", {"agent_id": "a-1"}, "untrusted"),
        ("codex", {"agent_id": "a-1"}, "untrusted"),
        ("codex", {"source": "system"}, "untrusted"),
        ("vscode", {"source": "user"}, "user"),
    ],
)
def test_only_what_a_person_said_counts_as_the_user_s(
    host: str, changes: dict[str, Any], trust: str, words_db: Path
) -> None:
    assert run(PROMPT_EVENT[host], "--host", host, stdin=body(PROMPTS[host], **changes)).code == TAKEN
    (said,) = kept()
    assert said.trust == trust
    assert (said.origin == host) == (trust == "user")


def test_prompts_without_a_label_count_where_the_user_chose_so(words_db: Path) -> None:
    stdin = body(PROMPTS["claude-code"], source=...)
    run("UserPromptSubmit", "--host", "claude-code", "--trust-unlabelled", stdin=stdin)
    stdin = body(PROMPTS["claude-code"], source="system", prompt="other")
    run("UserPromptSubmit", "--host", "claude-code", "--trust-unlabelled", stdin=stdin)
    assert [said.trust for said in kept()] == ["user", "untrusted"]


GARBAGE = {
    "nothing": b"",
    "no JSON": b"hello",
    "cut off": body(PROMPTS["codex"])[:-3],
    "no UTF-8": b'{"prompt": "\xff"}',
    "a list": b"[]",
    "a text": b'"UserPromptSubmit"',
    "no number": b'{"tool_input": NaN}',
    "nested": b"[" * 100_000,
    "no keys": b"{}",
    "an event of another host": json.dumps({"hook_event_name": "SessionStart", "session_id": "s"}).encode(),
    "a long number": b'{"prompt": ' + b"9" * 5_000 + b"}",
}


@pytest.mark.parametrize("stdin", GARBAGE.values(), ids=GARBAGE)
@pytest.mark.parametrize("host", HOSTS)
def test_garbage_has_an_exit_code_and_one_line_of_words(
    host: str, stdin: bytes, words_db: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prompt = run(PROMPT_EVENT[host], "--host", host, stdin=stdin, capsys=capsys)
    call = run(CALL_EVENT[host], "--host", host, stdin=stdin, capsys=capsys)
    unnamed = run("--host", host, stdin=stdin, capsys=capsys)
    assert (prompt.code, call.code, unnamed.code) == (NOT_KEPT, STOPPED, STOPPED)
    assert [ran.out for ran in (prompt, call, unnamed)] == [""] * 3
    for ran in (prompt, call, unnamed):
        assert ran.err.startswith("preflight: ")
        assert ran.err.count("\n") == 1
        assert "Traceback" not in ran.err


BROKEN: list[tuple[str, dict[str, Any], int]] = [
    ("claude-code", {"session_id": ...}, NOT_KEPT),
    ("claude-code", {"session_id": 7}, NOT_KEPT),
    ("claude-code", {"session_id": "a\nb"}, NOT_KEPT),
    ("claude-code", {"session_id": "x" * 501}, NOT_KEPT),
    ("claude-code", {"prompt": ...}, NOT_KEPT),
    ("claude-code", {"prompt": ["send"]}, NOT_KEPT),
    ("claude-code", {"prompt": "\ud800"}, NOT_KEPT),
    ("claude-code", {"prompt": "x" * 1_000_001}, NOT_KEPT),
    ("claude-code", {"hook_event_name": "PreToolUse"}, NOT_KEPT),
    ("codex", {"turn_id": {}}, NOT_KEPT),
]


@pytest.mark.parametrize(("host", "changes", "code"), BROKEN)
def test_a_broken_prompt_is_not_kept(host: str, changes: dict[str, Any], code: int, words_db: Path) -> None:
    assert run(PROMPT_EVENT[host], "--host", host, stdin=body(PROMPTS[host], **changes)).code == code
    assert kept() == []


@pytest.mark.parametrize(
    ("host", "changes"),
    [
        ("claude-code", {"tool_name": ...}),
        ("claude-code", {"tool_name": ""}),
        ("claude-code", {"tool_use_id": 5}),
        ("claude-code", {"session_id": ...}),
        ("cursor", {"tool_input": "{"}),
        ("claude-code", {"hook_event_name": "UserPromptSubmit"}),
    ],
)
def test_a_broken_call_is_stopped(host: str, changes: dict[str, Any], words_db: Path) -> None:
    assert run(CALL_EVENT[host], "--host", host, stdin=body(CALLS[host], **changes)).code == STOPPED


@pytest.mark.parametrize(
    "arguments",
    [
        [], ["--host"], ["--host", "emacs"], ["UserPromptSubmit"], ["BeforeTool", "--host", "codex"],
        ["PreToolUse", "more", "--host", "codex"], ["--host", "codex", "--force"],
    ],
)  # fmt: skip
def test_a_command_line_that_is_not_understood_stops_the_call(arguments: list[str], words_db: Path) -> None:
    assert run(*arguments, stdin=body(CALLS["codex"])).code == STOPPED


def test_the_event_may_be_named_by_the_input_alone(words_db: Path) -> None:
    assert run("--host", "codex", stdin=body(PROMPTS["codex"])).code == TAKEN
    assert run("PreToolUse", "--host", "codex", stdin=body(CALLS["codex"], hook_event_name=...)).code == TAKEN
    assert [said.text for said in kept()] == [TEXT]


def damaged(path: Path) -> None:
    path.write_bytes(b"no database at all, but long enough to be looked at " * 20)


def of_another_version(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")


@pytest.mark.parametrize("spoil", [damaged, of_another_version])
def test_a_store_that_cannot_be_used_stops_calls_and_loses_words(
    spoil: Any, words_db: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words_db.parent.mkdir()
    spoil(words_db)
    prompt = run("UserPromptSubmit", "--host", "codex", stdin=body(PROMPTS["codex"]), capsys=capsys)
    call = run("PreToolUse", "--host", "codex", stdin=body(CALLS["codex"]), capsys=capsys)
    assert (prompt.code, call.code) == (NOT_KEPT, STOPPED)
    assert str(words_db) in prompt.err
    assert str(words_db) in call.err


def test_a_folder_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PREFLIGHT_WORDS", str(tmp_path / "file" / "words.db"))
    assert run("UserPromptSubmit", "--host", "codex", stdin=body(PROMPTS["codex"])).code == NOT_KEPT
    assert run("PreToolUse", "--host", "codex", stdin=body(CALLS["codex"])).code == STOPPED


def test_an_input_beyond_the_limit_is_not_read_on(words_db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receive, "MOST_BYTES", 100)
    assert run("UserPromptSubmit", "--host", "codex", stdin=body(PROMPTS["codex"])).code == NOT_KEPT
    assert run("PreToolUse", "--host", "codex", stdin=body(CALLS["codex"])).code == STOPPED


def test_an_answer_that_cannot_be_written_stops_the_call(words_db: Path) -> None:
    run("UserPromptSubmit", "--host", "gemini", stdin=body(PROMPTS["gemini"]))
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w", closefd=False) as gone:
        code = main(["BeforeTool", "--host", "gemini"], io.BytesIO(body(CALLS["gemini"])), gone)
        assert code == STOPPED
        os.dup2(os.open(os.devnull, os.O_WRONLY), writing)
    os.close(writing)


def test_without_any_standard_streams(words_db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    monkeypatch.setattr(sys, "stderr", None)
    assert main(["PreToolUse", "--host", "codex"]) == STOPPED
    assert main(["UserPromptSubmit", "--host", "codex"]) == NOT_KEPT


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=10,
)
KEYS = sorted({key for event in (*PROMPTS.values(), *CALLS.values()) for key in event} | {"source", "agent_id"})
EVENTS_OF_SORTS = st.builds(
    lambda start, changes: {**start, **changes},
    st.sampled_from([*PROMPTS.values(), *CALLS.values()]),
    st.dictionaries(st.sampled_from(KEYS), JSON, max_size=3),
).map(lambda event: json.dumps(event).encode())


@given(
    stdin=st.binary(max_size=300) | JSON.map(lambda value: json.dumps(value).encode()) | EVENTS_OF_SORTS,
    host=st.sampled_from(HOSTS),
    kind=st.sampled_from([PROMPT, CALL]),
)
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_end_in_a_documented_code(
    stdin: bytes, host: str, kind: str, words_db: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    event = PROMPT_EVENT[host] if kind == PROMPT else CALL_EVENT[host]
    ran = run(event, "--host", host, stdin=stdin, capsys=capsys)
    assert ran.code in ({TAKEN, NOT_KEPT} if kind == PROMPT else {TAKEN, STOPPED})
    assert "Traceback" not in ran.err
    assert "unforeseen" not in ran.err
    assert (ran.code == TAKEN) == (ran.err == "")
    if ran.out:
        assert isinstance(json.loads(ran.out), dict)


@given(source=JSON, text=st.text(min_size=1, max_size=40))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_label_but_the_two_makes_words_the_user_s(source: object, text: str, words_db: Path) -> None:
    session = f"s-{abs(hash((repr(source), text)))}"
    stdin = body(PROMPTS["claude-code"], source=source, prompt=text, session_id=session)
    if run("UserPromptSubmit", "--host", "claude-code", stdin=stdin).code != TAKEN:
        return
    with closing(Store()) as store:
        said = store.said_in(Session("claude-code", session))
    assert {each.trust for each in said} == {"user" if source in ("user", "sdk") else "untrusted"}
