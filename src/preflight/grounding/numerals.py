"""Numbers written in digits: grouping by locale, signs, scales, percent, money (R-47, R-50).

A run of digits and separators is cut out first and read as a whole, so `1,250,000` never yields 1250 and
`12.5k` never yields 12.5. Forms that one locale reads one way and another otherwise are read by the
declared locale only, and the other reading is recorded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from preflight.grounding.mention import Mention
from preflight.grounding.text import deceives, is_cjk, marked

# One separator between digits at most, so every run is matched in one pass.
_RUN = re.compile(r"[0-9]+(?:[.,'’ \u00a0\u202f\u2009][0-9]+)*(?:[eE][-+]?[0-9]+(?![0-9A-Za-z]))?")
_SPACES = " \u00a0\u202f\u2009"
_COMMA_LOCALES = frozenset(("de", "es", "fr", "it", "nl", "pt", "da", "pl", "ru", "tr", "id", "vi"))
_MINUS = "-\u2212"
_CURRENCY = "$€£¥₩₹₽₪฿"
_LIST_OPEN = "[("
_MAX_DIGITS = 400
_MAX_INDENT = 16

SCALES: dict[str, Decimal] = {
    name: Decimal(10) ** power
    for power, names in {
        2: "hundred cien hundert cent 백 百",
        3: "k thousand grand mil tausend mille 천 千",
        4: "만 万 萬",
        5: "lakh lakhs",
        6: "million millions mn mio mln millón millon millones millionen",
        7: "crore crores",
        8: "억 億",
        9: "billion billions bn mrd mld milliarde milliarden milliard milliards",
        12: "trillion trillions 조 兆",
    }.items()
    for name in names.split()
}
_SCALE_WORD = "|".join(sorted((name for name in SCALES if name.isascii() or name == "millón"), key=len, reverse=True))
_SCALE = re.compile(rf"[ \u00a0-]?(?:({_SCALE_WORD})(?![^\W_])|([만억조천백万億兆千百萬]))", re.IGNORECASE)
_MONEY_SCALE = re.compile(r"(m|mm|b)(?![^\W_])", re.IGNORECASE)
_CJK_TAIL = re.compile(r"(?:[ ]?([0-9][0-9,]*)([만억천백万億千百萬]+)|([0-9]+)(?![0-9.,]))")
_CJK_SCALES = re.compile(r"[만억천백万億千百萬]+")
PERCENT = re.compile(
    r"[ \u00a0]?(?:%|percent\b|per cent\b|pct\b|prozent\b|por ciento\b|pour cent\b|퍼센트|パーセント)", re.IGNORECASE
)
_ORDINAL = re.compile(r"(?:st|nd|rd|th)(?![^\W_])", re.IGNORECASE)
_NEGATIVE_WORD = re.compile(r"(?:minus|negative|menos|moins)[ ]$", re.IGNORECASE)
_JOINED_WORD = re.compile(r"-[^\W\d_]+(?:-[^\W\d_]+)*(?![\w-])")
_ITEM = re.compile(r"[ \t]*[0-9]{1,2}[.)][ \t]")
_INDIAN = re.compile(r"[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3}")
_FRACTION_ONLY = re.compile(r"(?:[\s(\[$€£¥₩]|^)\.$")
_LEADING_ZERO = re.compile(r",0[0-9]")
_AND_NUMBER = re.compile(r"\s?,?\s(?:and|or|&|und|y|et)\s[0-9]")
_COMPASS = re.compile(r"[°º]?[ ]?([NSEW])\b")
_UNIT_AFTER = re.compile(
    r"(?:°|º|[munpkcdMGTµμ]?(?:m|g|l|L|s|W|V|A|Hz|J|B|F|H|Ω|N|Pa|Wh|cal)|h|hr|hrs|min|mins|sec|secs|d|w|y|yr|yrs|yo|in|ft|lb|lbs|oz|mi|yd|mph|kph"
    r"|am|pm|AM|PM|px|rpm|ppm|[kKMGT]i?[bB]|[kKMGT]bps|C|F|K)(?:²|³|\^[23]|[23])?(?![^\W_])"
)


def numerals(text: str, language: str) -> Iterator[Mention]:
    """Every number in digits; the key is an exact `Decimal`."""
    done = 0
    for run in _RUN.finditer(text):
        if run.start() < done or run.end() - run.start() > _MAX_DIGITS or not _free_left(text, run.start()):
            continue
        if _FRACTION_ONLY.match(text, max(0, run.start() - 2), run.start()):
            if run[0].isdigit() and _free_right(text, run.end()) == "":
                yield Mention(run.start() - 1, run.end(), Decimal(f"0.{run[0]}"), "number")
            continue  # `.500` is a half, and nothing in it is 500
        if _ITEM.match(text, _line_start(text, run.start())) and run.end() - run.start() <= 2:
            continue  # the number of an item in a list
        for start, end in _pieces(text, run.start(), run.end(), language):
            after = _free_right(text, end) if end == run.end() else ""
            if after is not None:
                for mention in _numeral(text, start, end, language, after):
                    done = max(done, mention.end)
                    yield mention


def _line_start(text: str, start: int) -> int:
    """Where the line of the number starts when nothing but blanks stands before it, else the number itself."""
    at = start
    while at > 0 and start - at < _MAX_INDENT and text[at - 1] in " \t":
        at -= 1
    return at if at == 0 or text[at - 1] == "\n" else len(text)


def _pieces(text: str, start: int, end: int, language: str) -> Iterator[tuple[int, int]]:
    """The run as one number when its separators make sense together, else cut where they do not."""
    run = text[start:end]
    spaced = any(space in run for space in _SPACES)
    bracketed = (
        "," in run
        and not spaced
        and text[start - 1 : start] in tuple(_LIST_OPEN)
        and text[end : end + 1] in tuple("])")
        and not _LEADING_ZERO.search(run)  # no list has an item `000`
    )
    if read(run, language) and not bracketed:
        yield start, end
        return
    if not (spaced or bracketed or _enumerates(text, start, end)) or _one_elsewhere(run):
        return  # `1,25` or `1 500` is one number in another locale: no part of it stands alone
    offset = start
    for piece in re.split(f"[{_SPACES}]" if spaced else "[,'’]", run):
        if read(piece, language):
            yield offset, offset + len(piece)
        elif spaced and "," in piece:
            yield from _pieces(text, offset, offset + len(piece), language)
        offset += len(piece) + 1


def _one_elsewhere(run: str) -> bool:
    """Whether a single space groups the digits of one number where spaces do that."""
    groups = run.split(" ")
    return len(groups) == 2 and all(map(str.isdigit, groups)) and _grouped(groups)


def _enumerates(text: str, start: int, end: int) -> bool:
    """Whether `5,10` is an enumeration: of three or more, or with an `and` beside it; not lakhs and crores."""
    groups = text[start:end].split(",")
    if len(groups) > 1 and _INDIAN.fullmatch(text, start, end):
        return False
    return len(groups) > 2 or _AND_NUMBER.match(text, end) is not None


def read(run: str, language: str) -> tuple[Decimal, ...]:
    """The readings of a run of digits and separators, the locale's own first; none when it is no number."""
    mantissa, _, exponent = run.lower().partition("e")
    if exponent:
        values = read(mantissa, language) if len(exponent) <= 4 else ()
        return tuple(value.scaleb(int(exponent)) for value in values)
    separators = [char for char in run if not char.isdigit()]
    if not separators:
        return (Decimal(run),)
    groups = re.split(r"[.,'’ \u00a0\u202f\u2009]", run)
    kinds = set(separators)
    if len(kinds) == 1:
        return _one_separator(separators[0], groups, language)
    if len(kinds) == 2 and separators[-1] in ".," and separators.count(separators[-1]) == 1 and _grouped(groups[:-1]):
        return (Decimal("".join(groups[:-1]) + "." + groups[-1]),)
    return ()


def _grouped(groups: list[str]) -> bool:
    return 1 <= len(groups[0]) <= 3 and groups[0] != "0" and all(len(group) == 3 for group in groups[1:])


def _one_separator(separator: str, groups: list[str], language: str) -> tuple[Decimal, ...]:
    whole = Decimal("".join(groups))
    if separator in ".,":
        decimal_here = (separator == ",") == (language in _COMMA_LOCALES)
        if len(groups) > 2:
            return (whole,) if _grouped(groups) and (not decimal_here or len(groups) > 2) else ()
        fraction = Decimal(f"{groups[0]}.{groups[1]}")
        if not _grouped(groups):
            return (fraction,) if decimal_here or separator == "." else ()
        return (fraction, whole) if decimal_here else (whole, fraction)
    if not _grouped(groups):
        return ()
    # `1 000` is one number everywhere; `12 345` only where a space groups digits.
    plain_space = separator == " " and language not in _COMMA_LOCALES
    return (whole,) if not plain_space or len(groups) > 2 or groups[-1] == "000" else ()


def _numeral(text: str, start: int, end: int, language: str, after: str) -> Iterator[Mention]:
    readings = read(text[start:end], language)
    value, others = readings[0], tuple(str(reading) for reading in readings[1:])
    flags = ("ambiguous",) if others else ()
    start, negative = _signed(text, start)
    if negative:
        value = -value
    if scaled := _scaled(text, start, end, value, language):
        yield scaled
        return
    normaliser, weak = "number", _is_code(text, start, end) or _open_scale(text, end, language)
    if after == "ordinal":
        normaliser, weak = "ordinal", True
        end += 2
    yield Mention(start, end, value, normaliser, "weak" if weak else "stated", None, flags, others)
    if value > 0 and (compass := _COMPASS.match(text, end)) and compass[1] in "SW":
        yield Mention(start, compass.end(), -value, "compass", "derived", "compass", anchor=(start, end))
    if percent := PERCENT.match(text, end):
        yield Mention(start, percent.end(), value / 100, "percent", "derived", "percent", flags, others, (start, end))


def _is_code(text: str, start: int, end: int) -> bool:
    """`0500`, `007`: a clock or a code, and no quantity."""
    return end - start > 2 and text[start] == "0" and text[start:end].isdigit()


def _open_scale(text: str, end: int, language: str) -> bool:
    """`500 mil` in English: a thousandth of an inch, a million, or another language's thousand."""
    scale = _SCALE.match(text, end) if language == "en" else None
    return scale is not None and (scale[1] or "").lower() == "mil"


def _scaled(text: str, start: int, end: int, value: Decimal, language: str) -> Mention | None:
    scale = _SCALE.match(text, end)
    if scale is None:
        money = _MONEY_SCALE.match(text, end) if start > 0 and text[start - 1] in _CURRENCY else None
        if money is None:
            return None
        return Mention(start, money.end(), value * 10 ** (9 if money[1].lower() == "b" else 6), "number_scaled")
    name = (scale[1] or scale[2]).lower()
    if scale[1] == "K" and scale.start(1) > end and not _money_before(text, end):
        return None  # `300 K` is a temperature
    if name == "mil" and language == "en":
        return None
    total, stop = value * SCALES[name], scale.end()
    if scale[2]:
        total, stop = _cjk_rest(text, stop, total, SCALES[name])
    second = _SCALE.match(text, stop) if not scale[2] else None
    if second and second[1] and second[1].lower() in SCALES:
        total, stop = total * SCALES[second[1].lower()], second.end()
    return Mention(start, stop, total, "number_scaled")


def _cjk_rest(text: str, stop: int, total: Decimal, scale: Decimal) -> tuple[Decimal, int]:
    """`3만5천`, `5백만`, `2억 5천만`: a scale of the scale, then lower parts of the same number."""
    if more := _CJK_SCALES.match(text, stop):
        total, scale, stop = total * _product(more[0]), scale * _product(more[0]), more.end()
    while rest := _CJK_TAIL.match(text, stop):
        unit = _product(rest[2] or "")
        part = Decimal((rest[1] or rest[3]).replace(",", "")) * unit
        if part >= scale:
            break
        total, stop, scale = total + part, rest.end(), unit
    return total, stop


def _product(scales: str) -> Decimal:
    product = Decimal(1)
    for scale in scales:
        product *= SCALES[scale]
    return product


def _signed(text: str, start: int) -> tuple[int, bool]:
    """Where the number starts with its sign and money sign, and whether it is negative."""
    at = start
    if at > 0 and text[at - 1] in _CURRENCY:
        at -= 1
    if at > 0 and text[at - 1] in _MINUS and (at < 2 or not (text[at - 2].isalnum() or text[at - 2] in ")]")):
        return (at - 1 if at == start else start), True
    word = _NEGATIVE_WORD.search(text, max(0, start - 9), start)
    return (word.start(), True) if word else (start, False)


def _free_left(text: str, start: int) -> bool:
    """Whether nothing before makes the digits part of an identifier, a date or a longer number."""
    if start == 0:
        return True
    before = text[start - 1]
    if deceives(before) and before not in _SPACES:
        return False
    if before.isalpha():
        return is_cjk(before) or (before in "xX×" and start > 1 and text[start - 2].isdigit() and not _hex(text, start))
    if before in _MINUS:
        if start > 1 and text[start - 2].isdigit():
            return _range(text, start)
        return start < 2 or not (text[start - 2].isalnum() or text[start - 2] in "_.")
    if before in ".,:/":
        return (
            start < 2
            or not text[start - 2].isalnum()
            or (before in ":,/" and text[start - 2].isalpha() and before != "/")
        )
    return before not in "_@\\^~"


def _hex(text: str, start: int) -> bool:
    return text[start - 2] == "0" and not text[start - 3 : start - 2].isdigit()


def _range(text: str, start: int) -> bool:
    """Whether the digits end a range such as `10-15`, not a date, a phone number or a code."""
    left = start - 1
    while left > 0 and text[left - 1].isdigit():
        left -= 1
    right = start
    while right < len(text) and text[right].isdigit():
        right += 1
    if (left > 0 and (text[left - 1].isalnum() or text[left - 1] in "-/._:")) or text[right : right + 1] in tuple(
        "-/_:"
    ):
        return False
    low, high = text[left : start - 1], text[start:right]
    return (len(high) - len(low) in (0, 1) and len(high) <= 4 and low < high.rjust(len(low), "0")) or len(high) > len(
        low
    ) <= 3 >= len(high)


def _money_before(text: str, end: int) -> bool:
    start = end
    while start > 0 and (text[start - 1].isdigit() or text[start - 1] in ".,"):
        start -= 1
    return start > 0 and text[start - 1] in _CURRENCY


def _free_right(text: str, end: int) -> str | None:
    """None when something after makes the digits part of a longer token, else how the number goes on."""
    if end == len(text):
        return ""
    after = text[end]
    if marked(text, end) and after not in "µºª":
        return None
    if after.isalpha():
        if _MONEY_SCALE.match(text, end) and _money_before(text, end):
            return ""
        if is_cjk(after) or _SCALE.match(text, end) or _UNIT_AFTER.match(text, end) or PERCENT.match(text, end):
            return ""
        if _ORDINAL.match(text, end):
            return "ordinal"
        return "" if after in "xX×" and text[end + 1 : end + 2].isdigit() else None
    if after in _MINUS:
        if text[end + 1 : end + 2].isdigit():
            return "" if _range(text, end + 1) else None
        return "" if _JOINED_WORD.match(text, end) or not text[end + 1 : end + 2].isalnum() else None
    if after in ".,:/":
        following = text[end + 1 : end + 2]
        return "" if not following.isalnum() or (after == "," and not following.isdigit()) else None
    # an underscore joins, as a letter does
    return None if after == "_" or (after in "@\\" and text[end + 1 : end + 2].isalnum()) else ""
