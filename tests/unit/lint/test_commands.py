"""`preflight lint`, `init` and `gaps`, as a person or a continuous check runs them."""

from __future__ import annotations

import importlib.metadata
import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from preflight.cli import tools
from preflight.core.schema.shape import UNDECLARED
from preflight.errors import CallerError
from preflight.model.decision import Gate, UnknownField
from preflight.model.slot import DroppedClaim
from preflight.rules import load_rules
from preflight.storage import open_storage
from preflight.storage.samples import sample_decision
from tests.unit.lint.samples import PLAIN

BANK = Path(__file__).resolve().parents[3] / "examples" / "bank" / "server.py"
PAY = {"name": "pay", "description": "Pays \u202e.", "inputSchema": PLAIN}
LOOK = {"name": "list_bills", "description": "Lists.", "inputSchema": PLAIN, "annotations": {"readOnlyHint": True}}


def run(*arguments: str | Path) -> Result:
    app = typer.Typer()
    tools.register(app)
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def saved(folder: Path, *entries: Any, name: str = "bank") -> Path:
    path = folder / f"{name}.json"
    path.write_text(json.dumps(list(entries)), encoding="utf-8")
    return path


def refused(*arguments: str | Path) -> str:
    ran = run(*arguments)
    assert isinstance(ran.exception, CallerError)
    return str(ran.exception)


@pytest.mark.parametrize(
    ("options", "code"), [([], 1), (["--fail-on", "never"], 0), (["--fail-on", "note"], 1)], ids=str
)
def test_lint_ends_with_what_a_check_needs(tmp_path: Path, options: list[str], code: int) -> None:
    ran = run("lint", saved(tmp_path, PAY), *options)
    assert ran.exit_code == code
    assert "error PF042 hidden-characters: pay /description" in ran.stdout
    assert ran.stdout.endswith("1 error, 0 warnings, 1 note; 1 of them not shown\n")


def test_lint_of_a_clean_list(tmp_path: Path) -> None:
    ran = run("lint", saved(tmp_path, LOOK), "--fail-on", "note")
    assert (ran.exit_code, ran.stdout) == (0, "0 errors, 0 warnings, 0 notes\n")


def test_lint_shows_notes_when_asked(tmp_path: Path) -> None:
    assert "note PF022" in run("lint", saved(tmp_path, PAY), "--least", "note").stdout


def test_lint_as_json_is_safe_for_a_terminal(tmp_path: Path) -> None:
    ran = run("lint", saved(tmp_path, PAY | {"name": "p\u0430y"}), "--format", "json")
    assert ran.stdout.isprintable() or "\u202e" not in ran.stdout
    assert json.loads(ran.stdout)["counts"] == {"error": 1, "warning": 1, "note": 1}


def test_lint_as_sarif_names_the_file(tmp_path: Path) -> None:
    path = saved(tmp_path, PAY)
    log = json.loads(run("lint", path, "--format", "sarif").stdout)
    first = log["runs"][0]["results"][0]
    assert first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == path.as_posix()


@pytest.mark.parametrize("installed", [True, False])
def test_lint_as_sarif_names_its_version_where_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: bool
) -> None:
    def version(name: str) -> str:
        if not installed:
            raise importlib.metadata.PackageNotFoundError(name)
        return "1.2.3"

    monkeypatch.setattr(importlib.metadata, "version", version)
    log = json.loads(run("lint", saved(tmp_path, PAY), "--format", "sarif").stdout)
    assert log["runs"][0]["tool"]["driver"].get("version") == ("1.2.3" if installed else None)


def test_lint_of_lists_side_by_side(tmp_path: Path) -> None:
    ran = run("lint", saved(tmp_path, LOOK), saved(tmp_path, LOOK, name="shop"))
    assert ran.stdout.count("PF004") == 2


def test_lint_without_a_list() -> None:
    assert "no tool list" in refused("lint")


def test_lint_of_what_is_no_list(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("3")
    assert "there is no list of tools" in refused("lint", tmp_path / "x.json")


def test_init_writes_rules_that_load(tmp_path: Path) -> None:
    ran = run("init", saved(tmp_path, PAY, LOOK), "--name", "mine", "--pins")
    assert ran.exit_code == 0
    (tmp_path / "rules.yaml").write_text(ran.stdout, encoding="utf-8")
    rules = load_rules(tmp_path / "rules.yaml")
    assert (rules.for_tool("mine", "pay").effect, rules.for_tool("mine", "list_bills").effect) == (
        "irreversible",
        "read",
    )


def test_init_tells_which_tools_no_words_open_yet(tmp_path: Path) -> None:
    ran = run("init", saved(tmp_path, PAY, LOOK), "--name", "mine")
    assert "no words open `pay` yet: take in their `intents`" in ran.stderr
    assert "No words open a tool before its `intents` list some" in ran.stdout


def test_init_tells_what_it_leaves_out(tmp_path: Path) -> None:
    ran = run("init", saved(tmp_path, PAY, {"name": ""}))
    assert "left out: entry 1 is no usable tool: `tool.name`: missing or empty" in ran.stderr
    assert "left out" not in ran.stdout


def test_init_of_a_list_and_a_server(tmp_path: Path) -> None:
    assert "one server at a time" in refused("init", saved(tmp_path, PAY), "--server", "python x.py")


def test_a_server_needs_a_command_and_a_name() -> None:
    assert "not a command line" in refused("init", "--server", "'python", "--name", "bank")
    assert "say how rules name the server" in refused("lint", "--server", "python x.py")


def test_a_running_server_is_asked(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    command = shlex.join([sys.executable, str(BANK), "--db", str(tmp_path / "bank.db")])
    ran = run("init", "--server", command, "--name", "bank")
    assert ran.exception is None
    assert '"transfer":' in ran.stdout


def test_a_server_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "preflight.mcp.stdio", None)
    assert "preflight.mcp.stdio" in refused("lint", "--server", "python x.py", "--name", "bank")


@pytest.fixture
def db(tmp_path: Path) -> Path:
    path = tmp_path / "records.db"
    store = open_storage(path)
    fields = (UnknownField("amount", None, "ask_user"), UnknownField("payee/iban", None, "ask_user"))
    store.append(sample_decision("d1", "ask_user", gate=Gate("value_gate", unknown_fields=fields)))
    dropped = (DroppedClaim("cc", 1, UNDECLARED),)
    store.append(sample_decision("d2", "hold", dropped_claims=dropped, timestamp="2026-03-02T09:00:00+00:00"))
    store.close()
    return path


def test_gaps(db: Path) -> None:
    told = run("gaps", "--db", db).stdout
    assert told.startswith("2 decisions from 2026-03-01")
    assert "`amount`: asked 1" in told
    assert "undeclared_claim `cc`" in told


def test_gaps_as_json_since_a_day_about_a_tool(db: Path) -> None:
    ran = run("gaps", "--db", db, "--since", "2026-03-02", "--tool", "transfer", "--format", "json")
    read = json.loads(ran.stdout)
    assert (read["decisions"], read["instruction"]) == (1, [])
    assert json.loads(run("gaps", "--db", db, "--tool", "other", "--format", "json").stdout)["decisions"] == 0


def test_gaps_for_a_provider(db: Path, tmp_path: Path) -> None:
    assert "`payee/*`" in run("gaps", "--db", db, "--provider", "bank").stdout
    payee = {"type": "object", "properties": {"iban": {"type": "string"}}}
    listed = saved(tmp_path, {"name": "transfer", "inputSchema": {"type": "object", "properties": {"payee": payee}}})
    assert "`payee/iban`" in run("gaps", "--db", db, "--provider", "bank", "--tools", listed).stdout
