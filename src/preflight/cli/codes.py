"""The exit codes, in one place."""

from __future__ import annotations

from typing import Final

DONE: Final = 0
"""`execute` was decided, the call ran, or the command did what it is for."""
ERROR: Final = 1
"""A test of the command failed (`conformance`, `doctor`), or something unforeseen happened."""
USAGE: Final = 2
"""The request, a file or an option is malformed; nothing was decided."""
STORAGE: Final = 3
"""The record store could not do what it must; nothing was executed."""
ASK_USER: Final = 10
HOLD: Final = 11
"""Held; from `execute`: refused, nothing was called."""
DEFERRED: Final = 12
FAILED: Final = 20
"""The call was made and the provider refused it."""
IN_DOUBT: Final = 21
"""The call was made and its outcome is not known."""
INTERRUPTED: Final = 130

BY_DECISION: Final = {"execute": DONE, "ask_user": ASK_USER, "hold": HOLD, "deferred": DEFERRED}
BY_STATUS: Final = {"executed": DONE, "held": HOLD, "failed": FAILED, "in_doubt": IN_DOUBT}
