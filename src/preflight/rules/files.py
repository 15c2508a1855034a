"""Which files make a set of rules, and what stands in them. The only place of the package that reads the disk."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from preflight.rules.bounds import Bounds
from preflight.rules.faults import Fault, Refused
from preflight.rules.json_text import read_json
from preflight.rules.node import Node
from preflight.rules.yaml_text import read_yaml

SUFFIXES = (".yaml", ".yml", ".json")
_UNSEEN = re.compile("[\x85\u2028\u2029\u202a-\u202e\u2066-\u2069]")
CASES = "tests"
"""Folders of this name hold example requests, and no rules."""


class Gathered(msgspec.Struct):
    """The trees of the files that could be read, all files that were looked at, and what is wrong."""

    trees: list[Node]
    files: list[Path]
    faults: list[Fault]


def gather(paths: Iterable[str | Path], bounds: Bounds) -> Gathered:
    """Read the files, the files of the folders, and what they include: each once."""
    gatherer = _Gatherer(bounds)
    for path in paths:
        for file in listed(Path(path), gatherer.found.faults):
            gatherer.read(file, ())
    return gatherer.found


def listed(path: Path, faults: list[Fault]) -> list[Path]:
    """Return a file itself, or the rules files in and below a folder, in a fixed order."""
    if not os.path.isdir(path):  # noqa: PTH112  a name that is too long is no folder, and no crash
        return [path]
    files = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES and _counts(file.relative_to(path)))
    if not files:
        faults.append(Fault(str(path), 1, 1, "a folder without rules", "put a `.yaml` or `.json` file there"))
    return files


def _counts(relative: Path) -> bool:
    return CASES not in relative.parts[:-1] and not any(part.startswith(".") for part in relative.parts)


def read_text(path: Path, bounds: Bounds) -> str:
    """Return the text of a file; raises Refused when it is none, too large or not UTF-8."""
    name = str(path)
    try:
        if not path.is_file():  # a pipe or a device would never end
            raise Refused(Fault(name, 1, 1, "there is no such file"))
        with path.open("rb") as stream:
            body = stream.read(bounds.file_bytes + 1)
    except OSError as fault:
        raise Refused(Fault(name, 1, 1, f"cannot be read: {(fault.strerror or 'failed').lower()}")) from None
    if len(body) > bounds.file_bytes:
        raise Refused(Fault(name, 1, 1, f"larger than {bounds.file_bytes} bytes", "split it"))
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as fault:
        line = body.count(b"\n", 0, fault.start) + 1
        raise Refused(Fault(name, line, 1, f"not UTF-8 at byte {fault.start}", "save it as UTF-8")) from None
    _refuse_unseen(text, name)
    return text


def _refuse_unseen(text: str, name: str) -> None:
    """Refuse what makes a file read otherwise than it looks: YAML breaks lines where editors do not."""
    if found := _UNSEEN.search(text):
        at = found.start()
        line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        what = f"U+{ord(found[0]):04X}, which breaks or turns lines unseen"
        raise Refused(Fault(name, line, column, what, "write it as an escape in double quotes"))


def read_tree(text: str, name: str, bounds: Bounds) -> Node:
    """Return the tree of a text; the name's ending says whether it is JSON. Raises Refused."""
    return read_json(text, name, bounds) if name.endswith(".json") else read_yaml(text, name, bounds)


class _Gatherer:
    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._seen: set[Path] = set()
        self.found = Gathered([], [], [])

    def read(self, path: Path, above: tuple[Path, ...], source: Node | None = None) -> None:
        """Read a file and what it includes; `above` are the files that include it, `source` where it is named."""
        whole = Path(os.path.realpath(path))  # `resolve` fails on links that go round
        if whole in above:
            self._complain(source, path, "a file that includes itself, by way of others or at once", "leave it out")
        elif whole not in self._seen:
            if len(self._seen) >= self._bounds.files:
                self._complain(source, path, f"more than {self._bounds.files} files", "join some")
                return
            self._seen.add(whole)
            self.found.files.append(path)
            self._read_new(path, (*above, whole), source)

    def _read_new(self, path: Path, above: tuple[Path, ...], source: Node | None) -> None:
        try:
            tree = read_tree(read_text(path, self._bounds), str(path), self._bounds)
        except Refused as refused:
            self.found.faults.append(refused.fault)
            if source is not None and refused.fault.what == "there is no such file":
                self.found.faults[-1] = source.fault(f"there is no file `{path}`")
            return
        if tree.kind != "map":
            self.found.faults.append(tree.fault("a rules file is a mapping", "begin it with `version: 1`"))
            return
        if "version" not in tree.entries:
            self.found.faults.append(tree.fault("a rules file has no `version`", "begin it with `version: 1`"))
        self.found.trees.append(tree)
        self._include(path, tree, above)

    def _include(self, path: Path, tree: Node, above: tuple[Path, ...]) -> None:
        entry = tree.entries.get("include")
        for item in entry.value.items if entry is not None and entry.value.kind == "list" else ():
            name = str(item.value)
            if item.kind != "text" or not name.strip() or "\0" in name or Path(name).is_absolute():
                self.found.faults.append(item.fault("not a relative path to a file", "name it relative to this file"))
            else:
                self.read(path.parent / name, above, item)

    def _complain(self, source: Node | None, path: Path, what: str, do: str) -> None:
        fault = Fault(str(path), 1, 1, what, do) if source is None else source.fault(what, do)
        self.found.faults.append(fault)
