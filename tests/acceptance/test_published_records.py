"""The two published example records, reproduced key for key through the public calls."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from preflight import Asking, ShippedHooks, create_preflight
from preflight.codec import encode
from preflight.hooks import inline
from preflight.hooks.shipped import Meaning
from preflight.testing import MemoryStorage

EXAMPLES = Path(__file__).resolve().parents[1] / "fixtures" / "examples"


def example(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((EXAMPLES / name).read_text(encoding="utf-8"))
    return found


def differences(wanted: object, found: object, at: str = "") -> list[str]:
    """Say where `found` is not as published; keys that are not published may be there beside them."""
    match wanted:
        case (
            "any"
            | "any text that names neither the tool nor a candidate"
            | "the hook's reason"
            | "the tool's description"
        ):
            return [] if isinstance(found, str) and found else [f"{at}: no text"]
        case "a time":
            return [] if isinstance(found, str) and datetime.fromisoformat(found).tzinfo else [f"{at}: no time"]
        case dict():
            if not isinstance(found, dict):
                return [f"{at}: {found!r}"]
            missing = [f"{at}/{key}: missing" for key in wanted if key not in found]
            return missing + [
                text for key in wanted if key in found for text in differences(wanted[key], found[key], f"{at}/{key}")
            ]
        case list():
            if not isinstance(found, list) or len(found) != len(wanted):
                return [f"{at}: {found!r}"]
            return [text for i, item in enumerate(wanted) for text in differences(item, found[i], f"{at}/{i}")]
        case _:
            same = wanted == found and type(wanted) is type(found)
            return [] if same else [f"{at}: {found!r}, not {wanted!r}"]


def test_the_comparison_sees_a_difference() -> None:
    assert differences({"a": [1, {"b": None}]}, {"a": [1, {"b": 0}]}) == ["/a/1/b: 0, not None"]
    assert differences({"a": True}, {"a": 1}) == ["/a: 1, not True"]
    assert differences({"a": 1}, {}) == ["/a: missing"]
    assert differences("a time", "2026-11-30T09:00:00") == [": no time"]


def test_two_values_have_a_source_and_one_has_none() -> None:
    published = example("bank_transfer.json")
    account = {"type": "string", "pattern": "^[0-9]{10}$"}
    tool = {
        "server": "bank",
        "name": "bank.transfer",
        "description": "Sends money to an account.",
        "inputSchema": {
            "type": "object",
            "properties": {"from_account": account, "amount": {"type": "integer"}, "to_account": account},
            "required": ["from_account", "amount", "to_account"],
        },
    }
    request = {
        "user_id": "u_01",
        "instruction": published["instruction"],
        "tool": tool,
        "claims": {"from_account": "1102534471", "amount": 500_000},
        "pre_set_data": {"from_account": {"value": "1102534471", "trust": "user"}},
        "user_checklist": [{"id": "chk_limit", "description": "within daily transfer limit"}],
    }

    class Hooks(ShippedHooks):
        # What the user calls it is said in the example in other words than the request's own.
        @inline
        def extract_user_action_name(self, utterance: object) -> str:
            return "send money to my landlord"

    hooks = Hooks(meanings=[Meaning("send money", "bank", "bank.transfer")], checks={"chk_limit": lambda _: True})
    checked = create_preflight(hooks=hooks, storage=MemoryStorage()).check(request)
    assert isinstance(checked, Asking)
    assert differences(published["record"], json.loads(encode(checked.record))) == []
    assert [slot.name for slot in checked.question.slots] == ["to_account"]


def test_a_bounded_wish_met_an_unbounded_tool() -> None:
    published = example("tool_undetermined.json")
    request = {
        "user_id": "u_01",
        "instruction": [{"text": "Clean up the old invoices.", "trust": "user"}],
        "tool": {"server": "records", "name": "records.delete_all", "inputSchema": {"type": "object"}},
    }

    class Hooks(ShippedHooks):
        @inline
        def extract_user_action_name(self, utterance: object) -> str:
            return "clean up the old invoices"

        @inline
        def build_action_key(self, request: object, fixed: object) -> str:
            return "u_01:clean-up"

    hooks = Hooks(meanings=[Meaning("clean up old invoices", "records", "records.archive")])
    checked = create_preflight(hooks=hooks, storage=MemoryStorage()).check(request)
    assert isinstance(checked, Asking)
    shape = json.loads(encode(checked.record))
    assert differences(published["record"], shape) == []
    assert "records.delete_all" not in checked.question.message + shape["reason"] + shape["gate"]["user_message"]
    assert msgspec.json.decode(encode(checked.question)).get("slots", []) == []
