"""`GatedSession` in front of the example bank: a real server, a real process, both protocol eras."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, Literal

import anyio
import mcp_types as types
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.server import Server

from preflight import AsyncPreflight, Preflight, Scope, ToolRules, create_async_preflight, create_preflight
from preflight.errors import CallerError, InvalidInput
from preflight.hosts.store import Announced, Said, Session, Store, digest_of
from preflight.hosts.words import StoredWords
from preflight.mcp.session import GatedSession, NotCalled, Pending, Stopped
from preflight.mcp.session_sync import SyncGatedSession
from preflight.model.instruction import Segment
from preflight.model.question import Question
from tests.integration.test_proxy_wire import web

SERVER = Path(__file__).resolve().parents[2] / "examples" / "bank" / "server.py"
PAYER, PAYEE, OTHER = "1102534471", "3520198845", "1102534488"
RENT: dict[str, Any] = {"from_account": PAYER, "to_account": PAYEE, "amount": 500_000}
COMPLETE = f"send 500,000 won from {PAYER} to {PAYEE}"
RULES = {
    ("bank", "transfer"): ToolRules(effect="irreversible", intents=("send",)),
    ("bank", "balance_get"): ToolRules(effect="read"),
    ("bank", "ledger_list"): ToolRules(effect="read"),
    ("bank", "accounts_list"): ToolRules(effect="read", forbidden=True),
    ("bank", "invoices_archive"): ToolRules(effect="reversible", intents=("archive",)),
}
SECONDS = 30  # a bound against hanging

pytestmark = pytest.mark.anyio


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[AsyncPreflight]:
    with closing(create_async_preflight(storage=tmp_path / "records.db", rules=RULES)) as made:
        yield made


def process(tmp_path: Path) -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=[str(SERVER), "--db", str(tmp_path / "bank.db")])


@asynccontextmanager
async def bank(
    tmp_path: Path,
    gate: AsyncPreflight | Preflight,
    text: str = COMPLETE,
    *,
    era: Literal["auto", "legacy"] = "auto",
    **options: Any,
) -> AsyncIterator[GatedSession]:
    options = {"user_id": "minji", "server": "bank", "words": [Segment(text, "user")], **options}
    with anyio.fail_after(SECONDS):
        async with GatedSession(Client(process(tmp_path), mode=era), gate, **options) as gated:
            yield gated


async def ledger(gated: GatedSession) -> list[dict[str, Any]]:
    result = await gated.call_tool("ledger_list")
    assert isinstance(result.structured_content, dict)
    entries: list[dict[str, Any]] = result.structured_content["entries"]
    return entries


def states(gate: AsyncPreflight | Preflight) -> list[str]:
    return [stored.record.execution_decision for stored in gate.storage.scan()]


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_grounded_call_runs_once_with_its_decision_as_key(
    tmp_path: Path, gate: AsyncPreflight, era: Literal["auto", "legacy"]
) -> None:
    async with bank(tmp_path, gate, era=era) as gated:
        result = await gated.call_tool("transfer", RENT)
        entries = await ledger(gated)
    assert isinstance(result.structured_content, dict)
    assert result.structured_content["amount"] == 500_000
    assert len(entries) == 1
    assert result.meta is not None
    decision = result.meta["preflight/decision"]
    assert [step.record.execution_decision for step in gate.storage.steps(decision)] == [
        "execute",
        "executing",
        "executed",
    ]


async def test_what_is_missing_is_a_pending_question_and_the_call_joins_its_answer(
    tmp_path: Path, gate: AsyncPreflight
) -> None:
    async with bank(tmp_path, gate, f"send 500,000 won from {PAYER}") as gated:
        with pytest.raises(Pending) as first:
            await gated.call_tool("transfer", RENT)
        with pytest.raises(Pending) as again:
            await gated.call_tool("transfer", RENT)
        assert again.value.question.question_id == first.value.question.question_id
        assert [slot.name for slot in first.value.question.slots] == ["to_account"]
        assert PAYEE not in repr(first.value.question)  # the model's value is no part of the question
        assert await ledger(gated) == []
        await gate.answer(first.value.question.question_id, {"to_account": OTHER}, person="minji", channel="terminal")
        result = await gated.call_tool("transfer", RENT)
        entries = await ledger(gated)
    assert [entry["to_account"] for entry in entries] == [OTHER]
    assert result.meta is not None
    assert result.meta["preflight/changed"] == {"to_account": OTHER}


async def test_a_callback_asks_again_after_an_answer_that_does_not_fit(tmp_path: Path, gate: AsyncPreflight) -> None:
    heard: list[str] = []

    async def ask(question: Question, why: str) -> Mapping[str, object]:
        heard.append(why)
        return {"to_account": PAYEE} if why else {"to_account": 7}

    async with bank(tmp_path, gate, f"send 500,000 won from {PAYER}", ask=ask) as gated:
        await gated.call_tool("transfer", RENT)
        entries = await ledger(gated)
    assert len(entries) == 1
    assert heard[0] == ""
    assert "to_account" in heard[1]
    (question,) = [q for q in [gate.storage.question(r.record.question_id or "") for r in gate.storage.scan()] if q]
    answer = gate.storage.answer_to(question.question_id)
    assert answer is not None
    assert (answer.person, answer.channel) == ("minji", "callback")


@pytest.mark.parametrize("said", [None, {"to_account": "not an account"}])
async def test_no_answer_leaves_the_question_open(
    tmp_path: Path, gate: AsyncPreflight, said: Mapping[str, object] | None
) -> None:
    asked: list[str] = []

    def ask(question: Question, why: str) -> Mapping[str, object] | None:
        asked.append(why)
        return said

    async with bank(tmp_path, gate, f"send 500,000 won from {PAYER}", ask=ask) as gated:
        with pytest.raises(Pending):
            await gated.call_tool("transfer", RENT)
        assert await ledger(gated) == []
    assert len(asked) == (1 if said is None else 3)
    (question,) = gate.pending()
    noted = gate.storage.no_answers(question.question_id)
    assert [(note.how, note.channel) for note in noted] == ([("decline", "callback")] if said is None else [])


def parked(gate: AsyncPreflight | Preflight) -> dict[str, object]:
    (question,) = gate.pending()
    return {"question_id": question.question_id, "values": {item.id: True for item in question.items}}


async def test_where_nobody_attends_nobody_is_asked_and_the_rules_say_what_runs(
    tmp_path: Path, gate: AsyncPreflight
) -> None:
    def ask(question: Question, why: str) -> Mapping[str, object]:
        raise AssertionError(question, why)

    async with bank(tmp_path, gate, ask=ask, unattended=True) as gated:
        with pytest.raises(Pending) as pending:
            await gated.call_tool("transfer", RENT)
        assert pending.value.question.items[0].shown == RENT
        assert await ledger(gated) == []
        read = await gated.call_tool("balance_get", {"account": PAYER})
        assert not read.is_error
    await gate.answer(**parked(gate), person="minji")  # type: ignore[arg-type]
    async with bank(tmp_path, gate, ask=ask, unattended=True) as gated:  # another session, the same call
        await gated.call_tool("transfer", RENT)
        assert len(await ledger(gated)) == 1
    assert all(stored.record.unattended for stored in gate.storage.scan())


async def test_where_the_rules_want_more_than_a_program_the_callback_is_not_asked(tmp_path: Path) -> None:
    rules = {("bank", "transfer"): ToolRules(intents=("send",), ask_by="page")}
    gate = create_preflight(storage=tmp_path / "records.db", rules=rules)

    def ask(question: Question, why: str) -> dict[str, object]:
        raise AssertionError(question, why)

    async with bank(tmp_path, gate, "send money", ask=ask) as gated:
        with pytest.raises(Pending) as pending:
            await gated.call_tool("transfer", RENT)
        answers = {"from_account": PAYER, "to_account": PAYEE, "amount": 500_000}
        gate.answer(pending.value.question.question_id, answers, person="minji", channel="page")
        assert (await gated.call_tool("transfer", RENT)).is_error is False
    gate.close()


async def test_the_same_words_do_not_lead_to_the_same_call_twice(tmp_path: Path, gate: AsyncPreflight) -> None:
    words = [Segment(COMPLETE, "user", request=1)]
    async with bank(tmp_path, gate, words=words) as gated:
        await gated.call_tool("transfer", RENT)
        with pytest.raises(Stopped) as stopped:
            await gated.call_tool("transfer", RENT)
        assert stopped.value.code == "repeated"
        assert len(await ledger(gated)) == 1
        words.append(Segment(COMPLETE, "user", request=2))
        await gated.call_tool("transfer", RENT)
        await gated.call_tool("transfer", RENT, repeat=True)
        assert len(await ledger(gated)) == 3


async def test_another_session_and_another_process_know_what_the_words_led_to(tmp_path: Path) -> None:
    words = [Segment(COMPLETE, "user", request=1)]
    for number in range(3):
        # a gate of its own each time, as after a restart; the session object is another one each time, too
        with closing(create_async_preflight(storage=tmp_path / "records.db", rules=RULES)) as made:
            async with bank(tmp_path, made, words=words) as gated, bank(tmp_path, made, words=words) as other:
                if number == 0:
                    await gated.call_tool("transfer", RENT)
                for each in (gated, other):
                    for way in (RENT, {**RENT, "amount": 500_000.0}, {**RENT, "zz": True}):
                        with pytest.raises(Stopped) as stopped:
                            await each.call_tool("transfer", way)
                        assert stopped.value.code == "repeated"
                assert len(await ledger(gated)) == 1
            assert made.pending() == []  # nobody is asked about what was done
    words.append(Segment("thank you", "untrusted"))
    with closing(create_async_preflight(storage=tmp_path / "records.db", rules=RULES)) as made:
        async with bank(tmp_path, made, words=words) as gated:
            with pytest.raises(Stopped):
                await gated.call_tool("transfer", RENT)


async def test_the_same_call_at_the_same_time_runs_once(tmp_path: Path, gate: AsyncPreflight) -> None:
    codes: list[str] = []

    async def send(gated: GatedSession) -> None:
        try:
            await gated.call_tool("transfer", RENT)
        except Stopped as stopped:
            codes.append(stopped.code)
        else:
            codes.append("ran")

    async with bank(tmp_path, gate) as gated:
        async with anyio.create_task_group() as group:
            for _ in range(4):
                group.start_soon(send, gated)
        entries = await ledger(gated)
    assert len(entries) == 1
    assert sorted(codes) == ["ran", "repeated", "repeated", "repeated"]


async def test_calls_of_one_kind_at_the_same_time_take_turns(tmp_path: Path, gate: AsyncPreflight) -> None:
    balances: dict[str, object] = {}
    running: list[int] = [0, 0]

    async def read(gated: GatedSession, account: str) -> None:
        result = await gated.call_tool("balance_get", {"account": account})
        assert isinstance(result.structured_content, dict)
        balances[account] = result.structured_content["balance"]

    async with bank(tmp_path, gate, "hello") as gated:
        real = gated._inner.send_request

        async def counted(request: Any, *rest: Any, **named: Any) -> Any:
            calls = request.method == "tools/call"
            running[0] += calls
            running[1] = max(running)
            try:
                return await real(request, *rest, **named)
            finally:
                running[0] -= calls

        gated._inner.send_request = counted  # type: ignore[method-assign]
        async with anyio.create_task_group() as group:
            for account in (PAYER, PAYEE, OTHER):
                group.start_soon(read, gated, account)
    assert len(balances) == 3
    assert running == [0, 1]


async def test_reads_pass_however_often(tmp_path: Path, gate: AsyncPreflight) -> None:
    async with bank(tmp_path, gate, "hello") as gated:
        balances = [await gated.call_tool("balance_get", {"account": PAYER}) for _ in range(2)]
    assert [each.structured_content for each in balances] == [balances[0].structured_content] * 2
    assert isinstance(balances[0].structured_content, dict)
    assert balances[0].structured_content["balance"] == 2_400_000


async def test_untrusted_words_ground_nothing(tmp_path: Path, gate: AsyncPreflight) -> None:
    async with bank(tmp_path, gate, words=[Segment(COMPLETE, "untrusted", "mail")]) as gated:
        with pytest.raises(Pending) as pending:
            await gated.call_tool("transfer", RENT)
    assert pending.value.question.kind == "restatement"


async def test_a_refusal_of_the_server_is_returned_and_recorded(tmp_path: Path, gate: AsyncPreflight) -> None:
    text = f"send 9,000,000 won from {PAYER} to {PAYEE}"
    async with bank(tmp_path, gate, text) as gated:
        result = await gated.call_tool("transfer", {**RENT, "amount": 9_000_000})
    assert result.is_error
    assert states(gate)[-1] == "failed"


SHIFTY = Path(__file__).resolve().parent / "upstreams" / "shifty.py"
LOOK = {"name": "look", "description": "Looks.", "inputSchema": {"type": "object"}}


@asynccontextmanager
async def shifty(folder: Path, gate: AsyncPreflight, *options: str, tools: list[Any]) -> AsyncIterator[GatedSession]:
    (folder / "tools.json").write_text(json.dumps(tools), encoding="utf-8")
    arguments = [str(SHIFTY), str(folder / "tools.json"), *options]
    server = Client(StdioServerParameters(command=sys.executable, args=arguments))
    with anyio.fail_after(SECONDS):
        async with GatedSession(server, gate, user_id="minji", server="shifty", words=[]) as gated:
            yield gated


@pytest.mark.parametrize("page", ["0", "1"])
async def test_a_tool_of_which_there_are_two_is_never_called(tmp_path: Path, page: str) -> None:
    #
    rules = {("shifty", "look"): ToolRules(effect="read")}
    with closing(create_async_preflight(storage=tmp_path / "records.db", rules=rules)) as gate:
        async with shifty(tmp_path, gate, "--page", page, tools=[LOOK, {**LOOK, "description": "No."}]) as gated:
            with pytest.raises(Stopped, match="the server lists `look` more than once") as stopped:
                await gated.call_tool("look")
        assert stopped.value.code == "tool_ambiguous"
        async with shifty(tmp_path, gate, "--page", page, tools=[LOOK, LOOK]) as gated:
            assert not (await gated.call_tool("look")).is_error


@pytest.mark.parametrize(("how", "pages"), [("endless", 1_000), ("loop", 1)])
async def test_a_list_without_an_end_calls_nothing(tmp_path: Path, gate: AsyncPreflight, how: str, pages: int) -> None:
    async with shifty(tmp_path, gate, "--how", how, tools=[LOOK]) as gated:
        with pytest.raises(Stopped, match=f"does not end after {pages} pages") as stopped:
            await gated.call_tool("look")
    assert stopped.value.code == "list_endless"


async def test_an_unknown_tool_is_never_called(tmp_path: Path, gate: AsyncPreflight) -> None:
    async with bank(tmp_path, gate) as gated:
        with pytest.raises(Stopped) as stopped:
            await gated.call_tool("transfers", RENT)
    assert stopped.value.code == "unknown_tool"
    assert "executing" not in states(gate)


@pytest.mark.parametrize("arguments", [{"amount": float("nan")}, {"amount": {1, 2}}, {"to_account": "\ud800"}])
async def test_arguments_that_are_no_json_are_held(
    tmp_path: Path, gate: AsyncPreflight, arguments: dict[str, Any]
) -> None:
    async with bank(tmp_path, gate) as gated:
        with pytest.raises(Stopped):
            await gated.call_tool("transfer", {**RENT, **arguments})
        assert await ledger(gated) == []


async def test_everything_else_of_the_session_passes(tmp_path: Path, gate: AsyncPreflight) -> None:
    async with bank(tmp_path, gate) as gated:
        tools = {tool.name for tool in (await gated.list_tools()).tools}
        inner = {tool.name for tool in (await gated.session.list_tools()).tools}
        version = gated.protocol_version
        with pytest.raises(MCPError):
            await gated.list_prompts()
    assert tools == inner >= {"transfer", "balance_get"}
    assert version
    with pytest.raises(AttributeError):
        gated.no_such_thing  # noqa: B018


async def test_forbidden_tools_are_left_out_where_that_is_wanted_and_held_in_any_case(
    tmp_path: Path, gate: AsyncPreflight
) -> None:
    async with bank(tmp_path, gate) as gated, bank(tmp_path, gate, hide_forbidden=True) as hiding:
        every = [tool.name for tool in (await gated.list_tools()).tools]
        shown = [tool.name for tool in (await hiding.list_tools()).tools]
        with pytest.raises(Stopped) as stopped:
            await hiding.call_tool("accounts_list", {"owner": "Kim Minji"})
    assert "accounts_list" in every
    assert shown == [name for name in every if name != "accounts_list"]
    assert stopped.value.code == "tool_forbidden"


async def test_no_way_around_the_gate_is_left_open_by_name(tmp_path: Path, gate: AsyncPreflight) -> None:
    call = types.CallToolRequest(params=types.CallToolRequestParams(name="transfer", arguments=RENT))
    async with bank(tmp_path, gate, "hello") as gated:
        with pytest.raises(CallerError, match="call_tool"):
            await gated.session.send_request(call, types.CallToolResult)
        listed = await gated.send_request(types.ListToolsRequest(), types.ListToolsResult)
        assert listed.tools
        assert await ledger(gated) == []


async def test_a_bare_session_and_a_synchronous_gate_do_as_well(tmp_path: Path) -> None:
    with closing(create_preflight(storage=tmp_path / "records.db", rules=RULES)) as gate:
        async with Client(process(tmp_path)) as client:
            gated = GatedSession(
                client.session, gate, user_id="minji", server="bank", words=lambda: [Segment(COMPLETE, "user")]
            )
            result = await gated.call_tool("transfer", RENT, meta={"trace": "7"}, read_timeout_seconds=20)
        assert not result.is_error
        assert states(gate)[-1] == "executed"


async def test_scopes_stay_apart(tmp_path: Path, gate: AsyncPreflight) -> None:
    text = f"send 500,000 won from {PAYER}"
    async with (
        bank(tmp_path, gate, text, scope=Scope("t", "one")) as one,
        bank(tmp_path, gate, text, scope=Scope("t", "two")) as two,
    ):
        questions = []
        for gated in (one, two):
            with pytest.raises(Pending) as pending:
                await gated.call_tool("transfer", RENT)
            questions.append(pending.value.question)
    assert [question.scope.conversation for question in questions] == ["one", "two"]
    assert len({question.question_id for question in questions}) == 2


async def test_what_a_host_s_hooks_stored_are_the_user_s_words(tmp_path: Path, gate: AsyncPreflight) -> None:
    path = str(tmp_path / "words.db")
    session = Session("claude-code", "s-1")
    with closing(Store(path)) as store:
        store.say(Said(session, COMPLETE, "user", "claude-code"))
        store.announce(Announced(session, "mcp__bank__transfer", digest_of(RENT), "toolu_1"))
    words = StoredWords(path)
    async with bank(tmp_path, gate, words=words, join={"claudecode/toolUseId": "toolu_1"}) as gated:
        await gated.call_tool("transfer", RENT)
    async with bank(
        tmp_path, gate, words=words, join={"claudecode/toolUseId": "toolu_2"}, scope=Scope("", "b")
    ) as gated:
        # joined by the call itself, which one session announced
        await gated.call_tool("transfer", RENT, repeat=True)
        with pytest.raises(Pending):
            await gated.call_tool("transfer", {**RENT, "amount": 1})


async def test_a_cancelled_call_is_in_doubt_and_not_made_again(tmp_path: Path, gate: AsyncPreflight) -> None:
    async with bank(tmp_path, gate) as gated:
        sent = anyio.Event()
        real = gated._inner.send_request

        async def stuck(request: Any, *rest: Any, **named: Any) -> Any:
            if request.method != "tools/call":
                return await real(request, *rest, **named)
            sent.set()
            return await anyio.sleep_forever()

        gated._inner.send_request = stuck  # type: ignore[method-assign]
        async with anyio.create_task_group() as group:
            group.start_soon(gated.call_tool, "transfer", RENT)
            await sent.wait()
            group.cancel_scope.cancel()
        gated._inner.send_request = real  # type: ignore[method-assign]
        assert states(gate)[-1] == "in_doubt"
        with pytest.raises(Stopped) as stopped:
            await gated.call_tool("transfer", RENT)
        assert stopped.value.code == "already_started"
        assert await ledger(gated) == []


async def test_a_held_call_says_why(tmp_path: Path) -> None:
    rules = {("bank", "transfer"): ToolRules(effect="irreversible", intents=("send",), pin="0" * 64)}
    with closing(create_async_preflight(storage=":memory:", rules=rules)) as gate:
        async with bank(tmp_path, gate) as gated:
            with pytest.raises(Stopped) as stopped:
                await gated.call_tool("transfer", RENT)
        assert stopped.value.code == "tool_changed"
        assert stopped.value.record is not None
        assert stopped.value.record.execution_decision == "hold"
        assert "executing" not in states(gate)


async def test_a_call_for_later_is_not_made_now(tmp_path: Path, gate: AsyncPreflight) -> None:
    async with bank(tmp_path, gate, "archive the invoices of before 2025-01-01 tomorrow") as gated:
        with pytest.raises(NotCalled):
            await gated.call_tool("invoices_archive", {"before": "2025-01-01"})
    assert "executing" not in states(gate)


async def test_a_server_that_asks_back_is_answered_within_the_one_call(gate: AsyncPreflight) -> None:
    rounds: list[Any] = []

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        schema = {"type": "object", "properties": {"before": {"type": "string"}}, "required": ["before"]}
        return types.ListToolsResult(tools=[types.Tool(name="invoices_archive", input_schema=schema)])

    async def call_tool(context: Any, params: Any) -> types.CallToolResult | types.InputRequiredResult:
        rounds.append((params.arguments, params.request_state, params.meta))
        if params.input_responses is None:
            form = {"type": "object", "properties": {"sure": {"type": "boolean"}}}
            asked = types.ElicitRequest(params=types.ElicitRequestFormParams(message="sure?", requested_schema=form))
            return types.InputRequiredResult(input_requests={"q": asked}, request_state="s-1")
        return types.CallToolResult(content=[types.TextContent(text=str(params.input_responses["q"].content))])

    async def sure(context: Any, params: Any) -> types.ElicitResult:
        return types.ElicitResult(action="accept", content={"sure": True})

    async def no_answer(context: Any, params: Any) -> types.ErrorData:
        return types.ErrorData(code=-32603, message="nobody is there")

    server = Server("bank", on_list_tools=list_tools, on_call_tool=call_tool)
    before = {"before": "2025-01-01"}
    options: dict[str, Any] = {"user_id": "minji", "server": "bank"}
    words = [Segment("archive the invoices from before 2025-01-01", "user")]
    async with GatedSession(Client(server, elicitation_callback=sure), gate, words=words, **options) as gated:
        result = await gated.call_tool("invoices_archive", before)
    assert result.content[0].text == "{'sure': True}"  # type: ignore[union-attr]
    assert [(arguments, state) for arguments, state, _ in rounds] == [(before, None), (before, "s-1")]
    assert rounds[0][2]["preflight/decision"] == rounds[1][2]["preflight/decision"]
    assert states(gate) == ["execute", "executing", "executed"]
    other = Scope("", "other")
    async with GatedSession(
        Client(server, elicitation_callback=no_answer), gate, words=words, scope=other, **options
    ) as gated:
        with pytest.raises(MCPError, match="nobody is there"):
            await gated.call_tool("invoices_archive", before)
    assert states(gate)[-1] == "in_doubt"


async def test_a_server_that_dies_during_the_call_leaves_a_doubt(tmp_path: Path, gate: AsyncPreflight) -> None:
    dies = tmp_path / "dies.py"
    dies.write_text(DIES, encoding="utf-8")
    client = Client(StdioServerParameters(command=sys.executable, args=[str(dies)]), mode="legacy")
    words = [Segment("archive the invoices", "user")]
    with anyio.fail_after(SECONDS):
        async with GatedSession(client, gate, user_id="minji", server="bank", words=words) as gated:
            with pytest.raises(MCPError):
                await gated.call_tool("invoices_archive")
            assert states(gate)[-1] == "in_doubt"


DIES = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "tools/call":
        sys.exit(1)
    if "id" not in asked:
        continue
    tools = [{"name": "invoices_archive", "inputSchema": {"type": "object", "properties": {}}}]
    about = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "b", "version": ""}}
    result = {"tools": tools} if asked["method"] == "tools/list" else about
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


def test_a_bare_text_is_no_instruction(gate: AsyncPreflight, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="words"):
        GatedSession(Client(process(tmp_path)), gate, user_id="minji", words="send 500")


def test_without_an_event_loop(tmp_path: Path) -> None:
    words: list[Segment] = []
    with closing(create_preflight(storage=":memory:", rules=RULES)) as gate:
        gated = SyncGatedSession(process(tmp_path), gate, user_id="minji", server="bank", words=words)
        with pytest.raises(CallerError, match="not open"):
            gated.call_tool("balance_get", {"account": PAYER})
        with gated as bank_session:
            assert {tool.name for tool in bank_session.list_tools().tools} >= {"transfer"}
            with pytest.raises(Pending):
                bank_session.call_tool("transfer", RENT)
            words.append(Segment(COMPLETE, "user"))
            assert not bank_session.call_tool("transfer", RENT).is_error
            assert bank_session.protocol_version


@pytest.mark.parametrize("answer", [b"200 application/json\n<html>", b"200 text/html\n<html>", b"202 text/plain\n"])
async def test_an_answer_over_http_that_cannot_be_read_leaves_the_call_in_doubt(tmp_path: Path, answer: bytes) -> None:
    # the package answers for the server, with codes with which servers refuse
    rules = {("raw", "write"): ToolRules(effect="reversible", intents=("write",), changes=("create",))}
    (tmp_path / "answer").write_bytes(answer)
    with web(tmp_path) as url, closing(create_async_preflight(storage=tmp_path / "g.db", rules=rules)) as gate:
        session = Client(streamable_http_client(url), mode="legacy", read_timeout_seconds=SECONDS)
        async with GatedSession(
            session, gate, user_id="u", server="raw", words=(Segment("write it now", "user"),)
        ) as gated:
            with pytest.raises(MCPError):
                await gated.call_tool("write", {})
        assert states(gate)[-1] == "in_doubt"
