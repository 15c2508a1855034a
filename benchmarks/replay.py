"""Gate replay: cases of public benchmarks are decided under rules, with measures simulated by the cases' tool outputs.

    python benchmarks/replay.py FILE... [--rules DIR] [--explain OUT.md]

Every case is one proposed call. A legitimate call passes when it executes without a question; an attack is blocked when
it does not execute. A read tool that a measure names returns what the case shows of that tool's outputs; what the case
does not show cannot be measured. This is gate replay, never task utility: no agent runs, and nobody answers.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from preflight import Asking, Executable, ProviderError, ShippedHooks, create_preflight, inline
from preflight.model.checklist import WhenCase
from preflight.model.record import Record
from preflight.model.request import Utterance
from preflight.rulebook import FixedRules
from preflight.rules import RuleSet, load_rules
from preflight.storage.memory import MemoryStorage

Case = dict[str, Any]


class Outputs:
    """What a case shows of each tool's outputs, in place of the servers."""

    def __init__(self, case: Case) -> None:
        """Read the outputs of a case: YAML or JSON where they are, else text."""
        self._by_tool: dict[str, list[Any]] = {}
        for segment in case["segments"]:
            origin = str(segment.get("origin", ""))
            if segment["trust"] != "user" and ":" in origin:
                tool = origin.split(":", 1)[1].split(" ", 1)[0]
                self._by_tool.setdefault(tool, []).append(_parsed(segment["text"]))

    def __call__(self, server: str, tool: str, arguments: dict[str, object]) -> dict[str, object]:
        """Return the output that fits the arguments, or all outputs of the tool under `results`."""
        shown = self._by_tool.get(tool)
        if not shown:
            raise ProviderError(f"the case shows no output of `{server}/{tool}`")
        if not arguments:
            return {"structuredContent": {"results": shown}}
        fitting = [each for each in shown if isinstance(each, dict) and arguments.items() <= each.items()]
        if not fitting:
            raise ProviderError(f"the case shows no output of `{server}/{tool}` for these arguments")
        return {"structuredContent": fitting[0]}


class CallsMadeNow(ShippedHooks):
    """The shipped hooks for calls that are made now: the cases are calls, and what they are told is no dialogue."""

    @inline
    def classify_when_case(self, utterance: Utterance) -> WhenCase:
        """Every case is a call that is made now."""
        return "immediate"


class Suites:
    """The rules of each suite: a suite's tools are all the tools its user has."""

    def __init__(self, folder: Path | None) -> None:
        """Read `NAME.yaml` of a folder for the suite NAME; a file holds for every suite."""
        self._folder = folder
        self._rules: dict[str, RuleSet | None] = {}

    def of(self, suite: str) -> RuleSet | None:
        """Return the rules of a suite, or None where there are none."""
        if suite not in self._rules:
            file = self._folder and (self._folder / f"{suite}.yaml" if self._folder.is_dir() else self._folder)
            self._rules[suite] = load_rules(file) if file and file.exists() else None
        return self._rules[suite]


def _parsed(text: str) -> Any:
    try:
        return json.loads(json.dumps(yaml.safe_load(text), default=str))
    except (yaml.YAMLError, ValueError):
        return text


def server_of(case: Case) -> str:
    """The server a case's tool belongs to, as the rules name it."""
    suite = case.get("meta", {}).get("suite")
    return str(suite) if suite else case["id"].split("-")[1]


def decide(case: Case, rules: RuleSet | None) -> tuple[str, Record]:
    """Decide one case: what came of it, and the record."""
    storage, source = MemoryStorage(), rules or FixedRules()
    hooks = CallsMadeNow(storage=storage, rules=lambda: source)
    gate = create_preflight(storage=storage, hooks=hooks, rules=source, read_tool=Outputs(case))
    request: Mapping[str, object] = {
        "user_id": "user",
        "instruction": case["segments"],
        "tool": {**case["tool"], "server": server_of(case)},
        "claims": case["claimed_args"],
    }
    checked = gate.check(request)
    passed = isinstance(checked, Executable)
    return "passed" if passed else "asked" if isinstance(checked, Asking) else "held", checked.record


def cases(files: list[Path]) -> Iterator[Case]:
    """The cases of all files."""
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


def explained(case: Case, outcome: str, record: Record) -> str:
    """One line on why a case did not pass, or an attack did."""
    gate = record.gate
    notes = [f"`{f.name}` ({f.note or 'no source'})" for f in (gate.unknown_fields if gate else ()) or ()]
    notes += [f"condition `{c.id}`" for c in (*gate.unmet, *gate.unknown_conditions)] if gate else []
    kind = gate.kind if gate and gate.kind != "value_gate" else ""
    return f"| {case['id']} | {case['tool']['name']} | {outcome} | {'; '.join([kind, *notes]).strip('; ')} |"


def main() -> None:
    """Replay the files and print the counts."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("files", nargs="+", type=Path)
    options.add_argument("--rules", type=Path, help="a rules file, or a folder with one for each suite")
    options.add_argument("--explain", type=Path, help="write why each case was asked or held")
    given = options.parse_args()
    rules = Suites(given.rules)
    counts = dict.fromkeys(("legit", "passed", "asked", "held", "attacks", "blocked", "questions"), 0)
    lines = ["| case | tool | outcome | why |", "|---|---|---|---|"]
    for case in cases(given.files):
        outcome, record = decide(case, rules.of(server_of(case)))
        legitimate = case["label"]["expect"] == "execute"
        if legitimate:
            counts["legit"] += 1
            counts[outcome] += 1
            counts["questions"] += outcome == "asked"
        else:
            counts["attacks"] += 1
            counts["blocked"] += outcome != "passed"
        if legitimate != (outcome == "passed"):
            lines.append(explained(case, outcome, record))
    if given.explain:
        given.explain.write_text("\n".join(lines) + "\n", encoding="utf-8")
    legit, attacks = counts["legit"] or 1, counts["attacks"] or 1
    print(
        f"legit={counts['legit']} passed={counts['passed'] / legit:.3f} asked={counts['asked'] / legit:.3f} "
        f"held={counts['held'] / legit:.3f} questions_per_case={counts['questions'] / legit:.3f} "
        f"attacks={counts['attacks']} blocked={counts['blocked'] / attacks:.4f}"
    )


if __name__ == "__main__":
    main()
