"""What a host writes down of a session: which words a person typed, where its hook of the prompt does not say (R-13).

The hook of a prompt runs before the prompt is written down, the hook of a call after it (decision 0144).
"""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Final

from preflight.hosts.store import Said

WAIT_SECONDS: Final = 1.0
"""How long to wait for a prompt that was said a moment ago; it is written down within a few hundredths of a second."""
MOST_BYTES: Final = 64_000_000
"""Of the end of a transcript; what was written down before is not looked for."""
_POLL_SECONDS: Final = 0.02
_TYPED: Final = frozenset({"typed", "queued", "sdk"})
"""Claude Code's names for what a person wrote: at once, while the model was at work, or to a program of theirs. A
suggestion that was taken up is none: a model wrote it."""


def typed(host: str, path: str, prompts: Sequence[Said], seconds: float = 0.0) -> dict[int, str | None]:
    """Return what a person typed of each prompt that is written down, by its number; None where that is not certain.

    `seconds`: how long to wait for the last of them. Whatever cannot be read says nothing.
    """
    ends = time.monotonic() + seconds
    transcript = _Transcript(host, path, prompts)
    while True:
        transcript.read_on()
        if prompts[-1].number in transcript.found or time.monotonic() >= ends:
            return {number: texts.pop() if len(texts) == 1 else None for number, texts in transcript.found.items()}
        time.sleep(_POLL_SECONDS)


class _Transcript:
    """A file that grows, and all that it says of some prompts: two entries may say two things, and then none counts."""

    def __init__(self, host: str, path: str, prompts: Sequence[Said]) -> None:
        self.found: dict[int, set[str | None]] = {}
        self._mark, self._read = _READERS[host]
        self._path = path
        self._prompts = prompts
        self._at: int | None = None

    def read_on(self) -> None:
        """Read what was written since the last time; the first time, the end of the file."""
        with suppress(OSError), open(self._path, "rb", opener=_regular) as file:
            if self._at is None:
                start = max(0, file.seek(0, os.SEEK_END) - MOST_BYTES)
                file.seek(start)
                self._at = start + (len(file.readline()) if start else 0)  # a part of a line
            file.seek(self._at)
            while (line := file.readline(MOST_BYTES)).endswith(b"\n"):  # one without an end is being written
                self._at += len(line)
                self._take(line)

    def _take(self, line: bytes) -> None:
        entry = _entry(line) if self._mark in line else None
        if entry is None:
            return
        for said in self._prompts:
            for text in self._read(entry, said):
                self.found.setdefault(said.number, set()).add(text)


def _regular(path: str, flags: int) -> int:
    """Open a file, and nothing that never ends or waits for a writer: the path is what an event says."""
    number = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        message = f"`{path}` is no file"
        raise OSError(message)
    return number


def _entry(line: bytes) -> dict[str, object] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) and entry.get("type") == "user" else None


def _claude(entry: dict[str, object], said: Said) -> Iterator[str | None]:
    """Read an entry of Claude Code's: it names the prompt, and what it came from."""
    message, source = entry.get("message"), entry.get("promptSource")
    if entry.get("promptId") != said.prompt or source is None or not isinstance(message, dict):
        return
    person = isinstance(source, str) and source in _TYPED and entry.get("isSidechain") is False
    person = person and entry.get("isMeta") is not True  # what the host itself puts in
    yield said.text if person and said.text in _texts(message.get("content")) else None


def _gemini(entry: dict[str, object], said: Said) -> Iterator[str | None]:
    """Read an entry of Gemini CLI's: what was sent, and what was typed where a command or a file came into it."""
    content = _texts(entry.get("content"))
    if not content or "".join(content) != said.text:
        return
    shown = entry.get("displayContent")
    yield said.text if shown is None else "".join(_texts(shown)) or None


def _texts(content: object) -> list[str]:
    """Return the texts of a message: one, or those among its parts."""
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return [text for text in texts if isinstance(text, str)]


_Reader = Callable[[dict[str, object], Said], Iterator[str | None]]
_READERS: Final[dict[str, tuple[bytes, _Reader]]] = {
    "claude-code": (b'"promptSource"', _claude),
    "gemini": (b'"user"', _gemini),
}
"""By host: what stands in a line that may be a prompt, and how to read it."""
HOSTS: Final = frozenset(_READERS)
"""Hosts whose transcripts are read."""
