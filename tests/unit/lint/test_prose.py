from __future__ import annotations

import pytest

from preflight.lint.check_prose import conditions, harms, sentences
from tests.unit.lint.samples import subject


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Pays one bill. Sends a receipt.", ("Pays one bill.", "Sends a receipt.")),
        (
            "Accounts that do not exist\nare rejected. Others work.",
            ("Accounts that do not exist are rejected.", "Others work."),
        ),
        ("- first point of it\n- second point of it", ("first point of it", "second point of it")),
        ("Needs a scope (e.g. Bills) to run", ("Needs a scope (e.g. Bills) to run",)),
        ("Twice the same. Twice the same.", ("Twice the same.",)),
        ("Short. Also.", ()),
        ("", ()),
    ],
)
def test_sentences(text: str, expected: tuple[str, ...]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "Requires the billing permission.",
        "The bill must exist in the archive.",
        "Works only when the account is open.",
        "Only if the owner agreed.",
        "It is never done unless the owner agreed.",
        "The main account cannot be deleted.",
        "Closed accounts are rejected.",
        "You need a role of treasurer for it.",
        "Make sure that the owner agreed.",
        "Make sure the account is empty before calling.",
        "Must be called within a day of the notice.",
        "Execution requires amount and an enabled account.",
    ],
)
def test_conditions_are_quoted(sentence: str) -> None:
    assert conditions(subject(description=f"Settles a bill. {sentence}")) == (sentence,)


def test_what_a_label_says_is_no_prose() -> None:
    labelled = (
        "Settles a bill.\n[Required] The bill must be approved.\n[Notice:n] This cannot be undone. It must be so."
    )
    assert conditions(subject(description=labelled)) == harms(subject(description=labelled)) == ()


@pytest.mark.parametrize(
    "sentence",
    [
        "Settles only the bill that is named.",
        "The amount is rounded unless told otherwise.",
        "Does not require an account.",
        "The amount must be a number.",
        "Requires amount, in cents.",
        "Names must be wrapped in double quotes.",
        "This action cannot be undone.",
    ],
)
def test_what_is_no_condition_of_the_world(sentence: str) -> None:
    assert conditions(subject(description=f"Settles a bill. {sentence}")) == ()


@pytest.mark.parametrize(
    "sentence",
    [
        "This action cannot be undone.",
        "Permanently closes an account.",
        "Overwrites existing files without warning.",
        "There is no way to undo it.",
    ],
)
def test_lasting_harm(sentence: str) -> None:
    assert harms(subject(description=f"Settles a bill. {sentence}")) == (sentence,)
