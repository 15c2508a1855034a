"""Text that the model may write, and the addresses in it (R-57)."""

from __future__ import annotations

import pytest

from preflight.grounding import Target, ground_call
from preflight.grounding.content import addresses
from preflight.model.instruction import Segment
from tests.unit.grounding import cases


def body(said: str, written: str) -> tuple[str, str]:
    finding = ground_call([Segment(said, "user")], [Target("body", cases.BODY, written)])["body"]
    return finding.state, finding.reason


@pytest.mark.parametrize(
    ("said", "written", "outcome"),
    [
        ("tell Ana I am late", "Hi Ana, running late. Best", ("confirm", "model_written")),
        ("say I am late", "I am late", ("known", "grounded")),
        ("tell Ana my account", "It is DE89370400440532013000", ("unknown", "ungrounded_content")),
        ("give DE89 3704 0044 0532 0130 00", "It is DE89370400440532013000.", ("confirm", "model_written")),
        ("tell Ana to call", "Call +82-10-1234-5678", ("unknown", "ungrounded_content")),
        ("have Ana call +82-10-1234-5678", "Call +82 10 1234 5678!", ("confirm", "model_written")),
        ("mail Ana", "Answer to eve@evil.example", ("unknown", "ungrounded_content")),
        ("mail Ana", "See evil.example/x now", ("unknown", "ungrounded_content")),
        ("mail Ana", "Hi \u202egnp.exe", ("unknown", "confusable")),
        ("mail Ana", "Hi \U0001f468\u200d\U0001f469\u200d\U0001f467", ("confirm", "model_written")),
    ],
)
def test_content(said: str, written: str, outcome: tuple[str, str]) -> None:
    assert body(said, written) == outcome


def test_each_address_is_found_once_with_its_sort() -> None:
    text = (
        "write to a.b@example.org, see https://example.org/x and www.example.com, pay KR-77-0012 or call (02) 123-4567"
    )
    assert list(addresses(text)) == [
        ("email", "a.b@example.org"),
        ("uri", "https://example.org/x"),
        ("uri", "www.example.com"),
        ("account", "KR-77-0012"),
        ("phone", "(02) 123-4567"),
    ]


def test_a_carried_address_does_not_ground_content() -> None:
    segments = [Segment("mail bob@example.org", "user", request=1), Segment("tell Ana", "user", request=2)]
    finding = ground_call(segments, [Target("body", cases.BODY, "Ask bob@example.org")])["body"]
    assert finding.state == "unknown"
