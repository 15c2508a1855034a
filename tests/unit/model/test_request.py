"""A request as it is read (specification, section 3): what counts, what counts for nothing, what tells runs apart."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from preflight import Decision, Request, Tool
from preflight.core.fixed import intent_fingerprint
from preflight.errors import InvalidInput
from preflight.model.evidence import Evidence
from preflight.model.instruction import Segment
from preflight.model.request import request_digest
from preflight.model.slot import FieldState
from preflight.results import Executable
from preflight.testing import sample_decision
from tests.unit.gates import ABSENT, TOOL, gate, request


def parsed(**parts: Any) -> Request:
    return Request.parse(request(**parts))


@pytest.mark.parametrize("said", ["send 500 to bob", None, ABSENT])
def test_a_plain_string_is_accepted_and_grounds_nothing(said: Any) -> None:
    #
    assert parsed(instruction=said).segments is None


@pytest.mark.parametrize(
    "trust", ["User", "user ", "USER", "trusted", "", None, True, 1, ["user"], {"user": 1}, ABSENT]
)
def test_only_the_exact_label_grounds(trust: Any) -> None:
    #
    segment = {"text": "x"} if trust is ABSENT else {"text": "x", "trust": trust}
    (read,) = parsed(instruction=[segment]).segments or ()
    assert not read.grounds


def test_a_segment_keeps_its_origin_and_request_where_they_are_such() -> None:
    sound = {"text": "x", "trust": "user", "origin": "mail", "request": 2}
    odd = {"text": "x", "trust": "user", "origin": 5, "request": "2", "extra": 1}
    assert parsed(instruction=[sound, odd]).segments == (Segment("x", "user", "mail", 2), Segment("x", "user"))


@pytest.mark.parametrize(
    ("attempt", "counts"),
    [(ABSENT, 0), (None, 0), (-1, 0), (0, 0), (1, 1), (7, 7), (1.0, 0), ("2", 0), (True, 0), ([2], 0)],
)
def test_odd_attempts_count_as_none(attempt: Any, counts: int) -> None:
    #
    read = parsed(intent_attempt=attempt, tool_attempt=attempt)
    assert (read.intent_attempt, read.tool_attempt) == (counts, counts)


@pytest.mark.parametrize("given", [5, "rent", {"id": "rent"}])
def test_a_checklist_that_is_no_list_is_one_item_that_cannot_be_told_apart(given: Any) -> None:
    #
    checked = gate().check(request(user_checklist=[given] if isinstance(given, dict) else given))
    kind = checked.record.gate and checked.record.gate.kind
    assert (kind == "checklist_unidentified") is not isinstance(given, dict)


@pytest.mark.parametrize(
    "item", [None, 5, "rent", [], {}, {"id": ""}, {"id": 5}, {"id": None}, {"ID": "rent"}, {"description": "rent"}]
)
def test_an_item_without_an_id_of_its_own_holds_before_anything_else(item: Any) -> None:
    #
    record = gate().check(request(user_checklist=[{"id": "a"}, item])).record
    assert record.gate is not None
    assert record.gate.kind == "checklist_unidentified"
    assert (record.fixed, record.fields, record.action_key, record.phase, record.unknown_count) == (None,) * 5


def test_a_record_is_taken_as_prior_state() -> None:
    record = sample_decision("d1", "execute")
    assert parsed(prior_execution_state=record).prior_execution_state["record_id"] == "d1"  # type: ignore[index]


@pytest.mark.parametrize(
    "field",
    [
        {"origin_source": {}},
        {"origin_source": ["user_answer"]},
        {"origin_source": "prior_state"},
        {"origin_source": None},
        {"status": "unknown"},
        {"value": None},
        {"name": 5},
    ],
)
def test_an_odd_field_of_a_prior_state_is_not_carried(field: dict[str, Any]) -> None:
    #
    sound = {"name": "amount", "status": "known", "value": 5, "origin_source": "user_answer"}
    prior = {"execution_decision": "executed", "fields": [{**sound, **field}, 5]}
    checked = gate().check(request(claims={}, prior_execution_state=prior))
    assert {s.status for s in checked.record.fields or ()} == {"unknown"}


def test_the_digest_says_what_was_asked_and_not_when() -> None:
    base = request_digest(parsed())
    assert request_digest(parsed(now="2020-01-01T00:00:00Z")) == base
    others = [
        *({"user_id": "u2"}, {"call_id": "c2"}, {"claims": {}}, {"zone": "UTC"}, {"locale": "de"}),
        *(
            {"scope": {"tenant": "t"}},
            {"tool": {**TOOL, "title": "T"}},
            {"instruction": []},
            {"user_answers": {"a": 1}},
        ),
        *({"pre_set_data": {"a": 1}}, {"measured_data": {"a": 1}}, {"intent_attempt": 1}, {"tool_attempt": 1}),
        *({"user_checklist": [{"id": "a"}]}, {"checklist_answers": {"a": True}}, {"trigger": {"a": 1}}),
    ]
    digests = {request_digest(parsed(**parts)) for parts in others}
    assert len(digests | {base}) == len(others) + 1


def test_an_utterance_is_told_apart_by_its_words_user_and_scope_without_running_together() -> None:
    #
    def fingerprint(*texts: str, **parts: Any) -> str:
        said = [{"text": text, "trust": "user"} for text in texts]
        return intent_fingerprint(parsed(instruction=said, **parts).utterance)

    base = fingerprint("ab", "c")
    assert fingerprint("ab", "c", call_id="c2", claims={}) == base
    silent = [{"text": "ab", "trust": "user"}, {"text": "c", "trust": "user"}, {"text": "more", "trust": "untrusted"}]
    assert intent_fingerprint(parsed(instruction=silent).utterance) == base
    others = {fingerprint("a", "bc"), fingerprint("abc"), fingerprint("ab", "c", user_id="u2")}
    others |= {fingerprint("ab", "c", scope={"tenant": "t"}), fingerprint("ab", "c", scope={"conversation": "t"})}
    assert len(others | {base}) == 6


# the tool


def test_a_fingerprint_changes_with_every_pinned_part_and_with_no_other() -> None:
    #
    base = Tool.from_mcp(TOOL).fingerprint
    assert Tool.from_mcp({**TOOL, "_meta": {"x": 1}, "icons": []}).fingerprint == base
    assert Tool.from_mcp({**TOOL, "description": ""}).fingerprint == base
    changes: list[dict[str, Any]] = [
        *({"name": "x"}, {"title": "x"}, {"description": "x"}, {"inputSchema": None}),
        *({"annotations": {}}, {"outputSchema": {}}, {"server": "x"}),
    ]
    assert len({Tool.from_mcp({**TOOL, **change}).fingerprint for change in changes} | {base}) == len(changes) + 1


def test_the_server_is_named_by_who_connects_to_it() -> None:
    assert Tool.from_mcp({**TOOL, "server": "claimed"}, server="real").server == "real"
    assert Tool.from_mcp({**TOOL, "server": 5}).server == ""


def test_a_prepared_tool_is_taken_as_it_is() -> None:
    prepared = Tool.from_mcp(TOOL)
    assert Tool.from_mcp(prepared) is prepared
    assert parsed(tool=prepared).tool is prepared


@pytest.mark.parametrize("given", [None, 5, "transfer", [TOOL]])
def test_what_is_no_tool_is_refused(given: Any) -> None:
    with pytest.raises(InvalidInput, match="`tool`"):
        Tool.from_mcp(given)


# values that must not be tested for truth


def test_neither_a_decision_nor_an_outcome_has_a_truth_value() -> None:
    decision: Decision = gate().run_preflight(request())
    assert decision.executable
    with pytest.raises(TypeError, match="no truth value"):
        bool(decision)
    with pytest.raises(TypeError, match="no truth value"):
        bool(Executable(sample_decision("d1")))


def test_values_are_frozen() -> None:
    for value, name in (
        (parsed(), "claims"),
        (Tool.from_mcp(TOOL), "name"),
        (sample_decision("d1"), "call_arguments"),
        (FieldState("a", "known", None, None, ""), "value"),
        (Evidence(0, 0, 1, "a", "exact", "a"), "start"),
    ):
        with pytest.raises(AttributeError):
            setattr(value, name, None)
    assert msgspec.structs.replace(parsed(), user_answers={}).user_answers == {}
