"""What hosts' hooks tell, kept for the gate: words by session, announced calls, and calls denied early.

One SQLite file of the user's own, by default `~/.local/state/preflight/words.db`. Standard library only: it is part
of what a hook starts. The file is in rollback mode, which any version of SQLite handles.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

PATH = "PREFLIGHT_WORDS"
"""The environment variable that names the file."""
VERSION = 1
WORDS_SECONDS = 7 * 24 * 3600
"""How long words are kept: as long as a question stays open."""
CALLS_SECONDS = 24 * 3600
BUSY_SECONDS = 4.0
"""How long to wait for another process; writes take a few milliseconds, and hosts wait five seconds for a hook."""
LONGEST = 1_000_000
"""Code points of one prompt. A longer one is not kept: of a part, `500` could be read where `5000` was said."""
MOST = 5_000
"""Prompts that are kept, and calls."""
MOST_TEXT = 32_000_000
"""Code points that are kept in all."""
_AGAIN_SECONDS = 5.0  # the same words in the same session so soon are one event that two files have a hook for

_SCHEMA = """
CREATE TABLE IF NOT EXISTS said (
    id INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, size INTEGER NOT NULL, host TEXT NOT NULL,
    session TEXT NOT NULL, prompt TEXT NOT NULL, folder TEXT NOT NULL, trust TEXT NOT NULL, origin TEXT NOT NULL,
    text TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS said_session ON said (session, host);
CREATE INDEX IF NOT EXISTS said_at ON said (at);
CREATE TABLE IF NOT EXISTS calls (
    id INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, host TEXT NOT NULL, session TEXT NOT NULL,
    prompt TEXT NOT NULL, folder TEXT NOT NULL, use TEXT NOT NULL, tool TEXT NOT NULL, digest TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS calls_use ON calls (use);
CREATE INDEX IF NOT EXISTS calls_digest ON calls (digest);
CREATE INDEX IF NOT EXISTS calls_at ON calls (at);
CREATE TABLE IF NOT EXISTS denied (
    id INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, until REAL NOT NULL, host TEXT NOT NULL,
    session TEXT NOT NULL, tool TEXT NOT NULL, digest TEXT NOT NULL, reason TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS denied_session ON denied (session, host);
"""


class StoreFault(Exception):
    """The file cannot be used; the text says why and what to do."""


class Session(NamedTuple):
    """One conversation in one host."""

    host: str
    id: str


class Said(NamedTuple):
    """A prompt: where and when it came in, and how far its text may be believed (R-13)."""

    session: Session
    text: str
    trust: str
    origin: str = ""
    prompt: str = ""
    folder: str = ""
    at: float = 0.0
    number: int = 0


class Announced(NamedTuple):
    """A call that a host is about to make, before it is made."""

    session: Session
    tool: str
    digest: str
    use: str = ""
    prompt: str = ""
    folder: str = ""
    transcript: str = ""


def default_path() -> str:
    """Return where the file lies: as the environment says, else in the user's state directory (XDG)."""
    named = os.environ.get(PATH)
    if named:
        return named
    state = os.environ.get("XDG_STATE_HOME") or os.path.join("~", ".local", "state")  # noqa: PTH118  see `entry`
    return os.path.join(os.path.expanduser(state), "preflight", "words.db")  # noqa: PTH111, PTH118


def digest_of(arguments: object) -> str:
    """Return the hex SHA-256 of a call's arguments, whatever the order of their keys."""
    body = json.dumps(arguments, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(body.encode()).hexdigest()


def plain_name(tool: str) -> str:
    """Return a tool's name with one sign for all that hosts replace in names."""
    return "".join(char if char.isascii() and char.isalnum() else "_" for char in tool)


def same_tool(shown: str, tool: str) -> bool:
    """Whether a host's name for a tool (`mcp__bank__transfer`) can mean the tool (`transfer`)."""
    shown, tool = plain_name(shown), plain_name(tool)
    return bool(tool) and (shown == tool or shown.endswith("_" + tool))


class Store:
    """The file, opened. Safe for several processes: each method is one short transaction."""

    def __init__(self, path: str | None = None, *, now: Callable[[], float] = time.time, create: bool = True) -> None:
        """Open the file; raises StoreFault. With `create` false, FileNotFoundError where there is none."""
        self.path = path or default_path()
        self._now = now
        self._file = _guarded(self.path, create=create)
        try:
            # one thread at a time uses it, whichever that is
            self._db = sqlite3.connect(self.path, BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as fault:
            raise self._fault(fault) from fault
        try:
            self._prepare()
        except BaseException:
            self._db.close()
            raise

    def _prepare(self) -> None:
        with self._guard():
            self._db.execute("PRAGMA secure_delete = ON")  # what expired is not to be read off the disk
            version = self._version()
            if version == 0:
                self._db.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {VERSION}; COMMIT")
            elif version != VERSION:
                raise StoreFault(f"`{self.path}` is of version {version}, this program reads {VERSION}; move it away")

    def _version(self) -> int:
        return int(self._db.execute("PRAGMA user_version").fetchone()[0])

    def is_current(self) -> bool:
        """Whether what is at the path now is this file, as it was opened; raises what opening it would raise."""
        with self._guard():
            return _guarded(self.path, create=False) == self._file and self._version() == VERSION

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def say(self, said: Said) -> None:
        """Append a prompt; raises StoreFault for one that is too long to keep whole."""
        if len(said.text) > LONGEST:
            raise StoreFault(f"the prompt has more than {LONGEST} characters; it is not kept, not even a part of it")
        now = self._now()
        host, session = said.session
        with self._writing():
            last = self._db.execute(
                "SELECT text, prompt, at FROM said WHERE session = ? AND host = ? ORDER BY id DESC LIMIT 1",
                (session, host),
            ).fetchone()
            if last is not None and last[:2] == (said.text, said.prompt) and now - last[2] < _AGAIN_SECONDS:
                return
            self._db.execute(
                "INSERT INTO said (at, size, host, session, prompt, folder, trust, origin, text)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (now, len(said.text), host, session, said.prompt, said.folder, said.trust, said.origin, said.text),
            )
            self._expire(now)

    def tell_apart(self, typed: Mapping[int, str | None]) -> None:
        """Keep of prompts, by their numbers, what a person typed of each, as the user's; None: it was not a person."""
        with self._writing():
            for number, text in typed.items():
                if text is None:
                    self._db.execute("UPDATE said SET origin = host || ':not typed' WHERE id = ?", (number,))
                else:
                    self._db.execute(
                        "UPDATE said SET trust = 'user', origin = host, text = ?, size = ? WHERE id = ?",
                        (text, len(text), number),
                    )

    def _expire(self, now: float) -> None:
        """Drop what is old, and what is too much: first what is nobody's words and cannot become somebody's."""
        self._db.execute("DELETE FROM said WHERE at < ?", (now - WORDS_SECONDS,))
        self._db.execute(
            "DELETE FROM said WHERE id IN (SELECT id FROM (SELECT id, sum(size) OVER kept AS total, row_number() OVER"
            " kept AS place FROM said WINDOW kept AS (ORDER BY trust = 'user' OR origin LIKE '%:unlabelled' DESC,"
            " id DESC)) WHERE total > ? OR place > ?)",
            (MOST_TEXT, MOST),
        )
        self._db.execute("DELETE FROM calls WHERE at < ?", (now - CALLS_SECONDS,))
        self._db.execute("DELETE FROM calls WHERE id <= (SELECT max(id) FROM calls) - ?", (MOST,))
        self._db.execute("DELETE FROM denied WHERE until < ?", (now,))

    def announce(self, call: Announced) -> str | None:
        """Keep that a host is about to make a call; return why it is denied already, or None."""
        now = self._now()
        host, session = call.session
        with self._writing():
            self._db.execute(
                "INSERT INTO calls (at, host, session, prompt, folder, use, tool, digest)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (now, host, session, call.prompt, call.folder, call.use, plain_name(call.tool), call.digest),
            )
            rows = self._db.execute(
                "SELECT tool, reason FROM denied WHERE session = ? AND host = ? AND until > ? AND digest IN ('', ?)"
                " AND at >= coalesce((SELECT max(at) FROM said WHERE session = ? AND host = ? AND trust = 'user'), 0)"
                " ORDER BY id DESC",
                (session, host, now, call.digest, session, host),
            ).fetchall()
        return next((reason for tool, reason in rows if same_tool(call.tool, tool)), None)

    def deny(self, session: Session, tool: str, digest: str | None, reason: str, seconds: float) -> None:
        """Have a call denied early in a session for so long, or until the user speaks there again.

        `digest` is that of the arguments (`digest_of`); None: the tool whatever its arguments.
        """
        now = self._now()
        with self._writing():
            self._db.execute(
                "INSERT INTO denied (at, until, host, session, tool, digest, reason) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (now, now + seconds, session.host, session.id, tool, digest or "", reason),
            )

    def said_in(self, session: Session) -> list[Said]:
        """Return the prompts of a session that have not expired, oldest first."""
        return self._said("session = ? AND host = ? AND at >= ?", session.id, session.host, self._since())

    def newest(self) -> Said | None:
        """Return the newest prompt, whatever its session."""
        return next(iter(self._said("at >= ? ORDER BY id DESC LIMIT 1", self._since())), None)

    def called_since(self, said: Said) -> bool:
        """Whether a call was announced in a prompt's session after the prompt."""
        query = "SELECT 1 FROM calls WHERE session = ? AND host = ? AND at >= ? LIMIT 1"
        with self._guard():
            return self._db.execute(query, (said.session.id, said.session.host, said.at)).fetchone() is not None

    def _since(self) -> float:
        return self._now() - WORDS_SECONDS

    def _said(self, where: str, *values: object) -> list[Said]:
        order = "" if "ORDER" in where else " ORDER BY id"
        query = f"SELECT host, session, text, trust, origin, prompt, folder, at, id FROM said WHERE {where}{order}"  # noqa: S608  the conditions are this file's
        with self._guard():
            rows = self._db.execute(query, values).fetchall()
        return [Said(Session(row[0], row[1]), *row[2:]) for row in rows]

    def sessions(self, *, since: float = WORDS_SECONDS, **columns: str) -> list[Session]:
        """Return the sessions with prompts of these columns, those that spoke last and are believed first.

        Columns are `session`, `prompt` and `folder`; `since` bounds the age in seconds.
        """
        where = " AND ".join(f"{name} = ?" for name in ("session", "prompt", "folder") if name in columns)
        values = [columns[name] for name in ("session", "prompt", "folder") if name in columns]
        query = (
            f"SELECT host, session FROM said WHERE {where} AND at >= ? GROUP BY host, session"  # noqa: S608  fixed names
            " ORDER BY max(trust = 'user') DESC, max(id) DESC"
        )
        with self._guard():
            rows = self._db.execute(query, (*values, self._now() - since)).fetchall()
        return [Session(*row) for row in rows]

    def announced(self, *, use: str | None = None, digest: str = "", since: float = CALLS_SECONDS) -> list[Announced]:
        """Return the calls with this tool-use id, or else with these arguments, the newest first."""
        query = (
            "SELECT host, session, tool, digest, use, prompt, folder FROM calls"
            " WHERE coalesce(use = :use, digest = :digest) AND at >= :at ORDER BY id DESC"
        )
        with self._guard():
            rows = self._db.execute(query, {"use": use, "digest": digest, "at": self._now() - since}).fetchall()
        return [Announced(Session(row[0], row[1]), *row[2:]) for row in rows]

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._guard():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    @contextmanager
    def _guard(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as fault:
            raise self._fault(fault) from fault

    def _fault(self, fault: sqlite3.Error) -> StoreFault:
        return StoreFault(f"`{self.path}` cannot be used: {fault}; if it is damaged, remove it")


def _guarded(path: str, *, create: bool) -> tuple[int, int]:
    """Make the file where it is missing, and see to it that nobody else can read what the user said.

    Returns which file it is: its device and inode, which no other has while it is open.
    """
    if create:
        try:
            os.makedirs(os.path.dirname(os.path.abspath(path)), mode=0o700, exist_ok=True)  # noqa: PTH100, PTH103, PTH120
            os.close(os.open(path, os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0), 0o600))
        except OSError as fault:
            raise StoreFault(f"`{path}` cannot be made: {fault.strerror}; {PATH} names another file") from fault
    status = os.stat(path)  # noqa: PTH116
    if hasattr(os, "getuid") and status.st_uid != os.getuid():
        raise StoreFault(f"`{path}` belongs to somebody else; {PATH} names another file")
    if hasattr(os, "getuid") and stat.S_IMODE(status.st_mode) & 0o077:
        os.chmod(path, 0o600)  # noqa: PTH101
    return status.st_dev, status.st_ino
