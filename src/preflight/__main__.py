"""`python -m preflight` is the command `preflight`."""

from __future__ import annotations

from preflight.cli import main

if __name__ == "__main__":
    main()
