"""What a model is told of a call that ran otherwise than it proposed, where programs show it (R-9)."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from preflight.mcp.texts import CHANGED, ran
from preflight.results import Executed
from preflight.storage.samples import sample_decision, sample_step

TOLD = 'Not sent as proposed, since only confirmed values are sent: `to` was sent as "bob".'


def result(structured: Any, proposed: dict[str, Any], schema: Any = None) -> dict[str, Any]:
    record = msgspec.structs.replace(sample_step(sample_decision("d1"), "executed"), call_arguments={"to": "bob"})
    given = {"content": [{"type": "text", "text": "sent"}], "structuredContent": structured}
    return ran(Executed(record, given), proposed, schema)


@pytest.mark.parametrize(
    ("schema", "room"),
    [
        (None, True),
        ({"type": "object", "properties": {"entry": {}}}, True),
        ({"type": "object", "additionalProperties": True}, True),
        ({"type": "object", "additionalProperties": False}, False),
        ({"type": "object", "additionalProperties": {"type": "number"}}, False),
        ({"type": "object", "unevaluatedProperties": False}, False),
        ({"type": "object", "maxProperties": 1}, False),
        ({"$ref": "#/$defs/x"}, False),
        (False, False),
    ],
)
def test_structured_content_tells_it_where_it_has_room(schema: Any, room: bool) -> None:
    shown = result({"entry": 1}, {"to": "eve"}, schema)
    assert shown["content"][-1] == {"type": "text", "text": TOLD}
    assert shown["structuredContent"] == ({"entry": 1, CHANGED: TOLD} if room else {"entry": 1})


@pytest.mark.parametrize("structured", [[1], 5, "sent", None])
def test_what_is_no_object_stays_as_it_is(structured: Any) -> None:
    assert result(structured, {"to": "eve"})["structuredContent"] == structured


def test_a_call_that_was_sent_as_proposed_adds_nothing() -> None:
    shown = result({"entry": 1}, {"to": "bob"})
    assert shown["structuredContent"] == {"entry": 1}
    assert len(shown["content"]) == 1
