"""A question says which call it is about, and nothing that suggests an answer (R-9, R-25)."""

from __future__ import annotations

from typing import Any

import pytest

from preflight import Asking, ShippedHooks, create_preflight
from preflight.hooks.shipped import Meaning
from preflight.render.question import asked, call_words
from preflight.render.styled import Table, plain

TEXT = {"type": "string"}


def asking(said: str, phrase: str = "set price", **claims: Any) -> Asking:
    hooks = ShippedHooks(meanings=[Meaning(phrase, "shop", "set_price")])
    gate = create_preflight(storage=":memory:", hooks=hooks)
    properties = {"item": TEXT, "price": {"type": "number"}, "note": TEXT}
    tool = {"type": "object", "properties": properties, "required": ["item", "price"]}
    checked = gate.check(
        {
            "user_id": "ana",
            "instruction": [{"text": said, "trust": "user"}],
            "tool": {"server": "shop", "name": "set_price", "inputSchema": tool},
            "claims": claims,
        }
    )
    assert isinstance(checked, Asking)
    return checked


def test_two_questions_for_the_same_slot_are_told_apart_by_what_is_settled() -> None:
    said = "set the price of the bed and the desk"
    told = [call_words(asking(said, item=item, price=5).record) for item in ("bed", "desk")]
    assert told == ['shop/set_price with item: "bed"', 'shop/set_price with item: "desk"']


def test_the_same_stands_at_a_terminal() -> None:
    checked = asking("set the price of the bed", item="bed", price=5)
    blocks = asked(checked.question, record=checked.record)
    lines = [plain(block) for block in blocks if not isinstance(block, Table)]
    assert '   with    item: "bed"' in lines
    assert not any("5" in line for line in lines if "id" not in line[:6] and "for" not in line[:7])


def test_where_nothing_is_settled_the_tool_alone_is_named() -> None:
    assert call_words(asking("set the price", item="bed", price=5).record) == "shop/set_price"


def test_before_the_tool_gate_opened_nothing_is_named() -> None:
    checked = asking("set the price of the bed", phrase="paint", item="bed", price=5)
    assert checked.question.kind == "restatement"
    assert call_words(checked.record) == ""
    assert call_words(None) == ""
    assert "set_price" not in "".join(
        plain(b) for b in asked(checked.question, record=checked.record) if not isinstance(b, Table)
    )


@pytest.mark.parametrize(("length", "told"), [(118, f'"{"x" * 118}"'), (119, "(121 characters)")])
def test_a_long_value_is_shown_whole_or_by_its_length(length: int, told: str) -> None:
    name = "x" * length
    assert call_words(asking(f"set the price of {name}", item=name, price=5).record) == (
        f"shop/set_price with item: {told}"
    )
