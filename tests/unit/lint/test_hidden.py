from __future__ import annotations

import pytest

from preflight.lint.hidden import code_points, deceives, looks, sounds, unseen


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", ""),
        ("two\nlines\tand more\r\n", ""),
        ("\x1b[31mred", "\x1b"),
        ("a\u202eb\u202ec\u2066", "\u202e\u2066"),
        ("zero\u200bwidth\ufeff", "\u200b\ufeff"),
        ("soft\u00adhyphen", "\u00ad"),
        ("tag\U000e0041", "\U000e0041"),
        ("\U0001f3f4\U000e0067\U000e0062\U000e007f", ""),
        ("\U0001f469\u200d\U0001f680", ""),
        ("a\u200db", "\u200d"),
        ("\u200d", "\u200d"),
        ("\u3164", "\u3164"),
        ("line\u2028separator", "\u2028"),
        ("caf\u00e9 \u4e2d\u6587", ""),
    ],
)
def test_unseen(text: str, expected: str) -> None:
    assert unseen(text) == expected


def test_code_points() -> None:
    assert code_points("\u202e\U000e0041") == "U+202E, U+E0041"


@pytest.mark.parametrize("other", ["p\u0430y", "\uff50ay", "pa\u200by", "pay"])
def test_names_that_look_like_pay(other: str) -> None:
    assert looks(other) == looks("pay")


def test_letters_and_digits_that_are_drawn_alike() -> None:
    assert looks("I0") == looks("lO") == looks("1O")
    assert looks("Pay") != looks("pay")


def test_names_that_sound_alike() -> None:
    assert sounds("pay_bill") == sounds("payBill") == sounds("pay-b\u0456ll".replace("\u0456", "i"))
    assert sounds("pay_bill") != sounds("pay_bills")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("pay_bill", ""),
        ("\u00fcberweisen", ""),
        ("\u652f\u6255\u3046", ""),
        ("p\u0430y", "it mixes letters of Cyrillic and Latin"),
        ("\u0430\u0435", "it is spelt with letters that look like others"),
        ("\u0436\u0443\u043a", ""),
        ("\uff50ay", "it has characters that are another form of plain ones"),
    ],
)
def test_deceiving_names(name: str, why: str) -> None:
    assert deceives(name) == why
