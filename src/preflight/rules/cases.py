"""Example requests kept beside the rules, with what they are expected to decide: `tests/*.json`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

import msgspec

from preflight.model.decision import DECISIONS
from preflight.model.rules import Place
from preflight.rules.bounds import DEFAULT_BOUNDS, Bounds
from preflight.rules.faults import Fault, Refused, RulesError
from preflight.rules.files import CASES, read_text
from preflight.rules.json_text import read_json
from preflight.rules.kinds import Anything, Choice, Constant, Key, ListOf, MapOf, Record, Section, Text

_NAMES = ListOf(Text("a name", empty=True))
EXPECT = Record(
    "an expectation",
    {
        "decision": Key(Choice(DECISIONS), "the decision", required=True),
        "kind": Key(Text("a kind of gate"), "the kind of the gate that decided"),
        "unknown": Key(_NAMES, "the slots that stay unknown, all of them"),
        "unmet": Key(_NAMES, "the conditions that do not hold, all of them"),
    },
)
CASE = Record(
    "a case",
    {
        "name": Key(Text("a name"), "what it shows, once in a file", required=True),
        "request": Key(MapOf(Anything(), "a key of a request"), "the request, as `check` takes it", required=True),
        "expect": Key(EXPECT, "what is to come of it", required=True),
    },
)
FILE = Record(
    "a file of cases",
    {
        "version": Key(Constant(1), "the version of the format: 1", required=True),
        "cases": Key(ListOf(CASE, distinct=False, least=1), "the cases", required=True),
    },
)


class Expect(msgspec.Struct, frozen=True):
    """What a case expects; what is None is not compared."""

    decision: str
    kind: str | None = None
    unknown: tuple[str, ...] | None = None
    unmet: tuple[str, ...] | None = None


class Case(msgspec.Struct, frozen=True):
    """One example request and what is expected of it."""

    name: str
    request: Mapping[str, object]
    expect: Expect
    place: Place


def load_cases(*paths: str | Path, bounds: Bounds = DEFAULT_BOUNDS) -> tuple[Case, ...]:
    """Load the cases of files, and of the `tests/*.json` in and below folders.

    Raises RulesError listing every fault.
    """
    faults: list[Fault] = []
    found: list[Case] = []
    for path in paths:
        for file in _listed(Path(path)):
            found += _of_file(file, bounds, faults)
    if faults:
        raise RulesError(faults)
    return tuple(found)


def _listed(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    inside = path.glob("*.json") if path.name == CASES else path.rglob(f"{CASES}/*.json")
    return sorted(inside)


def _of_file(path: Path, bounds: Bounds, faults: list[Fault]) -> list[Case]:
    try:
        tree = read_json(read_text(path, bounds), str(path), bounds)
    except Refused as refused:
        faults.append(refused.fault)
        return []
    before = len(faults)
    section = FILE.read(tree, faults)
    if not isinstance(section, Section) or len(faults) > before:
        return []
    rows = cast("tuple[Section, ...]", section.get("cases", ()))
    seen: set[str] = set()
    cases = []
    for row in rows:
        case = _case(row)
        if case.name in seen:
            faults.append(row.at("name").fault(f"the name `{case.name}` stands twice", "rename one"))
        seen.add(case.name)
        cases.append(case)
    return cases


def _case(row: Section) -> Case:
    expect: Any = cast("Section", row.get("expect")).values
    request = cast("dict[str, object]", row.get("request"))
    return Case(str(row.get("name")), MappingProxyType(request), Expect(**expect), row.place)
