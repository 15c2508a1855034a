"""The documentation is true: its code runs and prints what it says, its links lead somewhere, its tests exist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from preflight.core.lifecycle import diagram
from tests.acceptance.terminal import ROOT, SECONDS

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
OWN = [page for page in PAGES if page.name != "spec.md" and "decisions" not in page.parts]
RUN = re.compile(r"^```python\n(.*?)^```\n+```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(#[^)]*)?\)")
TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
COMMAND = re.compile(r"preflight ([a-z][a-z-]+)(?= [A-Za-z-]|`|$)", re.MULTILINE)


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def with_code() -> list[Path]:
    """Return the pages that begin with Python."""
    firsts = {page: re.search(r"^```(\w+)$", page.read_text(encoding="utf-8"), re.MULTILINE) for page in OWN}
    return [page for page, first in firsts.items() if first is not None and first[1] == "python"]


@pytest.mark.parametrize("page", with_code(), ids=name)
def test_code_that_is_shown_with_what_it_prints_prints_it(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    first, *others = RUN.finditer(text)
    assert first.start() == text.index("```python")
    for found in (first, *others):
        assert printed(found[1], tmp_path) == (found[2], "")


def printed(code: str, tmp_path: Path) -> tuple[str, str]:
    """Run a program and return what it printed."""
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-W", "error", "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=env, timeout=SECONDS)
    return run.stdout, run.stderr


def test_the_pages_with_code_are_those_that_should_have_some() -> None:
    assert {name(page) for page in with_code()} >= {
        "README.md", "docs/quickstart.md", "docs/howto/ask-people.md", "docs/howto/call-the-tool.md",
        "docs/howto/settle-a-doubt.md", "docs/howto/write-a-hook.md",
    }  # fmt: skip


def test_the_readme_s_example_ends_in_a_question() -> None:
    found = RUN.search((ROOT / "README.md").read_text(encoding="utf-8"))
    assert found is not None
    assert "assert isinstance(checked, Asking)" in found[1]
    assert "execute" not in found[1]


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 120


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_leads_somewhere(page: Path) -> None:
    links = [match[1] for match in LINK.finditer(page.read_text(encoding="utf-8"))]
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_test_that_is_named_exists() -> None:
    text = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
    named = set(TEST.findall(text))
    assert len(named) > 20
    sources = {path: (ROOT / path) for path, _ in named}
    missing = [
        f"{path}::{test}"
        for path, test in sorted(named)
        if not sources[path].is_file() or f"def {test}(" not in sources[path].read_text(encoding="utf-8")
    ]
    assert missing == []


def test_every_promise_has_a_test_or_is_planned() -> None:
    lines = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| P")]
    assert [row.split("|")[1].strip() for row in rows] == [f"P{number}" for number in range(1, 24)]
    assert [row for row in rows if not TEST.search(row) and "*planned*" not in row] == []


def test_the_lifecycle_is_drawn_from_the_table() -> None:
    assert f"```mermaid\n{diagram()}```" in (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_every_command_that_is_shown_exists() -> None:
    help_text = subprocess.run(
        [sys.executable, "-m", "preflight", "--help"], capture_output=True, text=True, check=True
    ).stdout
    commands = set(re.findall(r"^  ([a-z][a-z-]+) ", help_text.split("Commands:\n")[1], re.MULTILINE))
    shown = {
        match[1]
        for page in OWN
        for line in re.findall(r"^    preflight .*|`preflight [^`]*`", page.read_text(encoding="utf-8"), re.MULTILINE)
        for match in COMMAND.finditer(line)
    }
    assert len(shown) > 5
    assert shown - commands == set()


def test_nothing_is_promised_that_nobody_can_keep() -> None:
    texts = {name(page): page.read_text(encoding="utf-8").lower() for page in OWN}
    assert [
        page
        for page, text in texts.items()
        if "tamper-proof" in text or "tamperproof" in text or "exactly once" in text
    ] == []
