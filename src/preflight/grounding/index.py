"""The index of one text: what stands in it, by kind, each kind built when it is first asked for."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from functools import cached_property, lru_cache
from operator import itemgetter
from typing import NamedTuple

from preflight.grounding import date_resolution, dates, number_words, numerals, times, tokens
from preflight.grounding.findings import Context
from preflight.grounding.mention import Mention
from preflight.grounding.quantities import Quantity, quantities
from preflight.grounding.quoting import own_words
from preflight.grounding.text import bounded
from preflight.grounding.words import Words
from preflight.grounding.zones import Zone, zone_after

MAX_MENTIONS = 24
_MAX_TRIES = 400
_MAX_TEXT = 1_000_000
# How far after a correction the new value may stand, and how many corrections are looked at.
_REPLACING = 48
_NEXT_TO = 3
_MAX_CORRECTIONS = 64
_SORTS = ("number", "date", "time")
_AFTER_ITS_VALUE = ("instead", "말고")
_RETRACTION = re.compile(
    r"\b(?:(?:scratch|forget|cancel|strike|disregard)\s(?:that|it|all that)|never ?mind)\b(?=\s?(?:[.,;!:–—-]|$))"
    r"|\bon second thou?ghts?,? no\b|\b(?:actually,? )(?:leave|drop|skip) (?:it|that)\b|\bi don['’]?t think so\b"
    r"|\b(?:is|was|would be) (?:wrong|a mistake)\b|\b(?:vergiss es|olvídalo|laisse tomber)\b",
    re.IGNORECASE | re.MULTILINE,
)
# What a correction may put before a name, and capitals that begin a sentence and no name.
_NEW_NAME = re.compile(
    r"[\s,.:!]{0,3}(?:(?:to|for|with|pay|mail|call|the|it['’]?s|it|make it|[Ii] meant?)[\s,]{1,2}){0,2}"
    r"(?P<name>[A-Z][^\W\d_]+)"
)
_NO_NAME = frozenset(
    """
    I It Its The This That My Your Please Can Could Would Will Let We You They He She Is Are Was Do Does Did Have Has
    What When Where Why How Who Which There Here If And But So Also Just Make Use Send Pay Set Add Get Give Book Change
    Put Move Take Keep Yes No Not Sorry Actually Instead Thanks Thank Maybe Monday Tuesday Wednesday Thursday Friday
    Saturday Sunday January February March April May June July August September October November December Ok Okay
    """.split()
)
_NAME_CUES = ("no,", "no wait", "nope", "wait,", "sorry", "sorry,", "actually", "or rather", "rather,", "correction")
_NAME = re.compile(r"\b[A-Z][^\W\d_]+")
_ASCII_LOWER = {code: code + 32 for code in range(65, 91)}
_CORRECTION = re.compile(
    r"\b(?:no,|no wait|nope|make (?:it|that)|i (?:meant?|said)|or rather|rather,|sorry,?|correction"
    r"|scratch that|wait,|actually|change (?:it|that) to|on second thought|instead(?! of))(?![^\W_])"
    r"|\b(?:nein|nee,|äh,|quatsch,|besser gesagt|ich meine|doch lieber|mejor|perdón|digo|quiero decir|non,"
    r"|plutôt|pardon|je veux dire)(?![^\W_])|아니|정정|말고|いや|じゃなくて|ではなく|やっぱり",
    re.IGNORECASE,
)


class Replacement(NamedTuple):
    """A mention that takes the place of those before `after`."""

    after: int
    start: int
    end: int
    key: object


class Index:
    """Mentions of one text in one language. Spans are code points of the text as written."""

    def __init__(self, text: str, language: str) -> None:
        self.language = language
        self.text = own_words(text[:_MAX_TEXT])
        self._replacements: dict[tuple[str, int], Replacement | None] = {}
        self._places: dict[re.Pattern[str], list[int]] = {}
        self._sorts: dict[str, list[tuple[int, int, object]]] = {}

    @cached_property
    def words(self) -> Words:
        """The words of the text."""
        return Words(self.text)

    @cached_property
    def lowered(self) -> str:
        """The text in ASCII lower case, code point for code point."""
        return self.text.translate(_ASCII_LOWER)

    @cached_property
    def number_list(self) -> list[Mention]:
        """Every number, in order."""
        found = [*numerals.numerals(self.text, self.language), *number_words.number_words(self.text, self.language)]
        return sorted(found, key=lambda mention: (mention.start, mention.end))

    @cached_property
    def numbers(self) -> dict[Decimal, list[Mention]]:
        """Numbers by exact value."""
        table: dict[Decimal, list[Mention]] = {}
        for mention in self.number_list:
            _add(table, mention.key, mention)
        return table

    @cached_property
    def quantities(self) -> list[Quantity]:
        """Every number with a unit."""
        return list(quantities(self.text, self.number_list))

    @cached_property
    def measured(self) -> dict[str, list[Quantity]]:
        """Numbers with a unit, by the unit's dimension."""
        table: dict[str, list[Quantity]] = {}
        for quantity in self.quantities:
            table.setdefault(quantity.unit.dimension, []).append(quantity)
        return table

    @cached_property
    def _sums(self) -> list[tuple[int, int]]:
        return [(quantity.start, quantity.end) for quantity in self.quantities if quantity.number_end == quantity.end]

    def in_sum(self, start: int, end: int) -> bool:
        """Whether the span is only a part of a sum such as `1 hour 30 minutes`."""
        at = bisect_left(self._sums, (end, end))
        near = self._sums[max(0, at - 4) : at]
        return any(begin <= start and end <= stop and (begin, stop) != (start, end) for begin, stop in near)

    @cached_property
    def dates(self) -> list[Mention]:
        """Every date."""
        return dates.dates(self.text, self.language)

    @cached_property
    def years(self) -> frozenset[int]:
        """Every year that a date in the text states."""
        return frozenset(
            mention.key[1] for mention in self.dates if isinstance(mention.key, tuple) and mention.key[0] == "ymd"
        )

    def resolved(self, mention: Mention, context: Context) -> tuple[tuple[date, ...], str | None]:
        """The days that a date mention means for a request."""
        symbol = mention.key if isinstance(mention.key, tuple) else ()
        return date_resolution.with_year_of_others(symbol, date_resolution.resolve(symbol, context), self.years)

    @cached_property
    def times(self) -> list[Mention]:
        """Every time of day."""
        return times.times(self.text, self.language)

    @cached_property
    def zones(self) -> dict[tuple[int, int], Zone]:
        """The time zones written behind times of day, by the span of the time."""
        spans = dict.fromkeys((mention.start, mention.end) for mention in self.times)
        found = ((span, zone_after(self.text, *span)) for span in spans)
        return {span: zone for span, zone in found if zone is not None}

    @cached_property
    def _calendar(self) -> tuple[list[int], list[tuple[int, int, bool]]]:
        spans = sorted(
            (mention.start, mention.end, "ambiguous" in mention.flags) for mention in (*self.dates, *self.times)
        )
        return [start for start, _, _ in spans], spans

    def calendar_at(self, start: int, end: int) -> str | None:
        """`inside` when the span lies in a date or time, `perhaps` in words that may be one."""
        starts, spans = self._calendar
        at = bisect_left(starts, end)
        for begin, stop, open_reading in reversed(spans[max(0, at - 4) : at]):
            if begin <= start and end <= stop:
                return "perhaps" if open_reading else "inside"
        return None

    def mentions(self, sort: str) -> list[tuple[int, int, object]]:
        """Every mention of a sort (`number`, `date`, `time`) with its key, numbers in dates left out."""
        if sort not in self._sorts:
            found = (
                {"number": self._free_numbers, "date": self._dates, "time": self._times}[sort]()
                if sort in _SORTS
                else []
            )
            self._sorts[sort] = [(mention.start, mention.end, mention.key) for mention in found]
        return self._sorts[sort]

    def _dates(self) -> list[Mention]:
        return self.dates

    def _times(self) -> list[Mention]:
        return self.times

    def _free_numbers(self) -> list[Mention]:
        return [
            mention
            for mention in self.number_list
            if mention.grade == "stated" and self.calendar_at(mention.start, mention.end) != "inside"
        ]

    @cached_property
    def corrections(self) -> list[tuple[int, int]]:
        """Where the user takes something back."""
        return [match.span() for match in _CORRECTION.finditer(self.text)]

    def has_near(self, pattern: re.Pattern[str], start: int, end: int) -> bool:
        """Whether a short pattern occurs in a stretch; its places are found once for the whole text."""
        if pattern not in self._places:
            self._places[pattern] = [match.start() for match in pattern.finditer(self.text)]
        places = self._places[pattern]
        at = bisect_left(places, start)
        return at < len(places) and places[at] < end

    def taken_back(self, end: int) -> bool:
        """Whether a correction follows right after this offset, and something after it: `Ana, no, Bob`."""
        at = bisect_left(self.corrections, (end, end))
        if at == len(self.corrections) or self.corrections[at][0] - end > _NEXT_TO:
            return False
        start, stop = self.corrections[at]
        return not any(char.isalnum() for char in self.text[end:start]) and bool(
            self.text[stop : stop + 40].strip(" ,.!")
        )

    @cached_property
    def retracted(self) -> int:
        """Up to where the user took everything back: `scratch that`; -1 when nowhere."""
        return max((match.start() for match in _RETRACTION.finditer(self.text)), default=-1)

    def other_name(self, after: int, name: str) -> bool:
        """Whether a correction after this offset names somebody else: `pay Ana 300. Wait, Bob`."""
        if name[:1].isupper():
            for start, end in self.corrections[-_MAX_CORRECTIONS:]:
                if start >= after and self.text[start:end].lower() in _NAME_CUES:
                    new = _NEW_NAME.match(self.text, end)
                    if new and new["name"] not in _NO_NAME and new["name"] not in name:
                        return self.text.find(name, end) < 0
        return False

    def replacement(self, sort: str, length: int = 0) -> Replacement | None:
        """The last mention of a sort that a correction puts in the place of earlier ones; of a length, for codes."""
        key = (sort, length)
        if key not in self._replacements:
            found = (self._replaced(sort, length, *cue) for cue in reversed(self.corrections[-_MAX_CORRECTIONS:]))
            self._replacements[key] = next((replaced for replaced in found if replaced), None)
        return self._replacements[key]

    def _replaced(self, sort: str, length: int, start: int, end: int) -> Replacement | None:
        if sort in _SORTS:
            mentions = self.mentions(sort)
            at = bisect_left(mentions, end, key=itemgetter(0))
            if at < len(mentions) and mentions[at][0] - end <= _REPLACING:
                return Replacement(start, *mentions[at])
            before = mentions[at - 1] if at and self.text[start:end].lower() in _AFTER_ITS_VALUE else None
            if before and 0 <= start - before[1] <= _REPLACING // 2:
                return Replacement(before[0] - 1, *before)
            return None
        for token in tokens.TOKEN.finditer(self.text, end, end + _REPLACING):
            word = token[0].rstrip(".!?:")
            if tokens.shape(word) == sort and length in (0, len(word)):
                return Replacement(start, token.start(), token.start() + len(word), word)
        return None

    def exact(self, value: str) -> list[tuple[int, int]]:
        """Where the value stands as written, as whole tokens."""
        hits: list[tuple[int, int]] = []
        at, tries = self.text.find(value), 0
        while at >= 0 and len(hits) < MAX_MENTIONS and tries < _MAX_TRIES:
            tries += 1
            if bounded(self.text, at, at + len(value)):
                hits.append((at, at + len(value)))
            at = self.text.find(value, at + 1)
        return hits


def _add(table: dict[Decimal, list[Mention]], key: object, mention: Mention) -> None:
    mentions = table.setdefault(key, [])  # type: ignore[arg-type]
    if len(mentions) < MAX_MENTIONS:
        mentions.append(mention)


def names(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Where words stand in a stretch that are written like names."""
    return (match.span() for match in _NAME.finditer(text, begin, end) if match[0] not in _NO_NAME)


@lru_cache(maxsize=128)
def index_of(text: str, language: str) -> Index:
    """The index of a text, built once while it is in use."""
    return Index(text, language)
