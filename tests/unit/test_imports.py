"""What is loaded when: `import preflight` and the command line load what is used, and nothing else."""

from __future__ import annotations

import ast
import importlib
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import preflight
from preflight.cli.commands import HOMES, commands_in

SOURCE = Path(preflight.__file__)
HEAVY = {
    "anyio", "apsw", "asyncio", "cel_expr_python", "cryptography", "dateutil", "jinja2", "jsonschema_rs", "mcp",
    "msgspec", "pydantic", "rich", "starlette", "text_to_num", "typer", "uvicorn", "yaml",
}  # fmt: skip


def loaded(code: str, *words: str) -> set[str]:
    """The modules that a fresh interpreter has after running `code`."""
    told = f"import sys\nsys.argv[1:] = {list(words)}\n{code}\nprint('\\n'.join(sys.modules))"
    return set(subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True).stdout.split())


def packages(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


def test_importing_the_package_loads_none_of_its_rooms() -> None:
    found = loaded("import preflight")
    assert {name for name in found if name.startswith("preflight")} == {"preflight"}
    assert packages(found) & HEAVY == set()


@pytest.mark.parametrize("name", preflight.__all__)
def test_every_public_name_resolves_to_what_type_checkers_read(name: str) -> None:
    imports = next(
        node for node in ast.parse(SOURCE.read_text(encoding="utf-8")).body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )  # fmt: skip
    homes = {
        alias.name: node.module for node in imports.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert sorted(homes) == preflight.__all__
    module = importlib.import_module(str(homes[name]))
    assert getattr(preflight, name) is getattr(module, name)


def test_all_names_are_listed_before_they_are_loaded() -> None:
    found = subprocess.run(
        [sys.executable, "-c", "import preflight; print(*dir(preflight))"], capture_output=True, text=True, check=True
    )
    assert set(preflight.__all__) <= set(found.stdout.split())


def test_a_name_that_is_none_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="`preflight` has no attribute `Prefligt`"):
        _ = preflight.Prefligt
    with pytest.raises(ImportError):
        importlib.import_module("preflight.prefligt")


def test_a_star_imports_the_public_names() -> None:
    code = "from preflight import *; print(*globals())"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(preflight.__all__) <= set(run.stdout.split())


def test_values_are_pickled_by_their_own_module() -> None:
    scope = preflight.Scope("home", "letters")
    code = f"import pickle; print(pickle.loads({pickle.dumps(scope)!r}).tenant)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "home"


def test_a_hook_of_a_host_loads_the_receiver_alone() -> None:
    code = "from preflight.cli import main\ntry: main()\nexcept SystemExit as end: assert end.code == 2, end.code"
    found = loaded(code, "hook", "--host", "nowhere")
    assert "preflight.hosts.receive" in found
    assert {name for name in found if name.startswith("preflight.") and not name.startswith("preflight.hosts")} == {
        "preflight.cli"
    }
    assert packages(found) & HEAVY == set()


def test_the_version_is_told_without_the_gate() -> None:
    code = "from preflight.cli import main\ntry: main()\nexcept SystemExit: pass"
    found = loaded(code, "--version")
    assert packages(found) & (HEAVY - {"typer"}) == set()
    assert "preflight.gate" not in found


@pytest.mark.parametrize("home", sorted(set(HOMES.values())))
def test_each_command_is_found_in_its_file(home: str) -> None:
    assert set(commands_in(home)) == {name for name, place in HOMES.items() if place == home}


def test_every_file_of_commands_is_known() -> None:
    folder = SOURCE.parent / "cli"
    with_commands = {
        path.stem for path in folder.glob("*.py")
        if any(isinstance(node, ast.FunctionDef) and node.name == "register" and len(node.args.args) == 1
               and "typer.Typer" in ast.unparse(node.args.args[0].annotation or ast.Constant(None))
               for node in ast.parse(path.read_text(encoding="utf-8")).body)
    }  # fmt: skip
    assert with_commands - {"auditing_heads"} == set(HOMES.values())
