"""What rules add to a decision: two conditions and one reference, everything already measured.

    python benchmarks/rules.py

CPU microseconds of one decision under rules, less the bare decision, in one run.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import msgspec
from decision import FOUND, best, example, hooks

from preflight import Request, create_preflight
from preflight.storage.memory import MemoryStorage

RULES = """
version: 1
servers:
  "":
    measures:
      balance: {given: true, type: number}
      contacts: {python: "bench_contacts:rows", type: array}
    tools:
      bank.transfer:
        effect: irreversible
        fields:
          to_account: {reference: {measure: contacts, match: /name, value: /account}}
        conditions:
          - {id: enough, expression: measured.balance >= args.amount}
          - {id: small, expression: args.amount <= 1000000}
"""


def measured(request: Request) -> Request:
    """The example with its balance measured."""
    return msgspec.structs.replace(request, measured_data={"balance": {"valid": True, "value": 900000}})


def main() -> None:
    """Measure and print."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    request = measured(example(FOUND))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rules.yaml"
        file.write_text(RULES, encoding="utf-8")
        bare = create_preflight(hooks=hooks(FOUND), storage=MemoryStorage(), hook_seconds={})
        ruled = create_preflight(hooks=hooks(FOUND), storage=MemoryStorage(), rules=file)
        if ruled.run_preflight(request).execution_decision != "execute":
            raise SystemExit("the example does not execute under the rules: nothing was measured")
        without, under = best(lambda: bare.run_preflight(request), 7), best(lambda: ruled.run_preflight(request), 7)
    print(f"bare_us={without:.1f} ruled_us={under:.1f} added_us={under - without:.1f}")


if __name__ == "__main__":
    main()
