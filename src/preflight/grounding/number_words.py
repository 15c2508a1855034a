"""Numbers written in words: by `text2num` for European languages, by own tables for Korean and Japanese."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from text_to_num import find_numbers  # type: ignore[import-untyped]  # ships no type information

from preflight.grounding.mention import Mention
from preflight.grounding.numerals import SCALES

_LANGUAGES = frozenset(("en", "es", "de", "fr", "pt", "it", "nl", "da"))
_WORD = re.compile(r"[^\W\d_]+|[0-9]+(?:[.,][0-9]+)*|[^\w\s]")
_ARTICLES = frozenset("a an un una uno une ein eine einen einem einer eines um uma en et".split())
_HALVES = {"half": Decimal("0.5"), "quarter": Decimal("0.25")}
_HALF = re.compile(
    r"\b(?:(?P<count>one|two|three|four|five|six|seven|eight|nine|ten|[0-9]+) and )?(?:an? )?"
    r"(?P<part>half|quarter)[ -](?:(?:of )?an? )?"
    r"(?P<scale>dozen|hundred|thousand|million|billion)\b",
    re.IGNORECASE,
)
_DOZEN = re.compile(r"\b(?P<count>an?|one|two|three|four|five|six|seven|eight|nine|ten|[0-9]+) dozen\b", re.IGNORECASE)
_LOOSE = re.compile(r"\b(?:couple|pair|once|twice|single|double|triple|few|several|solo)\b", re.IGNORECASE)
_LOOSE_VALUES = {
    "couple": 2,
    "pair": 2,
    "once": 1,
    "twice": 2,
    "single": 1,
    "double": 2,
    "triple": 3,
    "few": 3,
    "several": 3,
    "solo": 1,
}
_COUNTS = {
    **{word: value for value, word in enumerate("zero one two three four five six seven eight nine ten".split())},
    "a": 1,
    "an": 1,
}
_PERCENT = re.compile(r"[ \u00a0-]?(?:%|percent\b|per cent\b|prozent\b|por ciento\b|pour cent\b)", re.IGNORECASE)
_NEGATIVE = re.compile(r"\b(?:minus|negative|menos|moins)[ ]$", re.IGNORECASE)

_SINO = {
    char: value
    for value, chars in enumerate(
        ("〇零영공", "一일", "二이", "三삼", "四사", "五오", "六육륙", "七칠", "八팔", "九구")
    )
    for char in chars
}
_TENS = {"十": 10, "십": 10, "百": 100, "백": 100, "千": 1000, "천": 1000}
_MYRIADS = {"万": 10**4, "萬": 10**4, "만": 10**4, "億": 10**8, "억": 10**8, "兆": 10**12, "조": 10**12}
_KANJI = re.compile(r"[〇零一二三四五六七八九十百千万萬億兆]+")
_KANJI_COUNTER = "円人個本枚回泊名時分日月年台匹杯冊件歳つ週"
_HANGUL = re.compile(
    r"(?<![가-힣])[영공일이삼사오육륙칠팔구십백천만억조]+"
    r"(?=[ ]?(?:원|명|개|번|장|권|달러|유로|엔|퍼센트|분|초|년|월|일|박|인|$|[^가-힣]))"
)
_NATIVE = {
    word: value
    for value, words in enumerate(
        ("", "한 하나", "두 둘", "세 셋", "네 넷", "다섯", "여섯", "일곱", "여덟", "아홉", "열", "열한", "열두"),
    )
    for word in words.split()
}
_NEEDS_COUNT = frozenset(
    "hundred thousand million billion trillion million millions millionen millones millón milliard milliarden".split()
)
_ARTICLE = re.compile(r"\b(?:an?|une?|eine?|per)[ ]$", re.IGNORECASE)
_MAX_CHARS = 40
_NATIVE_COUNT = re.compile(
    rf"(?<![가-힣])({'|'.join(sorted(_NATIVE, key=len, reverse=True))})[ ]?"
    r"(?=명|개|장|번|잔|권|마리|대|살|달|박|사람|분|병)"
)


class _Token:
    """A word as `text2num` wants to see it."""

    __slots__ = ("end", "start", "word")

    def __init__(self, word: str, start: int, end: int) -> None:
        self.word, self.start, self.end = word, start, end

    def text(self) -> str:
        return self.word

    def nt_separated(self, previous: _Token) -> bool:
        return self.start - previous.end > 1

    def not_a_number_part(self) -> bool:
        return self.word[0].isdigit()


def number_words(text: str, language: str) -> Iterator[Mention]:
    """Every number in words; English always, the declared language beside it."""
    taken: list[tuple[int, int]] = []
    for mention in _fixed_forms(text):
        taken.append((mention.start, mention.end))
        yield mention
    tokens = [_Token(match[0].lower(), *match.span()) for match in _WORD.finditer(text)]
    for code in dict.fromkeys(("en", language)):
        if code in _LANGUAGES:
            yield from _european(text, tokens, code, taken)
    if not text.isascii():
        yield from _east_asian(text)


def _fixed_forms(text: str) -> Iterator[Mention]:
    for match in _HALF.finditer(text):
        base = Decimal(12) if match["scale"].lower() == "dozen" else SCALES[match["scale"].lower()]
        value = (_count(match["count"]) + _HALVES[match["part"].lower()]) * base
        yield Mention(match.start(), match.end(), value, "number_words")
    for match in _DOZEN.finditer(text):
        if text[max(0, match.start() - 5) : match.start()].lower().endswith(("half ", "rter ")):
            continue
        yield Mention(match.start(), match.end(), _count(match["count"]) * 12, "number_words")
    for match in _LOOSE.finditer(text):
        yield Mention(match.start(), match.end(), Decimal(_LOOSE_VALUES[match[0].lower()]), "number_loose", "weak")


def _count(word: str | None) -> Decimal:
    if word is None:
        return Decimal(0)
    return Decimal(word) if word.isdigit() else Decimal(_COUNTS[word.lower()])


def _european(text: str, tokens: list[_Token], code: str, taken: list[tuple[int, int]]) -> Iterator[Mention]:
    pending: Mention | None = None
    for found in find_numbers(tokens, code, 0.0):
        start, end = tokens[found.start].start, tokens[found.end - 1].end
        word = text[start:end].lower()
        if any(start < stop and begin < end for begin, stop in taken) or word in _ARTICLES or word[0].isdigit():
            continue
        if found.is_ordinal:
            yield Mention(start, end, _ordinal(found.text), "ordinal_words", "weak")
            continue
        value = Decimal(found.text)
        if pending and (joined := _joined(pending, start, end, value, word)):
            pending = joined
            continue
        if word in _NEEDS_COUNT and not _ARTICLE.search(text, max(0, start - 6), start):
            continue  # `2 million` is a numeral with a scale, `millions` no number
        if pending:
            yield from _signed(text, pending)
        pending = Mention(start, end, value, "number_words")
    if pending:
        yield from _signed(text, pending)


def _ordinal(written: str) -> Decimal:
    return Decimal("".join(char for char in written if char.isdigit()) or "0")


def _joined(before: Mention, start: int, end: int, value: Decimal, word: str) -> Mention | None:
    """`three point five` + `million`, `nineteen` + `ninety-nine`: one number that is read in two steps."""
    first = Decimal(str(before.key))
    if before.end + 1 != start:
        return None
    if word in SCALES:
        return before._replace(end=end, key=first * value)
    if 10 <= first <= 20 and 10 <= value <= 99 and first == first.to_integral_value():
        return before._replace(end=end, key=first * 100 + value)
    return None


def _signed(text: str, mention: Mention) -> Iterator[Mention]:
    start, end, value = mention.start, mention.end, Decimal(str(mention.key))
    if negative := _NEGATIVE.search(text, max(0, start - 9), start):
        start, value = negative.start(), -value
    yield mention._replace(start=start, key=value)
    if percent := _PERCENT.match(text, end):
        yield Mention(start, percent.end(), value / 100, "percent", "derived", "percent", anchor=(start, end))


def _east_asian(text: str) -> Iterator[Mention]:
    for match in _KANJI.finditer(text):
        follows = text[match.end() : match.end() + 1]
        if (
            len(match[0]) <= _MAX_CHARS
            and (len(match[0]) > 1 or follows in tuple(_KANJI_COUNTER))
            and not _digit_before(text, match.start())
        ):
            yield Mention(match.start(), match.end(), Decimal(sino(match[0])), "number_words")
    for match in _HANGUL.finditer(text):
        if len(match[0]) <= _MAX_CHARS and any(char in _TENS or char in _MYRIADS for char in match[0]):
            yield Mention(match.start(), match.end(), Decimal(sino(match[0])), "number_words")
    for match in _NATIVE_COUNT.finditer(text):
        yield Mention(match.start(), match.end(1), Decimal(_NATIVE[match[1]]), "number_words")


def _digit_before(text: str, start: int) -> bool:
    return start > 0 and text[start - 1].isdigit()


def sino(word: str) -> int:
    """The value of a number in Chinese numerals or their Korean readings (`五十万`, `오십만`)."""
    if not any(char in _TENS or char in _MYRIADS for char in word):
        return int("".join(str(_SINO[char]) for char in word))
    total = section = digit = 0
    for char in word:
        if char in _SINO:
            digit = _SINO[char]
        elif char in _TENS:
            section, digit = section + (digit or 1) * _TENS[char], 0
        else:
            total, section, digit = total + ((section + digit) or 1) * _MYRIADS[char], 0, 0
    return total + section + digit
