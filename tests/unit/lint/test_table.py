from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import pytest

from preflight.lint import listing_of
from preflight.lint.table import main, page
from tests.unit.lint.samples import PLAIN

PAY = {"name": "pay_bill", "description": "Pays. The bill must be approved.", "inputSchema": PLAIN}
LIST = {"name": "list_bills", "description": "Lists <b>bills</b>.", "inputSchema": PLAIN}


def test_the_page_counts_by_server_and_rule() -> None:
    told = page([listing_of([PAY, LIST], "bank"), listing_of([], "no|tools")])
    assert "2 public MCP servers (2 tools)" in told
    assert "| bank | 2 | 0 | 1 | 1 | PF022 1, PF030 1 |" in told
    assert "| no\\|tools | 0 | 0 | 0 | 0 |  |" in told
    assert "| **together** | 2 | 0 | 1 | 1 | |" in told
    assert "| PF030 condition-in-prose | a condition stands only in prose | 1 | 1 | 1 |" in told
    assert "| PF022 hints-missing | tools without `readOnlyHint` | 1 | 0 | 1 |" in told


def test_the_page_quotes_no_description() -> None:
    told = page([listing_of([PAY], "bank")])
    assert "- `bank/pay_bill`, warning: a condition stands only in prose (at `/description`)" in told
    assert "approved" not in told


def test_examples_are_of_different_servers_first() -> None:
    many = [PAY | {"name": f"pay_{n}", "annotations": {"readOnlyHint": 3}, "description": "Pays."} for n in range(4)]
    other = [PAY | {"name": "buy", "annotations": {"readOnlyHint": 3, "destructiveHint": 3}, "description": "Buys."}]
    told = page([listing_of(many, "a"), listing_of(other, "b")])
    lines = told[told.index("**PF023") :].splitlines()[2:4]
    assert [line.split("`")[1] for line in lines] == ["a/pay_0", "b/buy"]


def test_lists_side_by_side() -> None:
    both = page([listing_of([PAY], "a"), listing_of([PAY], "b")])
    assert "\n## Side by side\n\nWith all lists given together, also: PF004 name-on-two-servers 2.\n" in both
    assert "Side by side" not in page([listing_of([PAY], "a")])


def test_the_script_prints_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bank.json").write_text(json.dumps([PAY]), encoding="utf-8")
    assert main([str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("# Findings in real tool lists\n")


def test_the_script_is_run_as_a_module(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["table", str(tmp_path)])
    monkeypatch.delitem(sys.modules, "preflight.lint.table")
    with pytest.raises(SystemExit) as end:
        runpy.run_module("preflight.lint.table", run_name="__main__")
    assert end.value.code == 0
    assert "0 public MCP servers (0 tools)" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [[], ["a", "b"], ["no such folder"]])
def test_a_call_that_makes_no_sense(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert "usage: python -m preflight.lint.table FOLDER" in capsys.readouterr().err


def test_a_folder_with_a_file_that_is_no_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bank.json").write_text("{}", encoding="utf-8")
    assert main([str(tmp_path)]) == 2
    assert "there is no list of tools" in capsys.readouterr().err
