"""Processes that execute the decisions of one store until they are killed; run as a script by the test beside it.

    python execution_workers.py DATABASE EFFECTS SEED   # decides, executes, kills; prints what was acknowledged

Workers are forked, so that only the first pays for its imports. The tool they call writes the decision's id
to EFFECTS, through to the disk, before it returns. What a worker says on the pipe was acknowledged to it:
`started ID` from inside the call, `ended ID STATUS` after the outcome.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
from collections.abc import Callable

from preflight import Preflight, ToolCall, create_preflight, inline
from preflight.storage import open_storage
from tests.unit.gates import executable, hooks

EXECUTIONS, PROCESSES = 200, 4


def opened(database: str) -> Preflight:
    """A gate on the store. Two decisions each share a key, so that runs of one key meet too (R-77)."""
    key = inline(lambda given, _fixed: str(int(given.utterance.call_id) // 2))
    return create_preflight(hooks=hooks(build_action_key=key), storage=open_storage(database))


def tool_of(effects: str, pipe: int) -> Callable[[ToolCall], None]:
    """A tool whose effect is a line that survives the process."""
    file = os.open(effects, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def tool(call: ToolCall) -> None:
        say(pipe, f"started {call.decision_id}")
        os.write(file, f"{call.decision_id}\n".encode())
        os.fsync(file)

    return tool


def say(pipe: int, line: str) -> None:
    """Write in one piece: several processes share the pipe."""
    os.write(pipe, f"{line}\n".encode())


def worker(database: str, effects: str, decisions: list[str], pipe: int) -> None:
    made, tool = opened(database), tool_of(effects, pipe)
    for decision in decisions:
        say(pipe, f"ended {decision} {made.execute_if_ready(decision, tool).status}")


def round_of(database: str, effects: str, decisions: list[str], until: int) -> tuple[list[str], int]:
    """Run the workers to the `until`-th executed call, kill them all; what they said, and how many were killed."""
    read, write = os.pipe()
    children = []
    for _ in range(PROCESSES):
        shuffled = random.sample(decisions, len(decisions))
        if (child := os.fork()) == 0:
            try:
                worker(database, effects, shuffled, write)
            finally:
                os._exit(0)
        children.append(child)
    os.close(write)
    said: list[str] = []
    with os.fdopen(read, encoding="utf-8") as lines:
        for line in lines:
            said.append(line.rstrip("\n"))
            until -= line.endswith(" executed\n")
            if until == 0:
                for child in children:
                    os.kill(child, signal.SIGKILL)
    killed = sum(os.WIFSIGNALED(os.waitpid(child, 0)[1]) for child in children)
    return said, killed


def main(database: str, effects: str, seed: str) -> None:
    random.seed(seed)
    made = opened(database)
    decisions = [executable(made, call_id=str(n)).decision_id for n in range(EXECUTIONS)]
    made.close()
    acknowledged: list[str] = []
    kills = 0
    for until in (*(random.randint(5, 25) for _ in range(8)), EXECUTIONS):
        said, killed = round_of(database, effects, decisions, until)
        acknowledged += said
        kills += killed
    print(json.dumps({"decisions": decisions, "acknowledged": acknowledged, "kills": kills}))


if __name__ == "__main__":
    main(*sys.argv[1:])
