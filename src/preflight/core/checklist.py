"""Step 0 and step 5: the user's own checklist (R-20, R-61)."""

from __future__ import annotations

from collections.abc import Generator

import msgspec

from preflight.core.needs import Failed, Need
from preflight.model.checklist import ItemState
from preflight.model.json_value import is_object
from preflight.model.request import Request


class Item(msgspec.Struct, frozen=True):
    """One item of the user's checklist as it was declared; an incoming status is not kept (R-61)."""

    id: str
    description: str


def identified(declared: tuple[object, ...]) -> tuple[Item, ...] | None:
    """Return the items, or None when one has no id of its own: nothing is computed then (R-20)."""
    items = []
    for item in declared:
        if not is_object(item) or type(item.get("id")) is not str or not item["id"]:
            return None
        description = item.get("description")
        items.append(Item(str(item["id"]), description if type(description) is str else ""))
    return tuple(items)


def verify(items: tuple[Item, ...], request: Request) -> Generator[Need, object, tuple[ItemState, ...]]:
    """Have every item verified now (R-61)."""
    states = []
    for item in items:
        answer = yield Need("verify_user_checklist_item", (item, request), item.id)
        states.append(verified(item, answer))
    return tuple(states)


def verified(item: Item, answer: object) -> ItemState:
    """Read what `verify_user_checklist_item` returned: anything but exactly `verified` is unverified."""
    if type(answer) is Failed or not (answer is None or is_object(answer)):
        return ItemState(
            item.id, item.description, "unverified", None, "definition_repair", "verify_user_checklist_item failed"
        )
    said = answer if is_object(answer) else {}
    source, note = said.get("source"), said.get("note")
    source = source if type(source) is str else None
    note = note if type(note) is str else None
    status = said.get("status")
    if type(status) is str and status == "verified":  # the type first: a look-alike could answer as it likes
        return ItemState(item.id, item.description, "verified", source, None, note)
    return ItemState(item.id, item.description, "unverified", source, "ask_user", note)
