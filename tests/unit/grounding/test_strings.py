"""Strings: token boundaries, folding, codes, places, and what identifiers do not allow (R-47, R-52, R-56)."""

from __future__ import annotations

from typing import Any

import pytest

from preflight.grounding import Target, codes, ground_call
from preflight.grounding.read_string import other_number
from preflight.grounding.text import bounded, deceives, has_deceiving, normal
from preflight.grounding.tokens import identifier_shaped, shape
from preflight.grounding.words import Words, cue_key, split_plain, split_words, stem
from preflight.model.instruction import Segment


def how(text: str, claim: Any, name: str = "value", schema: dict[str, Any] | None = None) -> tuple[str, str] | None:
    evidence = ground_call([Segment(text, "user")], [Target(name, schema or {"type": "string"}, claim)])[name].evidence
    return (evidence.matched_text, evidence.normaliser) if evidence else None


@pytest.mark.parametrize(
    ("text", "quote", "whole"),
    [
        ("send to bob.", "bob", True),
        ("send to bob's", "bob", True),
        ("bobby", "bob", False),
        ("bob@x", "bob", False),
        ("x.bob", "bob", False),
        ("bob_1", "bob", False),
        ("bob/alice", "bob", True),
        ("bob/alice/5", "bob", False),
        ("New York-based", "New York", True),
        ("non-smoking", "smoking", True),
        ("item-5", "item", False),
        ("5-star", "star", False),
        ("(bob)", "bob", True),
        ("'bob'.next", "bob", True),
        ("“bob”的", "bob", True),
        ("format:json", "json", True),
        ("http:json", "http", False),
        ("a=2,b=3", "2", True),
        ("1,250", "1", False),
        ("1,250", "250", False),
        ("1, 250", "1", True),
        ("a,b", "a", True),
        ("5%", "5", False),
        ("C++", "C", False),
        ("#42", "42", True),
        ("@bob", "bob", True),
        ("\\bob", "bob", False),
        ("서울에서", "서울", True),
        ("bob에게", "bob", True),
        ("에bob", "bob", True),
        ("e\u0301", "e", False),
        ("bob\u200b", "bob", False),
        ("\u200bbob", "bob", False),
        ("x" * 70 + "-bob", "bob", True),
        ("x", "x", True),
    ],
)
def test_token_boundaries(text: str, quote: str, whole: bool) -> None:
    start = text.index(quote)
    assert bounded(text, start, start + len(quote)) is whole


@pytest.mark.parametrize("char", [*"\u200b\u202e\u00ad\ufe0f\u212a\U000e0041５٣ﬁſ²"])
def test_characters_that_deceive(char: str) -> None:
    assert deceives(char)
    assert has_deceiving(f"a{char}")


@pytest.mark.parametrize("char", ["a", "é", "ß", "я", "한", "日", "5", "😀", "中"])
def test_characters_that_do_not(char: str) -> None:
    assert not deceives(char)


def test_the_fold_keeps_accents_and_scripts() -> None:
    assert normal("Jose\u0301 STRASSE") == "jos\u00e9 strasse"
    assert normal("Straße") == "straße"


@pytest.mark.parametrize(
    ("text", "claim", "found"),
    [
        ("the Best-Seller list", "best seller", ("Best-Seller", "fold")),
        ("the BestSeller list", "Best Seller", ("BestSeller", "fold")),
        ("in San  Francisco", "san_francisco", ("San  Francisco", "fold")),
        ("call Dr Smith", "Dr. Smith", ("Dr Smith", "fold")),
        ("two tablespoons", "tablespoon", ("tablespoons", "plural")),
        ("one berry", "berries", ("berry", "plural")),
        ("in C++ code", "C", None),
        ("in C code", "C++", None),
        ("rename it to N/A", "N/A", ("N/A", "exact")),
        ("send it to me", "me", None),
        ("go to 'in' first", "in", ("in", "exact")),
        ("value five", "5", ("five", "number_words")),
        ("pay $200", "$200", ("$200", "exact")),
        ("pay 200 dollars", "$200", ("200", "number")),
        ("at 15 percent", "15%", ("15", "number")),
        ("10 kilograms", "10 kg", ("10", "number")),
        ("10 miles", "10 kg", None),
        ("10 boxes", "10 box", ("10", "number")),
        ("10", "10 box", None),
        ("on May 5", "5", None),
        ("mail Ana@Example.org", "ana@example.org", ("Ana@Example.org", "ascii_case")),
        ("mail Ana@Example.org now x", "éna@example.org", None),
        ("nothing", "…", None),
        ("cases", "Müller", None),
        ("running shoes", "shoe runs", None),
    ],
)
def test_readings_of_a_string(text: str, claim: str, found: tuple[str, str] | None) -> None:
    assert how(text, claim) == found


@pytest.mark.parametrize(
    ("text", "claim", "name", "schema", "found"),
    [
        ("user id ABC-12", "abc-12", "user_id", {}, None),
        ("user id ABC", "abc", "user_id", {"type": "string"}, None),
        ("pay ana lee", "Ana Lee", "recipient", {"type": "string"}, ("ana lee", "fold")),
        ("call 010 1234 5678", "01012345678", "phone", {}, ("010 1234 5678", "spaced")),
        ("call +82 (10) 1234-5678", "+821012345678", "phone", {}, ("+82 (10) 1234-5678", "spaced")),
        ("call +82 10 1234 5678", "821012345678", "phone", {}, None),
        ("call 010-1234-56789", "01012345678", "phone", {}, None),
        ("card 4111 1111 1111 1111", "4111111111111111", "card", {}, ("4111 1111 1111 1111", "spaced")),
        ("card 4111.1111.1111.1111", "4111111111111111", "card", {}, None),
        ("call 010-1234-5678", "(010)1234-5678", "number", {}, None),
        ("level 5", "5", "level_id", {"type": "string"}, ("5", "exact")),
        ("level five", "5", "level_id", {"type": "string"}, None),
    ],
)
def test_identifiers(text: str, claim: str, name: str, schema: dict[str, Any], found: tuple[str, str] | None) -> None:
    assert how(text, claim, name, schema) == found


@pytest.mark.parametrize(
    ("text", "claim", "name", "found"),
    [
        ("in Chicago", "Chicago, IL", "city", ("Chicago", "city")),
        ("in Chicago", "Chicago, Illinois, USA", "city", ("Chicago", "city")),
        ("in Chicago", "Chicago, TX", "city", None),
        ("in NYC", "New York, NY", "city", ("NYC", "code")),
        ("in London", "London, England", "city", ("London", "city")),
        ("in London", "London, France", "city", None),
        ("in Paris", "Paris, France", "city", ("Paris", "city")),
        ("in Springfield, Ohio", "Springfield, OH", "city", ("Springfield", "city")),
        ("in Springfield. Ohio is far", "Springfield, OH", "city", None),
        ("at Elm, Anytown", "Elm, Anytown", "city", ("Elm, Anytown", "exact")),
        ("at Elm in Anytown", "Elm, Anytown", "city", ("Elm", "city")),
        ("from Paris to London", "Paris, London", "city", None),
        ("in Chicago", "Chicago, ", "city", ("Chicago", "fold")),
        ("the US and UK", "United Kingdom", "country", ("UK", "code")),
        ("the us", "United States", "country", None),
        ("to Germany", "DEU", "country", ("Germany", "code")),
        ("to Germany", "DE", "anything", None),
        ("in €", "EUR", "currency", ("€", "code")),
        ("in won", "KRW", "currency", ("won", "code")),
        ("live in Vegas", "Las Vegas", "city", ("Vegas", "code")),
        ("in Seoul", "서울", "city", ("Seoul", "code")),
    ],
)
def test_codes_and_places(text: str, claim: str, name: str, found: tuple[str, str] | None) -> None:
    assert how(text, claim, name) == found


def test_the_tables_hold_each_code_once() -> None:
    for rows in codes._KINDS.values():
        heads = [code for heads, _ in rows for code in heads]
        assert len(heads) == len(set(heads))
        assert all(name == name.strip() and name for _, names in rows for name in names)
    assert codes.region_forms("CA")[:2] == ["CA", "California"]
    assert codes.region_forms("Nowhere") == ["Nowhere"]


def test_forms_of_words() -> None:
    assert other_number("boxes") == ("box", "boxe")
    assert other_number("glass") == ()
    assert other_number("day") == ("days", "dayes")
    assert [stem(word) for word in ("booking", "cities", "people", "is", "nightly")] == [
        "book",
        "city",
        "person",
        "is",
        "night",
    ]
    assert cue_key("successful") == cue_key("successes")
    assert split_words("toAccountId check_in") == ("to", "account", "id", "check", "in")
    assert split_plain("Best-Seller!") == ("best", "seller")


def test_shapes_of_tokens() -> None:
    assert [shape(token) for token in ("a@b", "a/b", "KR-77", "word")] == ["email", "path", "code", "word" + "s"]
    assert identifier_shaped("mail a@b now")
    assert not identifier_shaped("Room 5 now")


def test_words_keep_their_place_in_decomposed_and_growing_text() -> None:
    text = "İstanbul ve Jose\u0301 x\u200b\u0301 Ω"
    words = Words(text)
    assert [text[slice(*words.span(at))] for at in range(2)] == ["İstanbul", "ve"]
    assert [text[start:end] for start, end in words.find(("jos\u00e9",))] == ["Jose\u0301"]
    assert words.at(text.index("Jose")) == 2
    assert list(words.find(())) == []


def test_a_value_that_stands_often_is_found_a_bounded_number_of_times() -> None:
    words = Words("red " * 1000)
    assert len(list(words.find(("red",)))) == 24
    assert how("5 " * 100 + "rooms", 5, "rooms", {"type": "integer"}) is not None
