"""Behind a proxy that nobody attends: what has to be asked is kept for a person, and the call finds it again."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from msgspec.structs import replace

from preflight import create_preflight
from preflight.clock import iso
from preflight.model.question import Question
from preflight.render.public import public_question
from preflight.storage import open_storage
from tests.integration.browser import LINK, Browser
from tests.integration.test_proxy_asks import DECISION, QUESTION, RENT, WORDS, ledger, records
from tests.integration.test_proxy_page import code
from tests.integration.test_proxy_words import SESSION, say
from tests.integration.wire import BANK_RULES, Message, Wire, bank, connected, everything, logged, nothing, proxy, said

HERE = Path(__file__).resolve().parent / "upstreams"
ABLE: Message = {"elicitation": {"form": {}, "url": {}}}
ALONE = "--unattended"

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def at_bank(
    folder: Path, *options: str, rules: Path = BANK_RULES, era: str = "handshake", words: bool = False
) -> AsyncIterator[Wire]:
    """A client that could ask in both ways, and fails the test where it is asked."""
    command = proxy(folder / "records.db", rules, bank(folder), ALONE, *options, name="bank")
    told = {"PREFLIGHT_WORDS": str(folder / "words.db"), "CLAUDE_CODE_SESSION_ID": SESSION}
    environment = told if words else {"CLAUDE_CODE_SESSION_ID": f"another each time: {anyio.current_time()}"}
    async with connected(command, era=era, able=ABLE, answer=nothing, environment=environment) as wire:
        yield wire


def pending(folder: Path) -> list[Question]:
    gate = create_preflight(storage=folder / "records.db")
    try:
        return gate.pending()
    finally:
        gate.close()


def answer(folder: Path, values: Mapping[str, object] | None = None, rules: Path = BANK_RULES) -> None:
    """Answer the only open question; without values, confirm what it lists."""
    gate = create_preflight(storage=folder / "records.db", rules=rules)
    try:
        (question,) = gate.pending()
        given = values or {item.id: True for item in question.items}
        gate.answer(question.question_id, given, person="joonho", channel="terminal")
    finally:
        gate.close()


def laxer(folder: Path, line: str) -> Path:
    """The rules of the bank with one line more at the transfer."""
    text = (BANK_RULES / "bank.yaml").read_text(encoding="utf-8")
    changed = text.replace("        effect: irreversible\n", f"        effect: irreversible\n        {line}\n")
    assert changed != text
    path = folder / "bank.yaml"
    path.write_text(changed, encoding="utf-8")
    return path


def transfers(folder: Path) -> list[str]:
    return [r.execution_decision for r in records(folder) if r.tool and r.tool.name == "transfer"]


@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_a_question_is_kept_at_once_and_nobody_is_waited_for(tmp_path: Path, era: str) -> None:
    async with at_bank(tmp_path, "--hold", "30", era=era) as wire:
        began = anyio.current_time()
        response = await wire.call("transfer", RENT)
        took = anyio.current_time() - began
        again = await wire.call("transfer", RENT)
        assert await ledger(wire) == []
    text, result = said(response), response["result"]
    assert took < 20
    assert result["isError"] is True
    assert wire.asked == []  # neither a form nor a link, though the client can both
    (question,) = pending(tmp_path)
    assert result["_meta"][QUESTION] == again["result"]["_meta"][QUESTION] == question.question_id
    command = f"preflight --rules {BANK_RULES} answer {question.question_id} --db {tmp_path / 'records.db'}"
    assert f"at a terminal: {command}\n" in text
    assert "http://" not in text  # the page goes with this process, and its port with it
    assert not any(str(value) in text for value in RENT.values())
    assert [record.unattended for record in records(tmp_path)] == [True] * len(records(tmp_path))


async def test_the_call_finds_its_answers_again_after_each_restart_and_runs_once(tmp_path: Path) -> None:
    async with at_bank(tmp_path) as wire:
        await wire.call("transfer", RENT)
    answer(tmp_path, {"restatement": WORDS})
    # the call could run now, and cannot be undone: a person confirms exactly it
    async with at_bank(tmp_path) as wire:
        response = await wire.call("transfer", RENT)
        assert await ledger(wire) == []
    (question,) = pending(tmp_path)
    assert question.items[0].shown == RENT
    assert not any(str(value) in said(response) for value in RENT.values())
    answer(tmp_path)
    async with at_bank(tmp_path) as wire:
        ran = await wire.call("transfer", RENT)
        entries = await ledger(wire)
        once_more = await wire.call("transfer", RENT)
        assert len(await ledger(wire)) == 1
    assert ran["result"]["structuredContent"]["amount"] == 500_000
    assert len(entries) == 1
    assert once_more["result"]["isError"] is True  # a new run, which is asked about anew
    record = next(r for r in records(tmp_path) if r.decision_id == ran["result"]["_meta"][DECISION])
    assert record.unattended
    assert record.conditions[-1].status == "met"


async def test_one_line_in_the_rules_lets_it_run(tmp_path: Path) -> None:
    say(tmp_path, WORDS)
    rules = laxer(tmp_path, "unattended: run")
    async with at_bank(tmp_path, rules=rules, words=True) as wire:
        response = await wire.call("transfer", RENT)
        unknown = await wire.call("transfer", {**RENT, "to_account": "9988776655"})
        assert len(await ledger(wire)) == 1
    assert response["result"]["structuredContent"]["amount"] == 500_000
    assert "`to_account`" in said(unknown)
    assert "9988776655" not in said(unknown)


async def test_what_never_runs_unattended_is_held_and_runs_where_somebody_is(tmp_path: Path) -> None:
    say(tmp_path, WORDS)
    rules = laxer(tmp_path, "unattended: hold")
    async with at_bank(tmp_path, "--session", "s", rules=rules, words=True) as wire:
        response = await wire.call("transfer", RENT)
        assert "Held, nothing was called" in said(response)
        assert await ledger(wire) == []
    assert pending(tmp_path) == []
    told = {"PREFLIGHT_WORDS": str(tmp_path / "words.db"), "CLAUDE_CODE_SESSION_ID": SESSION}
    attended = proxy(tmp_path / "records.db", rules, bank(tmp_path), "--session", "s", name="bank")
    async with connected(attended, environment=told) as wire:
        ran = await wire.call("transfer", RENT)
    assert ran["result"]["structuredContent"]["amount"] == 500_000
    assert transfers(tmp_path) == ["hold", "execute", "executing", "executed"]


async def test_another_session_is_another_run(tmp_path: Path) -> None:
    for night in ("monday", "tuesday"):
        async with at_bank(tmp_path, "--session", night) as wire:
            await wire.call("transfer", RENT)
    assert [question.scope.conversation for question in pending(tmp_path)] == ["monday", "tuesday"]


async def test_what_can_be_undone_runs_as_soon_as_everything_is_known(tmp_path: Path) -> None:
    command = proxy(tmp_path / "records.db", HERE / "everything.yaml", everything(tmp_path / "log"), ALONE)
    async with connected(command, able=ABLE) as wire:
        asked = await wire.call("write", {"line": "hello"})
        assert "Nobody attends this run" in said(asked)
        answer(tmp_path, {"restatement": 'write "hello" now'}, HERE / "everything.yaml")
        ran = await wire.call("write", {"line": "hello"})
    assert said(ran) == '{"line": "hello"}'
    assert len([entry for entry in logged(tmp_path / "log") if entry[0] == "write"]) == 1


async def test_what_a_client_brings_as_an_answer_is_not_taken(tmp_path: Path) -> None:
    # nobody is there to have given it
    command = proxy(tmp_path / "records.db", HERE / "everything.yaml", everything(tmp_path / "log"), ALONE)
    call: Message = {"name": "write", "arguments": {"line": "hello"}}
    async with connected(command, era="modern", able=ABLE) as wire:
        await wire.request("tools/call", call)
        content = {"restatement": 'write "hello" now'}
        brought = {"inputResponses": {"preflight": {"action": "accept", "content": content}}}
        response = await wire.request("tools/call", {**call, **brought})
    assert "Nobody attends this run" in said(response)
    assert not [entry for entry in logged(tmp_path / "log") if entry[0] == "write"]


@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_a_server_s_own_question_is_put_to_nobody(tmp_path: Path, era: str) -> None:
    command = proxy(tmp_path / "records.db", HERE / "everything.yaml", everything(tmp_path / "log"), ALONE)

    def sampled(method: str, _params: Message) -> Message:
        assert method == "sampling/createMessage"
        return {"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"}

    async with connected(command, era=era, able={**ABLE, "sampling": {}}, answer=sampled) as wire:
        assert said(await wire.call("ask")) == '{"action": "cancel"}'
        assert wire.asked == []
        assert "assistant" in said(await wire.call("sample"))  # that asks no person


async def test_a_modern_server_s_question_stops_its_call(tmp_path: Path) -> None:
    upstream = [sys.executable, str(HERE / "modern.py")]
    command = proxy(tmp_path / "records.db", HERE / "modern.yaml", upstream, ALONE, name="modern")
    async with connected(command, era="modern", able=ABLE, answer=nothing) as wire:
        response = await wire.call("guarded")
        looked = await wire.call("look", {"line": "a"})
    assert "asks a person, and nobody attends this run" in said(response)
    assert said(looked) == '{"line": "a"}'


async def test_a_question_that_is_kept_shows_no_candidate(tmp_path: Path) -> None:
    # not even where the request is kept with it
    say(tmp_path, WORDS)
    async with at_bank(tmp_path, words=True) as wire:
        await wire.call("transfer", {**RENT, "to_account": "9988776655"})
    (question,) = pending(tmp_path)
    shown: dict[str, Any] = public_question(question)
    assert "9988776655" not in str(shown)


def free_port() -> int:
    """Return a port that nobody listens on now."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def attach_another(folder: Path) -> None:
    """Have another run ask the same as the only open question."""
    storage: Any = open_storage(folder / "records.db")
    try:
        (question,) = storage.open_questions(None, iso(time.time()))
        folds = [fold for (fold,) in storage._read("SELECT fold FROM attachment", {})]
        other = replace(question, question_id="other", call_id="other", decision_id="other")
        assert storage.ask_once(other, folds, question.created_at) == question
    finally:
        storage.close()


async def test_the_page_says_for_how_many_runs_it_is_answered(tmp_path: Path) -> None:
    server, page = everything(tmp_path / "log"), ("--page", str(free_port()))
    command = proxy(tmp_path / "records.db", HERE / "everything.yaml", server, ALONE, *page)
    async with connected(command, able=ABLE, answer=nothing) as wire:
        found = LINK.search(said(await wire.call("write", {"line": "hello"})))
        assert found is not None
        attach_another(tmp_path)
        browser = Browser()
        await anyio.to_thread.run_sync(browser.get, found[0])
        await anyio.to_thread.run_sync(browser.post, {"code": code(tmp_path)})
        assert "the answer goes to 2 runs that ask the same" in browser.html
        await anyio.to_thread.run_sync(browser.post, {"said": 'write "hello" now'})
        assert said(await wire.call("write", {"line": "hello"})) == '{"line": "hello"}'
