"""Starts the hook receiver without the rest of the package: `python -I -S entry.py EVENT --host HOST`.

A host runs this before every prompt and every call. Importing `preflight` as usual would load the whole gate for it.
So the package is made known here by its folder alone, and only what the receiver itself imports is loaded.
"""

from __future__ import annotations

import os
import sys
import types


def _known_by_folder() -> None:
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120  pathlib takes 10 ms
    package = types.ModuleType("preflight")
    package.__path__ = [folder]
    sys.modules["preflight"] = package


if __name__ == "__main__":
    _known_by_folder()
    from preflight.hosts.receive import main

    sys.exit(main(sys.argv[1:]))
