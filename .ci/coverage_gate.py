"""Fail unless the pure parts and the executor were covered to the last line and branch.

Usage: `python .ci/coverage_gate.py coverage.json`, after `coverage run` and `coverage json`.

The files are taken from the disk and not from the report: a file that no test imported, a folder that
was renamed, a run without branches or a line excluded by comment must fail here, not fall out of the count.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path("src/preflight")
GUARDED = ("model", "core", "grounding", "executor.py", "once.py")
EXCLUSION = re.compile(r"#\s*pragma:\s*no\s*(cover|branch)", re.IGNORECASE)


def guarded_files(root: Path) -> list[Path]:
    """Return the guarded sources, relative to `root`; raise `SystemExit` when a guarded place has none."""
    files: list[Path] = []
    for name in GUARDED:
        place = root / PACKAGE / name
        found = [place] if place.is_file() else sorted(place.rglob("*.py"))
        if not found:
            message = f"coverage: no source at `{PACKAGE / name}`; name its new place in `.ci/coverage_gate.py`"
            raise SystemExit(message)
        files += [path.relative_to(root) for path in found]
    return files


def faults(path: Path, source: str, measured: dict[str, Any] | None) -> list[str]:
    """Say what of one file was not covered, one line for each kind of fault."""
    if measured is None:
        return [f"{path}: not in the report: no test imported it"]
    found = []
    if EXCLUSION.search(source):
        found.append(f"{path}: a comment excludes a line from the count; cover it instead")
    if measured["missing_lines"]:
        found.append(f"{path}: lines never run: {measured['missing_lines']}")
    if measured["missing_branches"]:
        found.append(f"{path}: branches never taken (from, to): {measured['missing_branches']}")
    return found


def main(report_path: str, root: Path = ROOT) -> int:
    """Print the faults and return 1, or print the size of what is covered and return 0."""
    report = json.loads(Path(report_path).read_text(encoding="utf-8"))
    if not report["meta"]["branch_coverage"]:
        raise SystemExit("coverage: the run measured no branches; `branch = true` belongs in `[tool.coverage.run]`")
    files = guarded_files(root)
    found: list[str] = []
    for path in files:
        found += faults(path, (root / path).read_text(encoding="utf-8"), report["files"].get(path.as_posix()))
    for line in found:
        print(line)
    statements = sum(
        report["files"].get(path.as_posix(), {"summary": {"num_statements": 0}})["summary"]["num_statements"]
        for path in files
    )
    verdict = f"{len(found)} faults" if found else "every line and branch run"
    print(f"guarded coverage: {len(files)} files, {statements} statements, {verdict}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
