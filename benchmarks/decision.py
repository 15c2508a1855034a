"""How long one decision takes: trivial sync hooks, three fields and one checklist item, execute path.

    python benchmarks/decision.py [--js FILE] [--rounds N]

Figures are process CPU time in microseconds, the best of several rounds (the least disturbed one). With `--js` and
node present, the default export of that ES module, an (async) function that decides the same example once, is timed
the same way, and the ratio is printed.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from preflight import Preflight, Request, Tool, create_preflight, inline
from preflight.storage import open_storage
from preflight.storage.memory import MemoryStorage

WORDS = "send 500000 to LANDLORD-9 from 1102534471"
FOUND = {"from_account": ("1102534471", [31, 41]), "amount": (500000, [5, 11]), "to_account": ("LANDLORD-9", [15, 25])}
NODE = """
import {{ pathToFileURL }} from 'node:url';
const run = (await import(pathToFileURL('{file}'))).default;
for (let i = 0; i < 20000; i++) await run();
let best = Infinity;
for (let round = 0; round < {rounds}; round++) {{
  const before = process.cpuUsage();
  for (let i = 0; i < {count}; i++) await run();
  const used = process.cpuUsage(before);
  best = Math.min(best, (used.user + used.system) / {count});
}}
console.log(best);
"""


def hooks(found: dict[str, tuple[object, list[int]]], *, approved: bool = True) -> dict[str, Callable[..., object]]:
    """Hooks that answer at once."""
    places = {name: {"value": value, "segment_index": 0, "span": span} for name, (value, span) in found.items()}
    match = {"approved": approved, "reason": "mapped"}
    verified = {"status": "verified", "source": "measured_data"}
    plain: dict[str, Callable[..., object]] = {
        "classify_when_case": lambda utterance: "immediate",
        "extract_user_action_name": lambda utterance: "send money",
        "confirm_tool_name_matches_intent": lambda *given: match,
        "build_action_key": lambda request, fixed: "u_01:bank.transfer",
        "extract_from_instruction": lambda slot, request: places.get(slot.name),
        "measure_from_environment": lambda slot, request: None,
        "apply_field_policy": lambda state, *given: state,
        "validate_field_schema": lambda *given: None,
        "verify_user_checklist_item": lambda *given: verified,
    }
    return {name: inline(hook) for name, hook in plain.items()}


def example(fields: dict[str, tuple[object, list[int]]], words: str = WORDS) -> Request:
    """The published example, parsed: what a caller hands over once and has decided."""
    properties = {name: {"type": "number" if isinstance(v, int) else "string"} for name, (v, _) in fields.items()}
    schema = {"type": "object", "properties": properties, "required": list(fields)}
    tool = Tool.from_mcp({"name": "bank.transfer", "description": "It cannot be taken back.", "inputSchema": schema})
    return Request.parse(
        {
            "user_id": "u_01",
            "tool": tool,
            "instruction": [{"text": words, "trust": "user"}],
            "user_checklist": [{"id": "chk_limit", "description": "within daily transfer limit"}],
            "now": "2026-11-30T09:00:00+00:00",
        }
    )


def best(run: Callable[[], object], rounds: int, count: int = 2000) -> float:
    """CPU microseconds of one call, in the least disturbed round."""
    for _ in range(count // 4):
        run()
    times = []
    for _ in range(rounds):
        started = time.process_time()
        for _ in range(count):
            run()
        times.append((time.process_time() - started) / count * 1e6)
    return min(times)


def gate(found: dict[str, tuple[object, list[int]]], *, approved: bool = True) -> Preflight:
    """A gate over memory with trivial hooks."""
    return create_preflight(hooks=hooks(found, approved=approved), storage=MemoryStorage())


def many(count: int) -> tuple[dict[str, tuple[object, list[int]]], str]:
    """`count` fields whose values stand in one sentence."""
    words, fields = "set", {}
    for i in range(count):
        value = f"value-{i}x"
        fields[f"field_{i}"] = (value, [len(words) + 1, len(words) + 1 + len(value)])
        words += f" {value}"
    return fields, words


def recorded(request: Request, rounds: int) -> float:
    """Decide, encode and append to SQLite without waiting for the disk."""
    with tempfile.TemporaryDirectory() as folder:
        preflight = create_preflight(hooks=hooks(FOUND), storage=open_storage(Path(folder) / "records.db"))
        try:
            return best(lambda: preflight.run_preflight_and_record(request), rounds, 500)
        finally:
            preflight.close()


def in_node(file: str, rounds: int) -> float | None:
    """The same example in JavaScript, or None without node."""
    node = shutil.which("node")
    if node is None:
        return None
    script = NODE.format(file=Path(file).resolve(), rounds=rounds, count=2000)
    done = subprocess.run([node, "--input-type=module", "-e", script], capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> None:
    """Measure and print; the last line holds the figures."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--js", help="an ES module whose default export decides the example once")
    options.add_argument("--rounds", type=int, default=7)
    given = options.parse_args()
    request = example(FOUND)
    ready, lacking = gate(FOUND), gate({k: v for k, v in FOUND.items() if k != "to_account"})
    if ready.run_preflight(request).execution_decision != "execute":
        sys.exit("the example does not execute: nothing was measured")
    execute = best(lambda: ready.run_preflight(request), given.rounds)
    ask = best(lambda: lacking.run_preflight(request), given.rounds)
    refusing = gate(FOUND, approved=False)
    tool = best(lambda: refusing.run_preflight(request), given.rounds)
    fields, words = many(23)
    wide_request, wide_gate = example(fields, words), gate(fields)
    wide = best(lambda: wide_gate.run_preflight(wide_request), given.rounds, 500)
    record = recorded(request, given.rounds)
    if given.js and (js := in_node(given.js, given.rounds)) is not None:
        print(f"js_us={js:.1f} ratio={execute / js:.2f}")
    print(
        f"execute_us={execute:.1f} ask_us={ask:.1f} tool_us={tool:.1f} "
        f"per_field_us={(wide - execute) / 20:.2f} record_us={record:.1f}"
    )


if __name__ == "__main__":
    main()
