"""Measure grounding on a file of cases: `python benchmarks/grounding.py FILE [--show KIND]`.

The form of the file decides the measure. Calls with acceptable and invented values: recall and false
accepts. Hand-made cases with an expectation for each argument: share right and wrong knowns. Others
(gate replay, never task utility): legitimate calls that need no question, missing parameters noticed,
attackers' arguments that became known.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from preflight.grounding import Context, Finding, Target, ground_call
from preflight.grounding.index import Index, index_of
from preflight.model.instruction import Segment

Case = dict[str, Any]


def segments_of(case: Case) -> list[Segment]:
    """The case's segments as the product has them."""
    return [
        Segment(text=s["text"], trust=s.get("trust", "untrusted"), origin=s.get("origin"), request=s.get("request"))
        for s in case["segments"]
    ]


def context_of(case: Case) -> Context:
    """The recorded clock of the case, where it has one."""
    return Context(now=case.get("now"), zone=case.get("zone"), locale=case.get("locale") or "en")


def ground(case: Case, claims: dict[str, Any], names: Iterable[str]) -> dict[str, Finding]:
    """Verdicts for some of a case's arguments, grounded as one call."""
    properties = case["tool"]["inputSchema"].get("properties", {})
    targets = [Target(name, properties.get(name) or {}, claims[name]) for name in names if name in claims]
    return ground_call(segments_of(case), targets, context_of(case))


def known(case: Case, claims: dict[str, Any], name: str, names: Iterable[str]) -> bool:
    """Whether one argument becomes known among the others of its call."""
    return ground(case, claims, names)[name].state == "known"


def calls(cases: list[Case], show: str) -> str:
    """Recall of required right values and whole calls; invented values that become known; speed."""
    found = recall_and_false(cases, show)
    index_ms, arg_us = speed(cases)
    print(f"args={found['args']:.0f} calls={found['calls']:.0f} fifty_args_100kb_ms={fifty(cases):.2f}")
    names = ("recall_args", "recall_calls", "false_near", "false_other")
    return " ".join(
        [*(f"{name}={found[name]:.4f}" for name in names), f"index_ms_2kb={index_ms:.2f} arg_us={arg_us:.1f}"]
    )


def recall_and_false(cases: list[Case], show: str = "") -> dict[str, float]:
    """The shares that the measure of calls is about, by name."""
    hits = [right_values(case, show) for case in cases]
    called = [whole for whole in hits if whole]
    outcomes = {sort: [known for case in cases for known in invented(case, sort, show)] for sort in ("near", "other")}
    return {
        "args": sum(map(len, called)),
        "calls": len(called),
        "recall_args": sum(map(sum, called)) / sum(map(len, called)),
        "recall_calls": sum(map(all, called)) / len(called),
        "false_near": sum(outcomes["near"]) / max(1, len(outcomes["near"])),
        "false_other": sum(outcomes["other"]) / max(1, len(outcomes["other"])),
    }


def right_values(case: Case, show: str) -> list[bool]:
    """For each required argument whether its right value, or another acceptable one, becomes known."""
    required = [name for name in case["required"] if name in case["claims"]]
    truth = ground(case, case["claims"], required)
    hits = [truth[name].state == "known" or _alternative(case, name, required) for name in required]
    for name, hit in zip(required, hits, strict=True):
        if show == "missed" and not hit:
            print("MISSED", case["id"], name, json.dumps(case["claims"][name], ensure_ascii=False), truth[name].reason)
    return hits


def _alternative(case: Case, name: str, required: list[str]) -> bool:
    others = [value for value in case["acceptable"].get(name, []) if value != case["claims"][name]]
    return any(known(case, {**case["claims"], name: value}, name, required) for value in others)


def invented(case: Case, sort: str, show: str) -> list[bool]:
    """For each invented value of a single call whether it becomes known in the place of the right one."""
    required = [name for name in case["required"] if name in case["claims"]]
    outcomes = []
    for name, values in (case.get("invented") or {}).items() if case["single_call"] else ():
        if values and sort in values:
            outcomes.append(known(case, {**case["claims"], name: values[sort]}, name, required))
            if show == "false" and outcomes[-1]:
                print("FALSE", sort, case["id"], name, json.dumps(values[sort]), "truth", case["claims"].get(name))
    return outcomes


def hard(cases: list[Case], show: str) -> str:
    """Arguments that come out as expected, and knowns that must not be."""
    right = wrong_known = total = 0
    for case in cases:
        findings = ground(case, case["claims"], case["claims"])
        for name, expected in case["expect"].items():
            state = findings[name].state
            total += 1
            right += state == expected
            wrong_known += state == "known" and expected != "known"
            if state != expected and show:
                print("WRONG", case["id"], name, case["claims"][name], "expected", expected, "got", state, case["why"])
    return f"right={right / total:.4f} wrong_known={wrong_known} total={total}"


def replay(cases: list[Case], show: str) -> str:
    """Gate replay: legitimate calls without a question, missing parameters noticed, bad arguments known.

    A value of a wrong form that the user gave is counted apart: the tool's schema answers for it.
    """
    count: Counter[str] = Counter()
    for case in cases:
        findings = ground(case, case["claimed_args"], case["claimed_args"])
        (_legitimate if case["label"]["expect"] == "execute" else _bad)(case, findings, count, show)
    shares = {
        "no_question": count["quiet"] / max(1, count["legit"]),
        "noticed": count["noticed"] / max(1, count["missing"]),
        "bad_known": count["bad_known"] / max(1, count["bad_args"]),
    }
    totals = " ".join(f"{name}={count[name]}" for name in ("legit", "missing", "bad_args", "malformed"))
    return totals + " " + " ".join(f"{name}={share:.4f}" for name, share in shares.items())


def _legitimate(case: Case, findings: dict[str, Finding], count: Counter[str], show: str) -> None:
    required = set(case["tool"]["inputSchema"].get("required") or ()) & set(findings)
    asked = {name: findings[name].reason for name in required if findings[name].state == "unknown"}
    count["legit"] += 1
    count["quiet"] += not asked
    if asked and show == "legit":
        print("ASKED", case["id"], {name: (case["claimed_args"][name], reason) for name, reason in asked.items()})


def _bad(case: Case, findings: dict[str, Finding], count: Counter[str], show: str) -> None:
    wrong = [name for name in case["label"]["bad_args"] if name in findings]
    slipped = [name for name in wrong if findings[name].state == "known"]
    if "wrong form" in case["label"]["why"]:
        count["malformed"] += 1  # the user said it: the tool's schema refuses it, not grounding
        return
    count["bad_args"] += len(wrong)
    count["bad_known"] += len(slipped)
    if case["label"]["expect"] == "ask_user" and wrong:
        count["missing"] += 1
        count["noticed"] += len(slipped) < len(wrong)
    if slipped and show == "slipped":
        print("SLIPPED", case["id"], {name: (case["claimed_args"][name], findings[name].evidence) for name in slipped})


def speed(cases: list[Case]) -> tuple[float, float]:
    """Milliseconds to index a new message of 2 kB with every kind of mention; microseconds an argument once indexed."""
    text = " ".join(segment["text"] for case in cases[::7] for segment in case["segments"])
    chunks = [text[at : at + 2000] for at in range(0, min(len(text), 40_000), 2000)]
    spent = []
    for chunk in chunks:
        started = time.perf_counter()
        build(Index(chunk, "en"))
        spent.append(time.perf_counter() - started)
    costs = []
    for case in cases[::5]:
        names = [name for name in case["required"] if name in case["claims"]]
        ground(case, case["claims"], names)
        properties = case["tool"]["inputSchema"].get("properties", {})
        targets = [Target(name, properties.get(name) or {}, case["claims"][name]) for name in names]
        segments, context = segments_of(case), context_of(case)
        started = time.perf_counter()
        ground_call(segments, targets, context)
        costs.append((time.perf_counter() - started) / max(1, len(names)))
    return statistics.median(spent) * 1e3, statistics.median(costs) * 1e6


def fifty(cases: list[Case]) -> float:
    """Milliseconds for 50 arguments over 100 kB that are already indexed."""
    text, targets = "", []
    for case in cases:
        if len(text) < 100_000:
            text += " ".join(segment["text"] for segment in case["segments"]) + "\n"
            properties = case["tool"]["inputSchema"].get("properties", {})
            names = [name for name in case["required"] if name in case["claims"]][: len(targets) < 50]
            targets += [Target(f"{len(targets)}/{n}", properties.get(n) or {}, case["claims"][n]) for n in names]
    segments = [Segment(text[:100_000], "user")]
    ground_call(segments, targets)
    spent = []
    for _ in range(5):
        started = time.perf_counter()
        ground_call(segments, targets)
        spent.append(time.perf_counter() - started)
    return min(spent) * 1e3


def build(index: Index) -> None:
    """Every kind of mention of a text, and the words for its searches."""
    index.words.stems  # noqa: B018
    list(index.words.find(("no", "such", "words")))
    index.numbers, index.quantities, index.corrections, index.lowered  # noqa: B018
    index.calendar_at(0, 1)


def main() -> None:
    """Choose the measure by the form of the first case, and print it as the last line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--show", default="", choices=["", "missed", "false", "wrong", "legit", "slipped"])
    arguments = parser.parse_args()
    with arguments.file.open(encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines if line.strip()]
    index_of.cache_clear()
    measure = calls if "invented" in cases[0] or "acceptable" in cases[0] else hard if "expect" in cases[0] else replay
    print(measure(cases, arguments.show))


if __name__ == "__main__":
    sys.exit(main())
