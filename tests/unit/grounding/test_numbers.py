"""Numbers in digits and in words: what is read, where, and what is left alone (R-47, bad inputs 47 to 49)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from preflight.grounding import Target, ground_call
from preflight.grounding.number_words import number_words, sino
from preflight.grounding.numerals import numerals, read
from preflight.grounding.read_number import as_decimal, canonical_number
from preflight.model.instruction import Segment


def in_digits(text: str, language: str = "en") -> list[tuple[str, str]]:
    return [
        (text[found.start : found.end], canonical_number(Decimal(str(found.key)))) for found in numerals(text, language)
    ]


def in_words(text: str, language: str = "en") -> list[tuple[str, str]]:
    return [
        (text[found.start : found.end], canonical_number(Decimal(str(found.key))))
        for found in number_words(text, language)
    ]


@pytest.mark.parametrize(
    ("text", "language", "found"),
    [
        ("1,250,000 won", "en", [("1,250,000", "1250000")]),
        ("1.250.000 Euro", "de", [("1.250.000", "1250000")]),
        ("1.250,50", "en", [("1.250,50", "1250.5")]),
        ("1,250.50", "de", [("1,250.50", "1250.5")]),
        ("1.250", "en", [("1.250", "1.25")]),
        ("1.250", "de", [("1.250", "1250")]),
        ("1,5", "de", [("1,5", "1.5")]),
        ("1.5", "de", [("1.5", "1.5")]),
        ("1,25", "en", []),
        ("1\u202f250,50", "fr", [("1\u202f250,50", "1250.5")]),
        ("1 000", "en", [("1 000", "1000")]),
        ("12 345", "en", []),
        ("12 345", "fr", [("12 345", "12345")]),
        ("1 234 567", "en", [("1 234 567", "1234567")]),
        ("12 1,2,4 3", "en", [(n, n) for n in ("12", "1", "2", "4", "3")]),
        ("1'000'000", "en", [("1'000'000", "1000000")]),
        ("12,34,567", "en", []),
        ("1.234.56", "de", []),
        ("0,500, 5\u0301, \u200b5, 5\u200b", "en", []),
        ("5 1.2.3", "en", [("5", "5")]),
        ("of 5,10 and 15", "en", [("5", "5"), ("10", "10"), ("15", "15")]),
        ("5e2", "en", [("5e2", "500")]),
        ("5e-1", "en", [("5e-1", "0.5")]),
        ("5e99999", "en", []),
        ("[10,200] (10,200)", "en", [("10", "10"), ("200", "200"), ("10", "10"), ("200", "200")]),
        ("the rent (500,000) [1,050]", "en", [("500,000", "500000"), ("1,050", "1050")]),
        ("(40.5, -74.0)", "en", [("40.5", "40.5"), ("-74.0", "-74")]),
        ("minus 5 and negative 6", "en", [("minus 5", "-5"), ("negative 6", "-6")]),
        ("-$5", "en", [("5", "-5")]),
        ("a-5", "en", []),
        ("x=5, #42, 50%", "en", [("5", "5"), ("42", "42"), ("50", "50"), ("50%", "0.5")]),
        ("2 million", "en", [("2 million", "2000000")]),
        ("3 hundred thousand", "en", [("3 hundred thousand", "300000")]),
        ("5 mil", "es", [("5 mil", "5000")]),
        ("5 mil", "en", [("5", "5")]),
        ("$2.5m, $3B, $1MM", "en", [("2.5m", "2500000"), ("3B", "3000000000"), ("1MM", "1000000")]),
        ("300 K and 300k", "en", [("300", "300"), ("300k", "300000")]),
        ("1億2000万", "ja", [("1億2000万", "120000000")]),
        ("3만5천", "ko", [("3만5천", "35000")]),
        ("5백만", "ko", [("5백만", "5000000")]),
        ("2만3만", "ko", [("2만", "20000"), ("3만", "30000")]),
        ("the 5th and 22nd", "en", [("5th", "5"), ("22nd", "22")]),
        ("10-15 minutes", "en", [("10", "10"), ("15", "15")]),
        ("15-10, 555-1234, 1-2-3", "en", []),
        ("2020-12-25, 12:30, 1/2/3, v1.2, 10.0.0.1", "en", []),
        ("KR-77-0012 report_5 5_x a5 5a 5@x x@5", "en", []),
        ("3-day 20-year-old 5-", "en", [("3", "3"), ("20", "20"), ("5", "5")]),
        ("1920x1080 5km 5 km", "en", [("1920", "1920"), ("1080", "1080"), ("5", "5"), ("5", "5")]),
        ("서울3시 5개", "ko", [("3", "3"), ("5", "5")]),
        ("118.24 W, 34 N", "en", [("118.24", "118.24"), ("118.24 W", "-118.24"), ("34", "34")]),
        ("pay:5 a,5", "en", [("5", "5"), ("5", "5")]),
        ("end 5. Then", "en", [("5", "5")]),
        ("١٢٥٠ ５００ ²", "en", []),
        ("9" * 401, "en", []),
    ],
)
def test_digits(text: str, language: str, found: list[tuple[str, str]]) -> None:
    assert in_digits(text, language) == found


def test_a_form_that_two_locales_read_differently_records_the_other_reading() -> None:
    (english,) = numerals("1.250", "en")
    assert (english.flags, english.alternatives) == (("ambiguous",), ("1250",))


@pytest.mark.parametrize(
    ("run", "readings"),
    [
        ("1", ["1"]),
        ("1,000", ["1000", "1.000"]),
        ("1.2.3", []),
        ("1 23", []),
        ("12,5,000", []),
        ("1,2e3", []),
        ("1e3", ["1000"]),
    ],
)
def test_readings(run: str, readings: list[str]) -> None:
    assert list(map(Decimal, readings)) == list(read(run, "en"))


@pytest.mark.parametrize(
    ("text", "language", "found"),
    [
        ("one thousand two hundred and five", "en", [("one thousand two hundred and five", "1205")]),
        ("three point five million", "en", [("three point five million", "3500000")]),
        ("nineteen ninety-nine", "en", [("nineteen ninety-nine", "1999")]),
        ("two three", "en", [("two", "2"), ("three", "3")]),
        ("2 million", "en", []),
        ("half a million", "en", [("half a million", "500000")]),
        ("two and a half thousand", "en", [("two and a half thousand", "2500")]),
        ("3 and a half million", "en", [("3 and a half million", "3500000")]),
        ("half a dozen", "en", [("half a dozen", "6")]),
        ("a dozen, 3 dozen", "en", [("a dozen", "12"), ("3 dozen", "36")]),
        ("a couple", "en", [("couple", "2")]),
        ("first, the second", "en", [("first", "1"), ("second", "2")]),
        ("minus five percent", "en", [("minus five", "-5"), ("minus five percent", "-0.05")]),
        ("mil doscientos", "es", [("mil doscientos", "1200")]),
        ("eine Rose", "de", []),
        ("fünfundzwanzig", "de", [("fünfundzwanzig", "25")]),
        ("deux cent mille", "fr", [("deux cent mille", "200000")]),
        ("오십만 원", "ko", [("오십만", "500000")]),
        ("이 일은", "ko", []),
        ("두 명, 다섯 개", "ko", [("두", "2"), ("다섯", "5")]),
        ("五十万円", "ja", [("五十万", "500000")]),
        ("三人で一緒に", "ja", [("三", "3")]),
        ("二〇二六", "ja", [("二〇二六", "2026")]),
        ("3万", "ja", []),
        ("五" * 41 + "円", "ja", []),
        ("오십만" * 20, "ko", []),
    ],
)
def test_words(text: str, language: str, found: list[tuple[str, str]]) -> None:
    assert in_words(text, language) == found


@pytest.mark.parametrize(
    ("word", "value"), [("十", 10), ("百二十", 120), ("万", 10_000), ("삼억이천만", 320_000_000), ("五〇", 50)]
)
def test_chinese_numerals_and_their_korean_readings(word: str, value: int) -> None:
    assert sino(word) == value


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (5, "5"),
        (0.1, "0.1"),
        (Decimal("1.50"), "1.50"),
        (True, None),
        ("5", None),
        (None, None),
        (float("inf"), None),
    ],
)
def test_the_exact_value_of_a_json_number(value: Any, number: str | None) -> None:
    assert as_decimal(value) == (None if number is None else Decimal(number))


def test_equal_numbers_have_one_spelling() -> None:
    assert {canonical_number(Decimal(text)) for text in ("500", "500.0", "5E+2")} == {"500"}
    assert canonical_number(Decimal("1E+400")) == "1E+400"


@pytest.mark.parametrize(
    ("text", "name", "schema", "claim", "state"),
    [
        ("a rate of 5%", "rate", {}, 0.05, "known"),
        ("a rate of 5%", "rate", {}, 5, "known"),
        ("5% for 3 years", "years", {}, 0.05, "unknown"),
        ("a rate of 5%", "rate", {"maximum": 1}, 5, "unknown"),
        ("the 17th century", "century", {}, 17, "known"),
        ("the 2nd and 3rd floors", "floors", {"type": "array"}, [2, 3], "known"),
        ("the 17th visit", "century", {}, 17, "unknown"),
        ("in February 2022", "month", {}, 2, "known"),
        ("in February 2022", "year", {}, 2022, "known"),
        ("on 15 February 2022", "day", {}, 15, "known"),
        ("on 15 February 2022", "amount", {}, 15, "unknown"),
        ("on 15 February 2022", "month", {}, 2.5, "unknown"),
        ("at 6:30 PM", "hour", {}, 18, "known"),
        ("at 6:30 PM", "hour", {}, 6, "known"),
        ("at 6:30 PM", "minute", {}, 30, "known"),
        ("half past six in the evening", "minute", {}, 30, "known"),
        ("go on 2026-12-04", "month", {}, 12, "known"),
        ("for 5 km", "minutes", {"description": "Length in minutes"}, 5, "unknown"),
        ("for 90 seconds", "minutes", {"description": "Length in minutes"}, 1.5, "known"),
        ("for 100 seconds", "minutes", {"description": "Length in minutes"}, 1.67, "known"),
        ("for 100 seconds", "minutes", {"description": "Length in minutes"}, 1.7, "unknown"),
        ("for an hour", "hours", {"description": "Length in hours"}, 1, "known"),
        ("at 5", "guests", {}, 5, "unknown"),
    ],
)
def test_a_number_for_a_field(text: str, name: str, schema: dict[str, Any], claim: Any, state: str) -> None:
    assert ground_call([Segment(text, "user")], [Target(name, schema, claim)])[name].state == state


def test_a_number_too_long_to_be_written_is_no_value() -> None:
    assert as_decimal(10**5000) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1. One-way\n2) Economy\n  3. me", []),
        ("send\n5 roses", [("5", "5")]),
        ("pay 5. Now", [("5", "5")]),
        ("5.", [("5", "5")]),
    ],
)
def test_the_number_of_an_item_in_a_list_is_no_quantity(text: str, found: list[tuple[str, str]]) -> None:
    assert in_digits(text) == found


@pytest.mark.parametrize(
    ("text", "name", "state"),
    [
        ("a one-way flight", "bags", "unknown"),
        ("one bag", "bags", "known"),
        ("one certificate", "bags", "unknown"),
        ("just 1", "bags", "known"),
    ],
)
def test_one_counts_what_follows_it(text: str, name: str, state: str) -> None:
    assert ground_call([Segment(text, "user")], [Target(name, {"type": "integer"}, 1)])[name].state == state
