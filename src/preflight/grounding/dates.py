"""Dates in the user's words: found without a clock, resolved against the recorded one (R-51, bad input 66).

A mention's key is symbolic, so that a text is read once and resolved for any request:
`("ymd", y, m, d)`, `("md", m, d)`, `("ym", y, m)`, `("dm?", y or None, a, b)` for `03/04`, `("day", d)`,
`("rel", days)`, `("shift", n, unit)`, `("weekday", weekday, which)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from preflight.grounding import date_patterns as grammar
from preflight.grounding.date_resolution import Key, valid
from preflight.grounding.mention import Mention
from preflight.grounding.tables.calendar import (
    CJK_PERIODS,
    COUNT_WORDS,
    LANGUAGE_OF_DAY,
    MONTHS,
    PERIODS,
    RELATIVE_DAYS,
    WEEKDAYS,
    WHICH,
    WHICH_AFTER,
)
from preflight.grounding.text import is_cjk, lowered

_DAY_NAMES = tuple(sorted(RELATIVE_DAYS, key=len, reverse=True))


def dates(text: str, language: str) -> list[Mention]:
    """Every date in the text, in order; overlapping readings of the same words stay side by side."""
    if not grammar.HAS_TRIGGER.search(text):
        return []
    found = [*_calendar(text), *_relative(text, language)]
    found = [mention for mention in found if not _moved(text, mention)]
    found.sort(key=lambda mention: (mention.start, -mention.end))
    return _share_years(text, _longest(found))


def _moved(text: str, mention: Mention) -> bool:
    """`the day before 4 December`, `two Fridays from now`: the day that is meant is another one."""
    before = text[max(0, mention.start - 24) : mention.start]
    if grammar.MOVED.search(before) or grammar.MOVED_AFTER.match(text, mention.end):
        return True
    if mention.normaliser != "date_relative" or not isinstance(mention.key, tuple) or mention.key[0] == "shift":
        return False
    on = mention.key[0] == "rel" and grammar.MOVED_ON.match(text, mention.end)
    return bool(on) or grammar.MOVED_FROM.search(before) is not None


def _longest(found: list[Mention]) -> list[Mention]:
    """Without the readings that lie inside a longer one: `December 4` is not `4`."""
    kept: list[Mention] = []
    reach = (0, 0)
    for mention in found:
        if mention.anchor is None and mention.end <= reach[1] and (mention.start, mention.end) != reach:
            continue
        kept.append(mention)
        if mention.anchor is None:
            reach = (mention.start, mention.end)
    return kept


def _calendar(text: str) -> Iterator[Mention]:
    yield from _numeric(text)
    yield from _named(text)
    for match in grammar.CJK_DATE.finditer(text):
        if match["d"]:
            yield from _month_and_day(text, match, int(match["m"]))
        elif match["y"] and valid(None, int(match["m"]), None):
            yield Mention(*match.span(), ("ym", int(match["y"]), int(match["m"])), "date")
    for match in grammar.BARE_DAY.finditer(text):
        yield Mention(*match.span(), ("day", int(match["d"])), "date")


def _numeric(text: str) -> Iterator[Mention]:
    for pattern in (grammar.YEAR_MONTH_DAY, grammar.COMPACT):
        for match in pattern.finditer(text):
            day = (int(match["y"]), int(match["m"]), int(match["d"]))
            if valid(*day):
                yield Mention(*match.span(), ("ymd", *day), "date")
    for match in grammar.NUMERIC.finditer(text):
        if key := _two_numbers(match):
            yield Mention(*match.span(), key, "date")
    for match in grammar.DOTTED.finditer(text):
        if valid(None, int(match["m"]), int(match["d"])):
            yield Mention(*match.span(), ("md", int(match["m"]), int(match["d"])), "date")
    for match in grammar.YEAR_MONTH.finditer(text):
        yield Mention(*match.span(), ("ym", int(match["y"]), int(match["m"])), "date")


def _named(text: str) -> Iterator[Mention]:
    for pattern in (grammar.MONTH_DAY, grammar.DAY_MONTH, grammar.WORD_DAY):
        for match in pattern.finditer(text):
            yield from _month_and_day(text, match, MONTHS[match["mon"].lower()])
    for match in grammar.MONTH_YEAR.finditer(text):
        yield Mention(*match.span(), ("ym", int(match["y"]), MONTHS[match["mon"].lower()]), "date")


def _two_numbers(match: re.Match[str]) -> Key | None:
    first, second = int(match["a"]), int(match["b"])
    if match["y"] is None:
        return (
            ("dm?", None, first, second)
            if match["sep"] == "/" and (valid(None, first, second) or valid(None, second, first))
            else None
        )
    year = int(match["y"])
    if year < 100:
        year += 2000 if year < 70 else 1900
    return ("dm?", year, first, second) if valid(year, first, second) or valid(year, second, first) else None


def _month_and_day(text: str, match: re.Match[str], month: int) -> Iterator[Mention]:
    day = grammar.DAY_WORDS.get(match["d"].lower()) or int(match["d"])
    year = int(match["y"]) if match["y"] else None
    right = grammar.RANGE_RIGHT.match(text, match.end()) if match.re is grammar.MONTH_DAY and not year else None
    if right:
        year = int(right["y"]) if right["y"] else None
    if not valid(year, month, day):
        return
    span = (match.start(), right.end()) if right and year else match.span()
    yield Mention(*span, _with_year(year, month, day), "date", anchor=match.span() if right and year else None)
    left = (
        grammar.RANGE_LEFT.search(text, max(0, match.start() - 24), match.start())
        if match.re is grammar.DAY_MONTH
        else None
    )
    other = right or left
    if other and valid(year, month, int(other["d"])):
        anchor = other.span("d")
        hull = (min(other.start(), match.start()), max(other.end(), match.end()))
        yield Mention(*hull, _with_year(year, month, int(other["d"])), "date", anchor=anchor)


def _with_year(year: int | None, month: int, day: int) -> Key:
    return ("md", month, day) if year is None else ("ymd", year, month, day)


def _share_years(text: str, found: list[Mention]) -> list[Mention]:
    """`between 5 January and 7 March 2021`: the year of a range stands once, at its end."""
    for at in range(len(found) - 1):
        first, second = found[at], found[at + 1]
        keys = (first.key, second.key)
        if isinstance(keys[0], tuple) and isinstance(keys[1], tuple) and keys[0][0] == "md" and keys[1][0] == "ymd":
            gap = text[first.end : second.start]
            key = ("ymd", keys[1][1], *keys[0][1:])
            if len(gap) < 12 and grammar.GAP.fullmatch(gap) and valid(*key[1:]):
                found[at] = first._replace(end=second.end, key=key, anchor=first.anchor or (first.start, first.end))
    return found


def _relative(text: str, language: str) -> Iterator[Mention]:
    lower = lowered(text)
    yield from _named_days(lower, language)
    for pattern in (grammar.WEEKDAY, grammar.CJK_WEEKDAY):
        for match in pattern.finditer(text):
            yield Mention(*match.span(), ("weekday", WEEKDAYS[match["w"].lower()], _which(match)), "date_relative")
    shifts = [(grammar.IN, 1), (grammar.AGO, -1)]
    if any(word in lower for word in grammar.FROM_NOW_WORDS):
        shifts.append((grammar.FROM_NOW, 1))
    for pattern, sign in shifts:
        for match in pattern.finditer(text):
            count = int(match["n"]) if match["n"].isdigit() else COUNT_WORDS[match["n"].lower()]
            direction = -1 if sign < 0 or (pattern is grammar.FROM_NOW and match["dir"].lower() == "ago") else 1
            yield Mention(*match.span(), ("shift", direction * count, PERIODS[match["u"].lower()]), "date_relative")
    for match in grammar.CJK_SHIFT.finditer(text):
        direction = -1 if match["dir"] in "전前" else 1
        yield Mention(*match.span(), ("shift", direction * int(match["n"]), CJK_PERIODS[match["u"]]), "date_relative")


def _named_days(lower: str, language: str) -> Iterator[Mention]:
    """`today`, `pasado mañana`, `모레`: plain searches, the longer names first."""
    taken = bytearray(len(lower))
    for name in _DAY_NAMES:
        at = lower.find(name)
        while at >= 0:
            end = at + len(name)
            if not any(taken[at:end]) and _whole(lower, at, end):
                taken[at:end] = b"\x01" * len(name)
                if LANGUAGE_OF_DAY.get(name, language) == language and not _is_morning(lower, name, at):
                    yield Mention(at, end, ("rel", RELATIVE_DAYS[name]), "date_relative")
            at = lower.find(name, end)


def _whole(text: str, start: int, end: int) -> bool:
    """Whether nothing joins the name on either side; scripts without spaces need no room."""
    if is_cjk(text[start]):
        return True
    return not (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum())


def _is_morning(text: str, name: str, start: int) -> bool:
    """`por la mañana`, `am Morgen`: a part of the day, not tomorrow."""
    before = text[max(0, start - 4) : start]
    return (name == "mañana" and before.endswith(" la ")) or (name == "morgen" and before.endswith(("am ", "den ")))


def _which(match: re.Match[str]) -> str:
    groups = match.groupdict()
    post = (groups.get("post") or "").lower()
    if post:
        return WHICH_AFTER[post]
    return WHICH.get((groups.get("q") or "").lower(), "")
