"""Draw what each rule of grounding costs and saves: recall against false accepts, rules turned on one by one.

`python benchmarks/grounding_curve.py FILE docs/grounding-curve.svg`. The product has no switches; this
script takes rules away from a copy of the functions that apply them and puts them back in order.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import matplotlib as mpl
from grounding import recall_and_false

from preflight.grounding import call

mpl.use("svg")
import matplotlib.pyplot as plt

# Each stage turns on reasons of `judge`, and steps of the whole call by the names of their functions.
STAGES: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("every mention counts", (), ()),
    ("weak readings do not", ("weak", "confusable"), ()),
    ("derived only where the role allows", ("derived",), ()),
    ("one span for one argument", (), ("assign",)),
    ("contested spans for none", (), ("_contest",)),
    ("choices, refusals, corrections", ("ambiguous", "negated", "superseded"), ()),
    ("from and to, swapped numbers", ("swapped",), ("_check_swaps",)),
    ("lists as a whole", (), ("_check_lists",)),
    ("one end of a range is none", (), ("ranges",)),
    ("values of one row", (), ("rows",)),
)


def everything(candidates: Sequence[Sequence[Any]], _order: Sequence[int]) -> list[int | None]:
    """The first mention of each leaf, whoever else uses it."""
    return [0 if options else None for options in candidates]


def nothing(*_: Any) -> None:
    """A step that is turned off."""


@contextmanager
def stage(reasons: set[str], steps: set[str]) -> Iterator[None]:
    """Grounding with these reasons and steps on, the others off."""
    judge: Callable[..., str | None] = call.judge

    def judged(*arguments: Any) -> str | None:
        reason = judge(*arguments)
        return reason if reason in reasons or reason == "carried" else None

    off = {"_contest": nothing, "_check_swaps": nothing, "_check_lists": nothing, "assign": everything}
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(call, "judge", judged))
        for name, replacement in off.items():
            if name not in steps:
                stack.enter_context(mock.patch.object(call, name, replacement))
        for name in {"ranges", "rows"} - steps:
            stack.enter_context(mock.patch.object(getattr(call, name), "check", nothing))
        yield


def points(cases: list[dict[str, Any]]) -> list[tuple[str, dict[str, float]]]:
    """The shares after each stage, the stages before it included."""
    reasons: set[str] = set()
    steps: set[str] = set()
    found = []
    for name, more_reasons, more_steps in STAGES:
        reasons |= set(more_reasons)
        steps |= set(more_steps)
        with stage(reasons, steps):
            found.append((name, recall_and_false(cases)))
    return found


def draw(found: list[tuple[str, dict[str, float]]], target: Path) -> None:
    """The picture: one line for each sort of invented value, a mark for each stage."""
    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    for sort, mark in (("other", "o"), ("near", "s")):
        across = [100 * shares[f"false_{sort}"] for _, shares in found]
        up = [100 * shares["recall_args"] for _, shares in found]
        axes.plot(across, up, marker=mark, label=f"invented: {sort}")
        labels: dict[tuple[float, float], list[str]] = {}
        for at, place in enumerate(zip(across, up, strict=True), 1):
            labels.setdefault(place, []).append(str(at))
        for place, numbers in labels.items():
            axes.annotate(", ".join(numbers), place, textcoords="offset points", xytext=(6, 5), fontsize=8)
    axes.set_xlabel("invented values that become known, %")
    axes.set_ylabel("right values that become known, %")
    axes.set_title("Grounding as its rules are turned on")
    legend = "\n".join(f"{at} {name}" for at, (name, _) in enumerate(found, 1))
    axes.text(0.02, 0.83, legend, transform=axes.transAxes, va="top", fontsize=9)
    axes.legend(loc="upper left")
    axes.grid(visible=True, alpha=0.3)
    figure.savefig(target, metadata={"Date": None})


def main() -> None:
    """Measure each stage, print it, draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("target", type=Path)
    arguments = parser.parse_args()
    mpl.rcParams["svg.hashsalt"] = "grounding"
    with arguments.file.open(encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines if line.strip()]
    found = points(cases)
    for name, shares in found:
        print(
            f"{name:40}",
            " ".join(f"{key}={value:.4f}" for key, value in shares.items() if key not in ("args", "calls")),
        )
    draw(found, arguments.target)


if __name__ == "__main__":
    main()
