"""The command line, `preflight`: one file for each group of commands."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command that the program was started with; ends the process.

    A host starts `hook` before every prompt and every call, and waits for it: it runs without the other commands
    (decision 0096).
    """
    words = sys.argv[1:]
    if words[:1] == ["hook"] and not {"-h", "--help"} & set(words):
        from preflight.hosts.receive import main as receive

        raise SystemExit(receive(words[1:]))
    from preflight.cli.app import run

    run()
