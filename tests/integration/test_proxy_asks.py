"""Calls that are gated: what is missing is asked for where a person can answer, and the call then runs once."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import anyio
import pytest

from preflight import AnswerRefused, create_preflight
from preflight.model.question import Question
from preflight.model.record import Record
from preflight.storage import open_storage
from tests.chance import without_chance
from tests.integration.wire import (
    BANK_RULES,
    Answer,
    Message,
    Wire,
    bank,
    connected,
    everything,
    logged,
    nothing,
    proxy,
    said,
)

RULES = Path(__file__).resolve().parent / "upstreams" / "everything.yaml"
FORM: Message = {"elicitation": {"form": {}}}
RENT: Message = {"from_account": "1102534471", "to_account": "3520198845", "amount": 500_000}
WORDS = "send 500,000 won from 1102534471 to 3520198845"
DECISION, QUESTION = "preflight/decision", "preflight/question"

pytestmark = pytest.mark.anyio


def rules_with(folder: Path, rules: Path, ask_by: str) -> Path:
    """Return rules with the channels for answers set."""
    made = folder / "rules"
    made.mkdir(exist_ok=True)
    for path in rules.glob("*.yaml") if rules.is_dir() else [rules]:
        (made / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    (made / "channels.yaml").write_text(f"version: 1\nask_by: {ask_by}\n", encoding="utf-8")
    return made


@asynccontextmanager
async def at_bank(
    folder: Path, *options: str, answer: Answer = nothing, ask_by: str | None = None, **more: Any
) -> AsyncIterator[Wire]:
    rules = BANK_RULES if ask_by is None else rules_with(folder, BANK_RULES, ask_by)
    command = proxy(folder / "records.db", rules, bank(folder), *options, name="bank")
    async with connected(command, answer=answer, **more) as wire:
        yield wire


@asynccontextmanager
async def writing(
    folder: Path, *options: str, answer: Answer = nothing, ask_by: str | None = None, **more: Any
) -> AsyncIterator[Wire]:
    rules = RULES if ask_by is None else rules_with(folder, RULES, ask_by)
    command = proxy(folder / "records.db", rules, everything(folder / "log"), *options)
    async with connected(command, answer=answer, **{"able": FORM, **more}) as wire:
        yield wire


def saying(*contents: Any) -> Answer:
    """Answer each form with the next of these; what is no object is the action of a refusal."""
    left = list(contents)

    def answer(_method: str, _params: Message) -> Message:
        given = left.pop(0) if len(left) > 1 else left[0]
        return {"action": given} if isinstance(given, str) else {"action": "accept", "content": given}

    return answer


def records(folder: Path) -> list[Record]:
    storage = open_storage(folder / "records.db")
    try:
        return [stored.record for stored in storage.scan()]
    finally:
        storage.close()


def states(folder: Path) -> list[str]:
    return [record.execution_decision for record in records(folder)]


async def ledger(wire: Wire) -> list[Any]:
    return list((await wire.call("ledger_list"))["result"]["structuredContent"]["entries"])


@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_a_form_asks_and_the_call_runs_once_from_its_record(tmp_path: Path, era: str) -> None:
    answer = saying({"restatement": WORDS})
    async with at_bank(tmp_path, ask_by="{irreversible: form}", era=era, able=FORM, answer=answer) as wire:
        response = await wire.call("transfer", RENT)
        entries = await ledger(wire)
    result = response["result"]
    assert result["isError"] is False
    assert result["structuredContent"]["amount"] == 500_000
    assert len(entries) == 1
    (asked,) = wire.asked
    form = asked["params"]["requestedSchema"]
    assert list(form["properties"]) == ["restatement"]
    assert "default" not in json.dumps(asked)
    decided = [record for record in records(tmp_path) if record.tool and record.tool.name == "transfer"]
    assert [record.execution_decision for record in decided] == ["ask_user", "execute", "executing", "executed"]
    assert decided[-1].decision_id == result["_meta"][DECISION]


async def test_the_channel_the_client_and_the_time_are_recorded_with_an_answer(tmp_path: Path) -> None:
    answer = saying({"restatement": WORDS})
    async with at_bank(tmp_path, ask_by="{irreversible: form}", able=FORM, answer=answer) as wire:
        await wire.call("transfer", RENT)
    storage = open_storage(tmp_path / "records.db")
    question = next(stored.record.question_id for stored in storage.scan() if stored.record.question_id)
    given = storage.answer_to(question)
    storage.close()
    assert given is not None
    assert given.channel.startswith("form (wire 1, ")
    assert given.person == "joonho"


async def test_a_form_is_not_enough_for_what_cannot_be_undone(tmp_path: Path) -> None:
    async with at_bank(tmp_path, able=FORM) as wire:
        response = await wire.call("transfer", RENT)
        assert await ledger(wire) == []
    text = said(response).replace(str(tmp_path), "FOLDER")
    assert response["result"]["isError"] is True
    question = response["result"]["_meta"][QUESTION]
    assert not any(value in without_chance(text) for value in ("1102534471", "3520198845", "500"))
    assert f"preflight --rules {BANK_RULES} answer {question} --db FOLDER/records.db" in text


async def test_the_rules_say_that_a_form_is_not_enough_for_what_can_be_undone(tmp_path: Path) -> None:
    # what a form would have said is refused where it is taken, too
    async with writing(tmp_path, ask_by="{reversible: page}") as wire:
        response = await wire.call("write", {"line": "hello"})
        assert wire.asked == []
        assert "in a browser at http://127.0.0.1:" in said(response)
        gate = create_preflight(storage=tmp_path / "records.db", rules=tmp_path / "rules")
        (question,) = gate.pending()
        with pytest.raises(AnswerRefused, match="does not count here; answer on the answer page or at a terminal"):
            gate.answer(question.question_id, {"restatement": "x"}, person="joonho", channel="form (wire 1, 2.0 s)")
        gate.close()
    assert states(tmp_path) == ["ask_user"]


@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_what_the_rules_want_at_a_terminal_is_asked_nowhere_else(tmp_path: Path, era: str) -> None:
    able: Message = {"elicitation": {"form": {}, "url": {}}}
    async with writing(tmp_path, ask_by="{reversible: terminal}", able=able, era=era) as wire:
        response = await wire.call("write", {"line": "hello"})
        assert wire.asked == []
        assert "http" not in said(response)
        assert f" answer {response['result']['_meta'][QUESTION]} --db {tmp_path / 'records.db'}" in said(response)
        await anyio.to_thread.run_sync(answer_open, tmp_path, {"restatement": 'write "hello" now'})
        assert said(await wire.call("write", {"line": "hello"})) == '{"line": "hello"}'


def silences(folder: Path) -> list[tuple[str, bool]]:
    """Return how each question was put in vain, and whether that came at once."""
    storage = open_storage(folder / "records.db")
    try:
        asked = [stored.record.question_id for stored in storage.scan() if stored.record.question_id]
        found = [silence for question in asked for silence in storage.no_answers(question)]
        assert {(silence.channel, silence.client) for silence in found} <= {("elicitation", "wire 1")}
        assert all(storage.answer_to(question) is None for question in asked)
        return [(silence.how, silence.at_once) for silence in found]
    finally:
        storage.close()


@pytest.mark.parametrize("era", ["handshake", "modern"])
@pytest.mark.parametrize(("refusal", "how"), [("decline", "decline"), ("cancel", "cancel"), ("what is this", "failed")])
async def test_a_refusal_is_no_answer(tmp_path: Path, refusal: str, how: str, era: str) -> None:
    async with writing(tmp_path, answer=saying(refusal), era=era) as wire:
        response = await wire.call("write", {"line": "hello"})
        assert "waits for a person" in said(response)
        assert ("is no answer to a question" if how == "failed" else "refused at once") in said(response)
        again = await wire.call("write", {"line": "hello"})
    assert again["result"]["_meta"] == response["result"]["_meta"]  # it attaches to the question that is open
    assert states(tmp_path) == ["ask_user"]
    assert silences(tmp_path) == [(how, True)] * 2  # kept, and nothing is read from it
    assert not [entry for entry in logged(tmp_path / "log") if entry[0] == "write"]


BROKEN: dict[str, tuple[Any, str]] = {
    "no word for it": ({"action": 7, "content": {"restatement": 'write "hello" now'}}, "failed"),
    "a word nobody knows": ({"action": "Accept", "content": {"restatement": 'write "hello" now'}}, "failed"),
    "a list for a word": ({"action": ["accept"]}, "failed"),
    "no object in it": ({"action": "accept", "content": ["restatement"]}, "failed"),
    "a text in it": ({"action": "accept", "content": "write"}, "failed"),
    "nothing in it": ({"action": "accept"}, "empty"),
    "null in it": ({"action": "accept", "content": None}, "empty"),
    "nothing at all": ({}, "failed"),
    "something else": ({"content": {"restatement": 'write "hello" now'}}, "failed"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("era", ["handshake", "modern"])
@pytest.mark.parametrize(("reply", "how"), BROKEN.values(), ids=BROKEN)
async def test_a_reply_that_is_none_ends_the_wait_at_once(tmp_path: Path, era: str, reply: Any, how: str) -> None:
    async with writing(tmp_path, answer=lambda *_asked: reply, era=era) as wire:
        response = await wire.call("write", {"line": "hello"})
    told = "The form came back empty." if how == "empty" else "What the client answered is no answer to a question."
    assert told in said(response)
    assert "in a browser at http://127.0.0.1:" in said(response)
    assert len(wire.asked) == 1
    assert states(tmp_path) == ["ask_user"]
    assert silences(tmp_path) == [(how, True)]


@pytest.mark.thorough
@pytest.mark.parametrize("reply", [7, None, "accept", ["accept"], True, 1.5])
async def test_a_reply_of_a_modern_client_that_is_no_object_ends_the_wait_at_once(tmp_path: Path, reply: Any) -> None:
    call: Message = {"name": "write", "arguments": {"line": "hello"}}
    async with writing(tmp_path, era="modern") as wire:
        first = (await wire.request("tools/call", call))["result"]
        brought: Message = {"inputResponses": {"preflight": reply}, "requestState": first["requestState"]}
        response = await wire.request("tools/call", {**call, **brought})
    assert "What the client answered is no answer to a question." in said(response)
    assert silences(tmp_path) == [("failed", True)]


async def test_an_error_in_place_of_a_reply_ends_the_wait_at_once(tmp_path: Path) -> None:
    async def refuse(_method: str, _params: Message) -> Message:
        await wire.send({"id": wire.asked[-1]["id"], "error": {"code": -32042, "message": "\u001b[31m no"}})
        await anyio.Event().wait()
        raise AssertionError

    async with writing(tmp_path, answer=refuse) as wire:
        response = await wire.call("write", {"line": "hello"})
    assert "The client answered the question with an error (-32042)." in said(response)
    assert silences(tmp_path) == [("failed", True)]


@pytest.mark.thorough
@pytest.mark.parametrize("era", ["handshake", "modern"])
@pytest.mark.parametrize("reply", [{"action": "accept", "content": 7}, {"action": 7}, {}])
async def test_a_reply_to_a_link_that_is_none_is_not_waited_on(tmp_path: Path, era: str, reply: Message) -> None:
    able: Message = {"elicitation": {"url": {}}}
    async with writing(tmp_path, ask_by="{reversible: page}", able=able, answer=lambda *_asked: reply, era=era) as wire:
        response = await wire.call("write", {"line": "hello"})
    assert wire.asked[0]["params"]["mode"] == "url"
    assert "What the client answered is no answer to a question." in said(response)
    assert silences(tmp_path) == [("failed", True)]


@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_a_link_that_was_opened_is_waited_on_whatever_came_with_it(tmp_path: Path, era: str) -> None:
    # what stands beside it did not come by the page
    reply = {"action": "accept", "content": {"restatement": 'write "hello" now'}}
    able: Message = {"elicitation": {"url": {}}}
    given: Any = {"able": able, "answer": lambda *_asked: reply, "era": era}
    async with writing(tmp_path, "--hold", "0.3", ask_by="{reversible: page}", **given) as wire:
        assert "Nobody answered yet." in said(await wire.call("write", {"line": "hello"}))
    assert silences(tmp_path) == [("time_out", False)]


@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_what_does_not_fit_is_asked_again_and_then_waits(tmp_path: Path, era: str) -> None:
    wrong: list[Any] = [{"restatement": 5}, {"restatement": ["a"], "more": 1}, {"restatement": True}, "cancel"]
    async with writing(tmp_path, answer=saying(*wrong), era=era) as wire:
        response = await wire.call("write", {"line": "hello"})
    assert "Nothing was called" in said(response)
    assert len(wire.asked) >= 3
    assert "answer with `restatement`" in wire.asked[1]["params"]["message"]
    assert states(tmp_path) == ["ask_user"]


async def test_arguments_that_were_not_sent_as_proposed_are_told(tmp_path: Path) -> None:
    async with writing(tmp_path, answer=saying({"restatement": 'write "hello" now'})) as wire:
        response = await wire.call("write", {"line": "hello", "mode": "loud", "stray": 1}, _meta={"app/x": 5})
    result = response["result"]
    assert result["_meta"]["preflight/changed"] == {"mode": None, "stray": None}
    assert result["content"][1]["text"].startswith("Not sent as proposed")
    assert result["x-result"] == 1
    ((_, arguments, meta),) = [entry for entry in logged(tmp_path / "log") if entry[0] == "write"]
    assert arguments == {"line": "hello"}
    assert meta == {"app/x": 5, DECISION: result["_meta"][DECISION]}


async def test_a_call_is_held_no_longer_than_its_budget(tmp_path: Path) -> None:
    never = anyio.Event()

    async def silent(_method: str, _params: Message) -> Message:
        await never.wait()
        raise AssertionError

    async with writing(tmp_path, "--hold", "0.3", answer=silent) as wire:
        response = await wire.call("write", {"line": "hello"})
        cancelled = await wire.until("notifications/cancelled")
    assert "waits for a person" in said(response)
    assert cancelled["params"]["requestId"] == wire.asked[0]["id"]
    assert silences(tmp_path) == [("time_out", False)]


@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_a_form_that_comes_back_empty_is_no_answer(tmp_path: Path, era: str) -> None:
    async with writing(tmp_path, answer=saying({"restatement": ""}), era=era) as wire:
        assert "came back empty" in said(await wire.call("write", {"line": "hello"}))
    assert silences(tmp_path) == [("empty", True)]


async def test_an_answer_at_a_terminal_lets_a_held_call_go_on(tmp_path: Path) -> None:
    asked = anyio.Event()

    async def silent(_method: str, _params: Message) -> Message:
        asked.set()
        await anyio.Event().wait()
        raise AssertionError

    async with writing(tmp_path, answer=silent) as wire:
        call = await wire.begin("tools/call", {"name": "write", "arguments": {"line": "hello"}})
        await asked.wait()
        await anyio.to_thread.run_sync(answer_open, tmp_path, {"restatement": 'write "hello" now'})
        response = await wire.end(call)
    assert said(response) == '{"line": "hello"}'


def answer_open(folder: Path, values: dict[str, object]) -> None:
    gate = create_preflight(storage=folder / "records.db", rules=RULES)
    try:
        (question,) = gate.pending()
        gate.answer(question.question_id, values, person="joonho", channel="terminal")
    finally:
        gate.close()


async def test_the_same_call_again_is_a_new_one_once_the_first_has_run(tmp_path: Path) -> None:
    async with writing(tmp_path, answer=saying({"restatement": 'write "hello" now'})) as wire:
        first = await wire.call("write", {"line": "hello"})
        second = await wire.call("write", {"line": "hello"})
    assert first["result"]["_meta"][DECISION] != second["result"]["_meta"][DECISION]
    assert len([entry for entry in logged(tmp_path / "log") if entry[0] == "write"]) == 2


async def test_a_state_that_was_forged_replayed_or_taken_elsewhere_starts_nothing(tmp_path: Path) -> None:
    call: Message = {"name": "write", "arguments": {"line": "hello"}}
    answer = saying({"restatement": 'write "hello" now'})
    async with writing(tmp_path, answer=answer, era="modern") as wire:
        first = (await wire.request("tools/call", call))["result"]
        state = first["requestState"]
        forged = await wire.request("tools/call", {**call, "requestState": state[:-4] + "AAAA"})
        other = {"name": "write", "arguments": {"line": "other"}, "requestState": state}
        elsewhere = await wire.request("tools/call", other)
        second = await wire.again(call, first)
        ran = await wire.request("tools/call", second)
        replayed = await wire.request("tools/call", second)
    assert forged["error"]["code"] == elsewhere["error"]["code"] == -32602
    assert said(ran) == '{"line": "hello"}'
    assert replayed["result"].get("isError") or replayed["result"]["resultType"] == "input_required"
    assert len([entry for entry in logged(tmp_path / "log") if entry[0] == "write"]) == 1


async def test_of_two_answers_the_first_stands(tmp_path: Path) -> None:
    call: Message = {"name": "write", "arguments": {"line": "hello"}}
    async with writing(tmp_path, answer=saying({"restatement": "write it down now"}), era="modern") as wire:
        first = (await wire.request("tools/call", call))["result"]
        same = await wire.again(call, first)
        one, two = await wire.begin("tools/call", same), await wire.begin("tools/call", same)
        results = [(await wire.end(each))["result"] for each in (one, two)]
    keys = [list(result["inputRequests"]["preflight"]["params"]["requestedSchema"]["properties"]) for result in results]
    assert keys[0] == keys[1] == ["line", *keys[0][1:]]
    assert states(tmp_path) == ["ask_user", "ask_user"]


COLOUR: Message = {"name": "ask", "arguments": {}}


async def test_of_several_requests_with_one_state_one_goes_on_and_the_others_are_told(tmp_path: Path) -> None:
    answer = saying({"colour": "red"})
    async with writing(tmp_path, answer=answer, era="modern") as wire:
        first = (await wire.request("tools/call", COLOUR))["result"]
        same = await wire.again(COLOUR, first)
        ids = [await wire.begin("tools/call", same) for _ in range(4)]
        await wire.send({"method": "notifications/cancelled", "params": wire.enveloped({"requestId": ids[2]})})
        answers = [await wire.end(each) for each in ids if each != ids[2]]
        late = await wire.request("tools/call", same)
    assert "red" in said(answers[0])
    assert [each["error"]["code"] for each in (*answers[1:], late)] == [-32602] * 3
    assert all("goes on with the call already" in each["error"]["message"] for each in answers[1:])
    assert "is over" in late["error"]["message"]


async def test_a_client_that_comes_back_without_an_answer_is_asked_once_more(tmp_path: Path) -> None:
    async with writing(tmp_path, answer=saying({"colour": "red"}), era="modern") as wire:
        first = (await wire.request("tools/call", COLOUR))["result"]
        empty = {**await wire.again(COLOUR, first), "inputResponses": {}}
        second = (await wire.request("tools/call", empty))["result"]
        assert second["inputRequests"] == first["inputRequests"]
        old = await wire.request("tools/call", await wire.again(COLOUR, first))
        assert "goes on with the call already" in old["error"]["message"]
        assert "red" in said(await wire.request("tools/call", await wire.again(COLOUR, second)))


def waiting(folder: Path) -> Question:
    with closing(create_preflight(storage=folder / "records.db", rules=BANK_RULES)) as gate:
        (question,) = gate.pending()
        return question


def answered(folder: Path, values: Message) -> None:
    with closing(create_preflight(storage=folder / "records.db", rules=BANK_RULES)) as gate:
        gate.answer(gate.pending()[0].question_id, values, person="joonho", channel="terminal")


async def test_what_ran_without_words_is_asked_about_as_what_it_is_once_more(tmp_path: Path) -> None:
    # nothing tells a second wish from a model that repeats itself, so a person says which it is
    async with at_bank(tmp_path, "--page", "-1") as wire:
        await wire.call("transfer", RENT)
        answered(tmp_path, {"restatement": WORDS})
        first = await wire.call("transfer", RENT)
        again = await wire.call("transfer", RENT)
        assert len(await ledger(wire)) == 1
        answered(tmp_path, {"restatement": WORDS})
        asked = await wire.call("transfer", RENT)
        (item,) = waiting(tmp_path).items
        assert item.description.startswith("this very call was executed at ")
        assert first["result"]["_meta"][DECISION] in item.description
        answered(tmp_path, {item.id: True})
        third = await wire.call("transfer", RENT)
        assert len(await ledger(wire)) == 2
    for response in (again, asked):
        assert "Nothing was called" in said(response)
    assert third["result"]["structuredContent"]["amount"] == 500_000
