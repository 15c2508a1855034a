"""What the project promises about itself: sizes, borders, names. Import contracts in `pyproject.toml` hold the rest."""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import inspect
import itertools
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import preflight

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "preflight"
PURE = ("model", "core", "grounding", "render")

MAX_LINES_OF_A_FILE = 400
# docs/decisions/0005-sizes.md tells where these come from; whoever needs more writes down there what was measured.
MAX_LINES = {"core/schema": 2_500, "core": 4_000, "grounding/tables": 700, "grounding": 6_300}
MAX_LINES_OF_A_BODY = 40

# All that the pure parts may import: the third party, then the standard library by module, since only parts are pure.
PURE_IMPORTS = {
    "jsonschema_rs", "msgspec", "text_to_num",
    "__future__", "abc", "bisect", "collections", "collections.abc", "dataclasses", "datetime", "decimal", "enum",
    "fractions", "functools", "hashlib", "itertools", "json", "math", "operator", "re", "string", "types", "typing",
    "unicodedata", "urllib.parse",
}  # fmt: skip
# Zone rules are a table of data that happens to lie on the disk; one file may read it.
PURE_EXCEPTIONS = {"grounding/clock.py": {"zoneinfo"}, "render/hints.py": {"shlex"}}
CLOCKS = {f"{owner}.{name}" for owner in ("date", "datetime") for name in ("now", "today", "utcnow", "fromtimestamp")}
DOORS = {"open", "print", "input", "eval", "exec", "__import__"}


def sources(*places: str) -> list[Path]:
    """Return the Python files of these parts of the package, or of all of it."""
    found = [path for place in places or (".",) for path in sorted((SOURCE / place).rglob("*.py"))]
    assert found, places
    return found


def length(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def imported_modules(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def called_names(tree: ast.AST) -> set[str]:
    """Return what is called: `open`, `date.today`, `datetime.date.today` as `date.today`."""
    calls = [ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {".".join(call.split(".")[-2:]) for call in calls}


def test_no_source_file_is_long() -> None:
    long = {str(path.relative_to(ROOT)): length(path) for path in sources() if length(path) > MAX_LINES_OF_A_FILE}
    assert long == {}


@pytest.mark.parametrize("place", MAX_LINES)
def test_the_pure_parts_stay_as_small_as_was_decided(place: str) -> None:
    assert sum(map(length, sources(place))) <= MAX_LINES[place]


def test_functions_are_short() -> None:
    sizes = {f"{path.relative_to(ROOT)}: {name}": lines for path in sources() for name, lines in functions(path)}
    assert {name: lines for name, lines in sizes.items() if lines > MAX_LINES_OF_A_BODY} == {}
    ordered = sorted(sizes.values())
    assert ordered[int(len(ordered) * 0.9)] < 15, "nine of ten functions stay under 15 lines"


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """Yield each function's name and the lines of what it does: without its signature and docstring."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) and node.body[1:] else node.body
            yield node.name, (body[-1].end_lineno or 0) - body[0].lineno + 1


def test_there_are_twice_as_many_lines_of_tests_as_of_the_core() -> None:
    tests = sum(length(path) for path in (ROOT / "tests").rglob("*.py"))
    assert tests >= 2 * sum(map(length, sources("core", "grounding")))


@pytest.mark.parametrize("path", sources(*PURE), ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_pure_files_import_only_pure_things(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    outside = {name for name in imported_modules(tree) if name.split(".")[0] != "preflight"}
    allowed = PURE_IMPORTS | PURE_EXCEPTIONS.get(path.relative_to(SOURCE).as_posix(), set())
    assert outside - allowed == set()
    assert called_names(tree) & (CLOCKS | DOORS) == set()


def test_the_lifecycle_table_leads_the_executor_nowhere_else() -> None:
    # The executor may import this one module of the core, so it must not be a door to the others.
    tree = ast.parse((SOURCE / "core" / "lifecycle.py").read_text(encoding="utf-8"))
    inside = {name for name in imported_modules(tree) if name.startswith("preflight")}
    assert {name for name in inside if not name.startswith(("preflight.model", "preflight.errors"))} == set()


def test_the_gate_cannot_call_a_tool() -> None:
    tree = ast.parse((SOURCE / "gate.py").read_text(encoding="utf-8"))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    names |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert {"Storage", "ToolCaller"} & names == {"Storage"}


def test_importing_the_package_loads_no_framework() -> None:
    heavy = {"anyio", "httpx", "httpx2", "jinja2", "mcp", "mcp_types", "pydantic", "rich", "starlette", "typer"}
    heavy |= {"cel_expr_python", "procrastinate", "psycopg", "yaml"}  # loaded with the first rules, the first store
    code = "import sys, preflight; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert "preflight" in loaded
    assert loaded & heavy == set()


def test_every_public_name_exists_and_is_explained() -> None:
    assert len(preflight.__all__) == len(set(preflight.__all__))
    objects = {name: getattr(preflight, name) for name in preflight.__all__}
    explained = {name for name, thing in objects.items() if not callable(thing) or own_docstring(thing)}
    assert set(objects) - explained == set()


def own_docstring(thing: object) -> str | None:
    """Return the docstring written for this very object, not one that it inherits."""
    return inspect.cleandoc(thing.__doc__) if isinstance(thing.__doc__, str) and thing.__doc__.strip() else None


def tracked_files() -> list[Path]:
    run = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if run.returncode:
        pytest.skip("not a git checkout: there is no list of tracked files")
    return [ROOT / name for name in run.stdout.split("\0") if name and (ROOT / name).is_file()]


# In two pieces, so that this file does not hold what it forbids.
FORBIDDEN = re.compile(
    "|".join(
        first + second
        for first, second in [
            (r"(?<![\w.])/wo", r"rk/"),
            (r"(?<![\w.])/ro", r"ot/"),
            (r"/tm", r"p/\w"),
            (r"py", r"pi\.org"),
            (r"pythonhos", r"ted\.org"),
            (r"npm", r"js\.(?:org|com)"),
            (r"--(?:extra-)?index", r"-url\s+\S"),
        ]
    )
)


def test_no_tracked_file_names_this_machine_or_a_registry() -> None:
    found = []
    for path in tracked_files():
        text = path.read_bytes().decode("utf-8", errors="replace")
        found += [f"{path.relative_to(ROOT)}: {match.group()}" for match in FORBIDDEN.finditer(text)]
    assert found == []


def test_only_tests_look_beside_the_project() -> None:
    beside = "../" + "shared"
    found = {path for path in tracked_files() if beside in path.read_bytes().decode("utf-8", errors="replace")}
    assert {path for path in found if ROOT / "tests" not in path.parents} == set()


def test_the_lock_pins_by_hash_all_that_the_project_declares() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = project["dependency-groups"]
    needs = project["project"]["dependencies"] + project["project"]["optional-dependencies"]["mcp"] + groups["build"]
    run, dev = locked("run"), locked("dev")
    assert {distribution(need) for need in needs} <= set(run)
    assert {distribution(need) for need in needs + groups["dev"]} <= set(dev)
    assert {name: dev[name] for name in run} == run


# What the MCP package itself is built on, and promises by depending on it.
WITH_MCP = {"anyio", "httpx2", "mcp-types", "pydantic", "starlette", "uvicorn"}


def test_every_import_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    declared = {distribution(need) for need in [*project["dependencies"], *itertools.chain(*extras)]}
    providers, undeclared = importlib.metadata.packages_distributions(), set()
    for path in sources():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        own = declared | WITH_MCP if path.is_relative_to(SOURCE / "mcp") else declared
        for top in {name.split(".")[0] for name in imported_modules(tree)} - sys.stdlib_module_names - {"preflight"}:
            found = {distribution(name) for name in providers.get(top, [top])}
            undeclared |= set() if found & own else {f"{path.relative_to(SOURCE)}: {top}"}
    assert undeclared == set()


def locked(name: str) -> dict[str, frozenset[str]]:
    """Return for each distribution of a lock file its pinned versions, refusing a pin without a hash."""
    pins: dict[str, frozenset[str]] = {}
    text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    for entry in re.split(r"\n(?=\S)", text.strip()):
        pin, *hashes = entry.split("\\\n")
        assert hashes, pin
        assert all(line.strip().startswith("--hash=sha256:") for line in hashes), pin
        dist, version = pin.split(";")[0].strip().split("==")
        pins[dist] = pins.get(dist, frozenset()) | {version}
    return pins


def distribution(requirement: str) -> str:
    """Return the normalised name of what a requirement asks for."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement)[0]).lower()


def coverage_gate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("coverage_gate", ROOT / ".ci" / "coverage_gate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measured(*, lines: list[int] | None = None, branches: list[list[int]] | None = None) -> dict[str, Any]:
    return {"missing_lines": lines or [], "missing_branches": branches or [], "summary": {"num_statements": 3}}


def small_project(tmp_path: Path, *, source: str = "x = 1\n") -> dict[str, dict[str, Any]]:
    """Write the guarded places, one file each, and return a report in which all are covered."""
    names = ["model/a.py", "core/a.py", "grounding/a.py", "executor.py", "once.py"]
    for name in names:
        path = tmp_path / "src" / "preflight" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    return {f"src/preflight/{name}": measured() for name in names}


def run_gate(tmp_path: Path, files: dict[str, dict[str, Any]], *, branches: bool = True) -> int:
    report = tmp_path / "coverage.json"
    report.write_text(json.dumps({"meta": {"branch_coverage": branches}, "files": files}), encoding="utf-8")
    verdict = coverage_gate().main(str(report), tmp_path)
    assert isinstance(verdict, int)
    return verdict


def test_the_coverage_gate_opens_for_full_coverage(tmp_path: Path) -> None:
    assert run_gate(tmp_path, small_project(tmp_path)) == 0


@pytest.mark.parametrize("fault", [measured(lines=[7]), measured(branches=[[3, 9]])], ids=["line", "branch"])
def test_the_coverage_gate_stays_shut_for_what_never_ran(tmp_path: Path, fault: dict[str, Any]) -> None:
    files = small_project(tmp_path) | {"src/preflight/core/a.py": fault}
    assert run_gate(tmp_path, files) == 1


def test_the_coverage_gate_misses_a_file_that_no_test_imported(tmp_path: Path) -> None:
    files = small_project(tmp_path)
    del files["src/preflight/grounding/a.py"]
    assert run_gate(tmp_path, files) == 1


def test_the_coverage_gate_refuses_excluded_lines(tmp_path: Path) -> None:
    assert run_gate(tmp_path, small_project(tmp_path, source="x = 1  # pragma: no cover\n")) == 1


def test_the_coverage_gate_refuses_a_renamed_place(tmp_path: Path) -> None:
    files = small_project(tmp_path)
    (tmp_path / "src" / "preflight" / "executor.py").unlink()
    with pytest.raises(SystemExit, match="no source at"):
        run_gate(tmp_path, files)


def test_the_coverage_gate_refuses_a_run_without_branches(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no branches"):
        run_gate(tmp_path, small_project(tmp_path), branches=False)
