"""A locator behind the shipped hooks: when it is asked, what it sees, and that it only points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from preflight import Asking, Executable, create_preflight
from preflight.hooks.shipped import Meaning
from preflight.locators import LocatingHooks, OpenAILocator, Pointing, Spoken, Wanted
from preflight.model.request import Request
from preflight.results import Checked
from preflight.rules import RuleSet, load_rules
from tests.unit.locators.chat import chat, points

# More tokens that begin like the id than a search by words looks at.
STOCK = " ".join(f"item-{number}" for number in range(1000, 2000))
SAID = f"remove one of {STOCK}, namely item-1"
AT = (len(SAID) - 6, len(SAID))
ITEM = {"type": "string", "description": "Identifier of the item"}
MAIL = {"text": "take item-1", "trust": "untrusted", "origin": "mail"}
MEANING = Meaning("remove", "shop", "remove")


class Scripted:
    """A locator that answers as told, and keeps what it was asked."""

    def __init__(self, *answers: Mapping[str, object] | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[list[Spoken], list[Wanted]]] = []

    def __call__(self, spoken: Sequence[Spoken], wanted: Sequence[Wanted]) -> Any:
        self.asked.append((list(spoken), list(wanted)))
        answer = self.answers[min(len(self.asked), len(self.answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer


def request(*said: str | dict[str, Any], claims: dict[str, Any] | None = None) -> dict[str, Any]:
    claims = {"item": "item-1"} if claims is None else claims
    properties = dict.fromkeys(claims, ITEM)
    return {
        "user_id": "ana",
        "instruction": [each if isinstance(each, dict) else {"text": each, "trust": "user"} for each in said],
        "tool": {
            "server": "shop", "name": "remove",
            "inputSchema": {"type": "object", "properties": properties, "required": list(properties)},
        },
        "claims": claims,
    }  # fmt: skip


def check(locator: Any, given: dict[str, Any], rules: RuleSet | None = None) -> Checked:
    hooks = LocatingHooks(locator, meanings=[MEANING], **({} if rules is None else {"rules": lambda: rules}))
    return create_preflight(hooks=hooks, storage=":memory:", **({} if rules is None else {"rules": rules})).check(given)


def notes(checked: Checked) -> dict[str, str | None]:
    return {field.name: field.note for field in checked.record.fields or ()}


def test_without_a_locator_the_value_is_asked_about() -> None:
    assert notes(check(Scripted({}), request(SAID))) == {"item": "not_found"}


def test_a_place_whose_words_are_the_value_makes_it_known_with_evidence_of_the_place() -> None:
    checked = check(Scripted({"item": Pointing(0, AT)}), request(SAID))
    assert isinstance(checked, Executable)
    [field] = checked.record.fields or ()
    assert field.source == "instruction"
    assert field.evidence is not None
    assert (field.evidence.start, field.evidence.end, field.evidence.matched_text) == (*AT, "item-1")
    assert checked.record.call_arguments == {"item": "item-1"}


def test_a_model_behind_an_endpoint_points_the_same_way() -> None:
    with chat(points(("item", 0, "item-1"))) as server:
        checked = check(OpenAILocator(base_url=server.url, model="m"), request(SAID))
    assert isinstance(checked, Executable)


WRONG: dict[str, object] = {
    "other words": Pointing(0, (0, 4)),
    "a part of a longer id": Pointing(0, (14, 20)),
    "the words with more round them": Pointing(0, (AT[0] - 7, AT[1])),
    "no such segment": Pointing(7, AT),
    "a segment before the first": Pointing(-1, AT),
    "a boolean segment": Pointing(False, AT),
    "past the end": Pointing(0, (AT[0], AT[1] + 1)),
    "backwards": Pointing(0, (AT[1], AT[0])),
    "nothing": Pointing(0, (5, 5)),
    "fractions": Pointing(0, (float(AT[0]), float(AT[1]))),  # type: ignore[arg-type]
    "three ends": Pointing(0, (*AT, 0)),  # type: ignore[arg-type]
    "a list for a span": Pointing(0, list(AT)),  # type: ignore[arg-type]
    "a value": "item-1",
    "a mapping with a value": {"value": "item-1", "segment_index": 0, "span": AT},
    "nothing at all": None,
    "untrusted text that has it": Pointing(1, (5, 11)),
}


@pytest.mark.parametrize("pointing", WRONG.values(), ids=WRONG)
def test_a_wrong_place_counts_as_none(pointing: object) -> None:
    locator = Scripted({"item": pointing})
    checked = check(locator, request(SAID, MAIL))
    assert isinstance(checked, Asking)
    assert notes(checked) == {"item": "untrusted_only"}
    assert len(locator.asked) == 1


def test_untrusted_text_changes_nothing() -> None:
    place = {"item": Pointing(0, AT)}
    for said in ((SAID,), (SAID, MAIL), (SAID, {**MAIL, "text": "take item-2"})):
        checked = check(Scripted(place), request(*said))
        assert checked.record.call_arguments == {"item": "item-1"}


@pytest.mark.parametrize("answer", [RuntimeError("down"), None, 7, [1]], ids=repr)
def test_a_locator_that_fails_leaves_the_question_as_it_is(answer: Any, caplog: pytest.LogCaptureFixture) -> None:
    checked = check(Scripted(answer), request(SAID))
    assert isinstance(checked, Asking)
    assert notes(checked) == {"item": "not_found"}
    assert [record.name for record in caplog.records] == ["preflight.locators"]
    assert "down" not in caplog.text


NOT_ASKED = {
    "found already": (request("remove item-7", claims={"item": "item-7"}), "known"),
    "corrected": (request("remove item-7, no, item-8", claims={"item": "item-7"}), "superseded"),
    "refused": (request("remove all, but not item-7", claims={"item": "item-7"}), "negated"),
    "quoted": (request("remove it\n> remove item-7", claims={"item": "item-7"}), "quoted"),
    "look-alike": (request("I mean itеm-7", "remove it", claims={"item": "item-7"}), "confusable"),
    "no claim": (request("remove it", claims={}), "no slot"),
}  # fmt: skip


@pytest.mark.parametrize(("given", "why"), NOT_ASKED.values(), ids=NOT_ASKED)
def test_it_is_asked_only_for_what_was_not_found(given: dict[str, Any], why: str) -> None:
    locator = Scripted({"item": Pointing(0, (7, 13))})
    checked = check(locator, given)
    assert locator.asked == []
    [field] = checked.record.fields or [None]
    assert why == ("no slot" if field is None else field.note or field.status)


def test_it_is_asked_once_for_a_whole_call_and_sees_only_the_users_words_of_this_request() -> None:
    locator = Scripted({})
    given = request(
        {"text": "earlier: remove item-1", "trust": "user", "request": 1},
        {"text": "mail says item-1", "trust": "untrusted"},
        {"text": "remove these\n> item-1", "trust": "user", "request": 2},
        {"text": "  ", "trust": "user", "request": 2},
        claims={"item": "item-2", "other": "item-3", "earlier": "item-1"},
    )
    check(locator, given)
    [(spoken, wanted)] = locator.asked
    assert spoken == [Spoken(2, "remove these\n\n\n\n\n\n\n\n\n")]
    assert [(each.name, each.claim) for each in wanted] == [("item", "item-2"), ("other", "item-3")]


def test_words_of_an_earlier_request_do_not_count_even_if_pointed_at() -> None:
    early = {"text": SAID, "trust": "user", "request": 1}
    locator = Scripted({"item": Pointing(0, AT)})
    checked = check(locator, request(early, {"text": "remove it", "trust": "user", "request": 2}))
    assert isinstance(checked, Asking)
    assert len(locator.asked) == 1


def test_two_arguments_never_stand_on_the_same_words() -> None:
    both = {"item": Pointing(0, AT), "other": Pointing(0, AT)}
    checked = check(Scripted(both), request(SAID, claims={"item": "item-1", "other": "item-1"}))
    assert notes(checked) == {"item": None, "other": "not_found"}
    said = f"{SAID} 77"
    pair = {"item": "item-1 77", "other": "77"}
    checked = check(Scripted({"item": Pointing(0, (AT[0], len(said)))}), request(said, claims=pair))
    assert {name: note is None for name, note in notes(checked).items()} in (
        {"item": True, "other": False}, {"item": False, "other": True},
    )  # fmt: skip


def test_a_secret_is_not_shown_to_it(tmp_path: Any) -> None:
    (tmp_path / "shop.yaml").write_text(
        "version: 1\nservers: {shop: {tools: {remove: {effect: reversible, fields: {item: {secret: true}}}}}}\n",
        encoding="utf-8",
    )
    locator = Scripted({"item": Pointing(0, AT)})
    check(locator, request(SAID), load_rules(str(tmp_path)))
    assert locator.asked == []


@pytest.mark.parametrize(
    "given", [request("x" * 200_001), request("remove it", claims={f"a{n}": f"item-{n}" for n in range(33)})]
)
def test_it_is_not_asked_about_more_than_it_can_be_shown(given: dict[str, Any]) -> None:
    locator = Scripted({})
    check(locator, given)
    assert locator.asked == []


def test_a_request_that_follows_is_asked_about_anew() -> None:
    locator = Scripted({"item": Pointing(0, AT)}, {})
    hooks = LocatingHooks(locator, meanings=[MEANING])
    gate = create_preflight(hooks=hooks, storage=":memory:")
    first, second = gate.check(request(SAID)), gate.check(request(f"please {SAID}"))
    assert (first.decision, second.decision) == ("execute", "ask_user")
    assert len(locator.asked) == 2
    assert isinstance(Request.parse(request(SAID)), Request)
