"""How often should it run? A recurrence in the user's words, as cron text with an end, and nothing left out (R-81).

What these forms cannot say in full is asked about: an exception, a choice, a time of day that may be two, an hour
"between" others. A part that was passed over would run a call too often, or on a day that nobody meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, time
from typing import NamedTuple

from preflight.grounding import Context, clock
from preflight.grounding.date_resolution import resolve
from preflight.grounding.dates import dates
from preflight.grounding.mention import Mention
from preflight.grounding.tables.calendar import MONTHS, WEEKDAYS
from preflight.grounding.times import times
from preflight.hooks.shipped.mentions import beside, key_of
from preflight.model.evidence import Located, NotGrounded

_NAMES = sorted((name for name in WEEKDAYS if len(name) > 1), key=len, reverse=True)
_DAY = rf"(?:{'|'.join(name if name.endswith('s') else name + 's?' for name in _NAMES)})"
_AND = r"\s?(?:(?:,|&|\band\b|\bund\b|\by\b|\bet\b|과|와|하고|と|、)\s?){1,2}(?:(?:on|every|each|am|los|les)\s+)?"
_TO = r"\s*(?:-|–|\bto\b|\bthrough\b|\bbis\b|\ba\b|\bà\b|부터|から)\s*"
_DAYS = rf"{_DAY}(?:{_TO}{_DAY}|(?:{_AND}{_DAY}){{0,6}})"
_DATE = r"(?:[12]?\d|3[01])(?:st|nd|rd|th|\.|er|일|日)?"
_DATES = rf"{_DATE}(?:{_AND}(?:the\s)?{_DATE}){{0,30}}(?![\d:])"
_EVERY = r"\b(?:every|each|jeden|jeder|jedes|cada|todos los|chaque|tous les)"
_OF_A_MONTH = "of (?:every|each) month|(?:every|each) month|jedes monats|de cada mes|de chaque mois"
_A_MONTH = "every month|each month|monthly|jeden monat|cada mes|chaque mois"
_FORMS = {
    "day": (rf"{_EVERY} (?:day|tag|día|días|jour|jours)\b", r"\b(?:daily|täglich|diariamente)\b", "매일|날마다|毎日"),
    "workday": (
        rf"{_EVERY} (?:weekday|working day|werktag|día laborable|jour ouvrable)\b",
        r"\bwerktags\b",
        "평일마다|毎平日",
    ),
    "hour": (rf"{_EVERY} (?:hour|stunde|hora|heure)\b", r"\b(?:hourly|stündlich)\b", "매시간|毎時間"),
    "weekdays": (
        rf"(?:{_EVERY} |\bon (?=\w+days\b)|매주\s?|毎週の?)(?P<weekdays_said>{_DAYS})(?![a-z])",
        rf"\blos (?P<weekdays_los>{_DAYS})(?![a-z])",
    ),
    "dates": (
        rf"(?:\b(?:on )?the |\bam |\bel (?:día )?|\ble )?\b(?P<dates_before>{_DATES}) (?:day )?(?:{_OF_A_MONTH})\b",
        rf"\b(?:{_A_MONTH}),? (?:on the|am|el|le) (?P<dates_after>{_DATES})",
        rf"(?:매월|매달|毎月)\s?(?P<dates_east>{_DATES})",
    ),
}
_PERIOD = re.compile("|".join(f"(?P<{kind}>{'|'.join(forms)})" for kind, forms in _FORMS.items()), re.IGNORECASE)
_OPEN_END = re.compile(
    r"\buntil (?:i (?:cancel|say stop|tell you to stop)(?: it)?|further notice|cancell?ed)\b"
    r"|\bbis (?:ich (?:es )?(?:absage|kündige|widerrufe|stoppe)|auf widerruf)\b"
    r"|\bhasta (?:que (?:yo )?(?:lo |la )?cancele|nuevo aviso)\b|\bjusqu['’]à (?:ce que j['’]annule|nouvel ordre)"
    r"|취소할 때까지|별도로 말할 때까지|キャンセルするまで|取り消すまで",
    re.IGNORECASE,
)
_END_BEFORE = re.compile(
    r"(?:\b(?:until|till|through|bis|hasta)(?: zum)?|\bjusqu['’]au)(?: the| el| le)? ?$", re.IGNORECASE
)
_END_AFTER = re.compile(r"\s?(?:까지|まで)")
_PARTLY = re.compile(
    r"\b(?:except|but not|other than|apart from|skip|only if|alternate|every (?:other|second|third|\d+)"
    r"|außer|ausgenommen|excepto|salvo|menos|sauf|hormis)\b|제외|빼고|以外|除",
    re.IGNORECASE,
)
_MONTH_NAMES = "|".join(name for name in MONTHS if len(name) > 3)
_COUNTED = (
    "\\d+|one|two|three|four|five|six|seven|eight|nine|ten|several|an?|the|this|that|each|every|first|last|second|third"
    "|next|other"
)
_MORE = re.compile(
    rf"\b{_DAY}\b|\b(?:{_MONTH_NAMES})\b|(?<!\w)\d+(?:st|nd|rd|th)\b"
    r"|\b(?:biweekly|fortnightly|weekly|monthly|yearly|hourly|nightly|daily|twice)\b"
    r"|\b(?:weekdays?|weekends?|holidays?|odd|even|half)\b"
    rf"|\b(?:{_COUNTED})[ -](?:times?|days?|weeks?|months?|years?|quarters?|summer|winter|spring|autumn|night)\b"
    r"|\b(?:start(?:s|ing)?|begin(?:s|ning)?|as of|never|only|not (?:on|in|at|before|after)|no runs)\b"
    r"|\b(?:as well|actually|at (?:most|least))\b"
    r"|\b(?:ab|nur|nicht|mal|wochen?|une semaine sur|uno s[ií]|à partir|a partir|solo|nunca|jamais)\b"
    r"|격주|隔週|공휴일|祝日|만 |까지만|だけ"
    r"|·\s?(?:in the|at|on|before|after)?\s?(?:utc|gmt|[ecmp][sd]t|cet|cest|bst|jst|kst|z)\b"
    r"|·\s?(?:in )?[A-Z]\w+ time\b"
    r"|·\s?[+-]\d\d:?\d\d|·\s?in [A-Z]\w+|·\s?(?:their|his|her|local|eastern|central|mountain|pacific)\b"
    r"|\b(?:first|second|third|last)\s*(?:,|&|-|\band\b|\bor\b|\bto\b)"
    r"|(?:\bbefore|\bafter|\bor|\bto|-|–) ·",
    re.IGNORECASE,
)
_JOINED = re.compile(r"[\s,]*(?:\b(?:and|und|y|et)\b|[,&과와と、])?\s*(?:at|um|a las|à)?\s*", re.IGNORECASE)
_EACH_DAY = re.compile(_DAY, re.IGNORECASE)
_RANGE = re.compile(rf"{_DAY}{_TO}{_DAY}", re.IGNORECASE)


class Period(NamedTuple):
    """A recurrence without its hours: the last three fields of cron text, or None for every hour."""

    start: int
    end: int
    days: str | None


def recurrences(text: str, index: int, context: Context) -> Iterator[Located | NotGrounded]:
    """Read the recurrence of a segment's text, as cron text with an end; nothing where the text has none."""
    found = [_period(match) for match in _PERIOD.finditer(text)]
    if not found:
        return
    if _PARTLY.search(text):
        yield NotGrounded("when_unreadable")
    elif len(found) > 1:
        yield NotGrounded("when_said_twice")
    else:
        yield _read(text, index, found[0], context)


def _read(text: str, index: int, period: Period, context: Context) -> Located | NotGrounded:
    end, ends = _end(text, context)
    hours = [hour for hour in times(text, context.language) if not any(_within(hour, day) for day in ends)]
    outside = [hour for hour in hours if hour.start >= period.end or hour.end <= period.start]
    near = _chain(text, period, outside)
    fields = _fields(period, near, outside)
    if isinstance(fields, NotGrounded):
        return fields
    if end is None:
        return NotGrounded("end_not_said")
    first = min([period.start, *(hour.start for hour in near)])
    last = max([period.end, *(hour.end for hour in near)])
    if _says_more(text, [(first, last), *((day.start, day.end) for day in ends)], context):
        return NotGrounded("when_unreadable")
    return Located(f"{fields} until {end}", index, first, last)


def _says_more(text: str, read: list[tuple[int, int]], context: Context) -> bool:
    """Whether beside what was read the words say more of when: it would be passed over."""
    rest = _OPEN_END.sub(lambda found: " " * len(found[0]), text)
    for start, end in read:
        rest = rest[:start] + "·" * (end - start) + rest[end:]
    return bool(_MORE.search(rest) or dates(rest, context.language) or times(rest, context.language))


def _fields(period: Period, near: list[Mention], all_hours: list[Mention]) -> str | NotGrounded:
    """Return the five cron fields, or why the times of day do not make them."""
    if period.days is None:  # "every hour between 9 and 5" is not every hour
        return NotGrounded("when_unreadable") if all_hours else "0 * * * *"
    spans = {(hour.start, hour.end) for hour in near}
    clocks = sorted({key_of(hour) for hour in near})
    if not clocks:
        return NotGrounded("time_of_day_not_said")
    if len(clocks) > len(spans):
        return NotGrounded("ambiguous")
    minutes = {clock_[1:] for clock_ in clocks}
    if len(minutes) > 1 or any(seconds for _, seconds in minutes):
        return NotGrounded("when_unreadable")
    if len(spans) < len({(hour.start, hour.end) for hour in all_hours}):
        return NotGrounded("when_said_twice")
    return f"{clocks[0][1]} {','.join(str(clock_[0]) for clock_ in clocks)} {period.days}"


def _chain(text: str, period: Period, hours: list[Mention]) -> list[Mention]:
    """The times of day beside a period, and those that "and" joins to them."""
    near = beside(text, Mention(period.start, period.end, (), "date"), hours)
    known = set(near)
    for hour in hours:
        if near and hour not in known and _follows(text, near[-1], hour):
            near.append(hour)
            known.add(hour)
    return near


def _follows(text: str, known: Mention, hour: Mention) -> bool:
    if (hour.start, hour.end) == (known.start, known.end):
        return True
    return hour.start >= known.end and _JOINED.fullmatch(text, known.end, hour.start) is not None


def _period(match: re.Match[str]) -> Period:
    if match["hour"]:
        return Period(*match.span(), None)
    if match["day"]:
        return Period(*match.span(), "* * *")
    if match["workday"]:
        return Period(*match.span(), "* * 1-5")
    said = next(text for name, text in match.groupdict().items() if text and name.startswith(("weekdays_", "dates_")))
    if match["weekdays"]:
        return Period(*match.span(), f"* * {_weekdays(said)}")
    dates_said = sorted({int(number) for number in re.findall(r"\d+", said)})
    return Period(*match.span(), f"{','.join(map(str, dates_said))} * *")


def _weekdays(text: str) -> str:
    """Return the cron numbers of named weekdays, Monday 1 to Sunday 7."""
    named = [_number(name[0]) for name in _EACH_DAY.finditer(text)]
    if _RANGE.fullmatch(text) and named[0] < named[1]:
        return f"{named[0]}-{named[1]}"
    return ",".join(map(str, sorted(set(named))))


def _number(name: str) -> int:
    name = name.lower()
    return WEEKDAYS[name if name in WEEKDAYS else name.removesuffix("s")] + 1


def _end(text: str, context: Context) -> tuple[str | None, list[Mention]]:
    """Return the end that the words state, the words for none or the last moment of one day, and where it stands."""
    if _OPEN_END.search(text):
        return "cancelled", []
    ends = [
        day
        for day in dates(text, context.language)
        if _END_BEFORE.search(text[: day.start]) or _END_AFTER.match(text, day.end)
    ]
    days = {day for mention in ends for day in resolve(key_of(mention), context)[0]}
    place = clock.zone(context)
    if len(days) != 1 or place is None:
        return None, ends
    last = datetime.combine(days.pop(), time(23, 59, 59), place)
    return last.astimezone(UTC).isoformat(), ends


def _within(hour: Mention, day: Mention) -> bool:
    return day.start <= hour.start and hour.end <= day.end
