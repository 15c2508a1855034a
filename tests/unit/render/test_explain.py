"""Evidence as `explain` tells it: the user's sentence with the place marked, the normaliser, other readings."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from preflight import ShippedHooks, create_preflight
from preflight.hooks.shipped import Meaning
from preflight.model.record import Record
from preflight.render import explanation
from preflight.render.styled import Table, plain

STRING = {"type": "string"}


def told(record: Record) -> str:
    texts: list[str] = []
    for block in explanation([record]):
        rows = [[plain(cell) for cell in row] for row in block.rows] if isinstance(block, Table) else [[plain(block)]]
        texts += [" | ".join(row) for row in rows]
    return "\n".join(texts)


def decided(text: str, schema: dict[str, Any], claim: object, *, store: bool = True) -> Record:
    gate = create_preflight(
        storage=":memory:", hooks=ShippedHooks(meanings=[Meaning("book", "s", "book")]), store_instruction=store
    )
    tool = {"type": "object", "properties": {"what": schema}, "required": ["what"]}
    return gate.check(
        {
            "user_id": "ana",
            "instruction": [{"text": "forwarded", "trust": "untrusted"}, {"text": text, "trust": "user"}],
            "tool": {"server": "s", "name": "book", "inputSchema": tool},
            "claims": {"what": claim},
            "zone": "UTC",
        }
    ).record


def test_stated_words_are_marked_in_the_sentence_with_the_normaliser_and_other_readings() -> None:
    text = told(decided("book 1,250 now", {"type": "number"}, 1250))
    assert '           "book 1,250 now"\n                 ^^^^^ what' in text
    assert 'what | known | 1250 | the user\'s words | "1,250" read as number: 1250 (stated); may also be 1.250' in text


def test_another_name_of_a_value_is_marked_and_its_normaliser_named() -> None:
    record = decided("book the 3rd floor", {"oneOf": [{"const": "F3", "title": "3rd floor"}]}, "F3")
    text = told(record)
    assert '"book the 3rd floor"\n                     ^^^^^^^^^ what' in text
    assert record.fields is not None
    assert record.fields[0].evidence is not None
    name = record.fields[0].evidence.normaliser.replace("_", " ")
    assert f'"3rd floor" read as {name}' in text


def test_a_list_is_told_part_by_part() -> None:
    text = told(decided("book Ana and Bea", {"type": "array", "items": STRING}, ["Ana", "Bea"]))
    assert "                 ^^^ what/0\n                         ^^^ what/1" in text
    assert '/0: "Ana" read as exact (stated), /1: "Bea" read as exact (stated)' in text


def test_weak_words_are_marked_too_and_what_was_proposed_is_not_shown() -> None:
    record = decided("book the first", {"type": "integer"}, 1)
    text = told(record)
    assert 'near what: the user wrote "first" read as ordinal words, weak\n' in text
    assert '    "book the first"\n              ^^^^^' in text
    assert "read as ordinal words: 1" not in text


def test_words_that_are_not_stored_are_told_without_the_sentence() -> None:
    record = decided("book the first", {"type": "integer"}, 1, store=False)
    text = told(record)
    assert 'near what: the user wrote "first" read as ordinal words, weak' in text
    assert "^" not in text


def test_derived_words_name_the_rule() -> None:
    text = told(decided("book Berlin in Germany", {"type": "string", "description": "ISO 3166 country code"}, "DE"))
    assert '"Germany" read as code: DE (derived by country name)' in text


@pytest.mark.parametrize("change", [{"segment_index": 0}, {"segment_index": 9}, {"end": 99}, {"start": 99}])
def test_a_mention_of_no_place_of_the_users_marks_nothing(change: dict[str, int]) -> None:
    record = decided("book the first", {"type": "integer"}, 1)
    assert record.fields is not None
    field = record.fields[0]
    mention = msgspec.structs.replace(field.mentions[0], **change)
    record = msgspec.structs.replace(record, fields=(msgspec.structs.replace(field, mentions=(mention,)),))
    after = told(record).split("near what: ")[1].splitlines()
    assert not after[1].strip().startswith('"')
