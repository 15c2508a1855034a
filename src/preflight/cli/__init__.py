"""The command line, `preflight`: one file for each group of commands."""

from __future__ import annotations


def main() -> None:
    """Run the command that the program was started with; ends the process."""
    from preflight.cli.app import run

    run()
