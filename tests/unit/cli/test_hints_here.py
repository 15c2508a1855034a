"""What a proxy tells people to type works where they are: whole paths, and only connections that commands can use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from preflight.cli.opening import hints_as_given, hints_here
from preflight.cli.proxying import _connections
from preflight.render.hints import Hints


def test_paths_are_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PREFLIGHT_RULES", "rules/bank")
    assert hints_here("records.db", "mcp.json") == Hints(
        str(tmp_path / "rules/bank"), str(tmp_path / "records.db"), str(tmp_path / "mcp.json")
    )
    assert hints_as_given("records.db", "mcp.json") == Hints("rules/bank", "records.db", "mcp.json")


def test_what_is_no_file_and_what_nobody_named_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PREFLIGHT_RULES", raising=False)
    assert hints_here("postgresql://127.0.0.1/records") == Hints(None, "postgresql://127.0.0.1/records", None)
    assert hints_here(None) == Hints()


def test_a_file_of_servers_is_named_only_where_commands_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"a": {"command": "x", "args": ["y"]}}}), encoding="utf-8")
    assert _connections(path) == str(path)
    path.write_text(json.dumps({"mcpServers": {"a": {"url": "http://127.0.0.1:9/mcp"}}}), encoding="utf-8")
    assert _connections(path) is None
    assert _connections(None) is None
