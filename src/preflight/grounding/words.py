"""Words of a text with their places: the folded search, the cue words of a field, how near they stand."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cached_property, lru_cache

from preflight.grounding.text import bounded, deceives, is_cjk, lowered

_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_MAX_HITS = 24
_MAX_TRIES = 400
FUNCTION = frozenset(
    """
    a an the of to for in on at and or with by from as is are be was were will would can could should do does did
    has have had i me my mine you your it its this that these those we us our they them he she his her not no yes
    if so but about into than then there here what which who how when where why any all some each per please want
    need get give make let e g ie eg etc
    """.split()
)
# Words that say nothing about a field when its description holds them.
STOP = FUNCTION | frozenset(
    """
    used using use value values string number integer field parameter default optional required specified format
    example examples such like must either whether also only
    """.split()
)
_IRREGULAR = {"children": "child", "people": "person", "men": "man", "women": "woman", "feet": "foot"}


def cue_key(word: str) -> str:
    """The beginning of the stem: `success`, `successful` and `successes` are one cue."""
    return stem(word)[:6]


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """The word without its English ending, for finding a field's own words near a value."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    for ending in ("ings", "ing", "ies", "ied", "ers", "er", "ed", "es", "s", "ly", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + ("y" if ending in ("ies", "ied") else "")
    return word


@lru_cache(maxsize=4096)
def split_words(name: str) -> tuple[str, ...]:
    """The words of a name (`toAccount`, `check_in`, `start-date`) or of a sentence, in lower case."""
    return tuple(_WORD.findall(_CAMEL.sub(" ", name).replace("_", " ").lower()))


class Words:
    """The words of one text, in canonical lower case, searchable with any punctuation between them."""

    def __init__(self, text: str) -> None:
        self.text = text
        plain, self._back = _composed(text)
        self.words: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        for match in _WORD.finditer(lowered(plain)):
            self.words.append(match[0])
            self.starts.append(match.start())
            self.ends.append(match.end())

    @cached_property
    def _joined(self) -> tuple[str, list[int]]:
        offsets, at = [], 0
        for word in self.words:
            offsets.append(at)
            at += len(word) + 1
        return " ".join(self.words), offsets

    @cached_property
    def _squeezed(self) -> tuple[str, list[int]]:
        offsets, at = [], 0
        for word in self.words:
            offsets.append(at)
            at += len(word)
        return "".join(self.words), offsets

    @cached_property
    def stems(self) -> dict[str, list[int]]:
        """Positions of words by stem."""
        found: dict[str, list[int]] = {}
        for at, word in enumerate(self.words):
            found.setdefault(stem(word), []).append(at)
        return found

    @cached_property
    def keys(self) -> list[str]:
        """The cue key of each word."""
        return [cue_key(word) for word in self.words]

    def find(self, words: tuple[str, ...]) -> Iterator[tuple[int, int]]:
        """Where these words stand in a row, as spans of the original text."""
        joined, offsets = self._joined
        yield from self._hits(joined, offsets, " ".join(words))

    def find_squeezed(self, words: tuple[str, ...]) -> Iterator[tuple[int, int]]:
        """Where these words stand in a row, with or without spaces (`best seller`, `bestseller`)."""
        joined, offsets = self._squeezed
        yield from self._hits(joined, offsets, "".join(words))

    def _hits(self, joined: str, offsets: list[int], wanted: str) -> Iterator[tuple[int, int]]:
        at = joined.find(wanted) if wanted else -1
        hits = tries = 0
        while at >= 0 and hits < _MAX_HITS and tries < _MAX_TRIES:
            tries += 1
            first = bisect_right(offsets, at) - 1
            last = bisect_right(offsets, at + len(wanted) - 1) - 1
            start = self.starts[first] + at - offsets[first]
            end = self.starts[last] + at + len(wanted) - offsets[last]
            if self._whole(first, last, start, end):
                span = self.original(start, end)
                if bounded(self.text, *span):
                    hits += 1
                    yield span
            at = joined.find(wanted, at + 1)

    def _whole(self, first: int, last: int, start: int, end: int) -> bool:
        """Whether the hit starts and ends with a word; inside scripts without spaces it need not."""
        left = start == self.starts[first] or is_cjk(self.words[first][0])
        return left and (end == self.ends[last] or is_cjk(self.words[last][-1]))

    def original(self, start: int, end: int) -> tuple[int, int]:
        """A span of the composed text as a span of the text as written."""
        if self._back is None:
            return start, end
        return self._back[start], self._back[end]

    def span(self, at: int) -> tuple[int, int]:
        """The place of one word in the original text."""
        return self.original(self.starts[at], self.ends[at])

    def at(self, offset: int) -> int:
        """The index of the word that starts at this offset or after it."""
        if self._back is not None:
            offset = bisect_left(self._back, offset)
        return bisect_left(self.starts, offset)


def _composed(text: str) -> tuple[str, list[int] | None]:
    """The text in canonical composition, with a map back when a code point was joined."""
    if text.isascii() or unicodedata.is_normalized("NFC", text):
        return text, None
    out: list[str] = []
    back: list[int] = []
    at = 0
    while at < len(text):
        stop = at + 1
        while stop < len(text) and stop - at < 32 and unicodedata.combining(text[stop]):
            stop += 1
        piece = text[at:stop]
        joined = piece if any(deceives(char) for char in piece) else unicodedata.normalize("NFC", piece)
        for offset, char in enumerate(joined):
            out.append(char)
            back.append(min(at + offset, stop - 1) if len(joined) > 1 else at)
        at = stop
    back.append(len(text))
    return "".join(out), back


@lru_cache(maxsize=4096)
def split_plain(value: str) -> tuple[str, ...]:
    """The words of a value as the index splits those of a text."""
    return tuple(Words(value).words)
