"""The life of a record: which state may follow which, as one table.

Theory of operation
-------------------
A decision is stored once. If it is `execute`, its execution is a chain of further records with the same
`decision_id`: a start, an outcome, and, where the outcome is in doubt, a settlement. The log is
append-only (R-71), so a decision's present state is the state of the last record of its chain.

Three rules make this safe, and all three are read off the table below:

1. A state has at most one path to it from the beginning, so every state has a fixed *stage*: 0 for the
   decision, 1 for the start, 2 for the outcome, 3 for the settlement. A store that keeps
   `(decision_id, stage)` unique cannot hold two starts or two outcomes, whatever races (R-75).
2. Nothing leads back to `executing`. What was started is never started again: not after `failed`, not
   after `in_doubt`, not after `settled`.
3. A start leads only to an outcome, and `in_doubt` only to `settled` (R-75, R-76). A chain that ends in
   one of these two is *unfinished* and waits for recovery.

Nothing outside this file knows the transitions: stores, executor, recovery and the model checker in the
tests ask `may_follow` and `stage`, and the diagram in the documentation is drawn by `diagram`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from preflight.model.record import RecordState

FOLLOWS: Final[Mapping[RecordState | None, tuple[RecordState, ...]]] = MappingProxyType(
    {
        None: ("execute", "ask_user", "hold", "deferred"),
        "execute": ("executing",),
        "ask_user": (),
        "hold": (),
        "deferred": (),
        "executing": ("executed", "failed", "in_doubt"),
        "executed": (),
        "failed": (),
        "in_doubt": ("settled",),
        "settled": (),
    }
)
"""What may follow each state; None stands for "nothing is stored yet"."""


def may_follow(state: RecordState | None, following: RecordState) -> bool:
    """Whether a record in state `following` may be appended to a chain that ends in `state`.

    `state` is None where no record of the decision is stored. An unknown word follows nothing.
    """
    return following in FOLLOWS.get(state, ())


def _stages() -> dict[RecordState, int]:
    stages: dict[RecordState, int] = {}
    level, reached = 0, FOLLOWS[None]
    while reached:
        stages.update(dict.fromkeys(reached, level))
        level, reached = level + 1, tuple(after for state in reached for after in FOLLOWS[state])
    return stages


_STAGES: Final[Mapping[RecordState, int]] = MappingProxyType(_stages())


def stage(state: RecordState) -> int:
    """Return how many steps lie before `state`: 0 decision, 1 start, 2 outcome, 3 settlement."""
    return _STAGES[state]


def unfinished(state: RecordState) -> bool:
    """Whether a chain that ends in `state` was started and still waits for a record (R-75)."""
    return stage(state) > 0 and bool(FOLLOWS[state])


def diagram() -> str:
    """Return the table as a Mermaid state diagram, for the documentation."""
    arrows = [
        f"    {before or '[*]'} --> {after or '[*]'}"
        for before, following in FOLLOWS.items()
        for after in following or (None,)
    ]
    return "\n".join(["stateDiagram-v2", *arrows, ""])
