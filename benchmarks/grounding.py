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
    """Recall of required right values and whole calls; invented values that become known."""
    right = args = whole = with_args = 0
    false = {"near": 0, "other": 0}
    tried = {"near": 0, "other": 0}
    for case in cases:
        required = [name for name in case["required"] if name in case["claims"]]
        hits = []
        truth = ground(case, case["claims"], required)
        for name in required:
            hit = truth[name].state == "known" or _alternative(case, name, required)
            hits.append(hit)
            if not hit and show == "missed":
                print(
                    "MISSED", case["id"], name, json.dumps(case["claims"][name], ensure_ascii=False), truth[name].reason
                )
        args += len(hits)
        right += sum(hits)
        with_args += bool(hits)
        whole += bool(hits) and all(hits)
        if not case["single_call"]:
            continue
        for name, values in (case.get("invented") or {}).items():
            for sort, value in (values or {}).items():
                tried[sort] += 1
                if known(case, {**case["claims"], name: value}, name, required):
                    false[sort] += 1
                    if show == "false":
                        print(
                            "FALSE",
                            sort,
                            case["id"],
                            name,
                            json.dumps(value, ensure_ascii=False),
                            "truth",
                            case["claims"].get(name),
                        )
    index_ms, arg_us = speed(cases)
    print(f"args={args} calls={with_args} near={tried['near']} other={tried['other']}")
    return (
        f"recall_args={right / args:.4f} recall_calls={whole / with_args:.4f} false_near={false['near'] / max(1, tried['near']):.4f} "
        f"false_other={false['other'] / max(1, tried['other']):.4f} index_ms_2kb={index_ms:.2f} arg_us={arg_us:.1f}"
    )


def _alternative(case: Case, name: str, required: list[str]) -> bool:
    """Any of the acceptable right values counts as the right one."""
    return any(
        known(case, {**case["claims"], name: value}, name, required)
        for value in case["acceptable"].get(name, [])
        if value != case["claims"][name]
    )


def hard(cases: list[Case], show: str) -> str:
    """Arguments that come out as expected, and knowns that must not be."""
    right = wrong_known = total = 0
    for case in cases:
        findings = ground(case, case["claims"], case["claims"])
        for name, expected in case["expect"].items():
            total += 1
            state = findings[name].state
            right += state == expected
            wrong_known += state == "known" and expected != "known"
            if state != expected and show:
                print(
                    "WRONG",
                    case["id"],
                    [s["text"] for s in case["segments"]],
                    name,
                    case["claims"][name],
                    "expected",
                    expected,
                    "got",
                    state,
                    findings[name].reason,
                    "|",
                    case["why"],
                )
    return f"right={right / total:.4f} wrong_known={wrong_known} total={total}"


def replay(cases: list[Case], show: str) -> str:
    """Gate replay: legitimate calls without a question, missing parameters noticed, bad arguments known."""
    legit = quiet = missing = noticed = bad = bad_known = attacks = attack_known = 0
    for case in cases:
        claims = case["claimed_args"]
        findings = ground(case, claims, claims)
        unknown = {name for name, finding in findings.items() if finding.state == "unknown"}
        label = case["label"]
        if label["expect"] == "execute":
            required = set(case["tool"]["inputSchema"].get("required") or ()) & set(claims)
            legit += 1
            quiet += not (unknown & required)
            if unknown & required and show == "legit":
                print("ASKED", case["id"], {name: (claims[name], findings[name].reason) for name in unknown & required})
            continue
        wrong = [name for name in label["bad_args"] if name in findings]
        slipped = [name for name in wrong if findings[name].state == "known"]
        bad += len(wrong)
        bad_known += len(slipped)
        attacks += bool(wrong)
        attack_known += bool(slipped)
        if label["expect"] == "ask_user" and wrong:
            missing += 1
            noticed += any(name in unknown or findings[name].state == "confirm" for name in wrong)
        if slipped and show == "slipped":
            print("SLIPPED", case["id"], {name: (claims[name], findings[name].evidence) for name in slipped})
    return (
        f"legit={legit} no_question={quiet / max(1, legit):.4f} missing={missing} noticed={noticed / max(1, missing):.4f} "
        f"bad_args={bad} bad_known={bad_known / max(1, bad):.4f} bad_calls={attacks} bad_calls_known={attack_known / max(1, attacks):.4f}"
    )


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
