"""What a host writes down of a session: which words a person typed, where its hook of the prompt does not say (R-13).

The hook of a prompt runs before the prompt is written down, the hook of a call after it (decision 0144).
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Final

from preflight.hosts.store import Said

WAIT_SECONDS: Final = 1.0
"""How long to wait for a prompt that was said a moment ago; it is written down within a few hundredths of a second."""
MOST_BYTES: Final = 64_000_000
"""Of the end of a transcript; what was written down before is not looked for."""
_LONGEST_LINE: Final = 8_000_000
_POLL_SECONDS: Final = 0.02
_TYPED: Final = frozenset({"typed", "queued", "sdk"})
"""Claude Code's names for what a person wrote: at once, while the model was at work, or to a program of theirs. A
suggestion that was taken up is none: a model wrote it."""


def typed(host: str, path: str, prompts: Sequence[Said], seconds: float = 0.0) -> dict[int, str | None]:
    """Return what a person typed of each prompt that is written down, by its number; None where that is not certain.

    `seconds`: how long to wait for the last of them. Whatever cannot be read says nothing.
    """
    ends = time.monotonic() + seconds
    while True:
        found = _found(_READERS[host], path, prompts)
        if prompts[-1].number in found or time.monotonic() >= ends:
            return {number: texts.pop() if len(texts) == 1 else None for number, texts in found.items()}
        time.sleep(_POLL_SECONDS)


def _found(read: _Reader, path: str, prompts: Sequence[Said]) -> dict[int, set[str | None]]:
    """Return all that is written down about each prompt: two entries may say two things, and then neither counts."""
    found: dict[int, set[str | None]] = {}
    with suppress(OSError):
        for line in _lines(path):
            entry = _entry(line) if b'"user"' in line else None
            if entry is None:
                continue
            for said in prompts:
                for text in read(entry, said):
                    found.setdefault(said.number, set()).add(text)
    return found


def _lines(path: str) -> Iterator[bytes]:
    """Yield the whole lines of the end of a file."""
    with open(path, "rb") as file:  # noqa: PTH123  see `entry`
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - MOST_BYTES))
        if size > MOST_BYTES:
            file.readline(_LONGEST_LINE)  # a part of one
        while line := file.readline(_LONGEST_LINE):
            yield line


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
_READERS: Final[dict[str, _Reader]] = {"claude-code": _claude, "gemini": _gemini}
HOSTS: Final = frozenset(_READERS)
"""Hosts whose transcripts are read."""
