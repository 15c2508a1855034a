"""The file of what hooks told: private, bounded, expiring, safe for several processes."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from preflight.hosts import store as storing
from preflight.hosts.store import Announced, Said, Session, Store, StoreFault, digest_of, same_tool
from preflight.testing import FakeClock

ONE, TWO = Session("codex", "one"), Session("codex", "two")


def say(store: Store, text: str, session: Session = ONE, **more: str) -> None:
    store.say(Said(session, text, more.pop("trust", "user"), **more))


def texts(store: Store, session: Session = ONE) -> list[str]:
    return [said.text for said in store.said_in(session)]


def test_words_come_back_whole_in_order_and_by_session(store: Store) -> None:
    say(store, "send 5 to ana\n\n  \u202e\x00 yes", prompt="p1", folder="/books", origin="codex")
    say(store, "and 6 to bo", TWO)
    say(store, "no, 7", prompt="p2")
    assert texts(store) == ["send 5 to ana\n\n  \u202e\x00 yes", "no, 7"]
    assert texts(store, TWO) == ["and 6 to bo"]
    assert texts(store, Session("cursor", "one")) == []
    numbers = [said.number for said in store.said_in(ONE)]
    assert numbers == sorted(set(numbers))


def test_one_event_told_twice_is_kept_once(store: Store, clock: FakeClock) -> None:
    say(store, "yes", prompt="p1")
    say(store, "yes", prompt="p1")
    assert texts(store) == ["yes"]
    say(store, "yes", prompt="p2")
    clock.advance(6)
    say(store, "yes", prompt="p2")
    assert texts(store) == ["yes", "yes", "yes"]


def test_the_file_is_the_user_s_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "words.db"
    Store(str(path)).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    path.chmod(0o644)
    Store(str(path)).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "words.db").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreFault, match="cannot be made"):
        Store(str(tmp_path / "words.db"))
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no owner here")
def test_a_file_of_somebody_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "words.db")
    Store(path).close()
    monkeypatch.setattr(os, "getuid", lambda: 4_242)
    with pytest.raises(StoreFault, match="belongs to somebody else"):
        Store(path)


def test_words_expire(store: Store, clock: FakeClock) -> None:
    say(store, "old")
    clock.advance(storing.WORDS_SECONDS - 1)
    assert texts(store) == ["old"]
    clock.advance(2)
    assert texts(store) == []
    assert store.sessions(session="one") == []
    say(store, "new")
    assert [row[0] for row in store._db.execute("SELECT text FROM said")] == ["new"]


def test_what_expired_is_gone_from_the_disk(store: Store, clock: FakeClock) -> None:
    say(store, "a secret that nobody may find again")
    clock.advance(storing.WORDS_SECONDS + 1)
    say(store, "new")
    store.close()
    assert b"nobody may find" not in Path(store.path).read_bytes()


def test_the_number_and_the_size_of_what_is_kept_are_bounded(
    store: Store, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storing, "MOST", 3)
    for number in range(6):
        say(store, str(number))
        store.announce(Announced(ONE, "transfer", f"{number}"))
    assert texts(store) == ["3", "4", "5"]
    say(store, "6")
    assert store._db.execute("SELECT count(*) FROM calls").fetchone()[0] == 3
    monkeypatch.setattr(storing, "MOST_TEXT", 10)
    say(store, "nine char")
    assert texts(store) == ["6", "nine char"]


def test_what_is_nobody_s_words_is_dropped_before_the_user_s(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storing, "MOST_TEXT", 40)
    say(store, "pay Ann 5")
    say(store, "who said this", trust="untrusted", origin="claude-code:unlabelled")
    for number in range(9):
        say(store, f"a wakeup {number}", trust="untrusted", origin="claude-code:loop_wakeup")
    assert texts(store) == ["pay Ann 5", "who said this", "a wakeup 8"]
    say(store, "pay Bob 20, and Cho 30")
    assert texts(store) == ["who said this", "pay Bob 20, and Cho 30"]


def test_a_prompt_is_kept_whole_or_not_at_all(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storing, "LONGEST", 5)
    say(store, "12345")
    with pytest.raises(StoreFault, match="not even a part"):
        say(store, "123456")
    assert texts(store) == ["12345"]


def test_a_denial_ends_with_time(store: Store, clock: FakeClock) -> None:
    call = Announced(ONE, "mcp__bank__transfer", digest_of({"amount": 1}))
    store.deny(ONE, "transfer", call.digest, "held", seconds=60)
    assert store.announce(call) == "held"
    assert store.announce(call._replace(session=TWO)) is None
    assert store.announce(call._replace(digest=digest_of({"amount": 2}))) is None
    assert store.announce(call._replace(tool="mcp__bank__transfers")) is None
    clock.advance(61)
    assert store.announce(call) is None


@pytest.mark.parametrize(
    ("shown", "tool", "same"),
    [
        ("mcp__bank__transfer", "transfer", True),
        ("mcp_bank_transfer", "transfer", True),
        ("MCP:bank:transfer", "transfer", True),
        ("transfer", "transfer", True),
        ("mcp__my_bank__wire.transfer", "wire.transfer", True),
        ("mcp__bank__wiretransfer", "transfer", False),
        ("mcp__bank__transfer", "", False),
        ("mcp__bank__transfer", "bank", False),
    ],
)
def test_a_tool_is_known_by_the_names_that_hosts_give_it(shown: str, tool: str, same: bool) -> None:
    assert same_tool(shown, tool) is same


def test_arguments_are_the_same_whatever_their_order() -> None:
    assert digest_of({"a": 1, "b": [1, {"c": 2}]}) == digest_of({"b": [1, {"c": 2}], "a": 1})
    assert len({digest_of(value) for value in ({"a": 1}, {"a": "1"}, {"a": True}, {"a": 1.5}, {}, None)}) == 6


def test_a_store_that_is_not_there_is_not_made_for_reading(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Store(str(tmp_path / "words.db"), create=False)
    assert list(tmp_path.iterdir()) == []


def test_a_locked_file_is_a_fault_and_not_a_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storing, "BUSY_SECONDS", 0.05)
    path = str(tmp_path / "words.db")
    with closing(Store(path)) as store, closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreFault, match="locked"):
            say(store, "hello")
        other.execute("ROLLBACK")
        say(store, "hello again")
        assert texts(store) == ["hello again"]


WRITER = """
import sys
from preflight.hosts.store import Said, Session, Store
for number in range(20):
    store = Store(sys.argv[1])
    store.say(Said(Session("codex", "one"), f"{sys.argv[2]} {number}", "user"))
    store.close()
"""


def test_several_processes_write_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    path = str(tmp_path / "words.db")
    names = ["a", "b", "c"]
    started = [subprocess.Popen([sys.executable, "-c", WRITER, path, name]) for name in names]
    assert [process.wait(timeout=60) for process in started] == [0, 0, 0]
    with closing(Store(path)) as store:
        found = texts(store)
    for name in names:
        assert [text for text in found if text.startswith(name)] == [f"{name} {number}" for number in range(20)]
