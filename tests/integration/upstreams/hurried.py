"""A proxy whose limits are short: `python hurried.py DB RULES BUDGET PATIENCE [--http] -- COMMAND`.

A call is held for BUDGET seconds, and a server's question waits PATIENCE seconds for its client. With `--http` the port
is free, and is printed; the token is `hurried`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from preflight.console.web import bound
from preflight.mcp.config import of_command
from preflight.mcp.gating import Who
from preflight.mcp.serving import Assembled, Setting, run
from preflight.storage import open_storage


def main() -> None:
    at = sys.argv.index("--")
    db, rules, budget, patience = sys.argv[1:5]
    storage = open_storage(Path(db))
    assembled = Assembled(
        Setting(
            servers=[of_command("everything", tuple(sys.argv[at + 1 :]))], storage=storage, rules=rules,
            who=Who("joonho", "s"), budget=float(budget), answer_patience=float(patience), page_port=None,
        )
    )  # fmt: skip
    if "--http" in sys.argv[:at]:
        listener = bound("127.0.0.1", 0)
        print(listener.getsockname()[1], flush=True)
        run(lambda: assembled.serve_http(listener, "hurried"))
    else:
        run(assembled.serve_stdio)
    storage.close()


if __name__ == "__main__":
    main()
