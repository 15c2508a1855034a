"""Dates in the user's words: found without a clock, resolved against the recorded one (R-51, bad input 66).

A mention's key is symbolic, so that a text is read once and resolved for any request:
`("ymd", y, m, d)`, `("md", m, d)`, `("ym", y, m)`, `("dm?", y or None, a, b)` for `03/04`, `("day", d)`,
`("rel", days)`, `("shift", n, unit)`, `("weekday", weekday, which)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from preflight.grounding import clock
from preflight.grounding.findings import Context
from preflight.grounding.mention import Mention
from preflight.grounding.tables.calendar import LANGUAGE_OF_DAY, MONTHS, RELATIVE_DAYS, WEEKDAYS

Key = tuple[object, ...]


def _words(names: object) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))  # type: ignore[call-overload]


_MONTH = _words(MONTHS)
_ORDINAL = r"(?:st|nd|rd|th|º|er|\.)?"
_YEAR = r"(?:(?:\s?,\s?|\s|-|\.)(?:of |in |de |del )?(?P<y>(?:1[5-9]|20|21)\d\d)(?![\d:]))?"
_YEAR_MONTH_DAY = re.compile(r"(?<![\d/.-])(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?!\d|[-/.]\d)")
_COMPACT = re.compile(r"(?<![\w/.-])(?P<y>(?:19|20)\d\d)(?P<m>0[1-9]|1[0-2])(?P<d>[0-3]\d)(?![\w/-])")
_NUMERIC = re.compile(r"(?<![\w/.-])(?P<a>\d{1,2})(?P<sep>[-/.])(?P<b>\d{1,2})(?:(?P=sep)(?P<y>\d{4}|\d\d))?(?![\w/-]|\.\d)")
_MONTH_DAY = re.compile(
    rf"(?<![^\W_])(?P<mon>{_MONTH})\.?[\s-]?(?:the\s)?(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:%]|[.,]\d{{1,2}}(?!\d)|\s?[ap]\.?m\b){_YEAR}", re.IGNORECASE
)
_DAY_MONTH = re.compile(rf"(?<![\w:/])(?P<d>\d{{1,2}}){_ORDINAL}[\s-]{{0,2}}(?:(?:day )?(?:of|de)\s)?(?P<mon>{_MONTH})(?![^\W_])\.?{_YEAR}", re.IGNORECASE)
_MONTH_YEAR = re.compile(rf"(?<![^\W_])(?P<mon>{_MONTH})\.?(?:\s?,\s?|\s|-)(?:of |in |de |del )?(?P<y>(?:1[5-9]|20|21)\d\d)(?![\d:])", re.IGNORECASE)
_YEAR_MONTH = re.compile(r"(?<![\d/.-])(?P<y>(?:19|20)\d\d)[-/](?P<m>0[1-9]|1[0-2])(?![\d/-])")
_CJK_DATE = re.compile(r"(?:(?P<y>\d{4})\s?[年년]\s?)?(?<!\d)(?P<m>\d{1,2})\s?[月월](?:\s?(?P<d>\d{1,2})\s?[日일])?")
_WORD_DAY = re.compile(
    rf"\b(?:the\s)?(?P<d>first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|thirteenth|fourteenth|fifteenth)\s(?:day\s)?of\s(?P<mon>{_MONTH})(?![^\W_]){_YEAR}",
    re.IGNORECASE,
)
_DAY_WORDS = {
    word: day
    for day, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth".split(), 1
    )
}
_BARE_DAY = re.compile(r"\b(?:on|by|until|till|from|for|am|el)\s(?:the\s)?(?P<d>[12]?\d|3[01])(?:st|nd|rd|th|\.)(?![\w-])(?!\s(?:of\s)?[A-Z][a-z])", re.IGNORECASE)
_RELATIVE = re.compile(
    "|".join(rf"(?<![^\W_])(?:{re.escape(name)})(?![^\W_])" if name[0].isascii() or name[0] in "üéaà" else re.escape(name) for name in sorted(RELATIVE_DAYS, key=len, reverse=True)),
    re.IGNORECASE,
)
_WHICH = {
    "this": "this", "this coming": "coming", "coming": "coming", "the coming": "coming", "next": "next", "last": "last", "past": "last",
    "이번 주": "this_week", "이번주": "this_week", "다음 주": "next_week", "다음주": "next_week", "지난주": "last_week", "지난 주": "last_week",
    "来週の": "next_week", "来週": "next_week", "今週の": "this_week", "今週": "this_week", "先週の": "last_week", "先週": "last_week",
    "nächsten": "next", "nächster": "next", "kommenden": "coming", "diesen": "this", "letzten": "last",
    "próximo": "next", "proximo": "next", "este": "this", "pasado": "last", "prochain": "next",
}  # fmt: skip
_WEEKDAY = re.compile(
    rf"(?:(?P<q>{_words(_WHICH)})\s?)?(?<![^\W_])(?P<w>{_words(n for n in WEEKDAYS if n.isascii() or n[0] < chr(0x2000))})s?(?![^\W_])(?:\s(?P<post>next week|this week|last week|week|nächste woche|de la próxima semana|prochain))?",
    re.IGNORECASE,
)
_CJK_WEEKDAY = re.compile(rf"(?:(?P<q>{_words(n for n in _WHICH if not n.isascii() and n[0] > chr(0x2000))})\s?)?(?P<w>{_words(n for n in WEEKDAYS if n[0] > chr(0x2000))})")
_COUNT_WORDS = {word: count for count, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())} | {
    "a": 1, "an": 1, "einer": 1, "einem": 1, "una": 1, "un": 1, "une": 1, "zwei": 2, "drei": 3, "dos": 2, "tres": 3, "deux": 2, "trois": 3,
}  # fmt: skip
_UNIT_NAMES = {
    "day": "day", "days": "day", "week": "week", "weeks": "week", "fortnight": "fortnight", "month": "month", "months": "month", "year": "year", "years": "year",
    "día": "day", "días": "day", "semana": "week", "semanas": "week", "mes": "month", "meses": "month", "año": "year", "años": "year",
    "tag": "day", "tage": "day", "tagen": "day", "woche": "week", "wochen": "week", "monat": "month", "monaten": "month", "jahr": "year", "jahren": "year",
    "jour": "day", "jours": "day", "semaine": "week", "semaines": "week", "mois": "month", "an": "year", "ans": "year",
}  # fmt: skip
_COUNT = rf"(?P<n>\d{{1,4}}|{_words(_COUNT_WORDS)})\s(?P<u>{_words(_UNIT_NAMES)})"
_IN = re.compile(rf"\b(?:in|en|dentro de|dans)\s{_COUNT}(?![^\W_])(?:['’]?\stime)?", re.IGNORECASE)
_FROM_NOW = re.compile(rf"\b{_COUNT}\s(?P<dir>from now|from today|ago|later|hence)\b", re.IGNORECASE)
_AGO = re.compile(rf"\b(?:vor|hace|il y a)\s{_COUNT}(?![^\W_])", re.IGNORECASE)
_CJK_SHIFT = re.compile(r"(?P<n>\d{1,3})\s?(?P<u>일|日|주|週間|개월|か月|ヶ月|년|年)\s?(?P<dir>후|뒤|後|전|前)")
_CJK_UNITS = {"일": "day", "日": "day", "주": "week", "週間": "week", "개월": "month", "か月": "month", "ヶ月": "month", "년": "year", "年": "year"}
_TO = r"\s?(?:-|–|—|to|until|till|til|through|thru|and|bis|und|al?|hasta(?: el)?|y|au|et|から|~|〜|부터)\s?(?:the\s|le\s)?"
_RANGE_LEFT = re.compile(rf"(?<![\w:/.])(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)?{_TO}$", re.IGNORECASE)
_RANGE_RIGHT = re.compile(rf"{_TO}(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?![\w:]|[.]\d|\s(?:{_MONTH})\b){_YEAR}", re.IGNORECASE)
_GAP = re.compile(rf"{_TO}(?:on\s)?", re.IGNORECASE)
_HAS_TRIGGER = re.compile(r"\d|[^\W\d_]{2}")


def dates(text: str, language: str) -> list[Mention]:
    """Every date in the text, in order; overlapping readings of the same words stay side by side."""
    if not _HAS_TRIGGER.search(text):
        return []
    found = [*_calendar(text), *_relative(text, language)]
    found.sort(key=lambda mention: (mention.start, -mention.end))
    return _share_years(text, _longest(found))


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


def _valid(year: int | None, month: int, day: int | None) -> bool:
    try:
        date(year or 2024, month, day or 1)
    except ValueError:
        return False
    return True


def _calendar(text: str) -> Iterator[Mention]:
    for pattern in (_YEAR_MONTH_DAY, _COMPACT):
        for match in pattern.finditer(text):
            key = (int(match["y"]), int(match["m"]), int(match["d"]))
            if _valid(*key):
                yield Mention(*match.span(), ("ymd", *key), "date")
    for match in _NUMERIC.finditer(text):
        if key := _two_numbers(match):
            yield Mention(*match.span(), key, "date")
    for match in _YEAR_MONTH.finditer(text):
        yield Mention(*match.span(), ("ym", int(match["y"]), int(match["m"])), "date")
    for pattern in (_MONTH_DAY, _DAY_MONTH, _WORD_DAY):
        for match in pattern.finditer(text):
            yield from _month_and_day(text, match, MONTHS[match["mon"].lower()])
    for match in _MONTH_YEAR.finditer(text):
        yield Mention(*match.span(), ("ym", int(match["y"]), MONTHS[match["mon"].lower()]), "date")
    for match in _CJK_DATE.finditer(text):
        if match["d"]:
            yield from _month_and_day(text, match, int(match["m"]))
        elif match["y"] and _valid(None, int(match["m"]), None):
            yield Mention(*match.span(), ("ym", int(match["y"]), int(match["m"])), "date")
    for match in _BARE_DAY.finditer(text):
        yield Mention(*match.span(), ("day", int(match["d"])), "date")


def _two_numbers(match: re.Match[str]) -> Key | None:
    first, second = int(match["a"]), int(match["b"])
    if match["y"] is None:
        return ("dm?", None, first, second) if match["sep"] == "/" and (_valid(None, first, second) or _valid(None, second, first)) else None
    year = int(match["y"])
    if year < 100:
        year += 2000 if year < 70 else 1900
    return ("dm?", year, first, second) if _valid(year, first, second) or _valid(year, second, first) else None


def _month_and_day(text: str, match: re.Match[str], month: int) -> Iterator[Mention]:
    day = _DAY_WORDS.get(match["d"].lower()) or int(match["d"])
    year = int(match["y"]) if match["y"] else None
    right = _RANGE_RIGHT.match(text, match.end()) if match.re is _MONTH_DAY and not year else None
    if right:
        year = int(right["y"]) if right["y"] else None
    if not _valid(year, month, day):
        return
    span = (match.start(), right.end()) if right and year else match.span()
    yield Mention(*span, _with_year(year, month, day), "date", anchor=match.span() if right and year else None)
    left = _RANGE_LEFT.search(text, max(0, match.start() - 24), match.start()) if match.re is _DAY_MONTH else None
    other = right or left
    if other and _valid(year, month, int(other["d"])):
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
            if len(gap) < 12 and _GAP.fullmatch(gap):
                key = ("ymd", keys[1][1], *keys[0][1:])
                found[at] = first._replace(end=second.end, key=key, anchor=first.anchor or (first.start, first.end))
    return found


def _relative(text: str, language: str) -> Iterator[Mention]:
    for match in _RELATIVE.finditer(text):
        name = match[0].lower()
        if LANGUAGE_OF_DAY.get(name, language) == language and not _is_morning(text, match):
            yield Mention(*match.span(), ("rel", RELATIVE_DAYS[name]), "date_relative")
    for pattern in (_WEEKDAY, _CJK_WEEKDAY):
        for match in pattern.finditer(text):
            yield Mention(*match.span(), ("weekday", WEEKDAYS[match["w"].lower()], _which(match)), "date_relative")
    for pattern, sign in ((_IN, 1), (_FROM_NOW, 1), (_AGO, -1)):
        for match in pattern.finditer(text):
            count = int(match["n"]) if match["n"].isdigit() else _COUNT_WORDS[match["n"].lower()]
            direction = -1 if sign < 0 or (pattern is _FROM_NOW and match["dir"].lower() == "ago") else 1
            yield Mention(*match.span(), ("shift", direction * count, _UNIT_NAMES[match["u"].lower()]), "date_relative")
    for match in _CJK_SHIFT.finditer(text):
        direction = -1 if match["dir"] in "전前" else 1
        yield Mention(*match.span(), ("shift", direction * int(match["n"]), _CJK_UNITS[match["u"]]), "date_relative")


def _is_morning(text: str, match: re.Match[str]) -> bool:
    """`por la mañana`, `am Morgen`: a part of the day, not tomorrow."""
    before = text[max(0, match.start() - 4) : match.start()].lower()
    name = match[0].lower()
    return (name == "mañana" and before.endswith(" la ")) or (name == "morgen" and before.endswith(("am ", "den ")))


def _which(match: re.Match[str]) -> str:
    groups = match.groupdict()
    post = (groups.get("post") or "").lower()
    if post:
        return {"this week": "this_week", "last week": "last_week", "week": "coming_week", "prochain": "next"}.get(post, "next_week")
    return _WHICH.get((groups.get("q") or "").lower(), "")


def resolve(key: Key, context: Context) -> tuple[tuple[date, ...], str | None]:
    """The days that a mention may mean, and the rule that was used when they are derived.

    More than one day means that the words are ambiguous; none that there is no clock to resolve them.
    """
    kind = key[0]
    if kind == "ymd":
        return (date(*key[1:]),), None  # type: ignore[arg-type]
    if kind == "dm?":
        return _ordered(key, context)
    now = clock.today(context)
    if now is None or kind == "ym":
        return (), None
    if kind == "md":
        return _coming(now, int(str(key[1])), int(str(key[2]))), "coming_year"
    if kind == "day":
        return _coming_day(now, int(str(key[1]))), "coming_month"
    days = _relative_days(key, now)
    return tuple(day for day in days if day is not None), "relative_date"


def with_year_of_others(key: Key, read: tuple[tuple[date, ...], str | None], years: frozenset[int]) -> tuple[tuple[date, ...], str | None]:
    """`from 22 April until 27 April 2023`: the one year that the text states serves its other dates.

    Where the clock says another year for the same words, both readings stay and the words are ambiguous.
    """
    if key[0] != "md" or len(years) != 1:
        return read
    year = next(iter(years))
    if not _valid(year, int(str(key[1])), int(str(key[2]))):
        return read
    there = date(year, int(str(key[1])), int(str(key[2])))
    return tuple(dict.fromkeys((*read[0], there))), "year_of_other_date"


def _coming(now: date, month: int, day: int) -> tuple[date, ...]:
    for year in range(now.year, now.year + 9):
        if _valid(year, month, day) and date(year, month, day) >= now:
            return (date(year, month, day),)
    return ()


def _coming_day(now: date, day: int) -> tuple[date, ...]:
    for months in range(3):
        there = clock.add_months(now.replace(day=1), months)
        if there and _valid(there.year, there.month, day) and there.replace(day=day) >= now:
            return (there.replace(day=day),)
    return ()


def _ordered(key: Key, context: Context) -> tuple[tuple[date, ...], str | None]:
    """`03/04`: day and month in the order of a locale that has one; else both days (bad input: ambiguous dates)."""
    year, first, second = key[1], int(str(key[2])), int(str(key[3]))
    locale = context.locale.replace("_", "-")
    orders = [(second, first)]
    if locale == "en-US":
        orders = [(first, second)]
    elif locale.split("-")[0] in ("en", "ja", "ko", "zh"):
        orders = [(second, first), (first, second)] if locale in ("en", "ja", "ko", "zh") else orders
    now = clock.today(context)
    days: list[date] = []
    valid_orders = [order for order in orders if _valid(int(str(year)) if year else None, *order)] or [
        order for order in ((first, second), (second, first)) if _valid(int(str(year)) if year else None, *order)
    ]
    for month, day in valid_orders:
        if year is not None:
            days.append(date(int(str(year)), month, day))
        elif now is not None:
            days.extend(_coming(now, month, day))
    return tuple(dict.fromkeys(days)), None if year is not None else "coming_year"


def _relative_days(key: Key, now: date) -> list[date | None]:
    kind = key[0]
    if kind == "rel":
        return [clock.add_days(now, int(str(key[1])))]
    if kind == "shift":
        count, unit = int(str(key[1])), str(key[2])
        if unit in ("day", "week", "fortnight"):
            return [clock.add_days(now, count * {"day": 1, "week": 7, "fortnight": 14}[unit])]
        return [clock.add_months(now, count * (12 if unit == "year" else 1))]
    return [clock.add_days(now, days) for days in _weekday_days(int(str(key[1])), str(key[2]), now.weekday())]


def _weekday_days(weekday: int, which: str, today: int) -> tuple[int, ...]:
    """Days from now to a weekday; two where people mean two different weeks by the same words."""
    ahead = (weekday - today) % 7
    same_week = weekday - today
    if which == "last":
        return (ahead - 7,) if ahead else (-7,)
    if which in ("this_week", "next_week", "last_week"):
        return (same_week + {"this_week": 0, "next_week": 7, "last_week": -7}[which],)
    if which == "coming_week":
        return ((ahead or 7) + 7,)
    if which == "next":
        return tuple(dict.fromkeys((ahead or 7, same_week + 7)))
    if ahead == 0:
        return (0, 7) if which != "coming" else (7,)
    return (ahead,)
