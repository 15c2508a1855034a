from __future__ import annotations

import pytest

from preflight.lint.names import act_of, act_of_word, words


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("getUserById", ("get", "user", "by", "id")),
        ("get_user-by id", ("get", "user", "by", "id")),
        ("HTTPServer2", ("http", "server", "2")),
        ("API-post-page", ("api", "post", "page")),
        ("grüße_senden", ("gr", "üß", "e", "senden")),
        ("", ()),
        ("__", ()),
    ],
)
def test_words(name: str, expected: tuple[str, ...]) -> None:
    assert words(name) == expected


@pytest.mark.parametrize(
    ("name", "act"),
    [
        ("list_bills", "read"),
        ("bank_list_deleted_bills", "read"),
        ("create_bill", "change"),
        ("sendBill", "send"),
        ("bills_delete", "destroy"),
        ("get_or_create_bill", "change"),
        ("create_or_update_or_delete", "destroy"),
        ("find_and_bills", "read"),
        ("get_or", "read"),
        ("bill", None),
        ("", None),
        ("download_bill_to_file", "change"),
        ("bill_to_file", "change"),
    ],
)
def test_act_of_a_name(name: str, act: str | None) -> None:
    assert act_of(name) == act


def test_act_of_a_word() -> None:
    assert [act_of_word(word) for word in ("Delete", "list", "bill")] == ["destroy", "read", None]
