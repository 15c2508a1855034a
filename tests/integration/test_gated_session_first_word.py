"""A program's own session: that a call did not begin is believed of the server's first word on it alone."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client, MCPError, StdioServerParameters

from preflight import AsyncPreflight, ToolRules, create_async_preflight
from preflight.errors import ProviderError
from preflight.mcp.session import GatedSession, Stopped
from preflight.mcp.stdio import StdioServer
from preflight.model.instruction import Segment
from preflight.results import ToolCall
from tests.integration.test_gated_session import SECONDS, states
from tests.integration.test_proxy_first_word import ASKED, HELLO, REFUSES, acts, server

RULES = {("acted", "write"): ToolRules(effect="reversible", intents=("write",))}

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[AsyncPreflight]:
    with closing(create_async_preflight(storage=tmp_path / "records.db", rules=RULES)) as made:
        yield made


async def agree(_context: Any, _params: Any) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"note": "n"})


async def cannot(_context: Any, _params: Any) -> types.ErrorData:
    return types.ErrorData(code=types.INVALID_PARAMS, message="this form cannot be shown")


async def cannot_list(_context: Any) -> types.ErrorData:
    return types.ErrorData(code=types.METHOD_NOT_FOUND, message="no roots here")


@asynccontextmanager
async def gated(folder: Path, gate: AsyncPreflight, *options: str, **callbacks: Any) -> AsyncIterator[GatedSession]:
    command, *arguments = server(folder, *options)
    client = Client(StdioServerParameters(command=command, args=arguments), **callbacks)
    words = [Segment('write "hello" now', "user")]
    with anyio.fail_after(SECONDS):
        async with GatedSession(client, gate, user_id="minji", server="acted", words=words) as session:
            yield session


async def is_not_sent_again(folder: Path, gate: AsyncPreflight, session: GatedSession) -> None:
    assert states(gate)[-1] == "in_doubt"
    for _ in range(2):
        with pytest.raises(Stopped, match="was started before"):
            await session.call_tool("write", HELLO)
    assert acts(folder) == 1


@pytest.mark.parametrize("asked", ASKED[:3])
async def test_an_error_of_the_program_says_nothing_of_the_server(
    tmp_path: Path, gate: AsyncPreflight, asked: str
) -> None:
    callbacks: dict[str, Any] = {
        "elicitation_callback": cannot, "sampling_callback": cannot, "list_roots_callback": cannot_list,
    }  # fmt: skip
    async with gated(tmp_path, gate, "--modern", "--asks", asked, **callbacks) as session:
        with pytest.raises(MCPError):
            await session.call_tool("write", HELLO)
        await is_not_sent_again(tmp_path, gate, session)


@pytest.mark.parametrize("era", [(), ("--modern",)])
async def test_who_asked_has_begun_whatever_it_answers_then(
    tmp_path: Path, gate: AsyncPreflight, era: tuple[str, ...]
) -> None:
    options = (*era, "--asks", ASKED[0], "--ends", REFUSES)
    async with gated(tmp_path, gate, *options, elicitation_callback=agree) as session:
        with pytest.raises(MCPError, match="your answer has a wrong field"):
            await session.call_tool("write", HELLO)
        await is_not_sent_again(tmp_path, gate, session)


async def test_who_told_something_has_begun_whatever_it_answers_then(tmp_path: Path, gate: AsyncPreflight) -> None:
    async with gated(tmp_path, gate, "--tells", "notifications/message", "--ends", REFUSES) as session:
        with pytest.raises(MCPError, match="your answer has a wrong field"):
            await session.call_tool("write", HELLO)
        await is_not_sent_again(tmp_path, gate, session)


@pytest.mark.parametrize("code", [-32601, -32602, -32042])
async def test_the_first_word_of_a_server_that_did_not_begin_is_believed(
    tmp_path: Path, gate: AsyncPreflight, code: int
) -> None:
    ends = json.dumps({"error": {"code": code, "message": "not now"}})
    async with gated(tmp_path, gate, "--first", "--ends", ends) as session:
        with pytest.raises(MCPError, match="not now"):
            await session.call_tool("write", HELLO)
        assert states(gate)[-1] == "failed"
        assert not (await session.call_tool("write", HELLO)).is_error
    assert states(gate)[-1] == "executed"


@pytest.mark.parametrize("asks", [(), ("--asks", "roots/list"), ("--tells", "notifications/message")])
def test_a_server_that_asked_or_told_did_not_refuse(tmp_path: Path, asks: tuple[str, ...]) -> None:
    # what the command line and the worker call with
    call = ToolCall("acted", "write", dict(HELLO), "d", {})
    kind = MCPError if asks else ProviderError
    with (
        StdioServer(server(tmp_path, *asks, "--ends", REFUSES), seconds=20) as started,
        pytest.raises(kind, match="your answer has a wrong field"),
    ):
        started.call(call)
