"""Which stored words a call gets: its claims choose among sessions, and doubt gives none."""

from __future__ import annotations

import json
import logging
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from preflight.hosts.store import PATH, Announced, Said, Session, Store, digest_of
from preflight.hosts.words import ANNOUNCED_SECONDS, FOLDER_SECONDS, StoredWords, join_of, session_of
from preflight.model.instruction import Segment
from preflight.ports import Words
from preflight.testing import FakeClock

ONE, TWO = Session("claude-code", "s-1"), Session("claude-code", "s-2")
ARGUMENTS = {"amount": 5}


@pytest.fixture
def two(store: Store) -> Store:
    """Two sessions in two folders, each with a prompt and an announced call."""
    store.say(Said(ONE, "send 5", "user", "claude-code", "p-1", "/one"))
    store.say(Said(TWO, "send 6", "user", "claude-code", "p-2", "/two"))
    store.announce(Announced(ONE, "mcp__bank__send", digest_of(ARGUMENTS), "toolu_1", "p-1", "/one"))
    store.announce(Announced(TWO, "mcp__bank__send", digest_of({"amount": 6}), "toolu_2", "p-2", "/two"))
    return store


CHOSEN: list[tuple[dict[str, str], Session | None]] = [
    ({"claudecode/toolUseId": "toolu_1"}, ONE),
    ({"callId": "toolu_1", "threadId": "s-1"}, ONE),
    ({"callId": "toolu_1", "threadId": "s-2"}, None),
    ({"CLAUDE_CODE_SESSION_ID": "s-2"}, TWO),
    ({"threadId": "s-2"}, TWO),
    ({"prompt_id": "p-1"}, ONE),
    ({"claudecode/toolUseId": "toolu_1", "CLAUDE_CODE_SESSION_ID": "s-1", "prompt_id": "p-1"}, ONE),
    ({"claudecode/toolUseId": "toolu_1", "CLAUDE_CODE_SESSION_ID": "s-2"}, None),
    ({"prompt_id": "p-1", "CLAUDE_CODE_SESSION_ID": "s-2"}, None),
    ({"claudecode/toolUseId": "toolu_9", "CLAUDE_CODE_SESSION_ID": "s-1"}, ONE),
    ({"CLAUDE_CODE_SESSION_ID": "s-9"}, None),
    ({"CLAUDE_CODE_SESSION_ID": "s-9", "cwd": "/one"}, None),
    ({"cwd": "/one"}, ONE),
    ({"cwd": "/three"}, None),
    ({"cwd": ""}, None),
    ({}, None),
    ({"preflight/tool": "send", "preflight/arguments": json.dumps(ARGUMENTS)}, ONE),
    ({"preflight/tool": "send", "preflight/arguments": '{"amount": 7}'}, None),
    ({"preflight/tool": "sen", "preflight/arguments": json.dumps(ARGUMENTS)}, None),
    ({"preflight/tool": "send", "preflight/arguments": "no json"}, None),
    ({"preflight/tool": "send", "preflight/arguments": json.dumps(ARGUMENTS), "threadId": "unknown"}, ONE),
    ({"preflight/tool": "send", "preflight/arguments": json.dumps(ARGUMENTS), "cwd": "/two"}, ONE),
    ({"preflight/tool": "send", "preflight/arguments": json.dumps(ARGUMENTS), "threadId": "s-2"}, TWO),
    ({"host": "claude-code", "user": "minji"}, None),
]


@pytest.mark.parametrize(("join", "session"), CHOSEN)
def test_claims_choose_a_session_or_none(join: dict[str, str], session: Session | None, two: Store) -> None:
    assert session_of(two, join) == session


def test_the_same_call_announced_by_two_sessions_is_of_none(two: Store) -> None:
    join = {"preflight/tool": "send", "preflight/arguments": json.dumps(ARGUMENTS)}
    two.announce(Announced(TWO, "mcp__bank__send", digest_of(ARGUMENTS), "toolu_3"))
    assert session_of(two, join) is None
    assert session_of(two, {**join, "claudecode/toolUseId": "toolu_3"}) == TWO


def test_an_announcement_counts_for_a_while(two: Store, clock: FakeClock) -> None:
    join = {"preflight/tool": "send", "preflight/arguments": json.dumps(ARGUMENTS)}
    clock.advance(ANNOUNCED_SECONDS + 1)
    assert session_of(two, join) is None


def test_a_folder_with_two_sessions_is_of_none_until_one_is_over(two: Store, clock: FakeClock) -> None:
    clock.advance(FOLDER_SECONDS / 2)
    two.say(Said(TWO, "more", "user", folder="/one"))
    assert session_of(two, {"cwd": "/one"}) is None
    clock.advance(FOLDER_SECONDS / 2 + 1)
    assert session_of(two, {"cwd": "/one"}) == TWO


def test_of_two_hosts_that_tell_of_one_session_the_believed_one_counts(store: Store) -> None:
    store.say(Said(Session("vscode", "s"), "send 5", "user"))
    store.say(Said(Session("claude-code", "s"), "send 5", "untrusted", "claude-code:unlabelled"))
    assert session_of(store, {"session_id": "s"}) == Session("vscode", "s")


def test_segments_carry_trust_origin_and_the_order_of_requests(words_db: Path) -> None:
    with closing(Store()) as store:
        store.say(Said(ONE, "send 5", "user", "claude-code"))
        store.say(Said(ONE, "wake up", "untrusted", "claude-code:'loop_wakeup'"))
        store.say(Said(ONE, "no, 6", "user", "claude-code"))
    words: Words = StoredWords()
    found = words.segments({"CLAUDE_CODE_SESSION_ID": "s-1"})
    assert [(each.text, each.grounds) for each in found] == [("send 5", True), ("wake up", False), ("no, 6", True)]
    assert found[1].origin == "claude-code:'loop_wakeup'"
    numbers = [each.request or 0 for each in found]
    assert numbers == sorted(set(numbers))
    assert isinstance(found[0], Segment)


def test_two_sessions_share_no_number_even_in_files_of_two_machines(tmp_path: Path) -> None:
    numbers = []
    for machine in ("a", "b"):
        for session in (ONE, TWO):
            path = str(tmp_path / f"{machine}-{session.id}.db")
            with closing(Store(path)) as store:
                store.say(Said(session, "send 5", "user", "claude-code"))
            (found,) = StoredWords(path).segments({"CLAUDE_CODE_SESSION_ID": session.id})
            assert json.loads(json.dumps(float(found.request or 0))) == found.request  # a double holds it exactly
            numbers.append(found.request)
    assert numbers[:2] == numbers[2:]  # and one session has its own wherever it is read
    assert len(set(numbers)) == 2


def test_no_file_and_no_session_give_no_words(words_db: Path) -> None:
    assert StoredWords().segments({"CLAUDE_CODE_SESSION_ID": "s-1"}) == ()
    assert not words_db.exists()
    assert StoredWords().deny({}, "send", None, "held") is False
    assert not words_db.exists()


def test_a_file_that_cannot_be_read_gives_no_words_and_says_so(
    words_db: Path, caplog: pytest.LogCaptureFixture
) -> None:
    words_db.parent.mkdir()
    words_db.write_bytes(b"not a database, whatever its name says" * 50)
    with caplog.at_level(logging.ERROR, "preflight.hosts"):
        assert StoredWords().segments({"CLAUDE_CODE_SESSION_ID": "s-1"}) == ()
    assert str(words_db) in caplog.text


JOIN = {"CLAUDE_CODE_SESSION_ID": "s-1"}


def said(words: StoredWords) -> list[str]:
    return [each.text for each in words.segments(JOIN)]


def keep(text: str, path: str | None = None) -> None:
    with closing(Store(path)) as store:
        store.say(Said(ONE, text, "user", "claude-code"))


def test_what_is_said_later_is_read_in_a_file_that_is_open_already(words_db: Path) -> None:
    words = StoredWords()
    keep("send 5")
    assert said(words) == ["send 5"]
    keep("no, 6")
    assert said(words) == ["send 5", "no, 6"]


def test_another_file_at_the_path_is_read_and_a_removed_one_has_no_words(
    words_db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = StoredWords()
    keep("send 5")
    assert said(words) == ["send 5"]
    other = str(tmp_path / "other.db")
    keep("send 7", other)
    Path(other).replace(words_db)
    assert said(words) == ["send 7"]
    words_db.unlink()
    assert said(words) == []
    keep("send 8")
    assert said(words) == ["send 8"]
    keep("send 9", other)
    monkeypatch.setenv(PATH, other)
    assert said(words) == ["send 9"]


def test_a_file_that_is_open_already_is_kept_from_others_and_of_one_version(
    words_db: Path, caplog: pytest.LogCaptureFixture
) -> None:
    words = StoredWords()
    keep("send 5")
    assert said(words) == ["send 5"]
    words_db.chmod(0o644)
    assert said(words) == ["send 5"]
    assert words_db.stat().st_mode & 0o077 == 0
    with closing(sqlite3.connect(words_db)) as newer:
        newer.execute("PRAGMA user_version = 2")
    with caplog.at_level(logging.ERROR, "preflight.hosts"):
        assert said(words) == []
    assert "is of version 2" in caplog.text


def test_calls_at_one_moment_do_not_wait_for_one_another(words_db: Path) -> None:
    words = StoredWords()
    keep("send 5")
    together = threading.Barrier(6)

    def read(_: int) -> list[str]:
        with words._file.opened() as store:
            together.wait(20)  # nobody goes on before all have the file
            found = [each.text for each in store.said_in(ONE)]
            together.wait(20)
        return found

    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(read, range(6))) == [["send 5"]] * 6
    assert 1 <= len(words._file._idle) <= 4


def test_a_join_is_made_of_ids_and_the_call(tmp_path: Path) -> None:
    meta = {"claudecode/toolUseId": "toolu_1", "progressToken": 3, "threadId": 7, "traceparent": "00-1"}
    environment = {"CLAUDE_CODE_SESSION_ID": "s-1", "HOME": "/home/minji", "threadId": ""}
    join = join_of(meta, environment, "send", ARGUMENTS, "/one")
    assert join == {
        "claudecode/toolUseId": "toolu_1",
        "CLAUDE_CODE_SESSION_ID": "s-1",
        "preflight/tool": "send",
        "preflight/arguments": '{"amount": 5}',
        "cwd": "/one",
    }


def test_reading_takes_milliseconds_in_a_full_file(words_db: Path) -> None:
    with closing(Store()) as store, store._writing():
        store._db.executemany(
            "INSERT INTO said (at, size, host, session, prompt, folder, trust, origin, text)"
            " VALUES (?, 9, 'codex', ?, '', '/f', 'user', '', 'send 5 now')",
            [(time.time(), f"s-{number % 50}") for number in range(5_000)],
        )
    began = time.process_time()
    found = StoredWords().segments({"threadId": "s-7"})
    assert len(found) == 100
    assert time.process_time() - began < 0.25
