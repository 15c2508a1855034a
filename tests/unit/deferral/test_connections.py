"""How a worker reaches tools: functions, and MCP servers of a file."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from preflight.deferral.connections import Callables, ServerFile, ToolRemoved
from preflight.errors import InvalidInput
from preflight.results import ToolCall

BANK = Path(__file__).resolve().parents[3] / "examples" / "bank" / "server.py"


def test_functions_are_called_with_the_call() -> None:
    tools = {("bank", "pay"): ({"name": "pay"}, lambda call: call.arguments)}
    connections = Callables(tools)
    assert connections.tool("bank", "pay") == {"name": "pay"}
    assert connections.call(ToolCall("bank", "pay", {"a": 1}, "d", {})) == {"a": 1}
    tools.clear()
    with pytest.raises(ToolRemoved, match="server `bank` lists no tool `pay`"):
        connections.tool("bank", "pay")


@pytest.fixture
def declared(tmp_path: Path) -> Path:
    path = tmp_path / "servers.json"
    args = [str(BANK), "--db", str(tmp_path / "bank.db")]
    path.write_text(json.dumps({"mcpServers": {"bank": {"command": sys.executable, "args": args}}}), encoding="utf-8")
    return path


def test_a_declared_server_is_started_listed_and_called(declared: Path) -> None:
    with ServerFile(declared) as servers:
        assert servers.tool("bank", "transfer")["name"] == "transfer"
        running = servers._running["bank"]
        read = servers.read("bank", "balance_get", {"account": "1102534471"})
        assert isinstance(read, dict)
        assert read["structuredContent"]["balance"] == 2_400_000
        called = servers.call(ToolCall("bank", "balance_get", {"account": "1102534471"}, "d", {}))
        assert called == read
        assert servers._running["bank"] is running
        with pytest.raises(ToolRemoved):
            servers.tool("bank", "gone")
    assert servers._running == {}


def test_a_server_that_fails_is_started_again(declared: Path) -> None:
    with ServerFile(declared) as servers:
        servers.tool("bank", "transfer")
        with pytest.raises(ZeroDivisionError):
            servers._using("bank", lambda running: 1 / 0)
        assert servers._running == {}
        assert servers.tool("bank", "transfer")["name"] == "transfer"


def test_only_declared_servers_are_reached(declared: Path) -> None:
    with ServerFile(declared) as servers, pytest.raises(InvalidInput, match="no connection is declared for `shop`"):
        servers.tool("shop", "order")


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"mcpServers": {"bank": {}}}', '{"mcpServers": {"a": {"command": 5}}}']
)
def test_a_file_that_declares_no_servers_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "servers.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match="declares no servers"):
        ServerFile(path)


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be read"):
        ServerFile(tmp_path / "none.json")
