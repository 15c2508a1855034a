"""Times of day in the user's words; the key is `(hour, minute, second)`.

Words that leave morning or evening open give both readings, flagged `ambiguous`: nobody guesses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from preflight.grounding.mention import Mention
from preflight.grounding.tables.calendar import AFTERNOON, DAY_PARTS, MIDNIGHT, MORNING, NOON

_HOURS = {
    word: hour
    for words in (
        "one two three four five six seven eight nine ten eleven twelve",
        "una dos tres cuatro cinco seis siete ocho nueve diez once doce",
        "eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    )
    for hour, word in enumerate(words.split(), 1)
}
_HOUR_WORD = "|".join(sorted(_HOURS, key=len, reverse=True))
_MERIDIEM = re.compile(
    rf"(?<![\d:.,])(?:(?P<h>\d{{1,2}})|\b(?P<w>{_HOUR_WORD}))(?:[:.](?P<m>[0-5]\d))?(?::(?P<s>[0-5]\d))?\s?(?P<p>[ap])\.?\s?m\b\.?",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    r"(?<![\d:.,])(?P<h>[01]?\d|2[0-3]):(?P<m>[0-5]\d)(?::(?P<s>[0-5]\d)(?:\.\d+)?)?(?![\d:]|\s?[ap]\.?\s?m\b)",
    re.IGNORECASE,
)
_OCLOCK = re.compile(
    rf"(?<![\d:.,])(?:(?P<h>\d{{1,2}})|\b(?P<w>{_HOUR_WORD}))(?:\s?o['’]?clock\b(?:\s(?P<p>[ap])\.?m\b\.?)?|\s?uhr\b(?:\s(?P<m>[0-5]?\d)(?!\d))?|\s?h(?P<fm>[0-5]\d)\b|\s?heures?\b)",
    re.IGNORECASE,
)
_HAS_OCLOCK = re.compile(r"clock|uhr|\d\s?h", re.IGNORECASE)
_HALF = r"(?:\s(?P<p>[ap])\.?\s?m\b\.?)?"
_HALF_PAST = re.compile(
    rf"\b(?P<k>half past|quarter past|quarter to|halb|viertel nach|viertel vor)\s"
    rf"(?:(?P<h>\d{{1,2}})(?![\d:])|(?P<w>{_HOUR_WORD})\b){_HALF}",
    re.IGNORECASE,
)
_MINUTES_PAST = re.compile(
    rf"\b(?P<n>five|ten|twenty(?:[ -]five)?|\d{{1,2}}(?= min| past| after))"
    rf"(?:\smin(?:ute)?s?)?\s(?P<k>past|after|to|before)\s"
    rf"(?:(?P<h>\d{{1,2}})(?![\d:])|(?P<w>{_HOUR_WORD})\b){_HALF}",
    re.IGNORECASE,
)
_SPOKEN = re.compile(
    rf"\b(?P<w>{_HOUR_WORD})\s"
    rf"(?P<n>(?:oh )?five|ten|fifteen|twenty(?:[ -]five)?|thirty|forty(?:[ -]five)?|fifty)\b{_HALF}",
    re.IGNORECASE,
)
_SPANISH = re.compile(
    rf"\ba las?\s(?:(?P<h>\d{{1,2}})(?![\d:])|(?P<w>{_HOUR_WORD})\b)(?:\s(?P<k>y media|y cuarto|menos cuarto)\b)?",
    re.IGNORECASE,
)
_AT = re.compile(
    rf"\b(?:at|um|from|by|until|till|around|before|after|à)\s(?:(?P<h>\d{{1,2}})(?![\d:.,/%°-]\d|[\w%°])|(?P<w>{_HOUR_WORD})\b)(?!\s(?:[ap]\.?m\b|o['’]?clock|uhr|heure))"
    r"(?!\s?(?:%|percent|per\s|km|kg|degree|mile|dollar|euro|people|person|guest))",
    re.IGNORECASE,
)
_CJK = re.compile(
    r"(?P<part>오전|오후|새벽|아침|저녁|밤|午前|午後|朝|夜|夕方)?(?:の|\s)?(?<!\d)(?:(?P<h>\d{1,2})|(?P<w>열한|열두|다섯|여섯|일곱|여덟|아홉|한|두|세|네|열))\s?(?:시(?!간)|時(?!間))(?:\s?(?P<m>\d{1,2})\s?[분分])?(?P<half>\s?반|半)?"
)
_KOREAN_HOURS = {
    "한": 1,
    "두": 2,
    "세": 3,
    "네": 4,
    "다섯": 5,
    "여섯": 6,
    "일곱": 7,
    "여덟": 8,
    "아홉": 9,
    "열": 10,
    "열한": 11,
    "열두": 12,
}
_CJK_PART = {"오전": MORNING, "새벽": MORNING, "아침": MORNING, "午前": MORNING, "朝": MORNING}
_NAMED = re.compile(
    "|".join(rf"\b{name}\b" if name[0] < "\u0400" else name for name in (*NOON, *MIDNIGHT)), re.IGNORECASE
)
_PART = "|".join(sorted(DAY_PARTS, key=len, reverse=True))
_PART_AFTER = re.compile(rf"\s?,?\s?(?:in the |at |this |de la |por la |du |am |)(?P<part>{_PART})\b", re.IGNORECASE)
_PART_BEFORE = re.compile(rf"\b(?P<part>{_PART})\s?,?\s?(?:at|um|by|around|from|a las|à)?\s?$", re.IGNORECASE)
_RANGE_LEFT = re.compile(r"(?<![\d:.,/])(?P<h>\d{1,2})\s?(?:-|–|to|until|till)\s?$", re.IGNORECASE)
_RANGE_END = re.compile(
    r"\s?(?:-|–|to|until|till|and)\s?(?P<h>\d{1,2})(?:[:.][0-5]\d)?\s?(?P<p>[ap])\.?\s?m\b", re.IGNORECASE
)
_MINUTES = {
    "half past": 30,
    "quarter past": 15,
    "quarter to": -15,
    "halb": -30,
    "viertel nach": 15,
    "viertel vor": -15,
    "y media": 30,
    "y cuarto": 15,
    "menos cuarto": -15,
}
_MINUTE_WORDS = {
    "five": 5, "oh five": 5, "ten": 10, "fifteen": 15, "twenty": 20, "twenty five": 25, "thirty": 30, "forty": 40,
    "forty five": 45, "fifty": 50,
}  # fmt: skip
_HAS_TIME = re.compile(
    r"\d|noon|night|evening|morning|mid|half|quarter|past|minutes|[ap]\.?m\b|clock|at |시|時|mañana|las |uhr|halb"
    r"|viertel|정오|자정|正午",
    re.IGNORECASE,
)


def times(text: str, language: str) -> list[Mention]:
    """Every time of day in the text, in order."""
    if not _HAS_TIME.search(text):
        return []
    found: list[Mention] = []
    taken = bytearray(len(text))
    spans: set[tuple[int, int]] = set()
    for mention in _all(text, language):
        span = (mention.start, mention.end)
        if span in spans or not any(taken[mention.start : mention.end]):
            found.append(mention)
            spans.add(span)
            taken[mention.start : mention.end] = b"\x01" * (mention.end - mention.start)
    return sorted(found, key=lambda mention: mention.start)


def _all(text: str, language: str) -> Iterator[Mention]:
    for match in _NAMED.finditer(text):
        yield Mention(*match.span(), (0 if match[0].lower() in MIDNIGHT else 12, 0, 0), "time")
    yield from _half_past(text)
    for match in _MERIDIEM.finditer(text):
        hour = _hour(match)
        if 1 <= hour <= 12:
            late = 12 * (match["p"].lower() == "p")
            yield Mention(*match.span(), (hour % 12 + late, int(match["m"] or 0), int(match["s"] or 0)), "time")
            yield from _range_start(text, match.start(), hour % 12 + late, late)
    for match in _CLOCK.finditer(text):
        yield from _open(text, match.span(), int(match["h"]), int(match["m"]), int(match["s"] or 0), literal=True)
    for match in _OCLOCK.finditer(text) if _HAS_OCLOCK.search(text) else ():
        if match["p"]:
            yield from _past(text, match, 0)
            continue
        yield from _open(
            text,
            match.span(),
            _hour(match),
            int(match["m"] or match["fm"] or 0),
            0,
            literal="clock" not in match[0].lower(),
        )
    yield from _east_asian(text)
    for match in _AT.finditer(text):
        if language != "de" or match[0].lower().startswith("um"):
            start = match.start("h") if match["h"] else match.start("w")
            firm = match[0][:3].lower() in ("at ", "um ")
            yield from _open(text, (start, match.end()), _hour(match), 0, 0, firm=firm)


def _half_past(text: str) -> Iterator[Mention]:
    """`half past nine`, `ten past nine`, `quarter to six`: before the plain hours that they contain."""
    for pattern in (_HALF_PAST, _SPANISH):
        for match in pattern.finditer(text):
            yield from _past(text, match, _MINUTES.get((match["k"] or "").lower(), 0))
    for match in _MINUTES_PAST.finditer(text):
        count = int(match["n"]) if match["n"].isdigit() else _MINUTE_WORDS[match["n"].lower().replace("-", " ")]
        yield from _past(text, match, count if match["k"].lower() in ("past", "after") else -count)
    for match in _SPOKEN.finditer(text):
        if match["p"] or _PART_AFTER.match(text, match.end()):
            yield from _past(text, match, _MINUTE_WORDS[match["n"].lower().replace("-", " ")])


def _past(text: str, match: re.Match[str], minutes: int) -> Iterator[Mention]:
    hour, half = _hour(match), match.groupdict().get("p")
    if half:
        hour = hour % 12 + (12 if half.lower() == "p" else 0)
    total = (hour * 60 + minutes) % (24 * 60)
    if half:
        yield Mention(*match.span(), (total // 60, total % 60, 0), "time")
    else:
        yield from _open(text, match.span(), total // 60, total % 60, 0)


def _range_start(text: str, end: int, until: int, late: int) -> Iterator[Mention]:
    """`3 to 5 pm`: the first hour shares the second's half of the day when it is the earlier one."""
    left = _RANGE_LEFT.search(text, max(0, end - 12), end)
    if left and 1 <= int(left["h"]) <= 12 and int(left["h"]) % 12 + late < until:
        hour = int(left["h"]) % 12 + late
        yield Mention(left.start("h"), left.end("h"), (hour, 0, 0), "time")


def _hour(match: re.Match[str]) -> int:
    return int(match["h"]) if match.groupdict().get("h") else _HOURS[match["w"].lower()]


def _open(
    text: str, span: tuple[int, int], hour: int, minute: int, second: int, *, literal: bool = False, firm: bool = True
) -> Iterator[Mention]:
    """The readings of an hour without `am` or `pm`: by a part of the day beside it, by the clock face, or both."""
    if hour > 23:
        return
    after = _PART_AFTER.match(text, span[1])
    before = _PART_BEFORE.search(text, max(0, span[0] - 24), span[0])
    part = DAY_PARTS[(after or before)["part"].lower()] if after or before else None  # type: ignore[index]
    shared = _RANGE_END.match(text, span[1])
    if part is None and shared and hour <= 12 and hour % 12 < int(shared["h"]) % 12 + 12 * (int(shared["h"]) == 12):
        part = MORNING if shared["p"].lower() == "a" else AFTERNOON
    if part and 1 <= hour <= 12:
        late = after is not None and after["part"].lower() in ("night", "noche") and hour in (12, 1, 2, 3, 4)
        hour = hour % 12 + (12 if part == AFTERNOON and not late else 0)
        yield Mention(span[0], after.end() if after else span[1], (hour, minute, second), "time")
    elif not firm and (hour == 0 or hour > 12):
        yield Mention(*span, (hour, minute, second), "time", flags=("ambiguous",))  # `by 20` may be a number
    elif literal or hour == 0 or hour > 12:
        other = (f"{hour % 12 + 12:02}:{minute:02}",) if 1 <= hour < 12 else ()
        yield Mention(*span, (hour, minute, second), "time", alternatives=other)
    else:
        yield from _both(span, hour, minute)


def _both(span: tuple[int, int], hour: int, minute: int) -> Iterator[Mention]:
    for reading, other in ((hour % 12, hour % 12 + 12), (hour % 12 + 12, hour % 12)):
        yield Mention(
            *span, (reading, minute, 0), "time", flags=("ambiguous",), alternatives=(f"{other:02}:{minute:02}",)
        )


def _east_asian(text: str) -> Iterator[Mention]:
    if text.isascii():
        return
    for match in _CJK.finditer(text):
        hour = int(match["h"]) if match["h"] else _KOREAN_HOURS[match["w"]]
        minute = 30 if match["half"] else int(match["m"] or 0)
        if hour > 23 or minute > 59:
            continue
        if match["part"] and hour <= 12:
            late = 12 if match["part"] not in _CJK_PART else 0
            yield Mention(*match.span(), (hour % 12 + late, minute, 0), "time")
        elif hour > 12 or hour == 0:
            yield Mention(*match.span(), (hour, minute, 0), "time")
        else:
            yield from _both(match.span(), hour, minute)
