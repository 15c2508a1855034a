"""The grammar of dates as patterns; each matches in one pass, with bounded repetition only."""

from __future__ import annotations

import re
from collections.abc import Iterable

from preflight.grounding.tables.calendar import (
    COUNT_WORDS,
    MONTHS,
    PERIODS,
    WEEKDAYS,
    WHICH,
)


def _words(names: Iterable[str]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


MONTH = _words(MONTHS)
ORDINAL = r"(?:st|nd|rd|th|º|er|\.)?"
YEAR = r"(?:(?:\s?,\s?|\s|-|\.)(?:of |in |de |del )?(?P<y>(?:1[5-9]|20|21)\d\d)(?![\d:]))?"
YEAR_MONTH_DAY = re.compile(r"(?<![\d/.-])(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?!\d|[-/.]\d)")
COMPACT = re.compile(r"(?<![\w/.-])(?P<y>(?:19|20)\d\d)(?P<m>0[1-9]|1[0-2])(?P<d>[0-3]\d)(?![\w/-])")
NUMERIC = re.compile(
    r"(?<![\w/.-])(?P<a>\d{1,2})(?P<sep>[-/.])(?P<b>\d{1,2})(?:(?P=sep)(?P<y>\d{4}|\d\d))?(?![\w/-]|\.\d)"
)
MONTH_DAY = re.compile(
    rf"(?<![^\W_])(?P<mon>{MONTH})\.?[\s-]?(?:the\s)?(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:%]|[.,]\d{{1,2}}(?!\d)|\s?[ap]\.?m\b){YEAR}",
    re.IGNORECASE,
)
DAY_MONTH = re.compile(
    rf"(?<![\w:/])(?P<d>\d{{1,2}}){ORDINAL}[\s-]{{0,2}}(?:(?:day )?(?:of|de)\s)?(?P<mon>{MONTH})(?![^\W_])\.?{YEAR}",
    re.IGNORECASE,
)
MONTH_YEAR = re.compile(
    rf"(?<![^\W_])(?P<mon>{MONTH})\.?(?:\s?,\s?|\s|-)(?:of |in |de |del )?(?P<y>(?:1[5-9]|20|21)\d\d)(?![\d:])",
    re.IGNORECASE,
)
YEAR_MONTH = re.compile(r"(?<![\d/.-])(?P<y>(?:19|20)\d\d)[-/](?P<m>0[1-9]|1[0-2])(?![\d/-])")
CJK_DATE = re.compile(r"(?:(?P<y>\d{4})\s?[年년]\s?)?(?<!\d)(?P<m>\d{1,2})\s?[月월](?:\s?(?P<d>\d{1,2})\s?[日일])?")
WORD_DAY = re.compile(
    rf"\b(?:the\s)?(?P<d>first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|thirteenth|fourteenth|fifteenth)\s(?:day\s)?of\s(?P<mon>{MONTH})(?![^\W_]){YEAR}",
    re.IGNORECASE,
)
DAY_WORDS = {
    word: day
    for day, word in enumerate(
        (
            "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
            "thirteenth fourteenth fifteenth"
        ).split(),
        1,
    )
}
BARE_DAY = re.compile(
    r"\b(?:on|by|until|till|from|for|am|el)\s(?:the\s)?(?P<d>[12]?\d|3[01])(?:st|nd|rd|th|\.)(?![\w-])(?!\s(?:of\s)?[A-Z][a-z])",
    re.IGNORECASE,
)
WEEKDAY = re.compile(
    rf"(?:(?P<q>{_words(WHICH)})\s?)?(?<![^\W_])"
    rf"(?P<w>{_words(n for n in WEEKDAYS if n.isascii() or n[0] < chr(0x2000))})s?(?![^\W_])(?:\s"
    rf"(?P<post>next week|this week|last week|week|nächste woche|de la próxima semana|prochain))?",
    re.IGNORECASE,
)
CJK_WEEKDAY = re.compile(
    rf"(?:(?P<q>{_words(n for n in WHICH if not n.isascii() and n[0] > chr(0x2000))})\s?)?"
    rf"(?P<w>{_words(n for n in WEEKDAYS if n[0] > chr(0x2000))})"
)
COUNT = rf"(?P<n>\d{{1,4}}|{_words(COUNT_WORDS)})\s(?P<u>{_words(PERIODS)})"
IN = re.compile(rf"\b(?:in|en|dentro de|dans)\s{COUNT}(?![^\W_])(?:['’]?\stime)?", re.IGNORECASE)
FROM_NOW_WORDS = ("from now", "from today", "ago", "later", "hence")
FROM_NOW = re.compile(rf"\b{COUNT}\s(?P<dir>{'|'.join(FROM_NOW_WORDS)})\b", re.IGNORECASE)
AGO = re.compile(rf"\b(?:vor|hace|il y a)\s{COUNT}(?![^\W_])", re.IGNORECASE)
CJK_SHIFT = re.compile(r"(?P<n>\d{1,3})\s?(?P<u>일|日|주|週間|개월|か月|ヶ月|년|年)\s?(?P<dir>후|뒤|後|전|前)")
TO = (
    r"\s?(?:-|–|—|to|until|till|til|through|thru|and|bis|und|al?|hasta(?: el)?|y|au|et|から|~|〜|부터)\s?"
    r"(?:the\s|le\s)?"
)
RANGE_LEFT = re.compile(rf"(?<![\w:/.])(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)?{TO}$", re.IGNORECASE)
RANGE_RIGHT = re.compile(rf"{TO}(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?![\w:]|[.]\d|\s(?:{MONTH})\b){YEAR}", re.IGNORECASE)
GAP = re.compile(rf"{TO}(?:on\s)?", re.IGNORECASE)
HAS_TRIGGER = re.compile(r"\d|[^\W\d_]{2}")
MOVED = re.compile(
    r"\b(?:days?|nights?|weeks?|weekends?|months?|years?|mornings?|evenings?|tage?|woche|día|semana|jours?|semaine)\s"
    r"(?:before|after|following|preceding|prior to|vor|nach|antes del?"
    r"|después del?|avant|après)\s(?:the |dem |el |le )?$",
    re.IGNORECASE,
)
# `a week from Friday` is another day than Friday; `for a week from Friday` starts on it.
MOVED_FROM = re.compile(
    r"(?<!\bfor )\b(?:an?|one|two|three|four|\d{1,2}|eine|una|une)\s"
    r"(?:days?|weeks?|fortnights?|months?|years?|woche|semana|semaine)\s(?:from|ab|von|desde|à partir de)\s$",
    re.IGNORECASE,
)
MOVED_ON = re.compile(
    r"\s(?:in (?:an?|one|two|three|einer|einem|zwei|drei|\d{1,2}) (?:days?|weeks?|fortnight|months?|tag\w*"
    r"|woche\w*|monat\w*)|in acht tagen|next week|next month|week|fortnight)\b",
    re.IGNORECASE,
)
MOVED_AFTER = re.compile(r"\s(?:from now|after next|before last)\b|의?\s?(?:다음|전)\s?날", re.IGNORECASE)
DOTTED = re.compile(r"(?<![\w/.-])(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?![\d])")
